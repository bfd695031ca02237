"""Render a page, around the parts that people wrote. Pure.

Entries, their comments and the sections that code made are rendered again; headings, front matter, comments, rules, and
unread lines of people stay where they are.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, Final

from credenda.clock import format_time, to_datetime
from credenda.model.change import DRAFT_FIELDS, ContestCase, ContestState, to_contest_dict
from credenda.model.claim import Evidence
from credenda.model.core import Section
from credenda.model.event import Event
from credenda.model.memory import HELD, Draft, Layer, Memory, Status
from credenda.model.statement import format_validity, write_claim
from credenda.portability.files.parse import (
    END,
    FOOTER,
    Entered,
    Other,
    Parsed,
    Said,
    show_name,
    to_file_text,
    write_comment,
    write_footer,
    write_item,
)
from credenda.text.normalize import normalise_name
from credenda.text.passages import format_yearly_day

# Memories and events as entries of the folder, and the file and section of each. Pure.


ARCHIVE: Final = "archive"
PAGES: Final = "consolidated"
CORE: Final = "MEMORY.md"
CORE_TITLE: Final = "# Always on"
INDEX: Final = "index.md"
BESIDE: Final = "-credenda"
"""The end of the name of a file of ours whose own name a file of another program has."""

NOW: Final = "## Now"
PREVIOUSLY: Final = "## Previously"
LATER: Final = "## Set aside"
QUESTIONS: Final = "## Open questions"
CORE_SECTIONS: Final = {
    Section.INSTRUCTION: "## Standing instructions",
    Section.PINNED: "## Pinned",
    Section.IDENTITY: "## About you",
    Section.RECALLED: "## Often needed",
}
DAY_HEADING: Final = ""
"""Entries of a day are under the title, without a section."""
SECTIONS: Final = (NOW, PREVIOUSLY, LATER, QUESTIONS, *CORE_SECTIONS.values())

UNSORTED: Final = "notes"
"""Key of the page for memories without an entity."""
TIMES: Final = {"valid_from_us": "valid_from", "valid_until_us": "valid_until", "expires_us": "expires"}
"""Fields that comments show as times, with their names there."""
_SECTION_OF: Final = {
    Status.ACTIVE: NOW,
    Status.CHALLENGED: NOW,
    Status.SUPERSEDED: PREVIOUSLY,
    Status.MERGED: PREVIOUSLY,
    Status.INVALIDATED: PREVIOUSLY,
}
_SPEAKER_CHARACTERS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A memory or event as a file shows it: `page` is the key of its page or its day, `head` a line above it."""

    local: str
    text: str
    table: Mapping[str, object]
    page: str
    section: str
    held: bool
    head: str = ""


@dataclass(frozen=True, slots=True)
class ContestEntry:
    """A contest as a page shows it: the question while it is open, and all its fields for a rebuild."""

    table: Mapping[str, object]
    text: str
    page: str


def make_page_key(entity: str | None) -> str:
    """Return the key of the page of an entity."""
    return normalise_name(entity or "") or UNSORTED


def make_title(key: str, shown: str) -> str:
    """Return the title of a page."""
    return {"user": "You", UNSORTED: "Notes"}.get(key) or show_name(shown)


def make_beside(path: str) -> str:
    """Return the name of a file of ours beside a file of another program.

    >>> make_beside("archive/2026-03-01.md")
    'archive/2026-03-01-credenda.md'
    """
    stem, _, end = path.rpartition(".")
    return f"{stem}{BESIDE}.{end}"


def format_day(moment_us: int) -> str:
    """Return the day of a time, in UTC, so that it never changes."""
    return to_datetime(moment_us).date().isoformat()


def make_memory_entry(memory: Memory, evidence: Iterable[Evidence], names: Mapping[str, str]) -> Entry:
    """Make the entry of a memory; `names` are the ids in the files where they differ from the memory's."""
    table = {
        "first_seen": format_time(memory.created_us),
        "updated": format_time(memory.recorded_us),
        "sources": [
            f"{names.get(one.span.event_id, one.span.event_id)}:{one.span.start}-{one.span.stop}" for one in evidence
        ],
        **_list_fields(memory),
    }
    for name in ("relation", "confirmations"):
        if value := getattr(memory, name):
            table[name] = value
    if memory.contested:
        table["contested"] = True
    if memory.superseded_by:
        table["superseded_by"] = names.get(memory.superseded_by, memory.superseded_by)
    # Write the statement of a memory with a slot as the line above its quotation; "" if the words say the same.
    claim = to_file_text(write_claim(memory))
    times = ", ".join(format_validity(memory, UTC))
    head = f"#### {claim}{_SINCE}{times}"
    has_more_words = memory.value is not None and claim != to_file_text(memory.text)
    return Entry(
        local=memory.id,
        text=to_file_text(memory.text),
        table=table,
        page=make_page_key(memory.entity),
        section=_SECTION_OF.get(memory.status, LATER),
        held=memory.status in HELD,
        head=head if has_more_words and _STATED.fullmatch(head) else "",
    )


