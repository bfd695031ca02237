"""Databases of other memories: engram, OpenMemory and Recall, and how a file of SQLite is read."""

from __future__ import annotations

import re
import shutil
import sqlite3
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, ClassVar, Final, NamedTuple, cast

from credenda.clock import from_datetime
from credenda.errors import Corrupt, Invalid
from credenda.model.memory import UNTRUE, Draft, Layer, MemoryType, Status, get_initial_layer
from credenda.portability.importers.format import (
    ForeignMemory,
    Format,
    Omitted,
    Parsed,
    Problem,
    Source,
    make_signs,
    read_tags,
)
from credenda.portability.importers.json_checks import (
    MalformedError,
    Reader,
    Table,
    catch_malformed,
    list_texts,
    make_showable,
    make_statement,
    mend_surrogates,
    omit_items,
    read_json_table,
    read_moment,
    read_moment_or_none,
    read_stamp,
    read_tables,
    read_text,
)
from credenda.portability.sources import Lines, Meter
from credenda.text.normalize import normalise_attribute

SQLITE_HEAD: Final = b"SQLite format 3\x00"
_OWNERS: Final = ("user_id", "namespace")
_ENDED: Final = UNTRUE | {Status.FORGOTTEN}
_COPY_BYTES: Final = 1 << 20
_LOG_BYTES: Final = 1 << 22
"""The part of a write-ahead log in which a new database has its tables."""
_CREATED: Final = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?[\"'`\[]?memories\b[^(]{0,20}\(([^\x00]{1,8000})")
_WORD: Final = re.compile(r"\w+")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}")
_UNSAFE: Final = "unsafe use"
"""The error for a schema that calls functions, which no database of these programs does."""
_USERS_SHOWN: Final = 10


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


def read_stamp_us(value: object) -> int | None:
    """Return a time of a database: a text, or seconds or milliseconds since 1970; None if there is none."""
    moment = read_moment(read_stamp(value))
    return None if moment is None else from_datetime(moment)


