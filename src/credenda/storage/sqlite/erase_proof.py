"""Finishing erasures: the log emptied, the bytes searched, the ledgers beside database and backups written.

The proof of a file has three entries. `windows_searched`: pieces of erased data that were searched for in every byte of
the file and its log. `remaining_matches`: how many of them were found although no row holds them any more.
`log_emptied`: "yes" where the write-ahead log was cut off, "no" where a reader kept it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from credenda import limits
from credenda.storage.erasure_ledger import ErasedTenant, add_to_ledger, remove_from_ledger
from credenda.storage.sqlite.connection import connect
from credenda.storage.sqlite.erase import (
    UnfinishedErasure,
    empty_whole_log,
    hash_tenant_name,
    list_unfinished,
    search_probes,
    vacuum,
)
from credenda.storage.sqlite.errors import translate_errors
from credenda.storage.sqlite.group import GroupCommit
from credenda.storage.tenant_transfer import Erasure

__all__ = ["find_erased_tenants", "finish_erasures", "remove_from_ledgers"]

_FINISHED: Final = "UPDATE erasures SET finished_at = ?, probes = NULL WHERE digest = ? AND tag = ?"


def finish_erasures(
    path: str,
    commits: GroupCommit,
    connection: sqlite3.Connection,
    now_us: int,
    *,
    rows: Mapping[str, int],
    patience_seconds: float = limits.ERASE_PATIENCE_SECONDS,
) -> Erasure:
    """Complete every started erasure and return the results. Safe to repeat and to run in several processes."""
    emptied = empty_whole_log(path, patience_seconds)
    open_ones, results = _read_results(path)
    if emptied and any(remaining for _, remaining in results):
        vacuum(path)  # a page may contain, beside its rows, bytes of rows that moved through it
        emptied = empty_whole_log(path, patience_seconds)
        open_ones, results = _read_results(path)
    entries, backups = _read_whole_ledger(path)
    for place in (path, *backups):
        add_to_ledger(place, entries)
    done = [one for one, (_, remaining) in zip(open_ones, results, strict=True) if emptied and not remaining]
    if done:
        commits.run(lambda: [connection.execute(_FINISHED, (now_us, one.digest, one.tag)) for one in done])
    remaining_matches = sum(remaining for _, remaining in results)
    proof = {
        "windows_searched": str(sum(windows for windows, _ in results)),
        "remaining_matches": str(remaining_matches),
        "log_emptied": "yes" if emptied else "no",
    }
    return Erasure(rows=rows, held=emptied and not remaining_matches, proof=proof, backups=tuple(backups))


def _read_results(path: str) -> tuple[list[UnfinishedErasure], list[tuple[int, int]]]:
    with translate_errors(path), closing(connect(path, create=False)) as reading:
        open_ones = list_unfinished(reading)
        return open_ones, [search_probes(path, reading, one.probes) for one in open_ones]


def _read_whole_ledger(path: str) -> tuple[list[ErasedTenant], list[str]]:
    """Return the whole ledger, and the backups that still exist where they were made."""
    with translate_errors(path), closing(connect(path, create=False)) as reading:
        found = reading.execute("SELECT digest, tag, ledger_key, erased_at FROM erasures").fetchall()
        paths = [row[0] for row in reading.execute("SELECT path FROM backups ORDER BY path")]
    return [ErasedTenant(*row) for row in found], [one for one in paths if _is_file(one)]


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except OSError:
        return False


def remove_from_ledgers(path: str, commits: GroupCommit, connection: sqlite3.Connection, tag: str) -> None:
    """Remove a tenant from the ledgers that was imported again on purpose: a later backup may contain it."""
    if commits.run(lambda: connection.execute("DELETE FROM erasures WHERE tag = ?", (tag,)).rowcount):
        for place in (path, *_read_whole_ledger(path)[1]):
            remove_from_ledger(place, tag)


def find_erased_tenants(connection: sqlite3.Connection, entries: Mapping[str, ErasedTenant]) -> list[str]:
    """Return the tenants of a file that the entries of a ledger list as erased."""
    tenants = connection.execute("SELECT user_id, tag FROM tenants").fetchall()
    return [
        row["user_id"]
        for row in tenants
        if (entry := entries.get(row["tag"])) and hash_tenant_name(entry.key, row["user_id"]) == entry.digest
    ]
