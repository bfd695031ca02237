"""Copies of a whole file: made while others write, and put in the place of a database again."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from credenda.clock import Clock
from credenda.errors import Conflict, Corrupt, CredendaError, Invalid, NotFound, Unavailable
from credenda.model.report import BackupReport, RestoreReport
from credenda.paths import find_path_kind
from credenda.storage.erasure_ledger import ErasedTenant, add_to_ledger, locate_ledger, read_ledger
from credenda.storage.sqlite.connection import connect
from credenda.storage.sqlite.erase_proof import find_erased_tenants
from credenda.storage.sqlite.errors import translate_errors
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import Store

__all__ = ["back_up", "restore_file"]

ReplayDeletions = Callable[[Store, Store, str], int]
"""Deletes in a second database what a user has deleted in the first; returns how much."""
_SERIOUS: Final = frozenset({"file", "journal_chain", "journal_text", "journal_numbers", "change_numbers"})
"""Findings with which a backup is not what was backed up."""
_LIFTED: Final = "SELECT user_id, tag FROM tenants WHERE user_id IN (SELECT user_id FROM legal_holds)"
"""Those whose hold was lifted, in a database in which none is in force."""
_TAGS: Final = "SELECT tag FROM tenants UNION SELECT tag FROM erasures"
_LEDGER: Final = "SELECT digest, tag, ledger_key, erased_at FROM erasures"


def back_up(store: SqliteStore, path: Path) -> BackupReport:
    """Copy the whole file, as it is at one moment, while others read and write; all of it or nothing.

    What was acknowledged before the call is in the copy. An earlier backup of the same name is replaced, another file
    never. Raises `Invalid` for a folder or the database itself, `Conflict` for a file of something else, `Unavailable`
    when it cannot be written.
    """
    source, place = Path(store.path).absolute(), path.absolute()
    there = find_path_kind(place)
    if there == "folder" or place == source or (there and place.samefile(source)):
        raise Invalid(f"{path} cannot be a backup", why="it is a folder, or the database", fix="name another file")
    try:
        str(place).encode()
    except UnicodeEncodeError as error:
        why = "its name is not Unicode, and backups are remembered by name"
        raise Invalid(f"{str(path)!r} cannot be a backup", why=why, fix="name another file") from error
    if there and not store.has_backup(str(place)):
        raise Conflict(f"{path} is there already", why="it is no backup of this file", fix="name another file")
    store.note_backup(str(place))
    with _make_temporary_file(place) as part:
        with translate_errors(str(place)), closing(connect(store.path, query_only=True)) as reading:
            users = _copy(reading, part)
        _sync_and_replace(part, place)
    with translate_errors(store.path), closing(connect(store.path, query_only=True)) as reading:
        add_to_ledger(place, [ErasedTenant(*row) for row in reading.execute(_LEDGER)])
    return BackupReport(path=str(path), size_bytes=place.stat().st_size, users=users)


def restore_file(
    backup: Path,
    target: Path,
    clock: Clock,
    *,
    replace: bool,
    deletions: Path | None = None,
    delete_again: ReplayDeletions | None = None,
) -> RestoreReport:
    """Put a backup in the place of a database, checked first, and without those who were erased since it was made.

    `delete_again` is handed the database that goes and the copy, for each user, and takes from the copy what was
    deleted since; its counts are summed up. `deletions` is another state of what was backed up, which stays as it is
    and is asked in the same way; who was erased there is erased here.

    Raises `NotFound` for a missing file, `Invalid` for deletions of other memories, `Conflict` where a database
    stands and `replace` is not given, or it is another program's or under a legal hold, `Corrupt` for a damaged backup,
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
    with _make_temporary_file(target.absolute()) as part:
        with translate_errors(str(backup)), closing(connect(str(backup), read_only=True)) as reading:
            _copy(reading, part)
        users, erased = _apply_erasures(part, entries, clock)
        deleted, unread = 0, ""
        if deletions is not None and delete_again is not None:
            deleted, why = _replay_deletions(part, deletions, clock, delete_again)
            if why:
                raise Unavailable(f"{deletions} could not be read", why=why, fix="give another state; nothing changed")
        if target.exists() and delete_again is not None and not (deletions and target.samefile(deletions)):
            again, unread = _replay_deletions(part, target, clock, delete_again)
            deleted += again
        replayed = target.exists() or deletions is not None
        if target.exists():
            _release_target(target)
        _sync_and_replace(part, target.absolute())
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


