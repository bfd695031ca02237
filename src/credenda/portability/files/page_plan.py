"""Plan which file shows each entry after a comparison. Pure."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from credenda.model.contest import ContestState
from credenda.portability.files.filenames import choose_page_name, fold_name
from credenda.portability.files.layout import (
    ARCHIVE,
    CORE,
    CORE_SECTIONS,
    PAGES,
    Entry,
    format_day,
    make_contest_entry,
    make_event_entry,
    make_memory_entry,
    make_page_key,
    make_title,
)
from credenda.portability.files.memory_side import View
from credenda.portability.files.render import Sheet
from credenda.portability.files.types import Spot, Text, Tier
from credenda.text.normalize import normalise_name

__all__ = ["Layout", "Placing", "index_lines", "lay_out"]

_FOOT: Final = "###### [[index|Index]] · [[MEMORY|Always on]]"
_DAYS_SHOWN: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """Known places: files by local id, entries by block, ids in files by local id, and removed blocks.

    `kept` are ids in files that stay unchanged, `skipped` local ids that are not rendered, `left` blocks and `closed`
    files that stay untouched, `pages` the previous files of entities.
    """

    texts: Sequence[Text]
    where: Mapping[str, str]
    placed: Mapping[Spot, Sequence[str]]
    names: Mapping[str, str]
    kept: Collection[str] = frozenset()
    skipped: Collection[str] = frozenset()
    left: Collection[Spot] = frozenset()
    closed: Collection[str] = frozenset()
    pages: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Layout:
    """Sheets by file, and the files of entities by their keys."""

    sheets: Mapping[str, Sheet]
    pages: Mapping[str, str]


def lay_out(seen: View, placing: Placing) -> Layout:
    """Assign every entry a file: its previous file, else the page of its entity, or its day."""
    entries = [
        *(make_memory_entry(one, seen.evidence.get(one.id, ()), placing.names) for one in seen.memories),
        *map(make_event_entry, seen.events),
    ]
    shown = {normalise_name(text.about): text.about for text in placing.texts if normalise_name(text.about)}
    shown |= {make_page_key(one.entity): one.entity or "" for one in reversed(seen.memories)}
    pages = _assign_pages(seen, placing, shown)
    on: dict[str, list[Entry]] = defaultdict(list)
    for one in entries:
        if one.local not in placing.skipped:
            day = f"{ARCHIVE}/{one.page}.md"
            on[placing.where.get(one.local) or (day if one.head else pages[one.page])].append(one)
    names = {text.path: text.about for text in placing.texts}
    names |= {path: shown.get(key) or key for key, path in pages.items() if path not in names}
    days = _find_days(seen, placing.where)
    asked: dict[str, list[str]] = defaultdict(list)
    for case in seen.contests:
        asked[pages.get(make_page_key(case.entity), "")].append(case.id)
    paths = dict.fromkeys([*on, *(text.path for text in placing.texts if text.tier is not Tier.CORE)])
    sheets: dict[str, Sheet] = {}
    for path in paths:
        if path in placing.closed:
            continue
        archive = path.startswith(f"{ARCHIVE}/")
        about = names.get(path, "")
        sheets[path] = Sheet(
            title=make_title(normalise_name(about), about) or path.rpartition("/")[2].removesuffix(".md"),
            front=() if archive else _write_front_matter(about),
            entries=on[path],
            questions=[make_contest_entry(one, placing.names) for one in seen.contests if one.id in asked[path]],
            foot=_FOOT if archive else _write_footer({days[local.local] for local in on[path] if local.local in days}),
            names=placing.names,
            kept=placing.kept,
            placed=_place_entries(placing, path),
            left={spot.block for spot in placing.left if spot.path == path},
        )
    sheets |= {} if CORE in placing.closed else {CORE: _make_core_page(seen, placing)}
    return Layout(sheets, pages)


def _place_entries(placing: Placing, path: str) -> dict[int, Sequence[str]]:
    return {spot.block: locals_ for spot, locals_ in placing.placed.items() if spot.path == path}


def _write_front_matter(entity: str) -> list[str]:
    return ["---", "credenda: page", f"entity: {json.dumps(entity, ensure_ascii=False)}", "---", ""]


def _find_days(seen: View, where: Mapping[str, str]) -> dict[str, str]:
    """Return the archive day of the first evidence of each memory."""
    found_on = {local: path.rpartition("/")[2].removesuffix(".md") for local, path in where.items() if path}
    day = {one.id: found_on.get(one.id) or format_day(one.recorded_us) for one in seen.events}
    found: dict[str, str] = {}
    for memory_id, evidence in seen.evidence.items():
        said = sorted(day[one.span.event_id] for one in evidence if one.span.event_id in day)
        if said:
            found[memory_id] = said[0]
    return found


def _write_footer(days: Collection[str]) -> str:
    newest = sorted(days, reverse=True)[:_DAYS_SHOWN]
    links = ", ".join(f"[[{ARCHIVE}/{day}|{day}]]" for day in newest)
    return f"{_FOOT} · said on {links}" if links else _FOOT


def _assign_pages(seen: View, placing: Placing, shown: Mapping[str, str]) -> dict[str, str]:
    """Assign each entity a page: the file that names it, else its previous file, else a new name."""
    found = {text.path for text in placing.texts} | set(placing.closed)
    claimed: dict[str, str] = {}
    for text in placing.texts:
        key = normalise_name(text.about) if text.tier is Tier.PAGES else ""
        if key and (key not in claimed or placing.pages.get(key) == text.path):
            claimed[key] = text.path
    pages = {key: claimed.get(key) or placing.pages.get(key, "") for key in {*shown, *claimed}}
    for case in seen.contests:
        pages.setdefault(make_page_key(case.entity), "")
    taken = {fold_name(path.rpartition("/")[2].removesuffix(".md")) for path in {*found, *pages.values()} if path}
    for key in sorted(pages):
        if not pages[key]:
            name = choose_page_name(shown.get(key) or key, key, taken)
            taken.add(fold_name(name))
            pages[key] = f"{PAGES}/{name}.md"
    return pages


def _make_core_page(seen: View, placing: Placing) -> Sheet:
    """Make the page of the core block: copies of entries, which may be edited there too."""
    by_id = {one.id: one for one in seen.memories if one.id not in placing.skipped}
    entries = [
        replace(
            make_memory_entry(by_id[memory_id], seen.evidence.get(memory_id, ()), placing.names),
            section=CORE_SECTIONS[section],
        )
        for section, memory_id in seen.core
        if memory_id in by_id
    ]
    return Sheet(
        title="Always on",
        entries=entries,
        foot="###### [[index|Index]]",
        names=placing.names,
        placed=_place_entries(placing, CORE),
        left={spot.block for spot in placing.left if spot.path == CORE},
    )


def index_lines(seen: View, layout: Layout, *, core: bool) -> list[str]:
    """List pages and days for the index; `core` tells whether the page of the core block exists."""
    always = "[[MEMORY|Always on]]: context for every prompt." if core else "Nothing is remembered yet."
    lines = ["# Memory", "", always, ""]
    pages = sorted(
        (path, sheet)
        for path, sheet in layout.sheets.items()
        if path != CORE and not path.startswith(f"{ARCHIVE}/") and sheet.entries
    )
    if pages:
        lines += ["## Pages", ""]
    for path, sheet in pages:
        held = sum(one.held for one in sheet.entries)
        asked = sum(bool(one.text) for one in sheet.questions)
        more = f", {asked} open question{'s' if asked > 1 else ''}" if asked else ""
        lines.append(f"- [[{path.removesuffix('.md')}|{_link_text(sheet.title)}]]: {held} active{more}")
    days = sorted(
        (path for path, one in layout.sheets.items() if path.startswith(f"{ARCHIVE}/") and one.entries), reverse=True
    )
    lines += ["", "## Days", ""] if days else []
    for path in days:
        name = path.removesuffix(".md")
        count = len(layout.sheets[path].entries)
        lines.append(f"- [[{name}|{name.rpartition('/')[2]}]]: {count} message{'s' if count > 1 else ''}")
    waiting = sum(one.state is ContestState.OPEN for one in seen.contests)
    return [*lines, *(["", f"{waiting} open: `credenda contests`."] if waiting else [])]


def _link_text(title: str) -> str:
    return title.translate(str.maketrans("", "", "[]|"))