def read_fraction(value: object, otherwise: float) -> float:
    """Return a number moved into [0, 1]; `otherwise` for anything else."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124 - NaN
    return min(1.0, max(0.0, float(cast("float", value)))) if known else otherwise


class DatabaseFormat(Format):
    """The SQLite database of one program: a table of memories, each with its status and its times."""

    endings = (".db", ".sqlite", ".sqlite3")
    program: ClassVar[str]
    words: ClassVar[str]
    """The column of the words of a memory."""
    columns: ClassVar[frozenset[str]]
    """Columns that the table of memories has, beside its id."""
    others: ClassVar[frozenset[str]]
    """Columns that only tables of other programs have."""
    left_out: ClassVar[tuple[str, ...]]
    """Tables whose rows are only counted."""

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
            if not list_columns(database, name):
                continue
            count = int(database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0])  # noqa: S608 - the name is our own
            if count:
                yield Omitted(what=f"rows of {name.replace('_', ' ')}", count=count)

    @abstractmethod
    def begin(self, database: sqlite3.Connection) -> Callable[[Table], ForeignMemory | Omitted]:
        """Return the reader of a row; `database` may say more about it in other rows and tables."""

    def _make_piece(self, held: ForeignMemory, table: Table, place: str, source: Source) -> Parsed:
        text = read_text(table, self.words).strip()
        if not text:
            return Problem(place=place, what="it has no words")
        uses = table.get("access_count")
        return make_statement(
            source,
            place,
            text,
            (self.name, held.id, text),
            occurred_at=read_stamp_us(table.get("created_at")),
            session=mend_surrogates(read_text(table, "source_session", "session_id")),
            topic=mend_surrogates(read_text(table, "topic")) or None,
            metadata={**held.metadata, **({"access_count": uses} if isinstance(uses, int) and uses else {})},
            held=held,
        )


# engram (engram-memory-system): its SQLite database, with layers, types and statuses.


_STATUSES: Final = {
    one.value: one
    for one in (
        Status.ACTIVE,
        Status.ARCHIVED,
        Status.CHALLENGED,
        Status.FORGOTTEN,
        Status.INVALIDATED,
        Status.MERGED,
        Status.SUPERSEDED,
    )
}
_ENGRAM_TYPES: Final = {
    **{one.value: one for one in (MemoryType.FACT, MemoryType.PROCEDURE, MemoryType.NARRATIVE)},
    "factual": MemoryType.FACT,
    "procedural": MemoryType.PROCEDURE,
    "experiential": MemoryType.NARRATIVE,
}
_LAYER_TYPES: Final = {"procedural": MemoryType.PROCEDURE, "semantic": MemoryType.FACT}
_DERIVED: Final = frozenset({"peer_card", "cross_domain_bridge", "community_summary"})
"""Types of texts that the dream cycle derives from other memories, and derives again here."""
_HISTORY: Final = "status_history"
_ABSORBED: Final = "merged_from"
_OWN: Final = frozenset({"pinned", _ABSORBED})
"""Fields of the metadata that have another place here."""


class _Step(NamedTuple):
    """The last change of a status."""

    at_us: int | None = None
    reason: str = ""


class EngramFormat(DatabaseFormat):
    """The database of engram."""

    name = "engram"
    program = "engram"
    words = "content"
    columns = frozenset({"layer"})
    others = frozenset({"primary_sector", "base_importance"})
    left_out = ("entities", "relationships", "events", "diary_entries", "session_handoffs")

    def begin(self, database: sqlite3.Connection) -> Callable[[Table], ForeignMemory | Omitted]:
        """Return the reader of a row, with the last step of its status and the memory that absorbed it."""
        if not {"memory_id", "reason", "changed_at"} <= set(list_columns(database, _HISTORY)):
            steps = {}
        else:
            rows = database.execute(f"SELECT memory_id, changed_at, reason FROM {_HISTORY} ORDER BY changed_at")  # noqa: S608 - our own
            steps = {show_id(name): _Step(_read_time(at), str(reason or "")) for name, at, reason in rows}
        absorbed: dict[str, str] = {}
        if {"metadata", "created_at"} <= set(list_columns(database, "memories")):
            query = "SELECT id, metadata, created_at FROM memories WHERE instr(metadata, ?)"
            for name, metadata, created_at in database.execute(query, (_ABSORBED,)):
                for one in map(show_id, list_texts(read_json_table(metadata), _ABSORBED)):
                    absorbed[one] = show_id(name)
                    steps.setdefault(one, _Step(_read_time(created_at)))
        return lambda table: _read_engram_memory(table, steps, absorbed)


def _read_engram_memory(
    table: Table, steps: Mapping[str, _Step], absorbed: Mapping[str, str]
) -> ForeignMemory | Omitted:
    name, details = show_id(table["id"]), read_json_table(table.get("metadata"))
    if read_text(details, "type") in _DERIVED:
        return Omitted(what="derived texts")
    status = _read_status(table, details, is_absorbed=name in absorbed)
    step = _read_step(status, details, steps.get(name, _Step()))
    created_us = read_stamp_us(table.get("created_at"))
    stated = read_text(table, "layer")
    layer = Layer(stated) if stated in frozenset(Layer) else None
    kind = _read_type(table, details)
    return ForeignMemory(
        id=name,
        draft=Draft(
            text="",
            type=kind,
            layer=layer or get_initial_layer(kind),
            importance=read_fraction(table.get("importance"), 0.5),
            status=status,
            valid_from_us=_read_time(table.get("fact_date")) or created_us,
            valid_until_us=(step.at_us or created_us) if status in UNTRUE else None,
            pinned=bool(details.get("pinned")),
        ),
        successor=absorbed.get(name, ""),
        accessed_us=read_stamp_us(table.get("last_accessed")) if table.get("access_count") else None,
        reason=f"{status} in engram: {step.reason}" if step.reason else "",
        metadata={key: value for key, value in details.items() if key not in _OWN},
    )


def _read_time(value: object) -> int | None:
    """Return a time that has a fallback; None for one that cannot be read."""
    moment = read_moment_or_none(read_stamp(value))
    return None if moment is None else from_datetime(moment)


def _read_status(table: Table, details: Table, *, is_absorbed: bool) -> Status:
    """Return the status of a memory; what the dream cycle or a tool noted in the metadata counts as well."""
    status = _STATUSES.get(read_text(table, "status"), Status.ACTIVE)
    if status is Status.ACTIVE and details.get("invalidated"):
        return Status.INVALIDATED
    if status in (Status.ACTIVE, Status.CHALLENGED) and table.get("forgotten"):
        return Status.MERGED if is_absorbed else Status.FORGOTTEN
    return Status.CHALLENGED if status is Status.ACTIVE and details.get("belief_challenged") else status


def _read_step(status: Status, details: Table, step: _Step) -> _Step:
    if step.at_us is None and status is Status.INVALIDATED:
        return _Step(_read_time(details.get("invalidated_at")), read_text(details, "invalidation_reason"))
    if step.at_us is None and status is Status.CHALLENGED:
        return _Step(_read_time(details.get("challenged_at")), read_text(details, "challenge_reason"))
    return step


def _read_type(table: Table, details: Table) -> MemoryType:
    """Return the type of a memory; of one without a type, that of its metadata, else of its layer (E-011)."""
    stated = _ENGRAM_TYPES.get(read_text(table, "memory_type")) or _ENGRAM_TYPES.get(read_text(details, "type"))
    return stated or _LAYER_TYPES.get(read_text(table, "layer"), MemoryType.NARRATIVE)


# OpenMemory: its database, the zip of its export, and the points of its Qdrant collection.


_SCHEMAS: Final = (b"memory_categories", b"primary_sector")
"""Names in the schemas of the databases."""
_NAME: Final = "openmemory"
_PROGRAM: Final = "OpenMemory"
_POINTS: Final = ("memories", "points", "result", "")
_DELETED: Final = "deleted"
_TABLES_OF_EXPORT: Final = ("apps", "memory_categories", "status_history", "access_controls")
_OWN_FIELDS: Final = frozenset({"data", "memory", "text", "content", "hash", "created_at", "updated_at", "user_id"})
_QUERY: Final = "SELECT {columns} FROM memories ORDER BY created_at, id"


class OpenMemoryFormat(Format):
    """Exports of OpenMemory, in any of the three forms that people have."""

    name = "openmemory"
    endings = (".jsonl", ".db", ".sqlite", ".sqlite3", ".json")
    signs = make_signs(
        (b'"content"', b'"state"', b'"categories"'),
        (b'"apps"', b'"owner_id"', b'"memories"'),
        (b'"payload"', b'"data"', b'"hash"'),
    )

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file is such a database, or begins with a memory of the export or with a point."""
        if head.startswith(SQLITE_HEAD):
            return _NAME in path.name.casefold() or any(mark in head for mark in _SCHEMAS)
        return super().recognises(head, path)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse each memory, in the order of the file."""
        if lines.head().startswith(SQLITE_HEAD):
            with open_copy(lines, source, _PROGRAM) as database:
                yield from _Database(database, source).read()
            return
        with TemporaryFile("w+b") as spool:
            while data := lines.read(_COPY_BYTES):
                spool.write(data)
            yield from _read_spooled(spool, source)


def _read_spooled(spool: IO[bytes], source: Source) -> Iterator[Parsed]:
    """Read a file twice: for the users of its points, and for the memories of the one who imports."""
    users: set[str] = set()

    def note_owner(table: Table, place: str) -> Iterator[Parsed]:
        del place
        point = table.get("payload")
        if isinstance(point, dict):
            users.add(read_text(cast("Table", point), "user_id"))
        yield from ()

    for _ in read_tables(_read_from_start(spool, source), source.path, dict.fromkeys(_POINTS, note_owner)):
        pass
    owner = choose_owner({one: one for one in users if one}, source)
    names: dict[str, str] = {}

    def read_memory(table: Table, place: str) -> Iterator[Parsed]:
        point = table.get("payload")
        if isinstance(point, dict):
            payload = cast("Table", point)
            if owner is None or read_text(payload, "user_id") == owner:
                yield from _read_point(payload, read_text(table, "id"), place, source)
            else:
                yield Omitted(what="memories of other users")
            return
        found = [names[one] for one in list_texts(table, "category_ids") if one in names]
        yield from _read_row({"categories": found, **table}, place, source)

    def read_category(table: Table, place: str) -> Iterator[Parsed]:
        del place
        names[read_text(table, "id")] = read_text(table, "name")
        yield from ()

    readers: dict[str, Reader] = {**dict.fromkeys(_POINTS, read_memory), "categories": read_category}
    readers |= {name: omit_items(name.replace("_", " ")) for name in _TABLES_OF_EXPORT}
    yield from read_tables(_read_from_start(spool, source), source.path, readers)


def _read_from_start(spool: IO[bytes], source: Source) -> Lines:
    spool.seek(0)
    return Lines(spool, source.path.name, meter=Meter())


def _read_row(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    """Yield a memory of the export or the database, unless it was deleted there."""
    if read_text(table, "state") == _DELETED:
        yield Omitted(what="deleted memories")
        return
    text = read_text(table, "content")
    if not text:
        raise MalformedError("it has no content")
    state, app = read_text(table, "state"), read_text(table, "app")
    yield make_statement(
        source,
        place,
        text,
        ("openmemory", read_text(table, "id"), text),
        occurred_at=read_moment(table.get("updated_at")) or read_moment(table.get("created_at")),
        tags=read_tags(list_texts(table, "categories")),
        metadata={
            **read_json_table(table.get("metadata")),
            **({"app": app} if app else {}),
            **({"state": state} if state and state != "active" else {}),
        },
    )


def _read_point(payload: Table, name: str, place: str, source: Source) -> Iterator[Parsed]:
    """Yield the memory of a point; other collections have their text under other names."""
    owner = read_text(payload, "user_id")
    text = read_text(payload, "data", "memory", "text", "content", "document", "page_content")
    if not text:
        raise MalformedError("its payload has no text")
    kept = {
        key: value
        for key, value in payload.items()
        if key not in _OWN_FIELDS and isinstance(value, str | int | float | bool)
    }
    yield make_statement(
        source,
        place,
        text,
        ("openmemory", name, text),
        role="assistant" if payload.get("role") == "assistant" else "user",
        occurred_at=read_moment(payload.get("updated_at")) or read_moment(payload.get("created_at")),
        metadata={**kept, **({"user_id": owner} if owner else {})},
    )


class _Database:
    """The tables of OpenMemory: of mem0's, or of the program of the same name with sectors."""

    def __init__(self, database: sqlite3.Connection, source: Source) -> None:
        self._database = database
        self._source = source
        self._columns = list_columns(self._database, "memories")
        if "content" not in self._columns or "id" not in self._columns:
            raise make_foreign_error(source, _PROGRAM)

    def read(self) -> Iterator[Parsed]:
        """Yield every memory of the one owner in the database."""
        users = self._map("users", "user_id") or self._map("memories", "user_id", key="user_id")
        owner = choose_owner(users, self._source)
        apps, categories = self._map("apps", "name"), self._map_categories()
        chosen = ", ".join(f'"{one}"' for one in self._columns)
        for number, row in enumerate(self._database.execute(_QUERY.format(columns=chosen)), 1):
            table = {name: row[name] for name in self._columns}
            place = f"memory {number} ({make_showable(show_id(table['id']))})"
            if owner is not None and show_id(table.get("user_id")) != owner:
                yield Omitted(what="memories of other users")
                continue
            tags = read_json_table(f'{{"tags": {table.get("tags")}}}')  # a list, as JSON
            found = categories.get(show_id(table["id"])) or list_texts(tags, "tags")
            cleaned = {
                **table,
                "id": show_id(table["id"]),
                "app": apps.get(show_id(table.get("app_id"))),
                "categories": found,
                "metadata": table.get("metadata") or table.get("meta"),
                "created_at": read_stamp(table.get("created_at")),
                "updated_at": read_stamp(table.get("updated_at")),
            }
            yield from catch_malformed(place, _read_row(cleaned, place, self._source))

    def _map(self, table: str, column: str, *, key: str = "id") -> dict[str, str]:
        if not {key, column} <= set(list_columns(self._database, table)):
            return {}
        query = f'SELECT DISTINCT "{key}", "{column}" FROM "{table}" WHERE "{key}" IS NOT NULL'  # noqa: S608 - our own
        return {show_id(row[0]): str(row[1]) for row in self._database.execute(query)}

    def _map_categories(self) -> dict[str, list[str]]:
        if not {"memory_id", "category_id"} <= set(list_columns(self._database, "memory_categories")):
            return {}
        names = self._map("categories", "name")
        found: dict[str, list[str]] = {}
        for memory, category in self._database.execute("SELECT memory_id, category_id FROM memory_categories"):
            found.setdefault(show_id(memory), []).append(names.get(show_id(category), ""))
        return found


