"""Build the core block: choose and order its memories within hard limits, and compare rewrites. Pure.

The recall log ranks without weights or thresholds (S-058): by days, then sessions, then the latest recall; only the
limits end the list. A line is the text of a memory, or the clause with its value if the text is long.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from credenda.model.core import (
    HEADINGS,
    CoreDiff,
    CoreLine,
    CoreMemory,
    RecallCounts,
    Section,
)
from credenda.model.memory import ASSERTIVE_STANCES, Memory, Stance, Status
from credenda.model.statement import format_core_text, format_validity
from credenda.text.fence import CLOSING, OPENING, TokenBudget, fit_to_budget, format_bullet
from credenda.text.normalize import normalise_attribute, normalise_name

IDENTITY: Final = (
    *("preferred_name", "name", "pronouns", "residence", "timezone", "spoken_language"),
    *("job_title", "employer", "allergy"),
)
"""Attributes of the user that state their identity, in display order."""
_RANK: Final = {section: rank for rank, section in enumerate(Section)}
_REASONS: Final = {
    Section.INSTRUCTION: "standing instruction",
    Section.PINNED: "pinned by the user",
    Section.IDENTITY: "identifies the user",
    Section.RECALLED: "recalled often",
}
_USER: Final = normalise_name("user")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreLimits:
    """The limits of the core, counted over the whole block, and the time zone of its dates.

    `lines` include the fence and the headings, `memories` do not: a core of a single memory has one.
    """

    budget: TokenBudget
    lines: int
    zone: tzinfo
    memories: int = sys.maxsize


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreBlock:
    """The core block with its lines."""

    text: str
    lines: tuple[CoreLine, ...]
    tokens: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteRecord:
    """A record of a rewrite: its time, and (section, memory id, version) of its lines; no text."""

    at_us: int
    lines: tuple[tuple[Section, str, int], ...]


def is_settled(memory: Memory) -> bool:
    """Return whether a memory may appear without a warning, as the core requires."""
    held = memory.status is Status.ACTIVE and not memory.contested and memory.stance in ASSERTIVE_STANCES
    return held and bool(memory.text) and not memory.provisional


def has_slot(memory: Memory) -> bool:
    """Return whether a memory states a value of a named attribute; a copied sentence does not."""
    return bool(memory.entity and memory.attribute and memory.value)


def choose_identity(memories: Iterable[Memory]) -> list[Memory]:
    """Choose the memories that state the user's identity, in the order of `IDENTITY`.

    Scoped and denied values are left out: a past employer says not who somebody is.
    """
    rank = {attribute: place for place, attribute in enumerate(IDENTITY)}
    own = [
        memory
        for memory in memories
        if is_settled(memory)
        and memory.stance is Stance.ASSERTED
        and memory.scope is None
        and normalise_name(memory.entity or "") == _USER
        and normalise_name(memory.speaker) == _USER
        and normalise_attribute(memory.attribute or "") in rank
    ]
    return sorted(
        own, key=lambda memory: (rank[normalise_attribute(memory.attribute or "")], memory.created_us, memory.id)
    )


def sort_by_recall(log: Iterable[RecallCounts]) -> list[RecallCounts]:
    """Order the recall log: entries rated useless last; else by days, sessions and latest recall."""
    return sorted(log, key=lambda one: (one.useful < 0, -one.days, -one.sessions, -one.last_us, one.memory_id))


def build_core(candidates: Sequence[CoreMemory], log: Mapping[str, RecallCounts], cap: CoreLimits) -> CoreBlock:
    """Build the core within its limits; a line that does not fit is skipped, so that a shorter one may fit.

    `candidates` come in the order of their priority within a section; sections have the priority of `Section`. No
    two lines have the same words.
    Instructions, pins and recalled facts are shown in order of creation, so that the block stays the same unless a
    memory changes.
    """
    kept: list[tuple[CoreMemory, CoreLine]] = []
    left: list[str] = []
    seen, told = set[str](), set[str]()
    headings: set[str] = set()
    tokens, lines = cap.budget.counter.count(f"{OPENING}\n{CLOSING}"), f"{OPENING}\n{CLOSING}".count("\n") + 1
    for one in sorted(candidates, key=lambda one: _RANK[one.section]):
        words = format_core_text(one.memory)
        if one.memory.id in seen or words in told:
            continue
        seen.add(one.memory.id)
        line = format_line(one, log.get(one.memory.id), cap.zone)
        heading = HEADINGS[one.section]
        added = line.text if heading in headings else f"{heading}\n{line.text}"
        cost, rows = cap.budget.counter.added_by(added), added.count("\n") + 1
        if tokens + cost > cap.budget.tokens or lines + rows > cap.lines or len(kept) >= cap.memories:
            left += [one.memory.id] if one.section is not Section.RECALLED else []
            continue
        tokens, lines = tokens + cost, lines + rows
        headings.add(heading)
        told.add(words)
        kept.append((one, line))
    held, text, tokens = fit_to_budget(
        kept, lambda some: "\n".join([OPENING, *_add_headings(_sort_lines(some)), CLOSING]) if some else "", cap.budget
    )
    left += [one.memory.id for one, _ in kept[len(held) :] if one.section is not Section.RECALLED]
    return CoreBlock(text=text, lines=_sort_lines(held), tokens=tokens, left_out=tuple(left))


def _sort_lines(kept: Sequence[tuple[CoreMemory, CoreLine]]) -> tuple[CoreLine, ...]:
    return tuple(line for _, line in sorted(kept, key=_get_rank))


def _get_rank(one: tuple[CoreMemory, CoreLine]) -> tuple[int, int, int, str]:
    core, line = one
    section, memory = core.section, core.memory
    ranked = IDENTITY.index(normalise_attribute(memory.attribute or "")) if section is Section.IDENTITY else 0
    return _RANK[section], ranked, memory.created_us, line.memory_id


def format_line(one: CoreMemory, recalled: RecallCounts | None, zone: tzinfo) -> CoreLine:
    """Format one line; `recalled` is its entry in the recall log."""
    reason = _REASONS[one.section]
    if one.section is Section.RECALLED and recalled is not None and recalled.days:
        reason = f"recalled on {_format_count(recalled.days, 'day')} in {_format_count(recalled.sessions, 'session')}"
    memory = one.memory
    text = format_bullet(memory.id, format_core_text(memory), format_validity(memory, zone, one.told_us))
    return CoreLine(section=one.section, memory_id=memory.id, version=memory.version, text=text, reason=reason)


def _format_count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _add_headings(lines: Iterable[CoreLine]) -> list[str]:
    found: list[str] = []
    headings: set[str] = set()
    for line in lines:
        heading = HEADINGS[line.section]
        found += [line.text] if heading in headings else [heading, line.text]
        headings.add(heading)
    return found


def has_changed(before: RewriteRecord | None, lines: Sequence[CoreLine]) -> bool:
    """Return whether the lines differ from the record of the last rewrite."""
    after = tuple((line.section, line.memory_id, line.version) for line in lines)
    return bool(after) if before is None else before.lines != after


def diff_rewrites(before: Sequence[CoreLine], after: Sequence[CoreLine]) -> CoreDiff:
    """Compare two rewrites by memory; another text or section of the same memory counts as reworded."""
    old, new = ({line.memory_id: line for line in lines} for lines in (before, after))
    reworded = [
        (old[name], line)
        for name, line in new.items()
        if name in old and (line.text, line.section) != (old[name].text, old[name].section)
    ]
    return CoreDiff(
        added=tuple(line for name, line in new.items() if name not in old),
        removed=tuple(line for name, line in old.items() if name not in new),
        reworded=tuple(reworded),
    )
