"""Step three of a write, for one job: extract claims. No writer transaction is open while the extractor runs."""

from __future__ import annotations

from typing import Final, NamedTuple

from credenda.ids import IdKind, format_id
from credenda.model.claim import Claim, Extractor, Turn
from credenda.model.event import CODE, DENIED, Event
from credenda.storage.store import EventFilter, Reader
from credenda.text.sentences import REMOVED
from credenda.write.extract_blanks import extract_around_blanks
from credenda.write.reconcile.coreference import extract_alias_claims
from credenda.write.reconcile.decide import claim_hash
from credenda.write.requested_type import keep_requested_type

_BEFORE: Final = 4
"""Earlier events of the session that the extractor sees as context."""
_REACH: Final = 64
"""How many events back the session's earlier events are searched."""


class ExtractedTurn(NamedTuple):
    """A turn and the claims extracted from it."""

    turn: Turn
    claims: tuple[Claim, ...]


def load_turns(reader: Reader, first: int, last: int) -> list[Turn]:
    """Load the events with these numbers as turns, each with the events before it as context."""
    tag = reader.tenant.tag
    ids = [format_id(IdKind.EVENT, number, tag) for number in range(first, last + 1)]
    events = [event for event in reader.events(ids) if event.redacted_us is None or event.text]
    every = [*(load_context(reader, events[0], first) if events else []), *events]
    starts = range(len(every) - len(events), len(every))
    return [Turn(event=every[at], before=tuple(every[max(0, at - _BEFORE) : at])) for at in starts]


def extract_turns(reader: Reader, first: int, last: int, extractor: Extractor) -> list[ExtractedTurn]:
    """Extract the claims of the events with these numbers."""
    return [ExtractedTurn(turn, extract_claims(turn, extractor)) for turn in load_turns(reader, first, last)]


def is_skipped(event: Event) -> bool:
    """Return whether no claims are extracted from an event: it was denied, or a code scan stored it."""
    return DENIED in event.flags or CODE in event.flags


def extract_claims(turn: Turn, extractor: Extractor) -> tuple[Claim, ...]:
    """Extract the claims of a turn, and the aliases that it states."""
    if is_skipped(turn.event):
        return ()
    found = [one for one in extract_around_blanks(extractor, turn.event, turn.before) if REMOVED not in one.text]
    named = [
        one for one in extract_alias_claims(turn.event) if claim_hash(one) not in {claim_hash(other) for other in found}
    ]
    return keep_requested_type(turn.event, [*found, *named])


def load_context(reader: Reader, event: Event, number: int) -> list[Event]:
    """Return the events of the session before an event with this number, oldest first."""
    wanted = EventFilter(
        session=event.session, after=max(0, number - _REACH), below=number, limit=_BEFORE, newest_first=True
    )
    return reader.find_events(wanted)[::-1]
