"""What each kind of job does: job kind → function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from credenda.errors import Invalid
from credenda.parts import Parts
from credenda.storage.store import Job, JobFilter, Writer
from credenda.write.embed import EMBED, embed, file_vectors, wanted_texts
from credenda.write.extract.verbatim import VerbatimExtractor
from credenda.write.ingest import complete, read_job
from credenda.write.journal import EXTRACT

__all__ = ["HANDLERS", "handle", "report_failure", "set_aside"]


def _extract(parts: Parts, job: Job) -> None:
    with parts.store.reader(parts.user_id) as reader:
        reading = read_job(reader, job, parts.extractor)

    def work(writer: Writer) -> None:
        complete(writer, reading, parts.clock.now_us())
        if parts.embedder is not None:
            writer.put(Job(kind=EMBED, first=job.first, last=job.last))

    parts.store.commit(parts.user_id, work)


def _embed(parts: Parts, job: Job) -> None:
    embedder = parts.embedder
    if embedder is None:
        parts.store.commit(parts.user_id, lambda writer: file_vectors(writer, job, []))
        return
    with parts.store.reader(parts.user_id) as reader:
        wanted = wanted_texts(reader, job, embedder.model_id)
    vectors = embed(embedder, wanted, parts.settings.vector_bits)
    parts.store.commit(parts.user_id, lambda writer: file_vectors(writer, job, vectors))


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
