"""Turns of talk with an assistant, as every transcript has them: said once, by one of two, at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from credenda import limits
from credenda.portability.importers.blocks import cut
from credenda.portability.importers.port import Piece, stable_key
from credenda.write.accept import Submission

__all__ = ["Turn", "mended", "turn_pieces"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one of the two said; `key` names it for good, and `place` says where in the file it stands."""

    place: str
    role: str
    text: str
    key: tuple[str, ...]
    session: str
    agent: str
    occurred_at: datetime | None = None
    id: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])


def turn_pieces(turn: Turn, user_id: str) -> Iterator[Piece]:
    """Give the turn as it is; one that is larger than an event comes in several, and nothing of it is lost."""
    text = mended(turn.text)
    parts = [text] if len(text.encode()) <= limits.EVENT_TEXT_BYTES else list(cut(text))
    for number, part in enumerate(parts):
        place = turn.place if len(parts) == 1 else f"{turn.place}, part {number + 1}"
        more = (str(number),) if number else ()
        submission = Submission(
            content=[{"role": turn.role, "content": part, "id": turn.id}],
            user_id=user_id,
            session=turn.session,
            agent=turn.agent,
            occurred_at=turn.occurred_at,
            metadata=turn.metadata,
            idempotency_key=stable_key(turn.agent, *turn.key, *more),
        )
        yield Piece(place=place, submission=submission)


def mended(text: str) -> str:
    r"""Join surrogate pairs that were written apart, and mark halves without their other half.

    >>> mended("\ud83d\ude00"), mended("cut \ud83d")
    ('😀', 'cut �')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
