"""Verification of a SQLite file: its soundness, and the agreement of derived rows with their sources."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from credenda.storage.damage import IMPOSSIBLE
from credenda.storage.sql import row_loader
from credenda.storage.sql.row_loader import (
    CHECKS,
    RESTORE,
    TABLES,
    NameRows,
    check_journal_chain,
    report_damaged,
    run_check,
)
from credenda.storage.sqlite.connection import is_busy
from credenda.storage.sqlite.dump import dump_rows
from credenda.storage.sqlite.reader import bind_user
from credenda.storage.store import Finding, TenantRecord
from credenda.storage.tenant_transfer import DamagedRow

_REBUILD_WORDS: Final = "INSERT INTO search_index (search_index) VALUES ('rebuild')"
_DROP_IMAGES: Final = "DELETE FROM index_blobs WHERE name <> 'core'"
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR})
"""Codes of a damaged index, and of a damaged row whose words cannot be computed."""


def _bind_checks(connection: sqlite3.Connection, tenant: TenantRecord) -> NameRows:
    run = bind_user(connection, tenant.user_id)
    return lambda name: (str(row[0]) for row in run(f"check_{name}"))


def check_store(connection: sqlite3.Connection, tenant: TenantRecord | None) -> list[Finding]:
    """Return all findings; an empty list means that all checks passed."""
    findings = _complete("file", _check_integrity(connection))
    if tenant is not None:
        findings += _complete("rows", _check_rows(connection, tenant))
        run = bind_user(connection, tenant.user_id)
        findings += _complete("journal_chain", check_journal_chain(run, tenant))
        name_rows = _bind_checks(connection, tenant)
        for name in CHECKS:
            findings += _complete(name, run_check(name, name_rows))
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
        done.append(Finding(check=check, detail=detail, where="the file", fix=RESTORE))
    return done


def _check_rows(connection: sqlite3.Connection, tenant: TenantRecord) -> Iterator[Finding]:
    """Find the rows that cannot be decoded; vectors have a check with a repair."""
    damaged: list[DamagedRow] = []
    for _ in dump_rows(connection, tenant.user_id, [one for one in TABLES if one != "embeddings"], damaged):
        pass
    yield from report_damaged(damaged)


def repair_rows(connection: sqlite3.Connection, tenant: TenantRecord, findings: Iterable[Finding]) -> list[Finding]:
    """Delete the derived rows that findings name, inside the caller's transaction; return the findings after that.

    A finding that the repair cannot fix is found once more and stays unrepaired.
    """
    run = bind_user(connection, tenant.user_id)
    return row_loader.repair_rows(lambda name: run(name, at_us=0), _bind_checks(connection, tenant), findings)


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
            yield Finding(check="file", detail=str(row[0]), where="the file", fix=RESTORE)