# Recall (szl-recall): its SQLite file, with the history of every slot.


_RECALL_TYPES: Final = frozenset(MemoryType)
_REASONS: Final = {
    Status.SUPERSEDED: "replaced in Recall",
    Status.MERGED: "merged in Recall, which names no successor",
}


class RecallFormat(DatabaseFormat):
    """The database of Recall."""

    name = "recall"
    program = "Recall"
    words = "text"
    columns = frozenset({"valid_until", "superseded_by"})
    others = frozenset({"base_importance"})
    left_out = ("operations", "api_tokens", "tool_call_records", "a2a_tasks", "eval_scores")

    def begin(self, database: sqlite3.Connection) -> Callable[[Table], ForeignMemory | Omitted]:
        """Return the reader of a row, which says everything about its memory."""
        del database
        return _read_recall_memory


def _read_recall_memory(table: Table) -> ForeignMemory:
    successor = show_id(table.get("superseded_by"))
    until_us = read_stamp_us(table.get("valid_until"))
    stated = read_text(table, "type")
    kind = MemoryType(stated) if stated in _RECALL_TYPES else MemoryType.FACT
    status = Status.ACTIVE if until_us is None else Status.SUPERSEDED if successor else Status.MERGED
    return ForeignMemory(
        id=show_id(table["id"]),
        draft=Draft(
            text="",
            type=kind,
            layer=get_initial_layer(kind),
            entity=mend_surrogates(read_text(table, "entity")) or None,
            attribute=normalise_attribute(mend_surrogates(read_text(table, "attribute"))) or None,
            value=mend_surrogates(read_text(table, "value")) or None,
            confidence=read_fraction(table.get("confidence"), 0.8),
            importance=read_fraction(table.get("importance"), 0.5),
            status=status,
            valid_from_us=read_stamp_us(table.get("valid_from")) or read_stamp_us(table.get("created_at")),
            valid_until_us=until_us,
        ),
        successor=successor,
        accessed_us=read_stamp_us(table.get("last_accessed")),
        reason=_REASONS.get(status, ""),
    )
