"""Verification of a SQLite file: its soundness, and the agreement of derived rows with their sources."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from credenda.storage.damage import IMPOSSIBLE, SAVE_THE_REST
from credenda.storage.sqlite.dump import TABLES, dump_rows
from credenda.storage.sqlite.errors import is_busy
from credenda.storage.sql.journal import GENESIS, compute_chain_link, compute_content_hmac
from credenda.storage.store import Finding, TenantRecord
from credenda.storage.tenant_transfer import DamagedRow

__all__ = ["check_store", "check_text_index", "rebuild_text_index", "repair_rows"]

_SHOWN: Final = 5
"""The number of rows that a finding names; the others are counted."""
_RESTORE: Final = "restore an earlier backup, and keep the file to find the lost rows"
_ROW_CHECKS: Final = {"events": "journal_rows", "passages": "journal_rows", "changes": "change_rows"}
_REBUILD: Final = "run `credenda rebuild`, which restores it from the change log"
_REPAIR: Final = "run `credenda doctor --repair`, which deletes them"
_REBUILD_WORDS: Final = "INSERT INTO search_index (search_index) VALUES ('rebuild')"
_DROP_IMAGES: Final = "DELETE FROM index_blobs WHERE name <> 'core'"
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR})
"""Codes of a damaged index, and of a damaged row whose words cannot be computed."""


class _Check(NamedTuple):
    """A check for invalid rows: their description, a query for their names, and the fix.

    `repair` deletes rows that are derived or no longer of use; it never changes the journal or the log.
    """

    what: str
    rows: str
    fix: str
    repair: tuple[str, ...] = ()


_LOST_VECTORS: Final = """FROM embeddings WHERE user_id = :user_id AND CASE WHEN code >= (1 << 43)
    THEN NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.user_id = embeddings.user_id
                     AND m.id = (code & ((1 << 43) - 1)) >> 12 AND m.text <> '')
    ELSE NOT EXISTS (SELECT 1 FROM events AS e WHERE e.user_id = embeddings.user_id
                     AND e.id = code >> 12 AND e.text <> '') END"""
_ALTERED_VECTORS: Final = """FROM embeddings WHERE user_id = :user_id
    AND (typeof(data) <> 'blob'
         OR NOT credenda_is_vector(code, model_id, dims, bits, scale, CAST(data AS BLOB), checksum))"""
_KEEP_VECTOR_HEAD: Final = (
    """INSERT INTO watermarks (user_id, name, value, updated_at)
       SELECT user_id, 'vectors', max(number), 0 FROM embeddings WHERE user_id = :user_id GROUP BY user_id
       ON CONFLICT (user_id, name) DO UPDATE SET value = max(value, excluded.value)""",
)
_NO_MEMORY: Final = "NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.user_id = {0}.user_id AND m.id = {0}.memory)"
_NO_EVENT: Final = "NOT EXISTS (SELECT 1 FROM events AS e WHERE e.user_id = {0}.user_id AND e.id = {0}.event)"
_LOST_EVIDENCE: Final = f"FROM evidence WHERE user_id = :user_id AND {_NO_MEMORY.format('evidence')}"
_LOST_ACCESSES: Final = f"FROM access_log WHERE user_id = :user_id AND {_NO_MEMORY.format('access_log')}"
_LOST_PASSAGES: Final = f"FROM passages WHERE user_id = :user_id AND {_NO_EVENT.format('passages')}"
_LOST_JOBS: Final = """FROM operations WHERE user_id = :user_id
    AND last > (SELECT coalesce(max(id), 0) FROM events WHERE user_id = :user_id)"""
_CHECKS: Final = {
    "current_version": _Check(
        "memories without exactly one current version",
        """SELECT 'm' || id FROM memories WHERE user_id = :user_id
           GROUP BY id HAVING sum(expired_at IS NULL) <> 1""",
        _REBUILD,
    ),
    "evidence": _Check(
        "pieces of evidence of a missing memory or event",
        f"""SELECT 'm' || memory || ' from e' || event FROM evidence WHERE user_id = :user_id
            AND ({_NO_MEMORY.format("evidence")} OR {_NO_EVENT.format("evidence")})""",  # noqa: S608 - our own words
        f"{_REBUILD}; `credenda doctor --repair` deletes evidence of missing memories",
        (f"DELETE {_LOST_EVIDENCE}",),
    ),
    "successor": _Check(
        "memories superseded by a missing one",
        """SELECT 'm' || id FROM memories AS m WHERE user_id = :user_id AND superseded_by IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM memories AS n WHERE n.user_id = m.user_id AND n.id = m.superseded_by)""",
        _REBUILD,
    ),
    "contests": _Check(
        "contests of a missing memory",
        """SELECT DISTINCT 'k' || contests.id FROM contests, json_each(contests.memories) AS one
           WHERE user_id = :user_id AND NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.user_id = contests.user_id
               AND m.id = CAST(substr(one.value, 2) AS INTEGER))""",
        _REBUILD,
    ),
    "change_log": _Check(
        "memories that no change in the log explains",
        """SELECT DISTINCT 'm' || id FROM memories WHERE user_id = :user_id AND id NOT IN (
           SELECT memory FROM changes WHERE user_id = :user_id AND kind = 'add' AND memory IS NOT NULL)""",
        _RESTORE,
    ),
    "change_numbers": _Check(
        "gaps in the log, where changes are missing",
        """SELECT 'before c' || id FROM changes AS c WHERE user_id = :user_id AND id > 1 AND NOT EXISTS (
               SELECT 1 FROM changes AS p WHERE p.user_id = c.user_id AND p.id = c.id - 1)""",
        _RESTORE,
    ),
    "journal_numbers": _Check(
        "gaps in the journal, where events are missing",
        """SELECT 'before e' || id FROM events AS e WHERE user_id = :user_id AND id > 1 AND NOT EXISTS (
               SELECT 1 FROM events AS p WHERE p.user_id = e.user_id AND p.id = e.id - 1)""",
        _RESTORE,
    ),
    "passages": _Check(
        "passages of missing events",
        f"SELECT 'e' || event {_LOST_PASSAGES}",
        _REPAIR,
        (f"DELETE {_LOST_PASSAGES}",),
    ),
    "vectors": _Check(
        "vectors of missing or redacted documents",
        f"""SELECT CASE WHEN code >= (1 << 43) THEN 'm' || ((code & ((1 << 43) - 1)) >> 12) ELSE 'e' || (code >> 12) END
            {_LOST_VECTORS}""",
        _REPAIR,
        (*_KEEP_VECTOR_HEAD, f"DELETE {_LOST_VECTORS}"),
    ),
    "accesses": _Check(
        "impressions of missing memories",
        f"SELECT 'm' || memory {_LOST_ACCESSES}",
        _REPAIR,
        (f"DELETE {_LOST_ACCESSES}",),
    ),
    "jobs": _Check(
        "jobs for missing events",
        f"SELECT 'j' || id {_LOST_JOBS}",
        _REPAIR,
        (f"DELETE {_LOST_JOBS}",),
    ),
    "vector_checksums": _Check(
        "vectors that do not match their length or checksum",
        f"""SELECT CASE WHEN code >= (1 << 43) THEN 'm' || ((code & ((1 << 43) - 1)) >> 12) ELSE 'e' || (code >> 12) END
            {_ALTERED_VECTORS}""",
        "run `credenda doctor --repair`, which makes them again",
        (*_KEEP_VECTOR_HEAD, f"DELETE {_ALTERED_VECTORS}"),
    ),
    "tombstone_checksums": _Check(
        "tombstones that do not match their checksum, so that a deleted text may be stated again",
        """SELECT 'tombstone ' || substr(hex(digest), 1, 8) FROM tombstones WHERE user_id = :user_id
           AND checksum IS NOT NULL AND checksum <> credenda_checksum(digest, kind, normaliser, created_at)""",
        _RESTORE,
    ),
    "dead_jobs": _Check(
        "jobs gave up after too many attempts",
        "SELECT 'j' || id FROM operations WHERE user_id = :user_id AND status = 'dead' AND kind <> 'call'",
        "see `credenda stats`; their messages are stored verbatim",
    ),
}


def check_store(connection: sqlite3.Connection, tenant: TenantRecord | None) -> list[Finding]:
    """Return all findings; an empty list means that all checks passed."""
    findings = _complete("file", _check_integrity(connection))
    if tenant is not None:
        findings += _complete("rows", _check_rows(connection, tenant))
        findings += _complete("journal_chain", _check_journal_chain(connection, tenant))
        for name, check in _CHECKS.items():
            findings += _complete(name, _run_check(connection, tenant, name, check))
    return findings


def _complete(check: str, found: Iterator[Finding]) -> list[Finding]:
    """Collect the findings of a check; damage that ends the check is one of them."""
    done: list[Finding] = []
    try:
        for finding in found:
            done.append(finding)  # noqa: PERF402 - those before the damage are kept
    except (sqlite3.DatabaseError, *IMPOSSIBLE) as error:
        if isinstance(error, sqlite3.Error) and is_busy(error):
            raise
        detail = f"this check could not be completed ({type(error).__name__})"
        done.append(Finding(check=check, detail=detail, where="the file", fix=_RESTORE))
    return done


def _run_check(connection: sqlite3.Connection, tenant: TenantRecord, name: str, check: _Check) -> Iterator[Finding]:
    mine = {"user_id": tenant.user_id}
    found = [str(row[0]) for row in connection.execute(check.rows, mine)]
    if found:
        yield Finding(check=name, detail=f"{len(found)} {check.what}", where=_name_first(found), fix=check.fix)


def _name_first(names: Sequence[str]) -> str:
    return ", ".join([*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])])


def _check_rows(connection: sqlite3.Connection, tenant: TenantRecord) -> Iterator[Finding]:
    """Find the rows that cannot be decoded; vectors have a check with a repair."""
    damaged: list[DamagedRow] = []
    for _ in dump_rows(connection, tenant.user_id, [one for one in TABLES if one != "embeddings"], damaged):
        pass
    for table in dict.fromkeys(one.table for one in damaged):
        names = [one.key for one in damaged if one.table == table]
        yield Finding(
            check=_ROW_CHECKS.get(table, "rows"),
            detail=f"{len(names)} rows of {table} cannot be read",
            where=f"{table}: {_name_first(names)}",
            fix=SAVE_THE_REST,
        )


def repair_rows(connection: sqlite3.Connection, tenant: TenantRecord, findings: Iterable[Finding]) -> list[Finding]:
    """Delete the derived rows that findings name, inside the caller's transaction; return the findings after that.

    A finding that the repair cannot fix is found once more and stays unrepaired.
    """
    done: list[Finding] = []
    for finding in findings:
        check = _CHECKS.get(finding.check)
        if check is None or not check.repair:
            done.append(finding)
            continue
        for statement in check.repair:
            connection.execute(statement, {"user_id": tenant.user_id})
        left = next(_run_check(connection, tenant, finding.check, check), None)
        done.append(replace(finding, repaired=True) if left is None else left)
    return done


def check_text_index(connection: sqlite3.Connection, *, repair: bool) -> list[Finding]:
    """Compare the full-text index with the words of the rows, and rebuild it on request; needs a write transaction."""
    if _has_run(connection, "INSERT INTO search_index (search_index, rank) VALUES ('integrity-check', 1)"):
        return []
    finding = Finding(
        check="full_text",
        detail="the full-text index differs from the rows it is derived from",
        where="the words of all users of the file",
        fix="run `credenda doctor --repair`, which rebuilds it",
    )
    if repair and _has_run(connection, _REBUILD_WORDS):
        connection.execute(_DROP_IMAGES)
        finding = replace(finding, repaired=True)
    return [finding]


def _has_run(connection: sqlite3.Connection, statement: str) -> bool:
    """Run a statement on the full-text index; return False if the index or a row is damaged."""
    try:
        connection.execute(statement)
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in _DAMAGED:
            return False
        raise
    return True


def rebuild_text_index(connection: sqlite3.Connection) -> None:
    """Rebuild the full-text index from its source rows, and drop every snapshot."""
    connection.execute(_REBUILD_WORDS)
    connection.execute(_DROP_IMAGES)


def _check_integrity(connection: sqlite3.Connection) -> Iterator[Finding]:
    for row in connection.execute("PRAGMA integrity_check(10)"):
        if row[0] != "ok":
            yield Finding(check="file", detail=str(row[0]), where="the file", fix=_RESTORE)


def _check_journal_chain(connection: sqlite3.Connection, tenant: TenantRecord) -> Iterator[Finding]:
    previous = GENESIS
    found = connection.execute(
        """SELECT id, role, speaker, source, session_id AS session, agent_id AS agent, occurred_at AS occurred_us,
           recorded_at AS recorded_us, content_hmac, chain_hash, text, redacted_at FROM events
           WHERE user_id = ? ORDER BY id""",
        (tenant.user_id,),
    )
    for row in found:
        emptied = row["redacted_at"] is not None and not row["text"]  # it has lost the names that its link covers
        if not emptied and compute_chain_link(previous, dict(row)) != row["chain_hash"]:
            yield Finding(
                check="journal_chain",
                detail=f"the chain of the journal breaks at event {row['id']}",
                where=f"e{row['id']}",
                fix=_RESTORE,
            )
            return
        if row["redacted_at"] is None and compute_content_hmac(tenant.key, row["text"]) != row["content_hmac"]:
            yield Finding(
                check="journal_text",
                detail=f"the text of event {row['id']} is not what was recorded",
                where=f"e{row['id']}",
                fix=_RESTORE,
            )
        previous = row["chain_hash"]
