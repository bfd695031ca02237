"""What a session begins with, read from the database file by a hook that finds no engine running.

The file is opened read-only: standing instructions, pins, identity and open contests, and memories by their ids.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC
from time import monotonic, time_ns
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from credenda.interfaces.hook.payload import format_status
from credenda.lazy import import_on_use
from credenda.text.recalled_block import Line

if TYPE_CHECKING:
    from credenda.model import statement
else:
    statement = import_on_use("credenda.model.statement")  # loaded when there is something to say

_IDENTITY: Final = ("preferred_name", "name", "pronouns", "residence", "timezone", "spoken_language", "job_title",
                    "employer", "allergy")  # fmt: skip
_CORE_LINES: Final = 24
_DECISIONS: Final = 10
_TRUSTED: Final = 0.6
"""Trust above which a memory may come by itself: a document's or tool's is not."""
_SURE: Final = 0.4
_COLUMNS: Final = (
    "id, text, type, entity_key, attribute_key, value, speaker, status, contested, valid_from, created_at, entity,"
    " attribute, scope, stance, relation, valid_until, metadata"
)
_CURRENT: Final = (
    "user_id = :user AND expired_at IS NULL AND status IN ('active', 'challenged') AND text <> ''"
    " AND confidence >= :sure AND (expires_at IS NULL OR expires_at > :now)"
)
_UNREAD: Final = (
    "SELECT 1 FROM operations WHERE user_id = ? AND status IN ('queued', 'processing', 'failed')"
    " AND kind NOT IN ('call', 'reread') LIMIT 1"
)
"""Finds a job that a process with nothing else to do would run at once."""
_UNREAD_SECONDS: Final = 0.05


class _Row(NamedTuple):
    """A memory as its row has it, with what its statement is made of."""

    number: int
    text: str
    type: str
    entity_key: str | None
    attribute_key: str | None
    value: str | None
    speaker: str
    status: str
    contested: int
    valid_from_us: int | None
    created_us: int
    entity: str | None
    attribute: str | None
    scope: str | None
    stance: str
    relation: str | None
    valid_until_us: int | None
    metadata: dict[str, Any]
    over: bool
    due: bool


class _Reader(NamedTuple):
    """An open file and its tenant."""

    connection: sqlite3.Connection
    user: str
    number: int
    tag: str

    def select(self, condition: str, **given: object) -> list[_Row]:
        """Return the current memories that meet a condition, newest first."""
        sql = f"SELECT {_COLUMNS} FROM memories WHERE {_CURRENT} AND {condition} ORDER BY id DESC LIMIT 200"  # noqa: S608 - constants
        now_us = time_ns() // 1_000
        told = {"user": self.user, "sure": _SURE, "now": now_us, **given}
        rows = self.connection.execute(sql, told)
        return [_make_row(row, now_us) for row in rows]


def _make_row(cells: tuple[Any, ...], now_us: int) -> _Row:
    """Make a row of its cells, of which the last two are the end and the metadata."""
    *first, until_us, metadata = cells
    row = _Row._make((*first, until_us, json.loads(metadata) if metadata else {}, False, False))
    passed = until_us is not None and until_us <= now_us
    due = passed and statement.is_lasting_plan(row.stance, row.attribute)
    return row._replace(over=passed and not due, due=due)


def _open(path: str, user: str, deadline: float) -> _Reader | None:
    """Open the file of a user read-only; None for a user without memories. Raises sqlite3.Error."""
    connection = sqlite3.connect(f"file:{_quote(path)}?mode=ro", uri=True, timeout=0.05)
    found = None
    try:
        connection.execute("PRAGMA query_only = 1")
        connection.set_progress_handler(lambda: monotonic() > deadline, 1_000)
        if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'tenants'").fetchone():  # else it is being made
            found = connection.execute("SELECT number, tag FROM tenants WHERE user_id = ?", (user,)).fetchone()
    finally:
        if found is None:
            connection.close()
    if found is None:
        return None
    return _Reader(connection, user, *found)


def _quote(path: str) -> str:
    """Return a path as it stands in SQLite's file: address; importing urllib for it costs a third of the hook."""
    plain = path.replace("\\", "/") if os.name == "nt" else path
    quoted = plain.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"/{quoted}" if quoted[1:2] == ":" else quoted


