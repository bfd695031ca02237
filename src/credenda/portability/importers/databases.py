"""SQLite files of other programs: their table of memories, and a copy to read it from."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, Final, cast

from credenda.clock import from_datetime, to_datetime
from credenda.errors import Corrupt, Invalid
from credenda.model.memory import UNTRUE, Status
from credenda.portability.importers.format import ForeignMemory, Omitted, Parsed, Problem, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Statement,
    Table,
    make_showable,
    make_statement_piece,
    mend_surrogates,
    read_moment,
    read_text,
)
from credenda.portability.line_reader import Lines

SQLITE_HEAD: Final = b"SQLite format 3\x00"
_OWNERS: Final = ("user_id", "namespace")
_ENDED: Final = UNTRUE | {Status.FORGOTTEN}
_ENDINGS: Final = (".db", ".sqlite", ".sqlite3")
_COPY_BYTES: Final = 1 << 20
_LOG_BYTES: Final = 1 << 22
"""The part of a write-ahead log in which a new database has its tables."""
_CREATED: Final = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?[\"'`\[]?memories\b[^(]{0,20}\(([^\x00]{1,8000})")
_WORD: Final = re.compile(r"\w+")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}")
_UNSAFE: Final = "unsafe use"
"""The error for a schema that calls functions, which no database of these programs does."""
_USERS_SHOWN: Final = 10
_MILLISECONDS: Final = 1e11
"""Numbers above this are milliseconds since 1970, below it seconds."""


def find_columns(head: bytes, path: Path) -> frozenset[str]:
    """Return the columns of the table of memories in a SQLite file; empty for any other file.

    The file is only read. A table that still waits in the log beside it is found too.
    """
    if not head.startswith(SQLITE_HEAD):
        return frozenset()
    log = b""
    if path.is_file() and not path.is_symlink():
        with (
            suppress(OSError, sqlite3.Error, ValueError),
            closing(sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)) as database,
        ):
            if found := list_columns(database, "memories"):
                return frozenset(found)
        with suppress(OSError), path.with_name(f"{path.name}-wal").open("rb") as beside:
            log = beside.read(_LOG_BYTES)
    created = _CREATED.search(log) or _CREATED.search(head)
    return frozenset(_WORD.findall(created[1].decode("utf-8", "replace"))) if created else frozenset()


def list_columns(database: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns of a table; empty if there is none, or if it is a view."""
    kind = database.execute("SELECT type FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    if kind is None or kind[0] != "table":
        return []
    found = database.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return [str(row[0]) for row in found if '"' not in str(row[0])]


@contextmanager
def open_copy(lines: Lines, source: Source, program: str) -> Generator[sqlite3.Connection]:
    """Open a copy of a program's database, with the writes that wait beside it; the original is only read.

    Raises `Corrupt` if it is damaged.
    """
    with TemporaryDirectory(prefix="credenda-import-") as folder:
        copy = Path(folder) / "copy.db"
        with copy.open("wb") as file:
            while data := lines.read(_COPY_BYTES):
                file.write(data)
        beside = source.path.with_name(f"{source.path.name}-wal")
        if beside.is_file() and not beside.is_symlink():
            shutil.copyfile(beside, copy.with_name("copy.db-wal"))
        try:
            with closing(sqlite3.connect(copy)) as database:
                database.execute("PRAGMA trusted_schema = OFF")
                database.execute("PRAGMA query_only = ON")
                database.row_factory = sqlite3.Row
                yield database
        except sqlite3.DatabaseError as error:
            if _UNSAFE in str(error):
                raise make_foreign_error(source, program) from error
            raise Corrupt(
                f"{source.path.name} cannot be read",
                why="the database is damaged or truncated",
                fix="get an intact copy of it",
            ) from error


def make_foreign_error(source: Source, program: str) -> Invalid:
    """Return the error for a SQLite file that is not the named program's."""
    return Invalid(
        f"{source.path.name} is not a database of {program}",
        why="it has no table of memories with their content",
        fix=f"give the database of {program}, or a file of text; a backup of Credenda is read by `credenda restore`",
    )


def choose_owner(users: Mapping[str, str], source: Source) -> str | None:
    """Return the key of the user to import, None if there is one user; raise `Invalid` if it cannot be told."""
    if len(users) <= 1:
        return None
    mine = [key for key, name in users.items() if name.casefold() == source.user_id.casefold()]
    if len(mine) == 1:
        return mine[0]
    names = ", ".join(sorted(make_showable(name) for name in users.values())[:_USERS_SHOWN])
    raise Invalid(
        f"{source.path.name} has memories of {len(users)} users",
        why=f"none of them is {source.user_id}: {names}",
        fix="import it once for each of them, with --user NAME",
    )


def show_id(value: object) -> str:
    """Return an id as text, without the dashes that a UUID may have in one table and not in another."""
    if isinstance(value, bytes):
        value = value.hex()
    text = "" if value is None else str(value)
    return text.replace("-", "").casefold() if _UUID.fullmatch(text) else text


def read_stamp(value: object) -> object:
    """Return a time of a database in seconds, where it is a number of milliseconds."""
    if isinstance(value, int | float) and abs(value) > _MILLISECONDS:
        return value / 1_000
    return value


def read_stamp_us(value: object) -> int | None:
    """Return a time of a database: a text, or seconds or milliseconds since 1970; None if there is none."""
    moment = read_moment(read_stamp(value))
    return None if moment is None else from_datetime(moment)


def read_fraction(value: object, otherwise: float) -> float:
    """Return a number moved into [0, 1]; `otherwise` for anything else."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124 - NaN
    return min(1.0, max(0.0, float(cast("float", value)))) if known else otherwise


def read_metadata(found: object) -> dict[str, object]:
    """Return a table that a column has as JSON; empty for anything else."""
    if isinstance(found, str):
        with suppress(ValueError, RecursionError):
            found = json.loads(found)
    return dict(cast("dict[str, object]", found)) if isinstance(found, dict) else {}


class DatabaseFormat(ABC):
    """The SQLite database of one program: a table of memories, each with its status and its times."""

    name: ClassVar[str]
    program: ClassVar[str]
    words: ClassVar[str]
    """The column of the words of a memory."""
    columns: ClassVar[frozenset[str]]
    """Columns that the table of memories has, beside its id."""
    others: ClassVar[frozenset[str]]
    """Columns that only tables of other programs have."""
    left_out: ClassVar[tuple[str, ...]]
    """Tables whose rows are only counted."""

    def takes(self, member: str) -> bool:
        """Return whether a file is a database, by its name."""
        return member.casefold().endswith(_ENDINGS)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a SQLite file has the program's table of memories."""
        return self._has_own(find_columns(head, path))

    def _has_own(self, columns: frozenset[str]) -> bool:
        return {"id", self.words} | self.columns <= columns and not self.others & columns

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse what is held, the oldest first, then what has ended, the newest first: a successor stands before."""
        if not lines.head().startswith(SQLITE_HEAD):
            yield Problem(place="file", what="it is no SQLite database")
            return
        with open_copy(lines, source, self.program) as database:
            columns = list_columns(database, "memories")
            if not self._has_own(frozenset(columns)):
                raise make_foreign_error(source, self.program)
            yield from self._read(database, columns, source)

    def _read(self, database: sqlite3.Connection, columns: list[str], source: Source) -> Iterator[Parsed]:
        column = next((one for one in _OWNERS if one in columns), None)
        names = database.execute(f'SELECT DISTINCT "{column}" FROM memories') if column else ()  # noqa: S608 - our own
        owner = choose_owner({str(row[0]): str(row[0]) for row in names}, source)
        read = self.begin(database)
        begun = "created_at" if "created_at" in columns else "id"
        for ended, order in ((False, "ASC"), (True, "DESC")):
            query = f"SELECT * FROM memories ORDER BY {begun} {order}, id {order}"  # noqa: S608 - all are our own
            for row in database.execute(query):
                table = {name: row[name] for name in columns}
                place = f"memory {make_showable(show_id(table['id']))}"
                try:
                    foreign = owner is not None and str(table[str(column)]) != owner
                    found = Omitted(what="memories of other users") if foreign else read(table)
                except MalformedError as error:
                    found = Problem(place=place, what=str(error))
                if isinstance(found, ForeignMemory):
                    if (found.draft.status in _ENDED) is ended:
                        yield self._make_piece(found, table, place, source)
                elif not ended:
                    yield found
        for name in self.left_out:
            if list_columns(database, name) and (count := _count_rows(database, name)):
                yield Omitted(what=f"rows of {name.replace('_', ' ')}", count=count)

    @abstractmethod
    def begin(self, database: sqlite3.Connection) -> Callable[[Table], ForeignMemory | Omitted]:
        """Return the reader of a row; `database` may say more about it in other rows and tables."""

    def _make_piece(self, held: ForeignMemory, table: Table, place: str, source: Source) -> Parsed:
        text = read_text(table, self.words).strip()
        if not text:
            return Problem(place=place, what="it has no words")
        created_us = read_stamp_us(table.get("created_at"))
        uses = table.get("access_count")
        statement = Statement(
            place=place,
            text=text,
            key=(self.name, held.id, text),
            occurred_at=None if created_us is None else to_datetime(created_us),
            session=mend_surrogates(read_text(table, "source_session", "session_id")),
            topic=mend_surrogates(read_text(table, "topic")) or None,
            metadata={**held.metadata, **({"access_count": uses} if isinstance(uses, int) and uses else {})},
            held=held,
        )
        return make_statement_piece(statement, source)


def _count_rows(database: sqlite3.Connection, table: str) -> int:
    return int(database.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])  # noqa: S608 - the name is our own
