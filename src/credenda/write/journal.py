"""Second step of a write: store events and their job in one durable transaction, then acknowledge."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from credenda import limits
from credenda.errors import Conflict, Unavailable
from credenda.ids import IdKind, format_id, parse_id_number, parse_serial
from credenda.model.claim import Extractor, Turn
from credenda.model.event import Event, NewEvent, Receipt, Role, Source
from credenda.model.fast_dataclass import compile_fast_init
from credenda.storage.job_kinds import EXTRACT
from credenda.storage.store import Job, JobFilter, JobStatus, Tombstone, Writer
from credenda.text.normalize import NORMALISER, normalise_text
from credenda.write.forget.event_fields import is_label, remove_deleted_fields
from credenda.write.forget.tombstones import hash_claim_forms, hash_text_forms, split_statements
from credenda.write.intake.validate import AS_TYPE, Accepted

__all__ = ["REMOVED", "build_journal_unit"]

_WAITING: Final = frozenset({JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED})
_new_job: Final = compile_fast_init(Job)
_receipt: Final = compile_fast_init(Receipt)
REMOVED: Final = "[deleted]"
"""Placeholder for text that was deleted before it was stated again."""


def build_journal_unit(accepted: Accepted, extractor: Extractor, kind: str = EXTRACT) -> Callable[[Writer], Receipt]:
    """Return the unit of work that stores a submission and returns its receipt; `kind` is that of its job.

    The same idempotency key with the same payload returns the first receipt; with another payload it raises `Conflict`.
    """

    def work(writer: Writer) -> Receipt:
        earlier = _find_earlier_receipt(writer, accepted)
        if earlier is not None:
            return earlier
        events, refused = _redact_deleted(writer, accepted, extractor)
        ids = [writer.put(event) for event in events]
        first = parse_serial(ids[0])
        job_id = writer.put(
            _new_job(
                kind=kind,
                first=first,
                last=first + len(ids) - 1,
                idempotency_key=accepted.idempotency_key,
                payload_hash=_sign_payload(writer, accepted) if accepted.idempotency_key else b"",
            )
        )
        _check_backlog(writer, parse_serial(job_id))
        refused = (*accepted.refused, *refused)
        return _receipt(job_id=job_id, event_ids=tuple(ids), queued=True, refused=refused)

    return work


def _find_earlier_receipt(writer: Writer, accepted: Accepted) -> Receipt | None:
    """Find the receipt of the same idempotency key."""
    if accepted.idempotency_key is None:
        return None
    found = writer.jobs(JobFilter(key=accepted.idempotency_key))
    if not found:
        return None
    job = found[0]
    if job.payload_hash != _sign_payload(writer, accepted):
        raise Conflict(
            "this idempotency key was used for another call",
            why="the content, topic or time differs from the first call",
            fix="repeat the first call unchanged, or use a new key",
        )
    tag = writer.tenant.tag
    ids = tuple(format_id(IdKind.EVENT, number, tag) for number in range(job.first, job.last + 1))
    return Receipt(job_id=job.id, event_ids=ids, queued=False, cached=True)


def _sign_payload(writer: Writer, accepted: Accepted) -> bytes:
    """Sign a payload hash with the tenant's key (16 bytes), so that it reveals nothing of deleted short texts."""
    return hashlib.blake2b(accepted.payload_hash, key=writer.tenant.key, digest_size=16).digest()


def _check_backlog(writer: Writer, newest: int) -> None:
    """Reject the call when extraction cannot keep up; the caller's transaction is then rolled back (D-011)."""
    if newest <= limits.QUEUED_JOBS:
        return
    oldest = writer.jobs(JobFilter(statuses=_WAITING, limit=1))
    if oldest and newest - parse_id_number(oldest[0].id, IdKind.JOB, writer.tenant.tag) >= limits.QUEUED_JOBS:
        raise Unavailable(
            "too many messages wait for extraction",
            why=f"more than {limits.QUEUED_JOBS} jobs are queued",
            fix="let the workers catch up, then try again; nothing was written",
        )


def _redact_deleted(writer: Writer, accepted: Accepted, extractor: Extractor) -> tuple[list[NewEvent], tuple[str, ...]]:
    """Redact every sentence that repeats deleted text before it is stored."""
    if not writer.tenant.has_tombstones:
        return list(accepted.events), ()
    kept: list[NewEvent] = []
    refused: list[str] = []
    for event in accepted.events:
        if accepted.allow_deleted and event.role is Role.USER and event.source is Source.HUMAN:
            _lift_tombstones(writer, event, extractor)
            kept.append(event)
            continue
        spans = _find_restated(writer, event, extractor)
        kept.append(_redact_event(writer, event, spans))
        refused += [f"restates deleted text (characters {start} to {stop})" for start, stop in spans]
    return kept, tuple(refused)


def _redact_event(writer: Writer, event: NewEvent, spans: list[tuple[int, int]]) -> NewEvent:
    """Cut spans out of an event, and remove other fields that repeat them or were deleted themselves.

    An event of which only labels remain ("Ana:") keeps nothing. Text that was cut is not stored verbatim as a memory.
    """
    cut = {normalise_text(event.text[start:stop]) for start, stop in spans} - {""}
    kept = remove_deleted_fields(writer, event, cut)
    if not spans:
        return kept
    flags = tuple(flag for flag in event.flags if not flag.startswith(AS_TYPE))
    text = _cut_spans(event.text, spans)
    if is_label(text.replace(REMOVED, "")):
        return replace(kept, text=REMOVED, flags=flags, topic=None, tags=(), metadata={})
    return replace(kept, text=text, flags=flags)


def _lift_tombstones(writer: Writer, event: NewEvent, extractor: Extractor) -> None:
    """Remove the tombstones of text that the user states again on purpose."""
    for digest in writer.tombstoned([digest for digest, _, _ in _hash_statements(writer.tenant.key, event, extractor)]):
        writer.put(Tombstone(digest=digest, kind="", normaliser=NORMALISER, created_us=0, lifted=True))


def _find_restated(writer: Writer, event: NewEvent, extractor: Extractor) -> list[tuple[int, int]]:
    """Find the spans of an event that match a tombstone, by their text or by slot and value."""
    digests = list(_hash_statements(writer.tenant.key, event, extractor))
    gone = writer.tombstoned([digest for digest, _, _ in digests])
    return sorted({(start, stop) for digest, start, stop in digests if digest in gone})


def _hash_statements(key: bytes, event: NewEvent, extractor: Extractor) -> Iterator[tuple[bytes, int, int]]:
    for start, stop in split_statements(event.text):
        for digest in hash_text_forms(key, event.text[start:stop]):
            yield digest, start, stop
    for claim in extractor.extract(Turn(event=_make_event(event))):
        for digest in hash_claim_forms(key, claim):
            yield digest, claim.span.start, claim.span.stop


def _make_event(event: NewEvent) -> Event:
    content = {name: getattr(event, name) for name in NewEvent.__dataclass_fields__}
    return Event(**content, id="e0", recorded_us=event.occurred_us)


def _cut_spans(text: str, spans: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    done = 0
    for start, stop in spans:
        if start >= done:
            pieces += (text[done:start], REMOVED)
        done = max(done, stop)
    return "".join(pieces) + text[done:]
