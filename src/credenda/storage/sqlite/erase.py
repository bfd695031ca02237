"""Erasure of a tenant from a SQLite file: every row in one transaction, then a proof on the bytes.

The schema itself lists the tables with tenant rows, so that a new table cannot be forgotten. The transaction that
deletes also adds the tenant to the ledger, with the probes of the proof. Until the proof succeeds, every process that
opens the file for writing, or erases, continues it.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from credenda import limits
from credenda.clock import pause, seconds
from credenda.errors import Conflict, Corrupt, CredendaError
from credenda.ids import draw_key
from credenda.model.job import Finding
from credenda.storage.rows import guard_row
from credenda.storage.sql.row_loader import TABLES
from credenda.storage.sqlite.connection import GroupCommit, connect, is_there, retry_while_locked, translate_errors
from credenda.storage.transfer import (
    ErasedTenant,
    Erasure,
    add_to_ledger,
    hash_tenant_name,
    list_damaged_ledgers,
    remove_from_ledger,
)
from credenda.text.tokens import fold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Search for erased bytes: keyed hashes of windows of the erased values, searched in whole files.


LONG_BYTES: Final = 16
SHORT_BYTES: Final = 8
_KEY_BYTES: Final = 24
_HALF: Final = 8
_SIEVE_BITS: Final = 20
_DISTINCT: Final = {LONG_BYTES: 6, SHORT_BYTES: 5}
"""Windows with fewer different bytes (zeros, ramps, dashes) are too common and are left out."""
CHUNK_BYTES: Final = 1 << 21


class _WindowSearch(NamedTuple):
    """Windows of one size, and the sieve that passes their hashes."""

    size: int
    wanted: NDArray[np.uint64]
    sieve: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Probes:
    """The probes of a search: the key, and sorted hashes of long and of short windows (uint64)."""

    key: bytes
    long: NDArray[np.uint64]
    short: NDArray[np.uint64]

    @classmethod
    def of(cls, windows: Iterable[bytes]) -> Probes:
        """Hash windows of `LONG_BYTES` or `SHORT_BYTES` under a new key; other sizes are left out."""
        import numpy as np

        telling = {window for window in windows if len(set(window)) >= _DISTINCT.get(len(window), 1 << 10)}
        key = draw_key()[:_KEY_BYTES]
        found: list[NDArray[np.uint64]] = []
        for size in (LONG_BYTES, SHORT_BYTES):
            joined = b"".join(window for window in telling if len(window) == size)
            halves = np.frombuffer(joined, "<u8").reshape(-1, size // _HALF)
            found.append(np.unique(_hash_windows(halves[:, 0], halves[:, -1], key, size)))
        return cls(key, *found)

    def __len__(self) -> int:
        return len(self.long) + len(self.short)

    def to_bytes(self) -> bytes:
        """Serialise the probes; `from_bytes` reads them back."""
        return self.key + len(self.long).to_bytes(8, "little") + self.long.tobytes() + self.short.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Probes:
        """Deserialise the output of `to_bytes`."""
        import numpy as np

        start = _KEY_BYTES + _HALF
        split = start + _HALF * int.from_bytes(data[_KEY_BYTES:start], "little")
        return cls(data[:_KEY_BYTES], np.frombuffer(data[start:split], "<u8"), np.frombuffer(data[split:], "<u8"))

    def found_in(self, pieces: Iterable[bytes]) -> set[int]:
        """Return the hashes of the windows that occur in any of the pieces; a window never spans two pieces."""
        found: set[int] = set()
        sought = [
            _WindowSearch(size, wanted, _build_sieve(wanted))
            for size, wanted in ((LONG_BYTES, self.long), (SHORT_BYTES, self.short))
            if len(wanted)
        ]
        for piece in pieces:
            for one in sought:
                found |= _search(piece, self.key, one)
        return found


def read_chunks(handle: int, size: int) -> Iterator[bytes]:
    """Read an open file up to `size` in overlapping chunks, so that no window is cut."""
    for start in range(0, size, CHUNK_BYTES):
        yield os.pread(handle, CHUNK_BYTES + LONG_BYTES - 1, start)


def join_values(values: Iterable[bytes]) -> Iterator[bytes]:
    """Join short values into larger pieces; a run of separators keeps the values apart."""
    held: list[bytes] = []
    size = 0
    for value in values:
        held.append(value)
        size += len(value) + 1
        if size >= CHUNK_BYTES:
            yield b"\xff".join(held)
            held, size = [], 0
    yield b"\xff".join(held)


def _hash_windows(first: NDArray[np.uint64], last: NDArray[np.uint64], key: bytes, size: int) -> NDArray[np.uint64]:
    import numpy as np

    one, two, three = (np.uint64(int.from_bytes(key[at : at + _HALF], "little") | 1) for at in (0, 8, 16))
    return first * one + last * two if size == LONG_BYTES else first * three


def _build_sieve(wanted: NDArray[np.uint64]) -> NDArray[np.bool_]:
    import numpy as np

    sieve = np.zeros(1 << _SIEVE_BITS, np.bool_)
    sieve[(wanted >> np.uint64(64 - _SIEVE_BITS)).astype(np.intp)] = True
    return sieve


def _search(piece: bytes, key: bytes, sought: _WindowSearch) -> set[int]:
    """Hash the windows at every position, those of every eighth byte at once, and look up those that pass the sieve."""
    import numpy as np

    size, wanted, sieve = sought
    found: set[int] = set()
    for offset in range(_HALF):
        count = (len(piece) - offset) // _HALF
        if count < size // _HALF:
            break
        halves = np.frombuffer(piece, "<u8", count, offset)
        hashes = (
            _hash_windows(halves[:-1], halves[1:], key, size)
            if size == LONG_BYTES
            else _hash_windows(halves, halves, key, size)
        )
        likely = hashes[sieve[(hashes >> np.uint64(64 - _SIEVE_BITS)).astype(np.intp)]]
        if len(likely):
            places = np.searchsorted(wanted, likely).clip(max=len(wanted) - 1)
            found.update(likely[wanted[places] == likely].tolist())
    return found


_KEPT_TO_THE_END: Final = ("tenants", "redaction_permits")
_WITHOUT_TENANT: Final = (
    "agent_tasks",
    "api_tokens",
    "audit_names",
    "audit_subjects",
    "eval_scores",
    "members",
    "server_secrets",
)
"""Tables that may have rows of a user who never wrote."""
_SAMPLED_ROWS: Final = 4_000
"""The rows per column that give probes; of more rows, as many at even distances."""
_LONG_WORD: Final = re.compile(r"[^\W\d_]{12,}")
_WORDED: Final = frozenset({"events", "memories"})
_STEP_SECONDS: Final = 0.02
_handles: Final[dict[tuple[int, int], int]] = {}
"""Files opened for the search, by device and number. They stay open, because closing any descriptor of a file
releases every lock that SQLite has on it in this process.
"""


@dataclass(frozen=True, slots=True)
class UnfinishedErasure:
    """An erasure whose proof has not succeeded yet."""

    digest: bytes
    tag: str
    probes: Probes


class ErasureTarget(NamedTuple):
    """A tenant whose rows were deleted, and the probes to search for."""

    user_id: str
    tag: str
    probes: Probes


def list_tenant_tables(connection: sqlite3.Connection) -> list[str]:
    """Return every table with a column `user_id`, from the schema."""
    found = connection.execute(
        "SELECT t.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c"
        " WHERE t.type = 'table' AND c.name = 'user_id' ORDER BY t.name"
    )
    return [row[0] for row in found]


def delete_rows(
    connection: sqlite3.Connection, user_id: str, now_us: int, exported: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Delete every row of a tenant, inside the caller's transaction; return the number of rows per table.

    Raises `Conflict` under a legal hold, and when rows were added after an export; `Corrupt` if a row remains. Then
    nothing has happened.
    """
    row = connection.execute(
        "SELECT reason FROM legal_holds WHERE user_id = ? AND lifted_at IS NULL", (user_id,)
    ).fetchone()
    if row is not None:
        raise Conflict(
            "this user is under a legal hold", why=str(row[0]), fix="lift the hold first; nothing was erased"
        )
    # Delete the name of a user from the memories of others, and the tokens for them.
    connection.execute("DELETE FROM members WHERE issuer = '' AND subject = ?", (user_id,))
    mine = "SELECT id FROM api_tokens WHERE subject = ?"
    connection.execute(f"DELETE FROM server_secrets WHERE token_id IN ({mine})", (user_id,))  # noqa: S608 - our own names
    connection.execute("DELETE FROM api_tokens WHERE subject = ?", (user_id,))
    tenant = connection.execute("SELECT number, tag FROM tenants WHERE user_id = ?", (user_id,)).fetchone()
    if tenant is None:
        for table in _WITHOUT_TENANT:
            connection.execute(f"DELETE FROM {table} WHERE user_id = ?", (user_id,))  # noqa: S608 - names of our schema
        return {}
    tables = list_tenant_tables(connection)
    counts = {table: _count_rows(connection, table, user_id) for table in tables}
    if exported is not None and any(counts[table] != exported.get(table, 0) for table in TABLES):
        raise Conflict(
            "something was written after the export",
            why="erasing now would lose it",
            fix="erase again: the export is written afresh; nothing was erased",
        )
    probes = Probes.of(_sample_windows(connection, user_id, counts))
    connection.execute("INSERT OR REPLACE INTO redaction_permits (user_id, reason) VALUES (?, 'erase')", (user_id,))
    command = _delete_indexed_words(connection, user_id)
    rest = [table for table in tables if table not in _KEPT_TO_THE_END]
    for table in (*rest, *_KEPT_TO_THE_END):
        connection.execute(f"DELETE FROM {table} WHERE user_id = ?", (user_id,))  # noqa: S608 - names of our schema
    connection.execute("INSERT INTO search_index (search_index) VALUES (?)", (command,))
    for table in tables:
        if _count_rows(connection, table, user_id):
            raise Corrupt("the erasure is not complete", why=f"rows are left in {table}", fix="nothing was erased")
    _record_erasure(connection, ErasureTarget(user_id, tenant["tag"], probes), now_us)
    return {table: count for table, count in counts.items() if count}


