"""Step three of a write, for one job: what its events claim, and how near that is in meaning to what is remembered.

No transaction of the writer is held while an extractor reads or an engine embeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from credenda import limits
from credenda.errors import Unavailable
from credenda.ids import Kind, public_id
from credenda.model.claim import Claim, Extractor, Span, Turn
from credenda.model.event import CODE, DENIED, QUARANTINED, Event
from credenda.model.memory import MemoryType
from credenda.providers.embed.port import Embedder
from credenda.storage.store import EventFilter, Job, Reader
from credenda.write.accept import AS_TYPE
from credenda.write.aliases import alias_claims
from credenda.write.reconcile import claim_hash

if TYPE_CHECKING:
    from credenda.write.succession.likely import Nearness
    from credenda.write.succession.nearness import Nearest

__all__ = ["ReadTurn", "Reading", "near_to_known", "read_job", "read_turns", "unread"]

_BEFORE: Final = 4
"""Earlier events of the session that a turn is read with."""
_REACH: Final = 64
"""How many events back the session's earlier ones are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a job's events were found to claim, in order."""

    job: Job
    turns: tuple[tuple[Event, tuple[Claim, ...]], ...]
    nearness: Nearness = field(default_factory=dict[tuple[str, str], float])
    """How near in meaning what the turns may change is to what is remembered."""


class ReadTurn(NamedTuple):
    """A turn and the claims that were read from it."""

    turn: Turn
    claims: tuple[Claim, ...]


def read_job(
    reader: Reader,
    job: Job,
    extractor: Extractor,
    embedder: Embedder | None = None,
    *,
    nearest: Nearest | None = None,
) -> Reading:
    """Read the claims of a job's events; no transaction of the writer is held.

    With an embedder it is found as well how near in meaning they are to memories whose place they may take; `nearest`
    finds those that share no word with them.
    """
    found = read_turns(reader, job.first, job.last, extractor)
    turns = tuple((one.turn.event, one.claims) for one in found)
    return Reading(job=job, turns=turns, nearness=near_to_known(reader, turns, embedder, nearest))


def near_to_known(
    reader: Reader,
    turns: Sequence[tuple[Event, Sequence[Claim]]],
    embedder: Embedder | None,
    nearest: Nearest | None = None,
) -> Nearness:
    """Return how near in meaning what some turns may change is to what is remembered; {} without an engine that can.

    Believing never waits for an engine that is out of order: then the words alone are weighed.
    """
    if embedder is None:
        return {}
    from credenda.write.succession.nearness import nearness_of  # noqa: PLC0415 - loads the reader

    try:
        return nearness_of(reader, turns, embedder, nearest)
    except Unavailable:
        return {}


def read_turns(reader: Reader, first: int, last: int, extractor: Extractor) -> list[ReadTurn]:
    """Read the claims of the events with these numbers, each with what was said before it."""
    tag = reader.tenant.tag
    ids = [public_id(Kind.EVENT, number, tag) for number in range(first, last + 1)]
    events = [event for event in reader.events(ids) if event.redacted_us is None or event.text]
    before = _context(reader, events[0], first) if events else []
    turns: list[ReadTurn] = []
    for event in events:
        turn = Turn(event=event, before=tuple(before[-_BEFORE:]))
        turns.append(ReadTurn(turn, () if unread(event) else _claims(turn, extractor)))
        before.append(event)
    return turns


def unread(event: Event) -> bool:
    """Return whether nothing is read from an event: it gives orders, or a scan of code filed it with its memory."""
    return DENIED in event.flags or CODE in event.flags


def _claims(turn: Turn, extractor: Extractor) -> tuple[Claim, ...]:
    """Read a turn: what the extractor finds, and the names that it says are the same."""
    found = extractor.extract(turn)
    named = [one for one in alias_claims(turn.event) if claim_hash(one) not in {claim_hash(other) for other in found}]
    return _as_asked(turn.event, [*found, *named])


def _as_asked(event: Event, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Keep the words themselves as a memory where the caller asked for its type (E-012).

    A narrative is always kept whole; of another type only what extraction could not read is, and so is what seems to
    give orders: as a candidate, that a person can look at.
    """
    asked = next((flag.removeprefix(AS_TYPE) for flag in event.flags if flag.startswith(AS_TYPE)), None)
    if asked is None and not claims and QUARANTINED in event.flags:
        asked = MemoryType.FACT.value
    if asked is None or (claims and asked != MemoryType.NARRATIVE):
        return tuple(claims)
    text = event.text.strip()[: limits.MEMORY_TEXT_CHARACTERS]
    whole = Claim(text=text, type=MemoryType(asked), span=Span(event.id, 0, len(event.text)), speaker=event.speaker)
    return (*claims, whole)


def _context(reader: Reader, event: Event, number: int) -> list[Event]:
    wanted = EventFilter(
        session=event.session, after=max(0, number - _REACH), below=number, limit=_BEFORE, newest_first=True
    )
    return reader.find_events(wanted)[::-1]