def _list_fields(memory: Memory) -> dict[str, object]:
    """Return the fields in which a memory differs from the defaults."""
    bare = Draft(text="", type=memory.type)
    found: dict[str, object] = {"type": memory.type.value}
    for name in DRAFT_FIELDS:
        value: Any = getattr(memory, name)
        if name not in {"text", "type"} and value != getattr(bare, name):
            found[TIMES.get(name, name)] = format_time(value) if name in TIMES else value
    return found


def make_event_entry(event: Event) -> Entry:
    """Make the entry of an event; its first line shows time and speaker."""
    table: dict[str, object] = {
        "first_seen": format_time(event.recorded_us),
        "updated": format_time(event.redacted_us or event.recorded_us),
        "sources": [event.source.value],
        "role": event.role.value,
        "speaker": event.speaker,
        "said": format_time(event.occurred_us),
        "trust": event.trust,
    }
    more = {"topic": event.topic, "session": event.session, "agent": event.agent, "external_id": event.external_id}
    lists = {"flags": event.flags, "tags": event.tags, "metadata": event.metadata}
    table |= {name: value for name, value in {**more, **lists}.items() if value}
    if event.expires_us is not None:
        table["expires"] = format_time(event.expires_us)
    speaker = show_name(event.speaker).replace("<", "(")[:_SPEAKER_CHARACTERS]
    return Entry(
        local=event.id,
        text=to_file_text(event.text),
        table=table,
        page=format_day(event.recorded_us),
        section=DAY_HEADING,
        held=True,
        head=f"#### {to_datetime(event.recorded_us):%H:%M} {speaker}",
    )


def is_shown(memory: Memory) -> bool:
    """Return whether a memory has an entry in the files: deleted memories and memories about code have none."""
    return (
        memory.status is not Status.DELETED and memory.layer is not Layer.CODEBASE and bool(to_file_text(memory.text))
    )


def make_contest_entry(case: ContestCase, names: Mapping[str, str]) -> ContestEntry:
    """Make the entry of a contest."""
    table = to_contest_dict(case)
    table["memory_ids"] = [names.get(one, one) for one in case.memory_ids]
    for name in ("opened_us", "resolved_us"):
        if name in table:
            table[name.removesuffix("_us")] = format_time(table.pop(name))  # type: ignore[arg-type]
    asked = f"{case.question} (`credenda resolve {case.id}`)" if case.state is ContestState.OPEN else ""
    return ContestEntry(table={"id": case.id, **table}, text=to_file_text(asked), page=make_page_key(case.entity))


_FOOT: Final = "###### [[index"
_HEAD: Final = re.compile(r"#### \d\d:\d\d ")
_SINCE: Final = " · "
_STATED: Final = re.compile(rf"#### .+{_SINCE}[a-z, ]*\d{{4}}-\d\d(?:-\d\d)?(?: \d\d:\d\d)?(?:(?:,| to) [a-z0-9: -]+)*")
"""The statement above a memory. One whose value somebody changed is theirs, and stays without its time."""
_INDEX: Final = ("<!--index-->", "<!--/index-->")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """The planned content of a page: entries by section in order, contests, and the last line.

    `names` gives the ids in the files by local ids; `kept` are ids of entries that stay unchanged, and `placed` the
    entries that replace a block by its number: none for a statement that was stored and appears elsewhere. `left` are
    blocks that stay unchanged.
    """

    title: str
    front: Sequence[str] = ()
    entries: Sequence[Entry] = ()
    questions: Sequence[ContestEntry] = ()
    foot: str = ""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    kept: Collection[str] = frozenset()
    placed: Mapping[int, Sequence[str]] = field(default_factory=dict[int, Sequence[str]])
    left: Collection[int] = frozenset()


