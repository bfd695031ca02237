"""Count a tenant's rows and pending work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from credenda import model, services
from credenda.model.memory import Status
from credenda.runtime import Parts
from credenda.services.waiting import measure_unread
from credenda.storage.store import JobStatus

if TYPE_CHECKING:
    pass

__all__ = ["count_stats"]

_PENDING: Final = (JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED)


def count_stats(parts: Parts) -> model.report.Stats:
    """Count memories, events and pending work."""
    with parts.store.reader(parts.user_id) as reader:
        counts = reader.counts()
        waiting = services.llm_extraction.count_waiting(reader)
        unread = measure_unread(reader, parts.clock.now_us())
    return model.report.Stats(
        oldest_unread_seconds=unread.oldest_seconds,
        events=counts.events,
        redacted_events=counts.redacted_events,
        memories=counts.memories,
        by_type=counts.types,
        total=counts.memories.get(Status.ACTIVE, 0),
        changes=counts.changes,
        jobs=counts.jobs,
        pending_extractions=sum(counts.jobs.get(status, 0) for status in _PENDING) - sum(waiting.values()),
        dead_jobs=counts.jobs.get(JobStatus.DEAD, 0),
        open_contests=counts.open_contests,
        vectors=counts.vectors,
        tombstones=counts.tombstones,
        embedder=parts.embedder.model_id if parts.embedder else None,
        vectors_by_model=counts.vectors_by_model,
        counted_by=parts.counter.name,
        waiting=unread.messages,
        model=services.llm_extraction.describe_model_use(parts, counts, waiting),
    )