def _count_rows(connection: sqlite3.Connection, table: str, user_id: str) -> int:
    sql = f"SELECT count(*) FROM {table} WHERE user_id = ?"  # noqa: S608 - names of our schema
    return int(connection.execute(sql, (user_id,)).fetchone()[0])


def _delete_indexed_words(connection: sqlite3.Connection, user_id: str) -> str:
    """Delete the tenant's documents from the full-text index; return the command to run when the rows are gone.

    If no other tenant exists, the whole index is emptied; if the index disagrees with the rows, it is rebuilt.
    """
    if connection.execute("SELECT count(*) FROM tenants").fetchone()[0] == 1:
        return "delete-all"
    connection.execute("SAVEPOINT words")
    try:
        _delete_documents(connection, user_id)
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        connection.execute("ROLLBACK TO words")
        return "rebuild"
    finally:
        connection.execute("RELEASE words")
    return "optimize"


def _delete_documents(connection: sqlite3.Connection, user_id: str) -> None:
    """Delete documents from the full-text index; it needs them in the same form in which they were indexed."""
    into = "INSERT INTO search_index (search_index, rowid, tenant, body) SELECT 'delete',"
    event_words = "credenda_words(e.role, e.speaker, e.occurred_at,"
    whose = "JOIN tenants AS t ON t.user_id = e.user_id"
    for sql in (
        f"""{into} (t.number << 44) | (e.id << 12), t.tag, {event_words} e.text) FROM events AS e {whose}
            WHERE e.user_id = ? AND e.passages = 1 AND e.text <> '' AND e.id <= t.listed""",
        f"""{into} (t.number << 44) | (e.id << 12) | p.ordinal, t.tag,
            {event_words} substr(e.text, p.start + 1, p.stop - p.start))
            FROM events AS e {whose} JOIN passages AS p ON p.user_id = e.user_id AND p.event = e.id
            WHERE e.user_id = ? AND e.text <> '' AND e.id <= t.listed""",
        f"""{into} (t.number << 44) | (1 << 43) | (m.id << 12), t.tag,
            credenda_memory_words(m.text, m.entity, m.attribute, m.value)
            FROM memories AS m JOIN tenants AS t ON t.user_id = m.user_id
            WHERE m.user_id = ? AND m.version = 1 AND m.text <> ''""",
    ):
        connection.execute(sql, (user_id,))


