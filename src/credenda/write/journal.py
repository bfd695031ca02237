"""Second step of a write: store events and their job in one durable transaction, then acknowledge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from credenda import limits
from credenda.errors import Conflict, Unavailable
from credenda.ids import IdKind, format_id, parse_id_number, parse_serial
from credenda.model.claim import Extractor
from credenda.model.event import NewEvent, Receipt, Role, Source
from credenda.model.fast_dataclass import compile_fast_init
from credenda.storage.job_kinds import EXTRACT
from credenda.storage.store import Job, JobFilter, JobStatus, Tombstone, Writer
from credenda.text.blanks import blank_span
from credenda.text.normalize import NORMALISER, normalise_text
from credenda.text.sentences import split_sentences
from credenda.write.forget.restated import find_restated
from credenda.write.forget.tombstones import SENTENCES_MAX, get_voice, hash_text_forms, split_statements
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
    With `allow_deleted` the words are stored once more if the first call lost them.
    """

    def work(writer: Writer) -> Receipt:
        earlier = _find_earlier_receipt(writer, accepted)
        if earlier is not None and not (accepted.allow_deleted and _has_lost_words(writer, earlier, accepted)):
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
                replaces=(earlier.job_id or "") if earlier is not None else "",
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


def _has_lost_words(writer: Writer, earlier: Receipt, accepted: Accepted) -> bool:
    """Return whether the events of an earlier call lack words of this one, because they were refused or deleted."""
    return [event.text for event in writer.events(list(earlier.event_ids))] != [one.text for one in accepted.events]


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
    """Redact the words that repeat deleted text before they are stored."""
    if not writer.tenant.has_tombstones:
        return list(accepted.events), ()
    kept: list[NewEvent] = []
    refused: list[str] = []
    for event in accepted.events:
        found = find_restated(writer, event, extractor)
        if accepted.allow_deleted and event.role is Role.USER and event.source is Source.HUMAN:
            _lift_tombstones(writer, found.digests)
            kept.append(event)
            continue
        kept.append(_redact_event(writer, event, found.spans))
        refused += [f"restates deleted text (characters {start} to {stop})" for start, stop in found.spans]
    return kept, tuple(refused)


def _redact_event(writer: Writer, event: NewEvent, spans: Sequence[tuple[int, int]]) -> NewEvent:
    """Cut spans out of an event, and metadata that repeats them or was deleted itself."""
    if not spans and not event.metadata:
        return event
    key, voice = writer.tenant.key, get_voice(event)
    cut = {normalise_text(event.text[start:stop]) for start, stop in spans} - {""}

    def stays(value: object) -> bool:
        told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        pieces = [told[start:stop] for start, stop in islice(split_sentences(told), SENTENCES_MAX)]
        said = normalise_text(told)
        return not any(one in said for one in cut) and not writer.tombstoned(
            [
                digest
                for piece in (told, *pieces)
                if normalise_text(piece)
                for digest in hash_text_forms(key, piece, voice)
            ]
        )

    metadata = {name: value for name, value in event.metadata.items() if stays(value)}
    text = _cut_spans(event.text, spans)
    bare = not normalise_text(text.replace(REMOVED, ""))  # no text is left to store verbatim
    flags = tuple(flag for flag in event.flags if not (bare and flag.startswith(AS_TYPE)))
    return replace(event, text=text, flags=flags, metadata=metadata)


def _lift_tombstones(writer: Writer, digests: Iterable[bytes]) -> None:
    """Remove the tombstones of text that the user states again on purpose."""
    for digest in digests:
        writer.put(Tombstone(digest=digest, kind="", normaliser=NORMALISER, created_us=0, lifted=True))


def _cut_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Replace whole statements by the placeholder, and blank the words of a sentence that keeps others."""
    whole = set(split_statements(text))
    for start, stop in sorted(spans, reverse=True):
        text = text[:start] + REMOVED + text[stop:] if (start, stop) in whole else blank_span(text, start, stop)
    return text