def read_core(path: str, user: str, project: str, deadline: float, *, session: str = "") -> list[Line]:
    """Return instructions, pins, identity, open contests, and what a session has decided.

    [] for a user without memories. Raises sqlite3.Error.
    """
    reader = _open(path, user, deadline)
    if reader is None:
        return []
    with closing(reader.connection):
        firm = reader.select("(pinned = 1 OR (attribute_key = 'instruction' AND stance <> 'reported'))")
        names = ", ".join(f"'{name}'" for name in _IDENTITY)
        own = reader.select(f"entity_key = 'user' AND attribute_key IN ({names}) AND trust > :trust", trust=_TRUSTED)
        lines = [
            _make_line(reader, row, "Standing instructions of the user:") for row in firm if _is_here(row, project)
        ]
        seen = {row.number for row in firm}
        lines += [_make_line(reader, row, "About the user:") for row in own if row.number not in seen]
        decided = reader.select("type = 'decision' AND source_session = :session", session=session) if session else []
        sql = "SELECT id, attribute, vals FROM contests WHERE user_id = ? AND state = 'open' ORDER BY id DESC LIMIT 5"
        found: list[Line] = []
        for number, attribute, told in reader.connection.execute(sql, (reader.user,)):
            values = " or ".join(f'"{value}"' for value in json.loads(told))
            text = f"{attribute}: {values}; the user has not said which"
            found.append(Line((f"k{number}-{reader.tag}",), text, heading="Not settled:"))
        lines = [*lines[:_CORE_LINES], *found]
        return [*lines, *(_make_line(reader, row, "Decided in this session:") for row in decided[:_DECISIONS])]


def read_lines(path: str, user: str, ids: Iterable[str], deadline: float) -> list[Line]:
    """Return the lines of memories by id, as far as they are still believed. Raises sqlite3.Error."""
    reader = _open(path, user, deadline)
    if reader is None:
        return []
    with closing(reader.connection):
        numbers = [int(one[1:].partition("-")[0]) for one in ids if one.startswith("m") and one.endswith(reader.tag)]
        names = ", ".join(map(str, numbers))
        rows = {row.number: row for row in reader.select(f"id IN ({names}) AND trust > :trust", trust=_TRUSTED)}
        return [_make_line(reader, rows[one]) for one in numbers if one in rows]


def has_unread(path: str, user: str) -> bool:
    """Return whether a user's messages are filed and not read yet; not where the file cannot tell."""
    if not os.path.exists(path):
        return False
    try:
        reader = _open(path, user, monotonic() + _UNREAD_SECONDS)
        if reader is None:
            return False
        with closing(reader.connection) as connection:
            return connection.execute(_UNREAD, (user,)).fetchone() is not None
    except sqlite3.Error:
        return False


def read_status(path: str, user: str, deadline: float) -> str:
    """Return how much is believed, asked and in doubt, such as "12 held · 1 question". Raises sqlite3.Error."""
    reader = _open(path, user, deadline)
    if reader is None:
        return format_status(0, 0, 0)
    with closing(reader.connection):
        told = {"user": user, "sure": 0.0, "now": time_ns() // 1_000}
        sql = f"SELECT count(*), coalesce(sum(status = 'challenged'), 0) FROM memories WHERE {_CURRENT}"  # noqa: S608 - constants
        held, doubtful = reader.connection.execute(sql, told).fetchone()
        sql = "SELECT count(*) FROM contests WHERE user_id = ? AND state = 'open'"
        asked = reader.connection.execute(sql, (user,)).fetchone()[0]
    return format_status(held, asked, doubtful)


def _is_here(row: _Row, project: str) -> bool:
    """Return whether a memory holds in a project, as `credenda.model.event` decides."""
    found = row.metadata.get("project")
    own = row.entity_key == "user" and row.type in {"fact", "preference"}
    return not found or found == project or own


def _make_line(reader: _Reader, row: _Row, heading: str = "") -> Line:
    doubt = ["contested"] if row.contested else ["in doubt"] if row.status == "challenged" else []
    notes = (*statement.format_validity(row, UTC), *doubt)
    claim = statement.format_author(row, statement.write_claim(row))
    return Line((f"m{row.number}-{reader.tag}",), claim, notes, heading)
