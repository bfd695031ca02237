"""Step three of a write, for one job: extract claims. No writer transaction is open while the extractor runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from credenda.ids import IdKind, format_id
from credenda.model.claim import Claim, Extractor, Turn
from credenda.model.event import CODE, DENIED, Event
from credenda.storage.store import EventFilter, Job, Reader
from credenda.text.sentences import REMOVED
from credenda.write.extract_blanks import extract_around_blanks
from credenda.write.reconcile.coreference import extract_alias_claims
from credenda.write.reconcile.decide import claim_hash
from credenda.write.requested_type import keep_requested_type

_BEFORE: Final = 4
"""Earlier events of the session that the extractor sees as context."""
_REACH: Final = 64
"""How many events back the session's earlier events are searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionResult:
    """The claims of a job's events, in order."""

    job: Job
    turns: tuple[tuple[Event, tuple[Claim, ...]], ...]


class ExtractedTurn(NamedTuple):
    """A turn and the claims extracted from it."""

    turn: Turn
    claims: tuple[Claim, ...]


def extract_job(reader: Reader, job: Job, extractor: Extractor) -> ExtractionResult:
    """Extract the claims of a job's events; no writer transaction is open."""
    found = extract_turns(reader, job.first, job.last, extractor)
    return ExtractionResult(job=job, turns=tuple((one.turn.event, one.claims) for one in found))


def extract_turns(reader: Reader, first: int, last: int, extractor: Extractor) -> list[ExtractedTurn]:
    """Extract the claims of the events with these numbers, each with the events before it as context."""
    tag = reader.tenant.tag
    ids = [format_id(IdKind.EVENT, number, tag) for number in range(first, last + 1)]
    events = [event for event in reader.events(ids) if event.redacted_us is None or event.text]
    before = load_context(reader, events[0], first) if events else []
    turns: list[ExtractedTurn] = []
    for event in events:
        turn = Turn(event=event, before=tuple(before[-_BEFORE:]))
        turns.append(ExtractedTurn(turn, () if is_skipped(event) else _extract_claims(turn, extractor)))
        before.append(event)
    return turns


def is_skipped(event: Event) -> bool:
    """Return whether no claims are extracted from an event: it was denied, or a code scan stored it."""
    return DENIED in event.flags or CODE in event.flags


def _extract_claims(turn: Turn, extractor: Extractor) -> tuple[Claim, ...]:
    """Extract the claims of a turn, and the aliases that it states."""
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
