"""Short ways to hear a turn and to look at what was understood."""

from datetime import UTC, datetime

from credenda.clock import from_datetime, to_datetime
from credenda.model.claim import Claim, Turn
from credenda.model.event import Event, Role
from credenda.model.memory import Memory
from credenda.write.extract.rules import RulesExtractor

NOON = from_datetime(datetime(2026, 3, 11, 12, tzinfo=UTC))
"""A Wednesday."""
EXTRACTOR = RulesExtractor()


def event(text: str, role: Role = Role.USER, speaker: str = "user", at: int = NOON) -> Event:
    return Event(text=text, role=role, speaker=speaker, occurred_us=at, id="e1-abc123", recorded_us=at)


def hear(
    text: str, role: Role = Role.USER, speaker: str = "user", *, at: int = NOON, known: tuple[Memory, ...] = ()
) -> list[Claim]:
    """What the rules read from one turn."""
    return EXTRACTOR.extract(Turn(event=event(text, role, speaker, at), known=known))


def only(text: str, role: Role = Role.USER, speaker: str = "user", at: int = NOON) -> Claim:
    """The one claim of a turn."""
    (claim,) = hear(text, role, speaker, at=at)
    return claim


def slots(claims: list[Claim]) -> list[tuple[str | None, str | None, str | None]]:
    return [(claim.entity, claim.attribute, claim.value) for claim in claims]


def slot(text: str) -> tuple[str | None, str | None, str | None]:
    """Entity, attribute and value of the first claim."""
    return slots(hear(text))[0]


def date(moment_us: int | None) -> str | None:
    return None if moment_us is None else to_datetime(moment_us).date().isoformat()
