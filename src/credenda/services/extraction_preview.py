"""Say what would become of a text if it were remembered; nothing is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from credenda.ids import parse_serial
from credenda.model.change import ChangeKind, ChangeRecord
from credenda.model.claim import Claim
from credenda.model.contest import ContestState
from credenda.model.evaluation import ExtractionPreview, PreviewedClaim, PreviewOutcome, ReplacedMemory
from credenda.model.event import Event, Role
from credenda.runtime import Parts
from credenda.storage.plan import try_out
from credenda.storage.store import Writer
from credenda.write.apply import Applied
from credenda.write.extract.prose import find_unread
from credenda.write.extract_job import extract_turns
from credenda.write.intake.validate import Submission, accept
from credenda.write.journal import compare_with_tombstones, file_events
from credenda.write.reconcile_job import apply_claims

_SPEAKING: Final = frozenset({Role.USER, Role.PERSON})
_NOTHING: Final = "nothing follows from it: it was said before, deleted or undone, or it has no value of its own"


def try_extraction(
    parts: Parts,
    text: str,
    *,
    topic: str | None = None,
    session: str | None = None,
    source: str = "human",
    occurred_at: datetime | str | None = None,
) -> ExtractionPreview:
    """Extract and reconcile a text on a view of the memory, as `remember` would, and describe the result."""
    submission = Submission(
        content=text, user_id=parts.user_id, topic=topic, session=session, source=source, occurred_at=occurred_at
    )
    now_us = parts.clock.now_us()
    accepted = accept(submission, policy=parts.settings.secrets_policy, zone=parts.settings.zone, now_us=now_us)

    def decide(writer: Writer) -> ExtractionPreview:
        ids, refused = file_events(writer, compare_with_tombstones(writer, accepted, parts.extractor))
        numbers = [parse_serial(one) for one in ids]
        found = extract_turns(writer, numbers[0], numbers[-1], parts.extractor) if numbers else ()
        turns = [(one.turn.event, one.claims) for one in found]
        applied = apply_claims(writer, turns, now_us, embeds=False, standing=())
        return ExtractionPreview(
            messages=tuple(event.text for event, _ in turns),
            claims=tuple(_describe(writer, turns, applied)),
            refused=refused,
            unread=tuple(_list_unread([event for event, _ in turns])),
            model_would_read=parts.llm is not None,
        )

    with parts.active_calls:
        return try_out(parts.store, parts.user_id, decide)


def _list_unread(events: Sequence[Event]) -> Iterable[str]:
    for number, event in enumerate(events, 1):
        for start, stop in find_unread(event.text) if event.role in _SPEAKING else ():
            yield f"characters {start} to {stop} of message {number}: too long to extract claims from"


def _describe(
    writer: Writer, turns: Sequence[tuple[Event, tuple[Claim, ...]]], applied: Sequence[tuple[Claim, Applied]]
) -> Iterable[PreviewedClaim]:
    done = {id(claim): one for claim, one in applied}
    by_place = {(claim.span, claim.attribute, claim.value): one for claim, one in applied}
    for number, (_, claims) in enumerate(turns, 1):
        for claim in claims:
            found = done.get(id(claim)) or by_place.get((claim.span, claim.attribute, claim.value))
            yield _describe_claim(writer, number, claim, () if found is None else found.records)


def _describe_claim(writer: Writer, number: int, claim: Claim, records: Sequence[ChangeRecord]) -> PreviewedClaim:
    kinds: Mapping[ChangeKind, ChangeRecord] = {one.kind: one for one in reversed(records)}
    ended = [one for one in records if one.kind is ChangeKind.SUPERSEDE and one.memory_id]
    outcome = _choose_outcome(kinds, bool(ended))
    deciding = next((kinds[kind] for kind in _DECIDING if kind in kinds), None)
    confirmed = kinds.get(ChangeKind.CONFIRM)
    return PreviewedClaim(
        message=number,
        start=claim.span.start,
        end=claim.span.stop,
        text=claim.text,
        entity=claim.entity,
        attribute=claim.attribute,
        value=claim.value,
        stance=claim.stance.value,
        confidence=claim.confidence,
        outcome=outcome,
        reason=_NOTHING if deciding is None else deciding.reason,
        memory_id=confirmed.memory_id if confirmed is not None and outcome is PreviewOutcome.CONFIRMED else None,
        replaced=tuple(_describe_replaced(writer, one) for one in ended),
        question=_find_question(writer, records) if outcome is PreviewOutcome.CONTESTED else "",
    )


_DECIDING: Final = (ChangeKind.CONTEST, ChangeKind.SUPERSEDE, ChangeKind.ADD, ChangeKind.CONFIRM, ChangeKind.SET_STATUS)
"""The change that says best why, first."""


def _choose_outcome(kinds: Mapping[ChangeKind, ChangeRecord], ended: bool) -> PreviewOutcome:  # noqa: FBT001 - one of two facts
    if ChangeKind.CONTEST in kinds:
        return PreviewOutcome.CONTESTED
    if ChangeKind.ADD in kinds:
        return PreviewOutcome.REPLACED if ended else PreviewOutcome.STORED
    if ChangeKind.CONFIRM in kinds:
        return PreviewOutcome.CONFIRMED
    return PreviewOutcome.ENDED if ended else PreviewOutcome.REFUSED


def _find_question(writer: Writer, records: Sequence[ChangeRecord]) -> str:
    """Return the question of the open contest that some changes belong to."""
    named = {one.memory_id for one in records}
    cases = writer.contests(state=ContestState.OPEN)
    return next((case.question for case in cases if not named.isdisjoint(case.memory_ids)), "")


def _describe_replaced(writer: Writer, record: ChangeRecord) -> ReplacedMemory:
    memory_id = record.memory_id or ""
    found = writer.memories([memory_id])
    return ReplacedMemory(id=memory_id, text=found[0].text if found else "", reason=record.reason)
