"""Maintenance of a store: settle, doctor, reembed, and the flush before closing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from credenda.errors import CredendaError, Invalid
from credenda.model.doctor_finding import Finding
from credenda.providers.embed.factory import open_embedder
from credenda.runtime import Parts
from credenda.services.inspect import open_index
from credenda.workers.idle_tasks import flush_accesses, save_index
from credenda.workers.loop import settle as settle_jobs

if TYPE_CHECKING:
    from credenda.index.resident import ResidentIndex
    from credenda.model.report import DoctorReport, ReembedReport

__all__ = ["doctor", "flush_and_stop", "reembed", "settle"]

_log = logging.getLogger(__name__)
_CHECKS: Final = (
    "file",
    "journal_chain",
    "journal_numbers",
    "change_log",
    "change_numbers",
    "current_version",
    "change_fold",
    "evidence",
    "successor",
    "contests",
    "passages",
    "vectors",
    "accesses",
    "jobs",
    "full_text",
    "index",
    "dead_jobs",
    "consolidation",
)


def settle(parts: Parts, timeout_seconds: float = 30.0) -> None:
    """Wait until every queued job of this tenant has run; raises `Unavailable` on time-out."""
    if not isinstance(timeout_seconds, int | float) or not timeout_seconds > 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(
            f"a timeout of {timeout_seconds!r} s", why="it must be a positive number", fix="give seconds, like 30"
        )
    settle_jobs(parts, timeout_seconds)
    flush_accesses(parts)


def doctor(parts: Parts, *, repair: bool = False) -> DoctorReport:
    """Verify the store: file, journal chain, change log, references, full-text index and resident index."""
    from credenda.model.report import DoctorReport
    from credenda.services.consolidation_progress import find_skipped_groups
    from credenda.services.rebuild import log_findings

    folded = log_findings(parts, repair=repair)  # first: rows put right here are no orphans any more
    findings = [*parts.store.check(parts.user_id, repair=repair), *folded]
    findings += [*_index_parity(parts), *find_skipped_groups(parts, repair=repair)]
    wrong = [finding for finding in findings if not finding.repaired]
    return DoctorReport(ok=not wrong, findings=tuple(findings), checks=_CHECKS)


def reembed(
    parts: Parts, model: str | None = None, *, progress: Callable[[int, int | None], None] | None = None
) -> ReembedReport:
    """Embed every text with a model, by default the configured one; raises `Invalid` if there is none."""
    embedder = parts.embedder if model is None else open_embedder(model, parts.settings)
    if embedder is None:
        raise Invalid("there is no model to embed with", why="words alone are searched", fix='name one, like "minilm"')
    from credenda.model.report import ReembedReport
    from credenda.workers.reembed import embed_missing

    embedded = embed_missing(parts, embedder, progress)
    with parts.store.reader(parts.user_id) as reader:
        counts = reader.counts()
    return ReembedReport(
        model_id=embedder.model_id,
        embedded=embedded,
        vectors_by_model=counts.vectors_by_model,
        in_use=parts.embedder is not None and parts.embedder.model_id == embedder.model_id,
    )


def _index_parity(parts: Parts) -> list[Finding]:
    """Compare the updated index with a fresh one; an index that changed meanwhile is not reported."""
    from credenda.index.resident import ResidentIndex

    model_id = parts.embedder.model_id if parts.embedder else None
    with parts.store.reader(parts.user_id) as reader:
        index = open_index(parts, reader)
        if index is None:
            return []
        fresh = ResidentIndex(model_id=model_id)
        while (delta := reader.delta(fresh.heads, model_id)).heads != fresh.heads:
            fresh.fold(delta)
    if index.heads == fresh.heads and _list_contents(index) != _list_contents(fresh):
        return [
            Finding(
                check="index",
                detail="the index differs from the rows it is derived from",
                where="the index in memory",
                fix="run `credenda rebuild`, which drops it",
            )
        ]
    return []


def _list_contents(index: ResidentIndex) -> list[tuple[int, int, bool, int]]:
    from credenda.index.resident import STATE_GONE

    columns = (index.codes, index.state, index.has_vector, index.length)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return sorted(row for row in rows if row[1] != STATE_GONE)


def flush_and_stop(parts: Parts) -> None:
    """Write all buffered data before a store is closed; a store that cannot be written is left unchanged."""
    if parts.read_only:
        return
    try:
        flush_accesses(parts)
        save_index(parts)
    except CredendaError as error:
        _log.warning("closing without saving the index", extra={"code": error.code})
