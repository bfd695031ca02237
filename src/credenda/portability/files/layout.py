"""Memories and events as entries of the folder, and the file and section of each. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from credenda.clock import format_time, to_datetime
from credenda.model.change_fields import DRAFT_FIELDS
from credenda.model.claim import Evidence
from credenda.model.contest import ContestCase, ContestState, to_contest_dict
from credenda.model.core import Section
from credenda.model.event import Event
from credenda.model.memory import Draft, Layer, Memory, Status
from credenda.portability.files.markers import show_name, to_file_text
from credenda.text.normalize import normalise_name

__all__ = [
    "ARCHIVE",
    "BESIDE",
    "CORE",
    "CORE_SECTIONS",
    "CORE_TITLE",
    "DAY_HEADING",
    "INDEX",
    "LATER",
    "NOW",
    "PAGES",
    "PREVIOUSLY",
    "QUESTIONS",
    "SECTIONS",
    "TIMES",
    "UNSORTED",
    "ContestEntry",
    "Entry",
    "format_day",
    "is_shown",
    "make_beside",
    "make_contest_entry",
    "make_event_entry",
    "make_memory_entry",
    "make_page_key",
    "make_title",
]

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
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
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
    return Entry(
        local=memory.id,
        text=to_file_text(memory.text),
        table=table,
        page=make_page_key(memory.entity),
        section=_SECTION_OF.get(memory.status, LATER),
        held=memory.status in _HELD,
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
