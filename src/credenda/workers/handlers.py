"""What each kind of job does: job kind → function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from credenda.errors import Invalid
from credenda.parts import Parts
from credenda.storage.store import Job, JobFilter, Vector, Writer
from credenda.write.embed import EMBED, embed, file_vectors, wanted_texts
from credenda.write.extract.verbatim import VerbatimExtractor
from credenda.write.ingest import Reading, believe, complete, read_job
from credenda.write.journal import EXTRACT

__all__ = ["HANDLERS", "handle", "report_failure", "set_aside"]


_TURNS_A_COMMIT: Final = 8
_VECTORS_A_COMMIT: Final = 64


def _extract(parts: Parts, job: Job) -> None:
    with parts.store.reader(parts.user_id) as reader:
        reading = read_job(reader, job, parts.extractor)

    *early, last = _portions(reading)
    for portion in early:
        _believe(parts, portion)

    def work(writer: Writer) -> None:
        complete(writer, last, parts.clock.now_us())
        if parts.embedder is not None:
            writer.put(Job(kind=EMBED, first=job.first, last=job.last))

    parts.store.commit(parts.user_id, work)


def _portions(reading: Reading) -> list[Reading]:
    """Cut a long reading, so that no transaction keeps callers waiting; done twice, a portion changes nothing."""
    turns = reading.turns
    starts = range(0, max(len(turns), 1), _TURNS_A_COMMIT)
    return [replace(reading, turns=turns[start : start + _TURNS_A_COMMIT]) for start in starts]


def _believe(parts: Parts, portion: Reading) -> None:
    parts.store.commit(parts.user_id, lambda writer: believe(writer, portion.turns, parts.clock.now_us()))


def _embed(parts: Parts, job: Job) -> None:
    embedder = parts.embedder
    if embedder is None:
        parts.store.commit(parts.user_id, lambda writer: file_vectors(writer, job, []))
        return
    with parts.store.reader(parts.user_id) as reader:
        wanted = wanted_texts(reader, job, embedder.model_id)
    vectors = embed(embedder, wanted, parts.settings.vector_bits)
    while len(vectors) > _VECTORS_A_COMMIT:
        portion, vectors = vectors[:_VECTORS_A_COMMIT], vectors[_VECTORS_A_COMMIT:]
        _file_portion(parts, job, portion)
    parts.store.commit(parts.user_id, lambda writer: file_vectors(writer, job, vectors))


def _file_portion(parts: Parts, job: Job, portion: list[Vector]) -> None:
    parts.store.commit(parts.user_id, lambda writer: file_vectors(writer, job, portion, last=False))


def report_failure(parts: Parts, job: Job, report: Job) -> None:
    """File how a job failed, unless its lease ran out and another process has taken it over meanwhile."""

    def work(writer: Writer) -> None:
        if _still_leased(writer, job):
            writer.put(report)

    parts.store.commit(parts.user_id, work)


def _still_leased(writer: Writer, job: Job) -> bool:
    return any(
        (now.status, now.lease_owner, now.attempts) == (job.status, job.lease_owner, job.attempts)
        for now in writer.jobs(JobFilter(id=job.id))
    )


def set_aside(parts: Parts, job: Job, report: Job) -> None:
    """File that a job was given up; words that could not be read are kept as they are (R-050, R-052)."""
    if job.kind != EXTRACT:
        report_failure(parts, job, report)
        return
    with parts.store.reader(parts.user_id) as reader:
        reading = read_job(reader, job, VerbatimExtractor())

    def work(writer: Writer) -> None:
        if _still_leased(writer, job):
            complete(writer, reading, parts.clock.now_us())
            writer.put(report)

    parts.store.commit(parts.user_id, work)


HANDLERS: Final[Mapping[str, Callable[[Parts, Job], None]]] = {EXTRACT: _extract, EMBED: _embed}


def handle(parts: Parts, job: Job) -> None:
    """Run a job to its end; whatever it raises is the reason why it failed."""
    handler = HANDLERS.get(job.kind)
    if handler is None:
        raise Invalid(f"there is no job kind {job.kind!r}", why="newer code filed it", fix="upgrade this process")
    handler(parts, job)
