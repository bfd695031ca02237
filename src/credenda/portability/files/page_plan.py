"""Plan which file shows each entry after a comparison. Pure."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from credenda import limits
from credenda.clock import parse_time
from credenda.errors import CredendaError
from credenda.ids import parse_serial
from credenda.model.change import DRAFT_FIELDS, ContestCase, ContestState, from_contest_dict, parse_fields
from credenda.model.claim import Span
from credenda.model.memory import Draft, MemoryType, Relation, Status
from credenda.portability.files.parse import Entered, Said
from credenda.portability.files.render import (
    ARCHIVE,
    CORE,
    CORE_SECTIONS,
    CORE_TITLE,
    DAY_HEADING,
    INDEX,
    PAGES,
    TIMES,
    Entry,
    Sheet,
    choose_page_name,
    fold_name,
    format_day,
    make_beside,
    make_contest_entry,
    make_event_entry,
    make_memory_entry,
    make_page_key,
    make_title,
)
from credenda.portability.files.state import Spot, Text, Tier, View
from credenda.text.normalize import normalise_name

_DAYS_SHOWN: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """Known places: files by local id, entries by block, ids in files by local id, and removed blocks.

    `kept` are ids in files that stay unchanged, `skipped` local ids that are not rendered, `left` blocks and `closed`
    files that stay untouched, `pages` the previous files of entities, `foreign` the folded paths of files that are not
    ours, `index` the index that code wrote.
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
    foreign: Collection[str] = frozenset()
    index: str = ""

    @property
    def own(self) -> list[Text]:
        """The pages that may be written."""
        return [text for text in self.texts if text.own]

    @property
    def core(self) -> str:
        """The file of the core block."""
        found = [text.path for text in self.own if text.tier is Tier.CORE]
        return found[0] if found else self.choose(CORE)

    def choose(self, path: str) -> str:
        """Return the path of a file of ours: its own name, or one beside the files of other programs.

        >>> Placing(texts=(), where={}, placed={}, names={}, foreign={"memory.md"}).choose("MEMORY.md")
        'MEMORY-credenda.md'
        """
        while fold_name(path) in self.foreign:
            path = make_beside(path)
        return path


@dataclass(frozen=True, slots=True)
class Layout:
    """Sheets by file, the files of entities by their keys, and those of the core block and of the index."""

    sheets: Mapping[str, Sheet]
    pages: Mapping[str, str]
    core: str
    index: str

    def list_core(self) -> list[str]:
        """Return the memories on the page of the core block."""
        return [one.local for one in self.sheets[self.core].entries] if self.core in self.sheets else []


def lay_out(seen: View, placing: Placing) -> Layout:
    """Assign every entry a file: its previous file, else the page of its entity, or its day."""
    entries = [
        *(make_memory_entry(one, seen.evidence.get(one.id, ()), placing.names) for one in seen.memories),
        *map(make_event_entry, seen.events),
    ]
    shown = {normalise_name(text.about): text.about for text in placing.own if normalise_name(text.about)}
    shown |= {make_page_key(one.entity): one.entity or "" for one in reversed(seen.memories)}
    pages = _assign_pages(seen, placing, shown)
    on: dict[str, list[Entry]] = defaultdict(list)
    for one in entries:
        if one.local not in placing.skipped:
            day = placing.choose(f"{ARCHIVE}/{one.page}.md")
            on[placing.where.get(one.local) or (day if one.section == DAY_HEADING else pages[one.page])].append(one)
    names = {text.path: text.about for text in placing.own}
    names |= {path: shown.get(key) or key for key, path in pages.items() if path not in names}
    found_on = {local: path for local, path in placing.where.items() if path}
    day_paths = {
        one.id: found_on.get(one.id) or placing.choose(f"{ARCHIVE}/{format_day(one.recorded_us)}.md")
        for one in seen.events
    }
    day_of = {local: path.rpartition("/")[2].removesuffix(".md") for local, path in day_paths.items()}
    days: dict[str, str] = {}
    for memory_id, evidence in seen.evidence.items():
        said = sorted(day_of[one.span.event_id] for one in evidence if one.span.event_id in day_of)
        if said:
            days[memory_id] = said[0]
    core, index = placing.core, placing.index or placing.choose(INDEX)
    foot = f"###### [[{index.removesuffix('.md')}|Index]]"
    link = f"{foot} · [[{core.removesuffix('.md')}|Always on]]"
    asked: dict[str, list[str]] = defaultdict(list)
    for case in seen.contests:
        asked[pages.get(make_page_key(case.entity), "")].append(case.id)
    paths = dict.fromkeys([*on, *(text.path for text in placing.own if text.tier is not Tier.CORE)])
    sheets: dict[str, Sheet] = {}
    for path in paths:
        if path in placing.closed:
            continue
        archive = path.startswith(f"{ARCHIVE}/")
        about = names.get(path, "")
        sheets[path] = Sheet(
            title=make_title(normalise_name(about), about) or path.rpartition("/")[2].removesuffix(".md"),
            front=()
            if archive
            else ["---", "credenda: page", f"entity: {json.dumps(about, ensure_ascii=False)}", "---", ""],
            entries=on[path],
            questions=[make_contest_entry(one, placing.names) for one in seen.contests if one.id in asked[path]],
            foot=link if archive else _write_footer(link, {days[one.local] for one in on[path] if one.local in days}),
            names=placing.names,
            kept=placing.kept,
            placed=_place_entries(placing, path),
            left={spot.block for spot in placing.left if spot.path == path},
        )
    sheets |= {} if core in placing.closed else {core: _make_core_page(seen, placing, foot)}
    return Layout(sheets, pages, core, index)