def draw(old: Parsed | None, sheet: Sheet, ending: str = "\n") -> str:
    """Render a page; lines of code have the given end, lines of persons their own."""
    return _Drawing(sheet, ending).page(old)


def has_index_marks(text: str) -> bool:
    """Return whether a page has the part that code writes in an index."""
    begin, end = _INDEX
    return begin in text and end in text.partition(begin)[2]


def draw_index(old: str | None, lines: Sequence[str], ending: str = "\n") -> str:
    """Render the index between its markers; keep the text that people wrote around it."""
    begin, end = _INDEX
    inside = ending.join([begin, *lines, end])
    if old is not None and has_index_marks(old):
        before, _, rest = old.partition(begin)
        return before + inside + rest.partition(end)[2]
    return inside + ending


def is_empty(page: Parsed, sheet: Sheet) -> bool:
    """Return whether a page contains only lines that code writes on every page."""
    ours = {*sheet.front, f"# {sheet.title}", sheet.foot, END, "", *SECTIONS}
    return all(
        isinstance(one, Other) and all(line in ours or FOOTER.fullmatch(line) for line in one.lines)
        for one in page.blocks
    )


@dataclass(slots=True)
class _Chunk:
    """Lines that stay together: rendered by code (`ours`) or as found, with the blank lines above."""

    lines: Sequence[str]
    ours: bool
    gap: Sequence[str]


class _Drawing:
    """The state of rendering one page."""

    def __init__(self, sheet: Sheet, ending: str) -> None:
        self._sheet = sheet
        self._return = ending.removesuffix("\n")
        self._entries = {one.local: one for one in sheet.entries}
        self._locals = {name: local for local, name in sheet.names.items()}
        self._drawn: set[str] = set()
        self._names: list[str] = []
        self._chunks: list[_Chunk] = []
        self._gap: Sequence[str] = ()
        self._head = ""
        self._section: str | None = DAY_HEADING
        self._ends: dict[str, int] = {}

    def page(self, old: Parsed | None) -> str:
        """Go through the old page, then add missing entries."""
        if old is None:
            self._put([*self._sheet.front, f"# {self._sheet.title}"])
            self._mark()
        else:
            for number, block in enumerate(old.blocks):
                following = old.blocks[number + 1] if number + 1 < len(old.blocks) else None
                if isinstance(block, Other) and block.blank:
                    self._gap = max(self._gap, block.raw or block.lines, key=len)
                else:
                    self._block(number, block, following)
        self._add_missing()
        if any(one.text for one in self._sheet.questions):
            self._put([QUESTIONS])
        for one in sorted(self._sheet.questions, key=lambda one: not one.text):
            self._put([write_comment("k", one.table), *(write_item(one.text) if one.text else [])])
        if self._sheet.foot:
            self._put([self._sheet.foot])
        self._put(write_footer(self._names))
        # Put a blank line around rendered parts, and keep the blank lines that are there.
        lines: list[str] = []
        before: _Chunk | None = None
        for chunk in self._chunks:
            rendered = before is not None and (chunk.ours or before.ours)
            lines += chunk.gap or ([self._return] if rendered else [])
            lines += [f"{line}{self._return}" for line in chunk.lines] if chunk.ours else chunk.lines
            before = chunk
        return "\n".join(lines) + "\n"

    def _put(self, lines: Sequence[str], *, ours: bool = True) -> None:
        self._chunks.append(_Chunk(lines, ours, self._gap))
        self._gap = ()

    def _mark(self) -> None:
        """Record that the current section extends to here."""
        if self._section is not None:
            self._ends[self._section] = len(self._chunks)

    def _block(self, number: int, block: Entered | Said | Other, following: object) -> None:
        match block:
            case Entered(kind="k"):
                return
            case Entered():
                self._entered(number, block)
            case Said():
                self._said(number, block)
            case Other(lines=(line,)) if line in (END, QUESTIONS) or line.startswith(_FOOT) or FOOTER.fullmatch(line):
                return
            case Other(lines=(line,)) if _HEAD.match(line) and isinstance(following, Entered):
                self._head = line
            case Other(lines=(line,)) if _STATED.fullmatch(line):
                value = following.table.get("value") if isinstance(following, Entered) else None
                if value is None or format_yearly_day(str(value)).casefold() in line.casefold():
                    self._head = line if isinstance(following, Entered) else ""
                else:
                    self._put([line.rpartition(_SINCE)[0]], ours=False)
            case Other():
                self._other(block)

    def _other(self, block: Other) -> None:
        heading = block.lines[0]
        section = heading in SECTIONS
        if heading.startswith("#") and not heading.startswith("# "):
            self._section = heading if section else None
        self._put(block.lines if section else block.raw or block.lines, ours=section)
        if heading.startswith("#"):
            self._mark()

    def _said(self, number: int, block: Said) -> None:
        if number not in self._sheet.placed:
            self._put(block.raw or block.lines, ours=False)
            self._mark()
        for local in self._sheet.placed.get(number, ()):
            self._entry(local)

    def _entered(self, number: int, block: Entered) -> None:
        if number in self._sheet.placed:
            for local in self._sheet.placed[number]:
                self._entry(local)
        elif number in self._sheet.left or block.name in self._sheet.kept:
            self._put(block.lines)
            self._names.append(block.name)
            self._mark()
        else:
            self._entry(self._locals.get(block.name, block.name), block)
        self._head = ""

    def _entry(self, local: str, found: Entered | None = None) -> None:
        """Render an entry at its place, unless it belongs under another heading of ours."""
        entry = self._entries.get(local)
        if entry is None or local in self._drawn or self._section not in (None, entry.section):
            return
        self._drawn.add(local)
        self._put(self._as_found(entry, found) or self._shown(entry))
        self._mark()

    def _as_found(self, entry: Entry, found: Entered | None) -> list[str]:
        """Keep an entry that another memory wrote unchanged, while text and status are equal.

        Otherwise two memories that share a folder would overwrite each other's times in turn.
        """
        if found is None or found.name not in self._locals or found.text != entry.text:
            return []
        if found.table.get("status", "active") != entry.table.get("status", "active"):
            return []
        self._names.append(found.name)
        return [*([self._head] if self._head else []), *found.lines]

    def _shown(self, entry: Entry) -> list[str]:
        name = self._sheet.names.get(entry.local, entry.local)
        self._names.append(name)
        head = [entry.head] if entry.head else []
        return [*head, write_comment("m", {"id": name, **entry.table}), *write_item(entry.text)]

    def _add_missing(self) -> None:
        """Add missing entries at the end of their sections, from the last section up, so that positions stay valid."""
        missing = [one for one in self._sheet.entries if one.local not in self._drawn]
        for section, stop in sorted(self._ends.items(), key=lambda pair: -pair[1]):
            self._chunks[stop:stop] = [
                _Chunk(self._shown(one), ours=True, gap=()) for one in missing if one.section == section
            ]
        rest = [one for one in missing if one.section not in self._ends]
        for section in ("", *SECTIONS):
            for number, one in enumerate([one for one in rest if one.section == section]):
                if section and not number:
                    self._put([section])
                self._put(self._shown(one))


