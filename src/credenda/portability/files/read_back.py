"""Read pages back as the only source: events, memories and contests. Pure.

The comment has an entry's fields, the page its text. If the text was edited since the last synchronisation, the memory
keeps its type and status, but not its value, which the comment still has for the old text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from credenda import limits
from credenda.clock import parse_time
from credenda.errors import CredendaError
from credenda.ids import parse_serial
from credenda.model.change import DRAFT_FIELDS, parse_fields
from credenda.model.claim import Span
from credenda.model.contest import ContestCase, from_contest_dict
from credenda.model.memory import Draft, MemoryType, Relation, Status
from credenda.portability.files.parse import Entered, Said
from credenda.portability.files.render import TIMES
from credenda.portability.files.state import Text, Tier

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
        found.cases.append(_read_contest(block.table))
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
    _check(draft)
    return draft


def _check(draft: Draft) -> None:
    """Raise `TypeError` for fields of the wrong type, because people may have edited the comment."""
    names = (draft.topic, draft.entity, draft.attribute, draft.value, draft.scope, draft.speaker, draft.source_session)
    if any(name is not None and len(_read_text(name)) > limits.MEMORY_TEXT_CHARACTERS for name in names):
        raise TypeError("a name is not text")
    if not (isinstance(draft.pinned, bool) and isinstance(draft.provisional, bool)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("a flag is not true or false")
    if not isinstance(draft.metadata, dict) or [_read_text(tag) for tag in draft.tags] != list(draft.tags):
        raise TypeError("tags or metadata are malformed")


def _read_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text is expected")
    return value


def _read_source(written: str) -> Span:
    event, _, places = written.rpartition(":")
    start, _, stop = places.partition("-")
    return Span(event, int(start), int(stop))


def _read_contest(table: Mapping[str, Any]) -> ContestCase:
    plain = {name: value for name, value in table.items() if name not in {"opened", "resolved"}}
    for name in ("opened", "resolved"):
        if table.get(name):
            plain[f"{name}_us"] = parse_time(table[name])
    return from_contest_dict(plain)