def _place_entries(placing: Placing, path: str) -> dict[int, Sequence[str]]:
    return {spot.block: locals_ for spot, locals_ in placing.placed.items() if spot.path == path}


def _write_footer(foot: str, days: Collection[str]) -> str:
    newest = sorted(days, reverse=True)[:_DAYS_SHOWN]
    links = ", ".join(f"[[{ARCHIVE}/{day}|{day}]]" for day in newest)
    return f"{foot} · said on {links}" if links else foot


def _assign_pages(seen: View, placing: Placing, shown: Mapping[str, str]) -> dict[str, str]:
    """Assign each entity a page: the file that names it, else its previous file, else a new name."""
    found = {text.path for text in placing.texts} | set(placing.closed)
    claimed: dict[str, str] = {}
    for text in placing.own:
        key = normalise_name(text.about) if text.tier is Tier.PAGES else ""
        if key and (key not in claimed or placing.pages.get(key) == text.path):
            claimed[key] = text.path
    before = {key: path for key, path in placing.pages.items() if fold_name(path) not in placing.foreign}
    pages = {key: claimed.get(key) or before.get(key, "") for key in {*shown, *claimed}}
    for case in seen.contests:
        pages.setdefault(make_page_key(case.entity), "")
    taken = {fold_name(path.rpartition("/")[2].removesuffix(".md")) for path in {*found, *pages.values()} if path}
    for key in sorted(pages):
        if not pages[key]:
            name = choose_page_name(shown.get(key) or key, key, taken)
            taken.add(fold_name(name))
            pages[key] = f"{PAGES}/{name}.md"
    return pages


def _make_core_page(seen: View, placing: Placing, foot: str) -> Sheet:
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
        title=CORE_TITLE.removeprefix("# "),
        entries=entries,
        foot=foot,
        names=placing.names,
        placed=_place_entries(placing, placing.core),
        left={spot.block for spot in placing.left if spot.path == placing.core},
    )


def index_lines(seen: View, layout: Layout, *, core: bool) -> list[str]:
    """List pages and days for the index; `core` tells whether the page of the core block exists."""
    link = f"[[{layout.core.removesuffix('.md')}|Always on]]"
    always = f"{link}: context for every prompt." if core else "Nothing is remembered yet."
    lines = ["# Memory", "", always, ""]
    pages = sorted(
        (path, sheet)
        for path, sheet in layout.sheets.items()
        if path != layout.core and not path.startswith(f"{ARCHIVE}/") and sheet.entries
    )
    if pages:
        lines += ["## Pages", ""]
    for path, sheet in pages:
        held = sum(one.held for one in sheet.entries)
        asked = sum(bool(one.text) for one in sheet.questions)
        more = f", {asked} open question{'s' if asked > 1 else ''}" if asked else ""
        title = sheet.title.translate(str.maketrans("", "", "[]|"))
        lines.append(f"- [[{path.removesuffix('.md')}|{title}]]: {held} active{more}")
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


# Read pages back as the only source: events, memories and contests.


_FRACTIONS: Final = ("confidence", "importance", "trust")
_ENDED: Final = frozenset({Status.SUPERSEDED, Status.MERGED, Status.INVALIDATED})
_CONFIRMATIONS_MAX: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """An event of the archive: `table` is the content of its comment."""

    name: str
    text: str
    path: str
    table: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Believed:
    """A memory of a page: its draft, its replacement, and its evidence spans, by names of the files."""

    name: str
    draft: Draft
    path: str
    updated_us: int
    sources: tuple[Span, ...] = ()
    relation: Relation | None = None
    superseded_by: str | None = None
    contested: bool = False
    confirmations: int = 0


