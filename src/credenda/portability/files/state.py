"""The common state at the last synchronisation: the base of the three-way comparison. Pure.

It belongs to one machine and one memory, is written last, and contains hashes, never text: those of entries under the
tenant's key, those of lines that people wrote without one, so that they outlast an erasure as the lines do.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple, cast

from credenda.model.change import ContestCase
from credenda.model.claim import Evidence
from credenda.model.core import Section
from credenda.model.event import Event
from credenda.model.memory import HELD, Memory
from credenda.portability.files.parse import Parsed, to_file_text
from credenda.portability.files.render import CORE_TITLE
from credenda.text.normalize import normalise_text

VERSION: Final = 1
AWAY: Final = ""
"""The hash of an entry of another memory that this memory does not store."""
_HASH_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Base:
    """An entry in the common state: the local id, the file, the hash of its text, and whether it was active.

    `away` means that it is missing from the files, and waits for the user's decision.
    """

    local: str
    path: str
    digest: str
    held: bool
    away: bool = False


class Line(NamedTuple):
    """A line that a person wrote, which was read and stays in its page: the events that it became.

    `away` means that it is missing from its page, and waits for the user's decision.
    """

    events: tuple[str, ...] = ()
    away: bool = False


Lines = Mapping[str, Mapping[str, Line]]
"""Lines by file and by the hash of their text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The state after a synchronisation; `mark` names the tenant, `round` counts the runs.

    `entries` are keyed by the id in the file, `pages` are the files of entities by their keys, `core` the local ids on
    the page of the core block, `footers` the hashes in the footers of the pages by file, `lines` what was read from
    lines that stay as a person wrote them.
    """

    mark: str = ""
    tag: str = ""
    round: int = 0
    entries: Mapping[str, Base] = field(default_factory=dict[str, Base])
    pages: Mapping[str, str] = field(default_factory=dict[str, str])
    core: frozenset[str] = frozenset()
    footers: Mapping[str, str] = field(default_factory=dict[str, str])
    lines: Lines = field(default_factory=dict[str, Mapping[str, Line]])


def hash_tenant(key: bytes) -> str:
    """Return a keyed hash that identifies a tenant to itself only; "" for one that never wrote."""
    return hmac.digest(key, b"files", "sha256").hex()[:32] if key else ""


def hash_text(key: bytes, text: str) -> str:
    """Hash a text as a file contains it."""
    return hashlib.blake2b(to_file_text(text).encode(), key=key, digest_size=_HASH_BYTES).hexdigest()


def hash_line(text: str) -> str:
    """Hash a line that a person wrote, for as long as it stands in a page."""
    return hash_text(b"", text)


def dump_state(state: State) -> bytes:
    """Serialise a state; equal states give equal bytes."""
    lines = sorted((path, dict(sorted(found.items()))) for path, found in state.lines.items())
    table = {
        "version": VERSION,
        "mark": state.mark,
        "tag": state.tag,
        "round": state.round,
        "pages": dict(sorted(state.pages.items())),
        "core": sorted(state.core),
        "footers": dict(sorted(state.footers.items())),
        "lines": {
            path: {one: [line.events, line.away] for one, line in found.items()} for path, found in lines if found
        },
        "entries": {
            name: [one.local, one.path, one.digest, int(one.held) + 2 * int(one.away)]
            for name, one in sorted(state.entries.items())
        },
    }
    return json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def load_state(data: bytes) -> State:
    """Parse a state; return an empty state for damaged data or another version, which is always safe.

    >>> state = State(mark="a", tag="b", round=3, entries={"m1-b": Base("m1-b", "x.md", "00", True)})
    >>> load_state(dump_state(state)) == state, load_state(b"{") == State()
    (True, True)
    """
    try:
        table = cast("dict[str, Any]", json.loads(data))
        if table["version"] != VERSION:
            return State()
        return State(
            mark=str(table["mark"]),
            tag=str(table["tag"]),
            round=int(table["round"]),
            entries={
                str(name): Base(str(local), str(path), str(hashed), held=bool(marks & 1), away=bool(marks & 2))
                for name, (local, path, hashed, marks) in cast("dict[str, list[Any]]", table["entries"]).items()
            },
            pages={str(name): str(path) for name, path in cast("dict[str, Any]", table["pages"]).items()},
            core=frozenset(str(name) for name in table["core"]),
            footers={str(path): str(hashed) for path, hashed in dict(table.get("footers", {})).items()},
            lines={
                str(path): {
                    str(one): Line(tuple(map(str, events)), bool(away)) for one, (events, away) in found.items()
                }
                for path, found in cast("dict[str, dict[str, list[Any]]]", table.get("lines", {})).items()
            },
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return State()


# The inputs of the comparison: the common state, the memory, and the files.


class Tier(StrEnum):
    """The part of the folder that a file belongs to."""

    ARCHIVE = "archive"
    PAGES = "pages"
    CORE = "core"


class Spot(NamedTuple):
    """A block of a file."""

    path: str
    block: int


class Text(NamedTuple):
    """A readable file: `about` is the entity of the page, as shown; `zeros` tells whether it has zero bytes.

    A page that is not `own` has no mark of code: it is read, and never written. A page of another program may have
    entries: then its lines are still `theirs`.
    """

    path: str
    tier: Tier
    page: Parsed
    about: str = ""
    zeros: bool = False
    own: bool = True

    @property
    def theirs(self) -> bool:
        """Whether the lines outside the entries belong to another program or a person, and stay byte for byte."""
        whole = self.tier is Tier.ARCHIVE or "credenda" in self.page.front
        return not (self.own and (whole or (self.tier is Tier.CORE and self.page.title == CORE_TITLE)))


class Added(NamedTuple):
    """A text to store.

    `name` is its id in the file if it has one, and `table` the content of its comment; `restored` tells that the
    existing entry stays unchanged beside it.
    """

    text: str
    spot: Spot
    tier: Tier
    about: str = ""
    name: str = ""
    restored: bool = False
    table: Mapping[str, Any] = {}
    line: bool = False
    """Whether it is a line that a person wrote, not the text of an entry."""
    said: str = ""
    """The day or time that its page gives it."""


class MemorySide(NamedTuple):
    """A memory or event of this memory; `head` is its current replacement, or its own id."""

    text: str
    digest: str
    held: bool
    head: str | None
    event: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """The three sides. `hidden` are ids in unread files, and `unread` tells whether there are any such files.

    `removed` are ids of entries that a memory sharing the folder deleted. `erased` are tags of memories that were
    erased here; `missing` tells how to treat missing entries: "ask", "delete" or "restore". `closed` are unread files
    and folders, `dates` the days of lines in pages that are not ours.
    """

    state: State
    ours: Mapping[str, MemorySide]
    texts: Sequence[Text]
    tag: str
    hidden: Collection[str] = frozenset()
    unread: bool = False
    removed: Collection[str] = frozenset()
    erased: Collection[str] = frozenset()
    missing: str = "ask"
    closed: Collection[str] = frozenset()
    dates: Mapping[Spot, str] = field(default_factory=dict[Spot, str])

    @property
    def lines(self) -> Lines:
        """The lines that were read and stay in their pages."""
        return self.state.lines


def is_closed(path: str, closed: Collection[str]) -> bool:
    """Return whether a file was not read: it is one of these, or in one of these folders."""
    return any(path == one or path.startswith(f"{one}/") for one in closed)


# Recognise new lines of pages that are not ours: moved from another page, or held already; the rest is new.


def bind_quoted(
    sides: Sides, quoted: Sequence[Added], read: dict[str, dict[str, Line]]
) -> tuple[list[Added], set[str]]:
    """Return the lines to remember, and the memories whose words stand in a line; the lines known go to `read`."""
    gone = {
        name: line
        for path, found in sides.lines.items()
        for name, line in found.items()
        if not is_closed(path, sides.closed) and name not in read.get(path, {})
    }
    held = {normalise_text(mine.text): local for local, mine in sides.ours.items() if mine.held and not mine.event}
    left: dict[tuple[str, str], Added] = {}
    standing: set[str] = set()
    for one in quoted:
        path, name = one.spot.path, hash_line(one.text)
        local = None if one.tier is Tier.ARCHIVE else held.get(normalise_text(one.text))
        if name in gone:
            read[path][name] = gone[name]._replace(away=False)
        elif local is not None:
            read[path][name] = Line()
            standing.add(local)
        else:
            left.setdefault((path, name), one)
    return list(left.values()), standing


# The memory's side of a comparison: a snapshot of everything that has an entry in the files.


_CHAIN_MAX: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Memories and events in the order of their numbers, with evidence by memory, contests, and the core block."""

    key: bytes
    tag: str
    memories: Sequence[Memory]
    events: Sequence[Event]
    evidence: Mapping[str, Sequence[Evidence]]
    contests: Sequence[ContestCase]
    core: Sequence[tuple[Section, str]] = ()


def build_memory_side(seen: View) -> dict[str, MemorySide]:
    """Return the side to compare with the files."""
    by_id = {one.id: one for one in seen.memories}
    found = {
        one.id: MemorySide(
            text=to_file_text(one.text),
            digest=hash_text(seen.key, one.text),
            held=one.status in HELD,
            head=_follow_successors(one, by_id),
        )
        for one in seen.memories
    }
    for event in seen.events:
        text = to_file_text(event.text)
        found[event.id] = MemorySide(text=text, digest=hash_text(seen.key, text), held=True, head=None, event=True)
    return found


def _follow_successors(memory: Memory, by_id: Mapping[str, Memory]) -> str | None:
    """Return the current replacement of a memory."""
    found: Memory | None = memory
    for _ in range(_CHAIN_MAX):
        if found is None or found.status in HELD:
            break
        found = by_id.get(found.superseded_by or "")
    return found.id if found is not None and found.status in HELD else None
