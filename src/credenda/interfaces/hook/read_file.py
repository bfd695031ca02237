"""Recall from the database file alone, for a hook that finds no engine running.

The file is opened read-only. The result is less than that of a search: standing instructions, pins, identity and
open contests at the start, and for a prompt the memories that share its rare words.
"""

from __future__ import annotations

import json
import math
import os
import re
import sqlite3
from collections.abc import Iterable, Sequence
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

_MEMORY_BIT: Final = 1 << 43
_NUMBER_BITS: Final = 12
_TENANT_BITS: Final = 44
_IDENTITY: Final = ("preferred_name", "name", "pronouns", "residence", "timezone", "spoken_language", "job_title",
                    "employer", "allergy")  # fmt: skip
_TERMS: Final = 24
_CORE_LINES: Final = 24
_DECISIONS: Final = 10
_TRUSTED: Final = 0.6
"""Trust above which a memory may come by itself: a document's or tool's is not."""
_SURE: Final = 0.4
_HITS: Final = 3
_COVERED: Final = 0.55
"""Share of the rarity of a prompt's words that a memory must have."""
_SIMILAR: Final = 0.75
"""Share of words in common above which a memory only repeats a question."""
_SIMILAR_REQUEST: Final = 0.5
"""The same for a prompt that asks nothing."""
_RARE: Final = 3
_WORD: Final = re.compile(r"[^\W_]{3,}")
_STOP_WORDS: Final = """
the and for are was were with that this from have has had not you your can could would should will what when
where who why how did does done make made use used using get got let our out off too very just also into onto
them they then than there here some any all each please now new add run fix file code line lines test tests
its it's i'm i've about which while after before because been being but him her his she more most much many
may might must one two per set see say said tell told want need like look show give know think still only over
under
"""
"""Words of prompts that say little about what they ask for."""
_STOP: Final = frozenset(_STOP_WORDS.split())
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
_FIRM: Final = " AND (type <> 'procedure' OR confidence > 0.5)"
"""Leaves out what may be a request that was made once instead of a rule."""


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
        return [_Row._make((*row[:-1], *_read_rest(row[-2:], now_us))) for row in rows]


def _read_rest(cells: tuple[int | None, str | None], now_us: int) -> tuple[dict[str, Any], bool]:
    """Return the metadata of a row, and whether the memory is over, from its last two cells."""
    until_us, metadata = cells
    return json.loads(metadata) if metadata else {}, until_us is not None and until_us <= now_us


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
        lines = [*lines[:_CORE_LINES], *_read_contests(reader)]
        return [*lines, *(_make_line(reader, row, "Decided in this session:") for row in decided[:_DECISIONS])]


def _read_contests(reader: _Reader) -> list[Line]:
    sql = "SELECT id, attribute, vals FROM contests WHERE user_id = ? AND state = 'open' ORDER BY id DESC LIMIT 5"
    found: list[Line] = []
    for number, attribute, told in reader.connection.execute(sql, (reader.user,)):
        values = " or ".join(f'"{value}"' for value in json.loads(told))
        text = f"{attribute}: {values}; the user has not said which"
        found.append(Line((f"k{number}-{reader.tag}",), text, heading="Not settled:"))
    return found


class Prompt(NamedTuple):
    """A prompt with its project and session, and what that session was shown."""

    text: str
    project: str
    session: str
    seen: frozenset[str]


def read_prompt_lines(path: str, user: str, prompt: Prompt, deadline: float) -> list[Line]:
    """Return memories that share the rare words of a prompt, best first; [] if too few do. Raises sqlite3.Error."""
    reader = _open(path, user, deadline)
    if reader is None:
        return []
    with closing(reader.connection):
        return [_make_line(reader, row) for row in _rank(reader, prompt)]


def _rank(reader: _Reader, prompt: Prompt) -> list[_Row]:
    words = map(str.casefold, _WORD.findall(prompt.text))
    terms = list(dict.fromkeys(word for word in words if word not in _STOP))[:_TERMS]
    low = (reader.number << _TENANT_BITS) | _MEMORY_BIT
    sql = "SELECT rowid FROM search_index WHERE search_index MATCH ? AND rowid BETWEEN ? AND ? LIMIT 5000"
    holding = {
        term: {row[0] for row in reader.connection.execute(sql, (f'{{body}} : "{term}"', low, low | (_MEMORY_BIT - 1)))}
        for term in terms
    }
    total = reader.connection.execute(
        "SELECT coalesce(max(id), 0) FROM memories WHERE user_id = ?", (reader.user,)
    ).fetchone()[0]
    weight = {term: math.log(1 + (total + 0.5) / (len(found) + 0.5)) for term, found in holding.items()}
    needed = _COVERED * sum(weight.values())
    scores: dict[int, float] = {}
    matched: dict[int, int] = {}
    for term, found in holding.items():
        for document in found:
            scores[document] = scores.get(document, 0.0) + weight[term]
            matched[document] = matched.get(document, 0) + 1
    rare = {document for found in holding.values() if len(found) <= _RARE for document in found}
    good = [one for one, score in scores.items() if score >= needed and (matched[one] > 1 or one in rare)]
    ids = [(one & (_MEMORY_BIT - 1)) >> _NUMBER_BITS for one in sorted(good, key=lambda one: (-scores[one], -one))[:20]]
    rows = {row.number: row for row in _read_rows(reader, ids, prompt.session, _FIRM)}
    alike = _SIMILAR if "?" in prompt.text else _SIMILAR_REQUEST
    fresh = [
        rows[one]
        for one in ids
        if one in rows and f"m{one}-{reader.tag}" not in prompt.seen and _share(rows[one].text, terms) <= alike
    ]
    return [row for row in fresh if _is_here(row, prompt.project)][:_HITS]


def _share(text: str, terms: Sequence[str]) -> float:
    """Return the share of words that a memory and a prompt have in common."""
    told = {word for word in map(str.casefold, _WORD.findall(text)) if word not in _STOP}
    return len(told.intersection(terms)) / max(1, len(told.union(terms)))


def _read_rows(reader: _Reader, ids: Sequence[int], session: str = "", more: str = "") -> list[_Row]:
    names = ", ".join(map(str, ids))
    return reader.select(
        f"id IN ({names}) AND trust > :trust AND source_session <> :session{more}", trust=_TRUSTED, session=session
    )


def read_lines(path: str, user: str, ids: Iterable[str], deadline: float) -> list[Line]:
    """Return the lines of memories by id, as far as they are still believed. Raises sqlite3.Error."""
    reader = _open(path, user, deadline)
    if reader is None:
        return []
    with closing(reader.connection):
        numbers = [int(one[1:].partition("-")[0]) for one in ids if one.startswith("m") and one.endswith(reader.tag)]
        rows = {row.number: row for row in _read_rows(reader, numbers)}
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
    """Return whether a memory holds in a project, as `credenda.model.project` decides."""
    found = row.metadata.get("project")
    own = row.entity_key == "user" and row.type in {"fact", "preference"}
    return not found or found == project or own


def _make_line(reader: _Reader, row: _Row, heading: str = "") -> Line:
    doubt = ["contested"] if row.contested else ["in doubt"] if row.status == "challenged" else []
    notes = (*statement.format_validity(row, UTC), *doubt)
    claim = statement.format_author(row, statement.write_claim(row))
    return Line((f"m{row.number}-{reader.tag}",), claim, notes, heading)