@contextmanager
def _make_temporary_file(place: Path) -> Generator[Path]:
    """Lend an empty file beside the place where it is to go; what is left of it at the end is taken away."""
    try:
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:64]}.", suffix=".part")
    except OSError as error:
        raise Unavailable(
            f"{place} cannot be written", why=error.strerror or "", fix="check that its folder exists and has room"
        ) from error
    os.close(handle)
    try:
        yield Path(name)
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            Path(f"{name}{ending}").unlink(missing_ok=True)
        locate_ledger(name).unlink(missing_ok=True)


def _copy(source: sqlite3.Connection, part: Path) -> int:
    """Copy a database in one step, under one view of it, into one file without a log; return how many users it has."""
    with closing(sqlite3.connect(part, isolation_level=None)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        sound = [row[0] for row in copy.execute("PRAGMA quick_check(3)")]
        if sound != ["ok"]:
            raise Corrupt("the copy is damaged", why=str(sound[0]), fix="run `credenda doctor`; nothing was replaced")
        if not copy.execute("SELECT 1 FROM sqlite_schema WHERE name = 'tenants'").fetchone():
            raise Corrupt("this is not a backup of Credenda", why="it holds other tables", fix="give another file")
        return int(copy.execute("SELECT count(*) FROM tenants").fetchone()[0])


def _sync_and_replace(part: Path, place: Path) -> None:
    """Make a file durable, and let it take a place."""
    try:
        handle = os.open(part, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        part.replace(place)
        with suppress(OSError):  # a system without folder handles
            folder = os.open(place.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise Unavailable(f"{place} cannot be written", why=error.strerror or "", fix="make room for it") from error


def _check_related(deletions: Path, backup: Path) -> None:
    """Refuse a database that knows nobody of the backup: it cannot tell what was deleted since."""
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
    """Gather who was erased, from the ledgers beside the files and from databases that know more than the backup."""
    entries = read_ledger(backup)
    for other in others:
        entries |= read_ledger(other)
        if other.exists():
            with suppress(CredendaError, sqlite3.Error), closing(connect(str(other), read_only=True)) as reading:
                entries |= {row["tag"]: ErasedTenant(*row) for row in reading.execute(_LEDGER)}
    return entries


def _check_target(target: Path) -> None:
    """Refuse to replace another program's database, or one under a legal hold: what was said since would be gone."""
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
            why="restoring would take away what was said since the backup was made",
            fix="lift the hold, or restore to another path",
        )


def _apply_erasures(part: Path, entries: Mapping[str, ErasedTenant], clock: Clock) -> tuple[int, int]:
    """Bring a copy up to date, verify it, and erase from it whom the ledger names; return users kept and erased."""
    store = SqliteStore(str(part), clock=clock)
    try:
        with closing(connect(str(part))) as reading:
            users = [row[0] for row in reading.execute("SELECT user_id FROM tenants ORDER BY user_id")]
            named = find_erased_tenants(reading, entries)
        for user_id in users:
            serious = [one for one in store.check(user_id, repair=True) if one.check in _SERIOUS and not one.repaired]
            if serious:
                raise Corrupt("the backup is damaged", why=serious[0].detail, fix="restore another; nothing changed")
        store.take_over(entries.values())
        for user_id in named:
            store.release(user_id)
            if store.erase(user_id).proof["remaining_matches"] != "0":
                raise Unavailable("a user could not be erased from the backup", why="bytes are left", fix="try again")
    finally:
        store.close()
    _fold_in_log(part)
    return len(users) - len(named), len(named)


def _replay_deletions(part: Path, later: Path, clock: Clock, delete_again: ReplayDeletions) -> tuple[int, str]:
    """Delete from a copy what was deleted since; return how much, and why the later database could not tell."""
    try:
        old = SqliteStore(str(later), clock=clock, read_only=True)
    except CredendaError as error:  # damaged, or of an older version: that may be why it is replaced
        return 0, str(error)
    deleted = 0
    try:
        new = SqliteStore(str(part), clock=clock)
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


def _release_target(target: Path) -> None:
    """End the log of a database that is to be replaced; raises `Unavailable` while anybody has it open.

    A log that stayed would be taken for that of the new file.
    """
    try:
        with closing(sqlite3.connect(target, isolation_level=None, timeout=1)) as old:
            old.execute("PRAGMA journal_mode = DELETE").fetchone()
    except sqlite3.OperationalError as error:
        raise Unavailable(
            f"{target} is in use", why=str(error), fix="close every program that has it open, then restore again"
        ) from error
    except (sqlite3.DatabaseError, UnicodeDecodeError):  # damaged: that is why it is replaced
        pass
    for ending in ("-wal", "-shm", "-journal"):
        Path(f"{target}{ending}").unlink(missing_ok=True)
