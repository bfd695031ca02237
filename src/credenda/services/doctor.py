"""Verify a store, and repair its derived rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from credenda import index as index_modules
from credenda import model, services
from credenda.current_call import report_progress
from credenda.errors import Corrupt, Invalid, Unavailable
from credenda.index.snapshot import is_damaged
from credenda.model.job import Finding
from credenda.paths import close_open_files, find_open_paths
from credenda.runtime import Parts
from credenda.services.search import open_index
from credenda.services.settle import measure_unread
from credenda.storage.store import Reader
from credenda.workers.loop import save_index

_CHECKS: Final = (
    "file",
    "rows",
    "journal_rows",
    "change_rows",
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
    "vector_checksums",
    "tombstone_checksums",
    "accesses",
    "jobs",
    "full_text",
    "index",
    "dead_jobs",
    "ledgers",
    "consolidation",
    "walls",
    "indexes",
    "permissions",
    "hooks",
)
_PARTS: Final = 3


def doctor(parts: Parts, *, repair: bool = False) -> model.report.DoctorReport:
    """Verify the store: file, journal chain, change log, references, full-text index and resident index."""
    if repair and parts.read_only:
        raise Invalid("a memory that was opened to be read only cannot be repaired", fix="open it without --read-only")
    findings = [*_complete("walls", lambda: services.stats.check_server(parts))]
    if all(one.check != "permissions" for one in findings):
        findings += _check_memory(parts, repair=repair)
    findings += _check_permissions(parts, repair=repair)
    findings += services.stats.find_hook_problems(parts)
    wrong = [finding for finding in findings if not finding.repaired]
    return model.report.DoctorReport(
        oldest_unread_seconds=_measure_oldest(parts),
        ok=not wrong,
        findings=tuple(findings),
        checks=_CHECKS,
        backend=parts.store.describe_backend(),
    )


def _check_memory(parts: Parts, *, repair: bool) -> list[Finding]:
    # The change log comes first: rows put right by it are no orphans any more.
    report_progress(0, _PARTS, "change log")
    folded = _complete("change_fold", lambda: services.rebuild.log_findings(parts, repair=repair))
    report_progress(1, _PARTS, "rows")
    findings = [*_complete("file", lambda: services.rebuild.check_rows(parts, repair=repair)), *folded]
    report_progress(2, _PARTS, "index")
    findings += _complete("index", lambda: _index_parity(parts, repair=repair))
    findings += _complete(
        "consolidation", lambda: services.consolidation_progress.find_skipped_groups(parts, repair=repair)
    )
    findings += _complete("walls", lambda: services.stats.probe_walls(parts))
    return findings


def _measure_oldest(parts: Parts) -> float:
    """Return the age of the oldest unread message; 0 where damage or a lost right, which is a finding, hides it."""
    with suppress(Corrupt, Unavailable), parts.store.reader(parts.user_id) as reader:
        return measure_unread(reader, parts.clock.now_us()).oldest_seconds
    return 0.0


def _complete(check: str, find: Callable[[], Sequence[Finding]]) -> Sequence[Finding]:
    """Return the findings of a check; damage that ends the check is its finding."""
    try:
        return find()
    except Corrupt as error:
        detail = f"this check could not be completed: {error.what}"
        return [Finding(check=check, detail=detail, where=error.ids.get("row") or "the file", fix=error.fix)]


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


def _index_parity(parts: Parts, *, repair: bool) -> list[Finding]:
    """Compare the words of the updated index and of the stored one with those of the rows.

    An index that changed meanwhile is not reported. The repair drops every index of the user, stored or in the memory
    of any process, and builds a new one.
    """
    with parts.store.reader(parts.user_id) as reader:
        wrong = _find_wrong_indexes(parts, reader)
    sound = bool(wrong) and repair
    if sound:
        parts.store.renew_indexes(parts.user_id)
        parts.indexes.drop(parts.user_id, store=parts.store_name)
        with parts.store.reader(parts.user_id) as reader:
            open_index(parts, reader)
        save_index(parts)
    return [
        Finding(
            check="index",
            detail="the index differs from the rows it is derived from",
            repaired=sound,
            where=where,
            fix="run `credenda doctor --repair`, which builds it again",
        )
        for where in wrong
    ]


def _find_wrong_indexes(parts: Parts, reader: Reader) -> list[str]:
    """Say which indexes have other contents than one that is built from the rows of this view."""
    model_id = parts.embedder.model_id if parts.embedder else None
    index = open_index(parts, reader)
    if index is None:
        return []
    fresh = index_modules.resident.ResidentIndex(model_id=model_id)
    while (delta := reader.delta(fresh.heads, model_id)).heads != fresh.heads:
        fresh.fold(delta)
    stored = index_modules.cache.IndexCache().get(reader, model_id=model_id)
    found = (("the index in memory", index), ("the stored index", stored))
    wanted = fresh.compute_digest()
    wrong = [where for where, one in found if one.heads == fresh.heads and one.compute_digest() != wanted]
    blobs = reader.snapshot(index_modules.cache.name_snapshot(model_id, reader.tenant.tag))
    return [*wrong, *(["the bytes of the stored index"] if blobs and is_damaged(blobs) else [])]