@dataclass(slots=True)
class Record:
    """The content of all pages, in the order of the original numbers; `notes` name unreadable entries."""

    events: list[Filed] = field(default_factory=list[Filed])
    memories: list[Believed] = field(default_factory=list[Believed])
    cases: list[ContestCase] = field(default_factory=list[ContestCase])
    statements: int = 0
    notes: list[str] = field(default_factory=list[str])


def record(texts: Sequence[Text], edited: Callable[[str, str], bool]) -> Record:
    """Read pages; `edited` tells whether the text of an id was changed since code last wrote it."""
    found = Record()
    seen: set[str] = set()
    for text in texts:
        if text.tier is Tier.CORE:
            continue
        for block in text.page.blocks:
            if isinstance(block, Said):
                found.statements += 1
            if not isinstance(block, Entered) or block.name in seen or not (block.text or block.kind == "k"):
                continue
            seen.add(block.name)
            try:
                _take(found, text, block, edited)
            except (CredendaError, ValueError, KeyError, TypeError, AttributeError):
                found.notes.append(f"{text.path}: the comment of {block.name[:32]} cannot be parsed")
    found.events.sort(key=lambda one: _order_by_number(one.name))
    found.memories.sort(key=lambda one: _order_by_number(one.name))
    return found


def _order_by_number(name: str) -> tuple[int, str]:
    try:
        return parse_serial(name), name
    except ValueError:
        return 0, name


def _take(found: Record, text: Text, block: Entered, edited: Callable[[str, str], bool]) -> None:
    if block.kind == "k":
        plain = {name: value for name, value in block.table.items() if name not in {"opened", "resolved"}}
        for name in ("opened", "resolved"):
            if block.table.get(name):
                plain[f"{name}_us"] = parse_time(block.table[name])
        found.cases.append(from_contest_dict(plain))
    elif text.tier is Tier.ARCHIVE:
        found.events.append(Filed(name=block.name, text=block.text, path=text.path, table=block.table))
    else:
        table = block.table
        relation, successor = table.get("relation"), table.get("superseded_by")
        memory = Believed(
            name=block.name,
            draft=_make_draft(block.text[: limits.MEMORY_TEXT_CHARACTERS], table),
            path=text.path,
            updated_us=parse_time(table["updated"]),
            sources=tuple(map(_read_source, cast("list[str]", table.get("sources", [])))),
            relation=None if relation is None else Relation(relation),
            superseded_by=None if successor is None else str(successor),
            contested=table.get("contested") is True,
            confirmations=max(0, min(int(table.get("confirmations", 0)), _CONFIRMATIONS_MAX)),
        )
        changed = edited(block.name, block.text)
        found.memories.append(replace(memory, draft=replace(memory.draft, value=None)) if changed else memory)


def _make_draft(text: str, table: Mapping[str, Any]) -> Draft:
    times = {shown: name for name, shown in TIMES.items()}
    fields: dict[str, Any] = {"type": MemoryType.FACT}
    for shown, value in table.items():
        name = times.get(shown, shown)
        if name in DRAFT_FIELDS and name != "text":
            fields[name] = parse_time(value) if name in TIMES else value
    fields = parse_fields(fields)
    for name in _FRACTIONS:
        if name in fields:
            fields[name] = max(0.0, min(float(fields[name]), 1.0))
    said: dict[str, Any] = {**fields, "text": text}
    draft = Draft(**said)
    if draft.status is Status.DELETED:
        raise ValueError("a deleted memory cannot be in a page")
    if draft.status in _ENDED and draft.valid_until_us is None:
        draft = replace(draft, valid_until_us=parse_time(table["updated"]))
    # People may have edited the comment.
    names = (draft.topic, draft.entity, draft.attribute, draft.value, draft.scope, draft.speaker, draft.source_session)
    if any(name is not None and len(_read_text(name)) > limits.MEMORY_TEXT_CHARACTERS for name in names):
        raise TypeError("a name is not text")
    if not (isinstance(draft.pinned, bool) and isinstance(draft.provisional, bool)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("a flag is not true or false")
    if not isinstance(draft.metadata, dict) or [_read_text(tag) for tag in draft.tags] != list(draft.tags):
        raise TypeError("tags or metadata are malformed")
    return draft


def _read_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text is expected")
    return value


def _read_source(written: str) -> Span:
    event, _, places = written.rpartition(":")
    start, _, stop = places.partition("-")
    return Span(event, int(start), int(stop))
