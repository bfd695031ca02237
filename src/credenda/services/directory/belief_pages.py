"""Pages of beliefs: the pages of `files sync` without their comments; each entry ends with its id.

The text of an entry may be changed (a correction) or removed (forgotten, which `restore` takes back), and a new line
is remembered. Entries of the past, of days and of the index are read-only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from credenda.errors import Invalid, NotFound
from credenda.model.contest import ContestState
from credenda.portability.files.load_memory_side import load_view
from credenda.portability.files.memory_side import View
from credenda.portability.files.page_plan import Placing, index_lines, lay_out
from credenda.portability.files.parse import read_item, to_file_text, write_item
from credenda.portability.files.render import (
    ARCHIVE,
    CORE,
    CORE_SECTIONS,
    INDEX,
    NOW,
    PAGES,
    SECTIONS,
    Sheet,
    is_shown,
)
from credenda.runtime import Parts
from credenda.services.core import core
from credenda.services.edit import Correction, put_right
from credenda.services.items import Words, store_words
from credenda.services.lookup import resolve_id
from credenda.services.memory_status import forget
from credenda.storage.store import EventFilter, MemoryFilter

_ID: Final = re.compile(r" \(([em]\d+-[0-9a-f]{6})\)$")
_EDITABLE: Final = frozenset({NOW, *CORE_SECTIONS.values()})


@dataclass(frozen=True, slots=True)
class BeliefPage:
    """A page of beliefs: `entries` are the texts of the entries that may change, by id, `fixed` those of the others."""

    path: str
    text: str
    entries: Mapping[str, str]
    fixed: Mapping[str, str]

    @property
    def writable(self) -> bool:
        """Whether an edit of the page changes beliefs."""
        return self.path == CORE or self.path.startswith(f"{PAGES}/")


def load_belief_pages(parts: Parts, known_at_us: int | None = None) -> dict[str, BeliefPage]:
    """Return the pages of the present beliefs, or of those believed at a time, by path."""
    seen = _load_present(parts) if known_at_us is None else _load_past(parts, known_at_us)
    layout = lay_out(seen, Placing(texts=(), where={}, placed={}, names={}))
    pages = {
        path: _show_page(path, sheet)
        for path, sheet in layout.sheets.items()
        if sheet.entries or any(one.text for one in sheet.questions)
    }
    core = CORE in pages
    text = "\n".join(index_lines(seen, layout, core=core))
    index = BeliefPage(INDEX, f"{text}\n", {}, {})
    return {**pages, **({INDEX: index} if pages else {})}


def _load_present(parts: Parts) -> View:
    lines = core(parts).lines
    with parts.store.reader(parts.user_id) as reader:
        return replace(load_view(reader), core=[(line.section, line.memory_id) for line in lines])


def _load_past(parts: Parts, known_at_us: int) -> View:
    with parts.store.reader(parts.user_id) as reader:
        seen = load_view(reader)
        if not seen.tag:
            return seen
        memories = [one for one in reader.find(MemoryFilter(known_at_us=known_at_us)) if is_shown(one)]
        past = EventFilter(recorded_before_us=known_at_us + 1, worded=True)
        known = {one.id for one in seen.events} & {one.id for one in reader.find_events(past)}
    return replace(
        seen,
        memories=sorted(memories, key=lambda one: (one.created_us, one.id)),
        events=[one for one in seen.events if one.id in known],
        contests=[one for one in seen.contests if one.opened_us <= known_at_us and one.state is ContestState.OPEN],
    )


def _show_page(path: str, sheet: Sheet) -> BeliefPage:
    lines = [f"# {sheet.title}"]
    entries: dict[str, str] = {}
    fixed: dict[str, str] = {}
    for section in sorted({one.section for one in sheet.entries}, key=_rank):
        lines += ["", section] if section else []
        for one in sheet.entries:
            if one.section == section:
                *first, last = write_item(one.text)
                lines += ["", *([one.head, ""] if one.head else []), *([*first, f"{last} ({one.local})"])]
                (entries if section in _EDITABLE else fixed)[one.local] = to_file_text(one.text)
    questions = [one.text for one in sheet.questions if one.text]
    lines += ["", SECTIONS[3], "", *(f"- {text}" for text in questions)] if questions else []
    return BeliefPage(path, "\n".join(lines) + "\n", entries, fixed)


def _rank(section: str) -> int:
    return SECTIONS.index(section) if section in SECTIONS else -1


def apply_page_edit(parts: Parts, page: BeliefPage, text: str) -> None:
    """Apply the difference of a new text: changed entries are corrected, missing ones forgotten, new ones remembered.

    On the page of the core a missing entry changes nothing: it is chosen by use. Raises `Invalid` for a page or an
    entry that cannot be changed; then nothing changes.
    """
    if not page.writable or page.path.startswith(f"{ARCHIVE}/"):
        raise Invalid(f"{page.path} cannot be changed", why="it is made from other pages", fix="change an entry there")
    found = _read_entries(text)
    known = {**page.fixed, **page.entries}
    for name, said in found:
        if name is not None and name not in known:
            raise NotFound(f"{name} is not on {page.path}", fix="leave out the id of a new line")
        if name is not None and said != page.fixed.get(name, said):
            raise Invalid(f"{name} cannot be changed", why="it is an entry of the past", fix="write a new line")
    texts = {name: said for name, said in found if name is not None}
    questions = {line for line in page.text.split("\n") if line.startswith("- ")}
    for name, before in page.entries.items():
        if name not in texts and page.path != CORE:
            forget(parts, name, "removed from a page")
        elif texts.get(name, before) != before:
            wanted = Correction(text=texts[name], reason="edited in a page")
            put_right(parts, resolve_id(parts, name), wanted)
    for name, said in found:
        if name is None and f"- {said}" not in questions:
            store_words(parts, Words(said, f"page /{page.path}"))


def _read_entries(text: str) -> list[tuple[str | None, str]]:
    """Return the entries of a text: the id at the end of each, and its words."""
    entries: list[list[str]] = []
    inside = False
    for line in text.split("\n"):
        if line.startswith(("- ", "* ", "+ ")):
            entries.append([line])
            inside = True
        elif inside and line.startswith("  "):
            entries[-1].append(line)
        elif line.strip():
            inside = False
            entries += [] if line.startswith("#") else [[line]]
    return [_read_entry(lines) for lines in entries]


def _read_entry(lines: Sequence[str]) -> tuple[str | None, str]:
    found = _ID.search(lines[-1])
    last = lines[-1][: found.start()] if found else lines[-1]
    return (found[1] if found else None), read_item([*lines[:-1], last])