# File names of pages: valid on every system, deterministic, and never outside the folder. Pure.


NAME_BYTES: Final = 80
"""Longest name of a page without its suffix, in UTF-8: far below the limit of any file system."""
_RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
)
_KEPT: Final = frozenset(" _-'")


def choose_page_name(shown: str, key: str, taken: Collection[str]) -> str:
    """Return the file name of a page; `taken` are the folded names of others, `key` makes an ambiguous name unique.

    >>> choose_page_name("../etc/passwd", "x", ())
    'etc-passwd'
    >>> choose_page_name("CON", "con", ()), choose_page_name("ana", "ana", {"ana"})
    ('CON_', 'ana-2149fb')
    """
    letters = (
        letter if (letter in _KEPT or unicodedata.category(letter)[0] in "LMN") else "-"
        for letter in unicodedata.normalize("NFC", shown)
    )
    name = "-".join(part for part in "".join(letters).split("-") if part.strip()).strip(" -_'")
    name = " ".join(name.split())
    while len(name.encode()) > NAME_BYTES:
        name = name[:-1].rstrip()
    name = name or "page"
    if name.casefold() in _RESERVED:
        name += "_"
    if fold_name(name) in taken:
        name = f"{name}-{hashlib.blake2b(key.encode(), digest_size=3).hexdigest()}"
    return name


def fold_name(name: str) -> str:
    """Return the form in which names are equal on a file system that ignores case and composition."""
    return unicodedata.normalize("NFC", name.casefold())
