"""Verify a store, and repair its derived rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from credenda import index as index_modules
from credenda import model, services
from credenda.model.doctor_finding import Finding
from credenda.paths import close_open_files, find_open_paths
from credenda.runtime import Parts
from credenda.services.search import open_index

if TYPE_CHECKING:
    from credenda.index.resident import ResidentIndex

__all__ = ["doctor"]

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
    "permissions",
)


def doctor(parts: Parts, *, repair: bool = False) -> model.report.DoctorReport:
    """Verify the store: file, journal chain, change log, references, full-text index and resident index."""
    folded = services.rebuild.log_findings(parts, repair=repair)  # first: rows put right here are no orphans any more
    findings = [*parts.store.check(parts.user_id, repair=repair), *folded]
    findings += [*_index_parity(parts), *services.consolidation_progress.find_skipped_groups(parts, repair=repair)]
    findings += _check_permissions(parts, repair=repair)
    wrong = [finding for finding in findings if not finding.repaired]
    return model.report.DoctorReport(ok=not wrong, findings=tuple(findings), checks=_CHECKS)


def _check_permissions(parts: Parts, *, repair: bool) -> list[Finding]:
    """Find files of the database that other users may read or write; a repair closes them, but not their folder."""
    before = find_open_paths(parts.store_name)
    if repair:
        close_open_files(parts.store_name)
    after = find_open_paths(parts.store_name)
    return [
        Finding(
            check="permissions",
            detail="other users of this computer may read or change it",
            repaired=one not in after,
            where=str(one),
            fix=f"chmod {'go-w' if one.is_dir() else '600'} {one}",
        )
        for one in before
    ]


def _index_parity(parts: Parts) -> list[Finding]:
    """Compare the updated index with a fresh one; an index that changed meanwhile is not reported."""
    model_id = parts.embedder.model_id if parts.embedder else None
    with parts.store.reader(parts.user_id) as reader:
        index = open_index(parts, reader)
        if index is None:
            return []
        fresh = index_modules.resident.ResidentIndex(model_id=model_id)
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
    columns = (index.codes, index.state, index.has_vector, index.length)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return sorted(row for row in rows if row[1] != index_modules.resident.STATE_GONE)
