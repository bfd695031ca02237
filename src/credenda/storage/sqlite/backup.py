"""Backup and restore of a whole database file, while other processes read and write."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from credenda.clock import Clock
from credenda.errors import Conflict, Corrupt, CredendaError, Invalid, NotFound, Unavailable
from credenda.model.report import BackupReport, RestoreReport
from credenda.paths import find_path_kind
from credenda.storage.sqlite.connection import connect, is_there, translate_errors
from credenda.storage.sqlite.erase import find_erased_tenants
from credenda.storage.sqlite.store import SqliteStore, copy_database, make_temporary_file, migrate, sync_and_replace
from credenda.storage.store import Store
from credenda.storage.transfer import PROBE_USER, ErasedTenant, add_to_ledger, read_ledger

ReplayDeletions = Callable[[Store, Store, str], int]
"""Repeats in a second database the deletions of a user in the first; returns their count."""
_SERIOUS: Final = frozenset(
    {
        *("file", "rows", "journal_rows", "journal_chain", "journal_text", "journal_numbers"),
        *("change_rows", "change_numbers"),
    }
)
"""Findings that make a backup unusable."""
_SAVE: Final = (
    "restore another; or open it with --db and save its other rows with `export --skip-damaged`; nothing changed"
)
_LIFTED: Final = "SELECT user_id, tag FROM tenants WHERE user_id IN (SELECT user_id FROM legal_holds)"
"""Tenants whose hold was lifted, in a database in which none is in force."""
_TAGS: Final = "SELECT tag FROM tenants UNION SELECT tag FROM erasures"
_OWE: Final = "INSERT OR REPLACE INTO owed_ledgers (path, since, reason) VALUES (?, ?, 'not tried yet')"
_IDENTITY: Final = "SELECT id, backup_at FROM identity"
_LEDGER: Final = "SELECT digest, tag, ledger_key, erased_at FROM erasures"


def back_up(store: SqliteStore, path: Path) -> BackupReport:
    """Copy the whole file in one consistent state while others read and write; all of it or nothing.

    The copy contains everything acknowledged before the call. It replaces an earlier backup of this database, never
    another file. Raises `Invalid` for a folder, a link or the database itself, `Conflict` for any other file, among
    them a backup that was opened for writing since, `Unavailable` when it cannot be written.
    """
    source, place = Path(store.path).absolute(), path.absolute()
    there = find_path_kind(place)
    if place.is_symlink():
        raise Invalid(f"{path} cannot be a backup", why="it is a link", fix="name the file itself, or another one")
    if there == "folder" or place == source or (there and place.samefile(source)):
        raise Invalid(f"{path} cannot be a backup", why="it is a folder, or the database", fix="name another file")
    try:
        str(place).encode()
    except UnicodeEncodeError as error:
        why = "its name is not Unicode, and backups are remembered by name"
        raise Invalid(f"{str(path)!r} cannot be a backup", why=why, fix="name another file") from error
    _check_replaceable(store, place, there=bool(there))
    with make_temporary_file(place) as part:
        with translate_errors(str(place)), closing(connect(store.path, query_only=True, create=False)) as reading:
            users = _copy(reading, part)
        now_us = store.now_us()
        with translate_errors(str(part)), closing(sqlite3.connect(part, isolation_level=None)) as copy:
            copy.execute("UPDATE identity SET backup_at = ?", (now_us,))
        store.note_backup(str(place))  # before it is there, and once nothing but a full disk can keep it away
        sync_and_replace(part, place)
    store.list_erasures_beside(str(place))
    return BackupReport(path=str(path), size_bytes=place.stat().st_size, users=users)


def _check_replaceable(store: SqliteStore, place: Path, *, there: bool) -> None:
    """Refuse to replace a file that is no backup of this database, or one that was opened for writing since."""
    fix = "name another file, or move this one away"
    for ending in ("-wal", "-journal"):
        log = Path(f"{place}{ending}")
        if is_there(log.is_file) and log.stat().st_size:
            raise Conflict(f"{log} is there already", why="a database at this path is in use, or was", fix=fix)
    if not there:
        return
    why = _find_difference(store, place)
    if why:
        raise Conflict(f"{place} is there already", why=why, fix=fix)


def _find_difference(store: SqliteStore, place: Path) -> str:
    """Say why a file is no backup of this database; "" for a backup that nobody has written into."""
    other = "it is no backup of this database"
    try:
        with closing(connect(str(place), read_only=True)) as reading:
            tables = {str(row[0]) for row in reading.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            if not tables >= {"schema_version", "tenants"}:
                return other
            found = reading.execute(_IDENTITY).fetchone()
    except (CredendaError, sqlite3.Error, UnicodeDecodeError):
        return other
    if found is None or found["id"] != store.identity():
        return other
    return "" if found["backup_at"] else "it is a database that was opened for writing"


def restore_file(
    backup: Path,
    target: Path,
    clock: Clock,
    *,
    replace: bool,
    deletions: Path | None = None,
    delete_again: ReplayDeletions | None = None,
    key: bytes = b"",
) -> RestoreReport:
    """Replace a database by a verified backup, without the tenants erased since the backup was made.

    `delete_again` gets the database being replaced and the copy, for each user, and repeats later deletions in the
    copy; its counts are added up. `deletions` is another state of the same database, read in the same way and left
    unchanged; tenants erased there are erased here.

    Raises `NotFound` for a missing file, `Invalid` for deletions of an unrelated database, `Conflict` when the target
    exists and `replace` is false, belongs to another program or is under a legal hold, `Corrupt` for a damaged backup,
    `Unavailable` while others have the database open. After any of them nothing has changed.
    """
    if not backup.is_file():
        raise NotFound(f"there is no backup at {backup}", fix="check the path")
    if target.exists() and backup.samefile(target):
        raise Invalid("a database cannot be restored from itself", why="both are one file", fix="name the backup")
    if target.exists() and not replace:
        raise Conflict(
            f"{target} is there already", why="restoring replaces it", fix="add --replace, or restore to another path"
        )
    _check_target(target)
    if deletions is not None:
        _check_related(deletions, backup)
    entries = _collect_erased(backup, *filter(None, (target, deletions)))
    with make_temporary_file(target.absolute()) as part:
        with translate_errors(str(backup)), closing(connect(str(backup), read_only=True)) as reading:
            _copy(reading, part)
        users, erased = _apply_erasures(part, entries, clock, key)
        deleted, unread = 0, ""
        if deletions is not None and delete_again is not None:
            deleted, why = _replay_deletions(part, deletions, clock, delete_again, key=key)
            if why:
                raise Unavailable(f"{deletions} could not be read", why=why, fix="give another state; nothing changed")
        if target.exists() and delete_again is not None and not (deletions and target.samefile(deletions)):
            again, unread = _replay_deletions(part, target, clock, delete_again, key=key)
            deleted += again
        replayed = target.exists() or deletions is not None
        _renew_generations(part, target.absolute(), clock.now_us())
        if target.exists():
            _release_target(target)
        sync_and_replace(part, target.absolute())
    with suppress(CredendaError):  # the copy knows that it owes them, and writes them when it is next opened
        add_to_ledger(target, entries.values())
    return RestoreReport(
        path=str(target),
        backup=str(backup),
        users=users,
        erased=erased,
        deleted=deleted,
        unread=unread,
        replayed=replayed,
    )


def _copy(source: sqlite3.Connection, part: Path) -> int:
    """Copy a database in one step from one consistent view, without a log; return its number of users."""
    copy_database(source, part)
    with closing(sqlite3.connect(part, isolation_level=None)) as copy:
        sound = [row[0] for row in copy.execute("PRAGMA quick_check(3)")]
        if sound != ["ok"]:
            raise Corrupt("the copy is damaged", why=str(sound[0]), fix="run `credenda doctor`; nothing was replaced")
        if not copy.execute("SELECT 1 FROM sqlite_schema WHERE name = 'tenants'").fetchone():
            raise Corrupt("this is not a backup of Credenda", why="it holds other tables", fix="give another file")
        return int(copy.execute("SELECT count(*) FROM tenants WHERE user_id <> ?", (PROBE_USER,)).fetchone()[0])


def _check_related(deletions: Path, backup: Path) -> None:
    """Refuse a database without any user of the backup: it has no record of later deletions."""
    if not deletions.is_file():
        raise NotFound(f"there is no database at {deletions}", fix="check the path")
    tags: list[set[str]] = []
    for path in (deletions, backup):
        with translate_errors(str(path)), closing(connect(str(path), read_only=True)) as reading:
            tags.append({row[0] for row in reading.execute(_TAGS)})
    if not tags[0] & tags[1]:
        raise Invalid(
            f"{deletions} holds other memories",
            why="no user of the backup is in it",
            fix="give the database that was backed up, or a later backup of it",
        )


def _collect_erased(backup: Path, *others: Path) -> dict[str, ErasedTenant]:
    """Collect the erased tenants from the ledgers beside the files and from databases newer than the backup.

    A damaged ledger is `Corrupt`, unless a newer database of the same users can be read: it lists all erasures itself.
    """
    entries: dict[str, ErasedTenant] = {}
    tags = _read_tags(backup)
    complete = False
    for other in filter(Path.exists, others):
        with suppress(CredendaError, sqlite3.Error), closing(connect(str(other), read_only=True)) as reading:
            entries |= {entry.id: entry for row in reading.execute(_LEDGER) if (entry := ErasedTenant(*row))}
            complete = complete or bool(tags & {row[0] for row in reading.execute(_TAGS)})
    for path in (backup, *others):
        entries = read_ledger(path, partial=complete) | entries
    return entries


def _read_tags(path: Path) -> set[str]:
    with suppress(CredendaError, sqlite3.Error), closing(connect(str(path), read_only=True)) as reading:
        return {str(row[0]) for row in reading.execute(_TAGS)}
    return set()


def _check_target(target: Path) -> None:
    """Refuse to replace another program's database, or one under a legal hold, whose newer events would be lost."""
    if not target.exists():
        return
    held, tables = 0, set[str]()
    with suppress(CredendaError, sqlite3.Error), closing(connect(str(target), read_only=True)) as reading:
        tables = {str(row[0]) for row in reading.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        held = reading.execute("SELECT count(*) FROM legal_holds WHERE lifted_at IS NULL").fetchone()[0]
    if tables and not tables >= {"schema_version", "tenants"}:
        why = "it holds other tables, which would be lost"
        raise Conflict(f"{target} is another program's database", why=why, fix="restore to another path")
    if held:
        raise Conflict(
            f"{target} is under a legal hold",
            why="restoring would remove everything recorded since the backup",
            fix="lift the hold, or restore to another path",
        )


def _apply_erasures(part: Path, entries: Mapping[str, ErasedTenant], clock: Clock, key: bytes) -> tuple[int, int]:
    """Migrate and verify a copy, and erase the tenants that the ledger lists; return users kept and erased."""
    with translate_errors(str(part)), closing(connect(str(part), key=key)) as copy:
        migrate(copy, clock.now_us())  # the backup itself stays, so that the copy needs no copy
    store = SqliteStore(str(part), clock=clock, key=key)
    try:
        with closing(connect(str(part))) as reading:
            users = [row[0] for row in reading.execute("SELECT user_id FROM tenants ORDER BY user_id")]
            named = find_erased_tenants(reading, entries)
        for user_id in users:
            serious = [one for one in store.check(user_id) if one.check in _SERIOUS]
            if serious:
                raise Corrupt("the backup is damaged", why=f"{serious[0].detail} ({serious[0].where})", fix=_SAVE)
        store.take_over(entries.values())
        for user_id in named:
            store.release(user_id)
            if store.erase(user_id).proof["remaining_matches"] != "0":
                raise Unavailable("a user could not be erased from the backup", why="bytes are left", fix="try again")
    finally:
        store.close()
    _fold_in_log(part)
    return len({*users} - {*named, PROBE_USER}), len({*named} - {PROBE_USER})


def _replay_deletions(
    part: Path, later: Path, clock: Clock, delete_again: ReplayDeletions, *, key: bytes
) -> tuple[int, str]:
    """Repeat later deletions in a copy; return their count, and the reason if the later database cannot be read."""
    try:
        old = SqliteStore(str(later), clock=clock, read_only=True, key=key)
    except CredendaError as error:  # damaged, or an older version: possibly the reason for the restore
        return 0, str(error)
    deleted = 0
    try:
        new = SqliteStore(str(part), clock=clock, key=key)
        try:
            with closing(connect(str(part))) as reading:
                users = reading.execute("SELECT user_id, tag FROM tenants ORDER BY user_id").fetchall()
            with closing(connect(str(later), read_only=True)) as reading:
                lifted = {(row[0], row[1]) for row in reading.execute(_LIFTED)}
            for user_id, tag in users:
                if (user_id, tag) in lifted:
                    new.release(user_id)
                deleted += delete_again(old, new, user_id)
        finally:
            new.close()
        _fold_in_log(part)
    except Corrupt as error:
        return deleted, str(error)
    finally:
        old.close()
    return deleted, ""


def _fold_in_log(part: Path) -> None:
    with closing(sqlite3.connect(part, isolation_level=None)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")


def _renew_generations(part: Path, target: Path, now_us: int) -> None:
    """Make the indexes of the replaced database unusable for the copy: their numbers may name other rows in it.

    The copy also gets the duty to list its erasures beside its new place.
    """
    with translate_errors(str(part)), closing(sqlite3.connect(part, isolation_level=None)) as copy:
        copy.execute("UPDATE tenants SET generation = random()")
        copy.execute("DELETE FROM owed_ledgers WHERE path = ?", (str(part),))
        if copy.execute("SELECT 1 FROM erasures LIMIT 1").fetchone():
            copy.execute(_OWE, (str(target), now_us))


def _release_target(target: Path) -> None:
    """Remove the log of a database that will be replaced; raises `Unavailable` while another process has it open.

    SQLite would read a remaining log as that of the new file.
    """
    try:
        with closing(sqlite3.connect(target, isolation_level=None, timeout=1)) as old:
            old.execute("PRAGMA journal_mode = DELETE").fetchone()
    except sqlite3.OperationalError as error:
        raise Unavailable(
            f"{target} is in use", why=str(error), fix="close every program that has it open, then restore again"
        ) from error
    except (sqlite3.DatabaseError, UnicodeDecodeError):  # damaged: the reason for the restore
        pass
    for ending in ("-wal", "-shm", "-journal"):
        Path(f"{target}{ending}").unlink(missing_ok=True)
