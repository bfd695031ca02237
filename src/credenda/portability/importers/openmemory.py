"""OpenMemory: its database, the zip of its export, and the points of its Qdrant collection."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final, cast

from credenda.portability.importers.blocks import read_tags
from credenda.portability.importers.databases import (
    SQLITE_HEAD,
    choose_owner,
    list_columns,
    make_foreign_error,
    open_copy,
    read_metadata,
    read_stamp,
    show_id,
)
from credenda.portability.importers.format import Omitted, Parsed, Problem, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Reader,
    Statement,
    Table,
    is_json_with,
    list_texts,
    make_showable,
    make_statement_piece,
    omit_items,
    read_moment,
    read_tables,
    read_text,
)
from credenda.portability.line_reader import Lines, Meter

_COPY_BYTES: Final = 1 << 20
_MARKS: Final = (
    (b'"content"', b'"state"', b'"categories"'),
    (b'"apps"', b'"owner_id"', b'"memories"'),
    (b'"payload"', b'"data"', b'"hash"'),
)
_SCHEMAS: Final = (b"memory_categories", b"primary_sector")
"""Names in the schemas of the databases."""
_NAME: Final = "openmemory"
_PROGRAM: Final = "OpenMemory"
_POINTS: Final = ("memories", "points", "result", "")
_DELETED: Final = "deleted"
_TABLES_OF_EXPORT: Final = ("apps", "memory_categories", "status_history", "access_controls")
_OWN_FIELDS: Final = frozenset({"data", "memory", "text", "content", "hash", "created_at", "updated_at", "user_id"})
_QUERY: Final = "SELECT {columns} FROM memories ORDER BY created_at, id"


class OpenMemoryFormat:
    """Exports of OpenMemory, in any of the three forms that people have."""

    name = "openmemory"

    def takes(self, member: str) -> bool:
        """Return whether a file of a zip or folder is the list of memories, a database, or JSON."""
        return member.casefold().endswith((".jsonl", ".db", ".sqlite", ".sqlite3", ".json"))

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file is such a database, or begins with a memory of the export or with a point."""
        if head.startswith(SQLITE_HEAD):
            return _NAME in path.name.casefold() or any(mark in head for mark in _SCHEMAS)
        return any(is_json_with(head, *marks) for marks in _MARKS)

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
    statement = Statement(
        place=place,
        text=text,
        key=("openmemory", read_text(table, "id"), text),
        occurred_at=read_moment(table.get("updated_at")) or read_moment(table.get("created_at")),
        tags=read_tags(list_texts(table, "categories")),
        metadata={
            **read_metadata(table.get("metadata")),
            **({"app": app} if app else {}),
            **({"state": state} if state and state != "active" else {}),
        },
    )
    yield make_statement_piece(statement, source)


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
    statement = Statement(
        place=place,
        text=text,
        key=("openmemory", name, text),
        role="assistant" if payload.get("role") == "assistant" else "user",
        occurred_at=read_moment(payload.get("updated_at")) or read_moment(payload.get("created_at")),
        metadata={**kept, **({"user_id": owner} if owner else {})},
    )
    yield make_statement_piece(statement, source)


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
        users = self._map("users", "user_id") or self._map_owners()
        owner = choose_owner(users, self._source)
        apps, categories = self._map("apps", "name"), self._map_categories()
        chosen = ", ".join(f'"{one}"' for one in self._columns)
        for number, row in enumerate(self._database.execute(_QUERY.format(columns=chosen)), 1):
            table = {name: row[name] for name in self._columns}
            place = f"memory {number} ({make_showable(show_id(table['id']))})"
            if owner is not None and show_id(table.get("user_id")) != owner:
                yield Omitted(what="memories of other users")
                continue
            found = categories.get(show_id(table["id"])) or _parse_tags(table.get("tags"))
            cleaned = {
                **table,
                "id": show_id(table["id"]),
                "app": apps.get(show_id(table.get("app_id"))),
                "categories": found,
                "metadata": table.get("metadata") or table.get("meta"),
                "created_at": read_stamp(table.get("created_at")),
                "updated_at": read_stamp(table.get("updated_at")),
            }
            try:
                yield from _read_row(cleaned, place, self._source)
            except MalformedError as error:
                yield Problem(place=place, what=str(error))

    def _map(self, table: str, column: str) -> dict[str, str]:
        if not {"id", column} <= set(list_columns(self._database, table)):
            return {}
        rows = self._database.execute(f'SELECT id, "{column}" FROM "{table}"')  # noqa: S608 - both names are our own
        return {show_id(row[0]): str(row[1]) for row in rows}

    def _map_owners(self) -> dict[str, str]:
        if "user_id" not in self._columns:
            return {}
        rows = self._database.execute("SELECT DISTINCT user_id FROM memories WHERE user_id IS NOT NULL")
        return {show_id(row[0]): str(row[0]) for row in rows}

    def _map_categories(self) -> dict[str, list[str]]:
        if not {"memory_id", "category_id"} <= set(list_columns(self._database, "memory_categories")):
            return {}
        names = self._map("categories", "name")
        found: dict[str, list[str]] = {}
        for memory, category in self._database.execute("SELECT memory_id, category_id FROM memory_categories"):
            found.setdefault(show_id(memory), []).append(names.get(show_id(category), ""))
        return found


def _parse_tags(value: object) -> list[str]:
    try:
        found: Any = json.loads(value) if isinstance(value, str) else []
    except (ValueError, RecursionError):
        return []
    return [one for one in cast("list[object]", found) if isinstance(one, str)] if isinstance(found, list) else []
