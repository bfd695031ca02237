"""Second step of a write: store events and their job in one durable transaction, then acknowledge.

New text is compared with the tombstones before the transaction; inside it the tombstones are only looked up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final, NamedTuple, TypeVar

from credenda import limits
from credenda.errors import Conflict, Unavailable
from credenda.ids import IdKind, format_id, parse_id_number, parse_serial
from credenda.model.claim import Extractor
from credenda.model.event import NewEvent, Receipt, Role, Source
from credenda.model.fast_dataclass import compile_fast_init
from credenda.storage.plan import commit_decided
from credenda.storage.records import EXTRACT, take_turn
from credenda.storage.store import Job, JobFilter, JobStatus, Reader, Store, Tombstone, Writer
from credenda.text.normalize import NORMALISER, normalise_text
from credenda.text.sentences import REMOVED, blank_span, leave_out_blanks
from credenda.write.forget.copies import is_label, remove_deleted_fields
from credenda.write.forget.tombstones import find_restated, split_statements
from credenda.write.intake.validate import AS_TYPE, Accepted

T = TypeVar("T")

_WAITING: Final = frozenset({JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED})
_new_job: Final = compile_fast_init(Job)
_receipt: Final = compile_fast_init(Receipt)


class Compared(NamedTuple):
    """A submission compared with the tombstones: its events as they may be stored, and why parts were cut."""

    accepted: Accepted
    events: Sequence[NewEvent]
    refused: tuple[str, ...] = ()
    lifted: frozenset[bytes] = frozenset()
    """Tombstones of text that the user states again on purpose."""


def commit_compared(
    store: Store,
    user_id: str,
    submissions: Sequence[Accepted],
    file: Callable[[Writer, Sequence[Compared]], T],
    *,
    extractor: Extractor,
) -> T:
    """Compare submissions with the tombstones on a view, and file them in one short unit by `file`.

    A deletion that commits in between is honoured: the tombstones are looked up once more in the unit. A tenant without
    tombstones needs no comparison and no view. `file` may run several times.
    """

    def work(writer: Writer) -> tuple[T] | None:
        return (
            None
            if writer.tenant.has_tombstones
            else (file(writer, [Compared(one, one.events) for one in submissions]),)
        )

    done = store.commit(user_id, work)
    if done is not None:
        return done[0]

    def decide(writer: Writer) -> list[Compared]:
        return [compare_with_tombstones(writer, one, extractor) for one in submissions]

    with take_turn(store, user_id):
        return commit_decided(store, user_id, decide, file)


def file_submission(writer: Writer, compared: Compared, kind: str = EXTRACT) -> Receipt:
    """Store a submission in the caller's unit and return its receipt; `kind` is that of its job.

    The same idempotency key with the same payload returns the first receipt; with another payload it raises `Conflict`.
    With `allow_deleted` the words are stored once more if the first call lost them.
    """
    accepted = compared.accepted
    earlier = find_earlier_receipt(writer, accepted)
    if earlier is not None and not (
        accepted.allow_deleted
        and ([event.text for event in writer.events(list(earlier.event_ids))] != [one.text for one in accepted.events])
    ):
        return earlier
    if not compared.events:
        return _receipt(job_id=None, event_ids=(), queued=False, refused=accepted.refused)
    ids, refused = file_events(writer, compared)
    replaced = "" if earlier is None else earlier.job_id or ""
    job_id = writer.put(replace(make_job(writer, accepted, ids, kind), replaces=replaced))
    _check_backlog(writer, parse_serial(job_id))
    return _receipt(job_id=job_id, event_ids=ids, queued=True, refused=refused)


def file_events(writer: Writer, compared: Compared) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Store the events of a submission and lift the tombstones; returns their ids, and why parts were refused."""
    for digest in compared.lifted:
        writer.put(Tombstone(digest=digest, kind="", normaliser=NORMALISER, created_us=0, lifted=True))
    ids = tuple(writer.put(event) for event in compared.events)
    return ids, (*compared.accepted.refused, *compared.refused)


def make_job(writer: Writer, accepted: Accepted, event_ids: Sequence[str], kind: str) -> Job:
    """Build the job of the stored events of a submission."""
    first = parse_serial(event_ids[0])
    return _new_job(
        kind=kind,
        first=first,
        last=first + len(event_ids) - 1,
        idempotency_key=accepted.idempotency_key,
        payload_hash=_sign_payload(writer, accepted) if accepted.idempotency_key else b"",
    )


def find_earlier_receipt(reader: Reader, accepted: Accepted) -> Receipt | None:
    """Find the receipt of the same idempotency key."""
    if accepted.idempotency_key is None:
        return None
    found = reader.jobs(JobFilter(key=accepted.idempotency_key))
    if not found:
        return None
    job = found[0]
    if job.payload_hash != _sign_payload(reader, accepted):
        raise Conflict(
            "this idempotency key was used for another call",
            why="the content, topic or time differs from the first call",
            fix="repeat the first call unchanged, or use a new key",
        )
    tag = reader.tenant.tag
    ids = tuple(format_id(IdKind.EVENT, number, tag) for number in range(job.first, job.last + 1))
    return Receipt(job_id=job.id, event_ids=ids, queued=False, cached=True)


def _sign_payload(reader: Reader, accepted: Accepted) -> bytes:
    """Sign a payload hash with the tenant's key (16 bytes), so that it reveals nothing of deleted short texts."""
    return hashlib.blake2b(accepted.payload_hash, key=reader.tenant.key, digest_size=16).digest()


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


def compare_with_tombstones(reader: Reader, accepted: Accepted, extractor: Extractor) -> Compared:
    """Cut the words that repeat deleted text out of a submission, before it is stored."""
    if not reader.tenant.has_tombstones:
        return Compared(accepted, accepted.events)
    kept: list[NewEvent] = []
    refused: list[str] = []
    lifted: set[bytes] = set()
    for event in accepted.events:
        found = find_restated(reader, event, extractor, lifted)
        if accepted.allow_deleted and event.role is Role.USER and event.source is Source.HUMAN:
            lifted |= found.digests
            kept.append(event)
            continue
        kept.append(_redact_event(reader, event, found.spans, lifted))
        refused += [f"restates deleted text (characters {start} to {stop})" for start, stop in found.spans]
    return Compared(accepted, kept, tuple(refused), frozenset(lifted))


def _redact_event(
    reader: Reader, event: NewEvent, spans: Sequence[tuple[int, int]], lifted: AbstractSet[bytes]
) -> NewEvent:
    """Cut spans out of an event, and remove other fields that repeat them or were deleted themselves.

    An event of which only labels remain ("Ana:") keeps nothing. Text that was cut is not stored verbatim as a memory.
    """
    cut = {normalise_text(event.text[start:stop]) for start, stop in spans} - {""}
    kept = remove_deleted_fields(reader, event, cut, lifted)
    if not spans:
        return kept
    flags = tuple(flag for flag in event.flags if not flag.startswith(AS_TYPE))
    text = _cut_spans(event.text, spans)
    if is_label(leave_out_blanks(text.replace(REMOVED, "")).text, event.text):
        return replace(kept, text=REMOVED, flags=flags, topic=None, tags=(), metadata={})
    return replace(kept, text=text, flags=flags)


def _cut_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Replace whole statements by the placeholder, and blank the words of a sentence that keeps others."""
    whole = set(split_statements(text))
    for start, stop in sorted(spans, reverse=True):
        text = text[:start] + REMOVED + text[stop:] if (start, stop) in whole else blank_span(text, start, stop)
    return text