def _record_erasure(connection: sqlite3.Connection, erased: ErasureTarget, now_us: int) -> None:
    """Add the tenant to the ledger, to be completed when the proof succeeds."""
    known = connection.execute("SELECT ledger_key FROM erasures LIMIT 1").fetchone()
    key = draw_key() if known is None else known[0]
    connection.execute(
        "INSERT OR REPLACE INTO erasures (digest, tag, ledger_key, erased_at, probes) VALUES (?, ?, ?, ?, ?)",
        (hash_tenant_name(key, erased.user_id), erased.tag, key, now_us, erased.probes.to_bytes()),
    )


# Probes


def _sample_windows(connection: sqlite3.Connection, user_id: str, counts: dict[str, int]) -> Iterator[bytes]:
    """Yield bytes from every text or blob column of every table that has rows of the tenant."""
    name = user_id.encode()
    yield from (name[:LONG_BYTES], name[:SHORT_BYTES])
    for table, count in counts.items():
        step = max(1, -(-count // _SAMPLED_ROWS))
        for column in _list_content_columns(connection, table):
            sql = f"SELECT {column} FROM {table} WHERE user_id = ?"  # noqa: S608 - names of our schema
            for (value,) in islice(_query_tuples(connection, sql, (user_id,)), 0, None, step):
                yield from _cut_windows(value)
                if column == "text" and table in _WORDED:
                    # Cut bytes out of the middle of long folded words: full text may share their beginnings, and stems
                    # their ends.
                    yield from (
                        word.encode()[3 : 3 + SHORT_BYTES] for word in islice(_LONG_WORD.findall(fold(str(value))), 2)
                    )


def _cut_windows(value: object) -> Iterator[bytes]:
    """Cut one window out of a short value, three out of a long one."""
    data = value.encode() if isinstance(value, str) else value
    if isinstance(data, bytes) and len(data) >= LONG_BYTES:
        room = len(data) - LONG_BYTES
        for place in {room // 2} if room < 2 * LONG_BYTES else {room // 4, room // 2, room * 3 // 4}:
            yield data[place : place + LONG_BYTES]


def _list_content_columns(connection: sqlite3.Connection, table: str) -> list[str]:
    found = connection.execute(
        "SELECT name FROM pragma_table_info(?) WHERE type IN ('TEXT', 'BLOB') AND name <> 'user_id'", (table,)
    )
    return [row[0] for row in found]


def _query_tuples(connection: sqlite3.Connection, sql: str, parameters: tuple[object, ...] = ()) -> sqlite3.Cursor:
    cursor = connection.execute(sql, parameters)
    cursor.row_factory = None
    return cursor


# Proof


def list_unfinished(connection: sqlite3.Connection) -> list[UnfinishedErasure]:
    """Return the erasures whose proof has not succeeded yet."""
    found = connection.execute("SELECT digest, tag, probes FROM erasures WHERE finished_at IS NULL")
    return [_to_unfinished(row) for row in found]


@guard_row("erasures")
def _to_unfinished(row: sqlite3.Row) -> UnfinishedErasure:
    return UnfinishedErasure(row["digest"], row["tag"], Probes.from_bytes(row["probes"]))


def empty_whole_log(path: str, patience_seconds: float = limits.ERASE_PATIENCE_SECONDS) -> bool:
    """Checkpoint and truncate the log, waiting for readers; return whether it is empty."""
    deadline = seconds() + patience_seconds
    with translate_errors(path), closing(connect(path, create=False)) as connection:
        connection.execute("PRAGMA busy_timeout = 0")
        while True:
            busy = retry_while_locked(connection, "PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if not busy or seconds() > deadline:
                return not busy
            pause(_STEP_SECONDS)


def vacuum(path: str) -> None:
    """Rewrite the file, which drops the unused bytes of its pages."""
    with translate_errors(path), closing(connect(path, create=False)) as connection:
        retry_while_locked(connection, "VACUUM")


def search_probes(path: str, connection: sqlite3.Connection, probes: Probes) -> tuple[int, int]:
    """Search file and log for the probes; return the number of probes searched for and found.

    Probes that occur in present rows, of any tenant, are not counted.
    """
    found = probes.found_in(chain(_read_chunks(path, locked=True), _read_chunks(f"{path}-wal", locked=False)))
    if not found:
        return len(probes), 0
    said = probes.found_in(join_values(_read_live_values(connection)))
    return len(probes) - len(said), len(found - said)


def _read_chunks(path: str, *, locked: bool) -> Iterator[bytes]:
    try:
        if locked:
            found = Path(path).stat()
            key = (found.st_dev, found.st_ino)
            if key not in _handles:
                _handles[key] = os.open(path, os.O_RDONLY)
            handle = _handles[key]
        else:
            handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        yield from read_chunks(handle, os.fstat(handle).st_size)
    finally:
        if not locked:
            os.close(handle)


def _read_live_values(connection: sqlite3.Connection) -> Iterator[bytes]:
    """Yield every text and blob of present rows, the schema, and the words of the full-text index."""
    tables = [
        row[0]
        for row in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search_index%'"
        )
    ]
    statements = ["SELECT sql FROM sqlite_schema"]
    for table in tables:
        names = (
            ["user_id"]
            if "user_id" in {row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}
            else []
        )
        names += [name for name in _list_content_columns(connection, table) if (table, name) != ("erasures", "probes")]
        statements += [f"SELECT {name} FROM {table}" for name in names]  # noqa: S608 - names of our schema
    for sql in statements:
        yield from _encode_values(row[0] for row in _query_tuples(connection, sql))
    connection.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.live_words USING fts5vocab(main, search_index, row)")
    yield from _encode_values(row[0] for row in _query_tuples(connection, "SELECT term FROM temp.live_words"))


def _encode_values(values: Iterable[object]) -> Iterator[bytes]:
    for value in values:
        if isinstance(value, str):
            yield value.encode()
        elif isinstance(value, bytes):
            yield value


# Finishing erasures: the log emptied, the bytes searched, the ledgers beside database and backups written.


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
    kept = {entry.id for entry in entries}
    for place, name in before:
        if name and name not in kept and _is_reachable(place):
            _attempt(owed, (place, name), partial(remove_from_ledger, place, name))
    if before or owed:
        rows = [(place, name, now_us, reason) for (place, name), reason in owed.items()]
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
    path: str, commits: GroupCommit, connection: sqlite3.Connection, now_us: int, *, tenant: tuple[str, str]
) -> None:
    """Remove a tenant, by name and tag, from the ledgers that was imported again on purpose.

    A later backup may contain it. The erasure of another tenant with the tag stays.
    """
    entries, backups = _read_whole_ledger(path)
    lifted = [entry for entry in entries if entry.matches(*tenant)]
    if not lifted:
        return

    def owe() -> None:
        keys = [(entry.digest, entry.tag) for entry in lifted]
        connection.executemany("DELETE FROM erasures WHERE digest = ? AND tag = ?", keys)
        owed = [(place, entry.id, now_us, "not tried yet") for place in (path, *backups) for entry in lifted]
        connection.executemany(_OWE, owed)

    commits.run(owe)
    settle_ledgers(path, commits, connection, now_us)


def find_erased_tenants(connection: sqlite3.Connection, entries: Mapping[str, ErasedTenant]) -> list[str]:
    """Return the tenants of a file that the entries of a ledger list as erased."""
    tenants = connection.execute("SELECT user_id, tag FROM tenants").fetchall()
    return [row[0] for row in tenants if any(entry.matches(row[0], row[1]) for entry in entries.values())]
