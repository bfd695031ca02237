"""Finishing erasures: the log emptied, the bytes searched, the ledgers beside database and backups written.

The proof of a file has three entries. `windows_searched`: pieces of erased data that were searched for in every byte of
the file and its log. `remaining_matches`: how many of them were found although no row holds them any more.
`log_emptied`: "yes" where the write-ahead log was cut off, "no" where a reader kept it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

from credenda import limits
from credenda.errors import CredendaError
from credenda.model.doctor_finding import Finding
from credenda.storage.erasure_ledger import (
    ErasedTenant,
    add_to_ledger,
    hash_tenant_name,
    list_damaged_ledgers,
    remove_from_ledger,
)
from credenda.storage.sqlite.connection import connect, is_there, translate_errors
from credenda.storage.sqlite.erase import (
    UnfinishedErasure,
    empty_whole_log,
    list_unfinished,
    search_probes,
    vacuum,
)
from credenda.storage.sqlite.group import GroupCommit
from credenda.storage.tenant_transfer import Erasure

_OWE: Final = "INSERT OR REPLACE INTO owed_ledgers (path, tag, since, reason) VALUES (?, ?, ?, ?)"
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
    owed, backups = settle_ledgers(path, commits, connection, now_us)
    done = [one for one, (_, remaining) in zip(open_ones, results, strict=True) if emptied and not remaining]
    if done:
        commits.run(lambda: [connection.execute(_FINISHED, (now_us, one.digest, one.tag)) for one in done])
    remaining_matches = sum(remaining for _, remaining in results)
    proof = {
        "windows_searched": str(sum(windows for windows, _ in results)),
        "remaining_matches": str(remaining_matches),
        "log_emptied": "yes" if emptied else "no",
    }
    return Erasure(rows=rows, held=emptied and not remaining_matches, proof=proof, backups=tuple(backups), owed=owed)


def settle_ledgers(
    path: str, commits: GroupCommit, connection: sqlite3.Connection, now_us: int
) -> tuple[dict[str, str], list[str]]:
    """Bring the ledgers beside the database and its backups up to date, as far as possible.

    Returns the ledgers that still lack an entry, with the reason, and the backups that exist. The missing entries are
    recorded, and tried again when the database is next opened for writing, by every worker, and by the next erasure.
    """
    entries, backups = _read_whole_ledger(path)
    with translate_errors(path), closing(connect(path, create=False)) as reading:
        before = {(row[0], row[1]) for row in reading.execute("SELECT path, tag FROM owed_ledgers")}
    owed: dict[tuple[str, str], str] = {}
    for place in (path, *backups):
        _attempt(owed, (place, ""), partial(add_to_ledger, place, entries))
    kept = {entry.tag for entry in entries}
    for place, tag in before:
        if tag and tag not in kept and _is_reachable(place):
            _attempt(owed, (place, tag), partial(remove_from_ledger, place, tag))
    if before or owed:
        rows = [(place, tag, now_us, reason) for (place, tag), reason in owed.items()]
        paid = [key for key in before if key not in owed]

        def record() -> None:
            connection.executemany("DELETE FROM owed_ledgers WHERE path = ? AND tag = ?", paid)
            connection.executemany(_OWE, rows)

        commits.run(record)
    return {place: reason for (place, _), reason in owed.items()}, [one for one in backups if _is_file(one)]


def find_owed(path: str, owed: Mapping[str, str] | None = None) -> list[Finding]:
    """Report the ledgers that are owed something, or those given, and damaged ledgers that were set aside."""
    with translate_errors(path), closing(connect(path, create=False)) as reading:
        places = [path, *(row[0] for row in reading.execute("SELECT path FROM backups ORDER BY path"))]
        if owed is None:
            owed = {row[0]: row[1] for row in reading.execute("SELECT path, reason FROM owed_ledgers ORDER BY path")}
    found = [
        Finding(
            check="ledgers",
            detail=f"users erased here are not listed beside it yet: {reason}",
            where=place,
            fix="make it writable, then run `credenda doctor --repair`; until then restore it over this database only",
        )
        for place, reason in owed.items()
    ]
    damaged = [one for place in places for one in list_damaged_ledgers(place)]
    return found + [
        Finding(
            check="ledgers",
            detail="a damaged ledger of erasures was set aside; its valid lines were kept",
            where=place,
            fix="restore an intact copy beside the backup if you have one, then delete this file",
        )
        for place in damaged
    ]


def _attempt(owed: dict[tuple[str, str], str], key: tuple[str, str], step: Callable[[], None]) -> None:
    """Run a step; if it fails, add the reason under the key."""
    try:
        step()
    except CredendaError as error:
        owed[key] = str(error)


def _read_results(path: str) -> tuple[list[UnfinishedErasure], list[tuple[int, int]]]:
    with translate_errors(path), closing(connect(path, create=False)) as reading:
        open_ones = list_unfinished(reading)
        return open_ones, [search_probes(path, reading, one.probes) for one in open_ones]


def _read_whole_ledger(path: str) -> tuple[list[ErasedTenant], list[str]]:
    """Return the whole ledger, and the backups, but for those that were removed from where they were made."""
    with translate_errors(path), closing(connect(path, create=False)) as reading:
        found = reading.execute("SELECT digest, tag, ledger_key, erased_at FROM erasures").fetchall()
        paths = [row[0] for row in reading.execute("SELECT path FROM backups ORDER BY path")]
    return [ErasedTenant(*row) for row in found], [one for one in paths if _is_reachable(one)]


def _is_reachable(path: str) -> bool:
    """Return whether a backup exists, or may exist although it cannot be seen now, as on a disk that is not mounted."""
    return _is_file(path) or not is_there(Path(path).parent.is_dir)


def _is_file(path: str) -> bool:
    return is_there(Path(path).is_file)


def remove_from_ledgers(
    path: str, commits: GroupCommit, connection: sqlite3.Connection, now_us: int, *, tag: str
) -> None:
    """Remove a tenant from the ledgers that was imported again on purpose: a later backup may contain it."""
    places = (path, *_read_whole_ledger(path)[1])

    def owe() -> bool:
        found = connection.execute("DELETE FROM erasures WHERE tag = ?", (tag,)).rowcount
        if found:
            connection.executemany(_OWE, [(place, tag, now_us, "not tried yet") for place in places])
        return bool(found)

    if commits.run(owe):
        settle_ledgers(path, commits, connection, now_us)


def find_erased_tenants(connection: sqlite3.Connection, entries: Mapping[str, ErasedTenant]) -> list[str]:
    """Return the tenants of a file that the entries of a ledger list as erased."""
    tenants = connection.execute("SELECT user_id, tag FROM tenants").fetchall()
    return [
        row["user_id"]
        for row in tenants
        if (entry := entries.get(row["tag"])) and hash_tenant_name(entry.key, row["user_id"]) == entry.digest
    ]
