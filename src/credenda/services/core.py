"""The core: gather the memories, lay them out within the cap, and record each change of the block.

A rewrite records only the ids and versions of its memories; their words are read from their rows. So no rewrite
contains deleted words, and the diff of a rewrite can be computed after a restart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from credenda import limits
from credenda.clock import DAY_US, is_ahead
from credenda.errors import CredendaError
from credenda.manage.core import (
    IDENTITY,
    CoreLimits,
    RewriteRecord,
    build_core,
    choose_identity,
    diff_rewrites,
    format_line,
    has_changed,
    has_slot,
    is_settled,
    sort_by_recall,
)
from credenda.model.core import Core, CoreLine, CoreMemory, RecallCounts, Section
from credenda.model.query import Query
from credenda.read.core_memories import (
    add_statement_times,
    find_core_memories,
    find_often_recalled,
    find_user_memories,
    to_core_memory,
)
from credenda.read.filters import is_memory_of_project
from credenda.runtime import Parts
from credenda.storage.store import Reader, Snapshot, Writer
from credenda.text.fence import TokenBudget
from credenda.workers.loop import flush_accesses

_NAME: Final = "core"
_ALL: Final = Query(text="")


@dataclass(frozen=True, slots=True)
class _Gathered:
    candidates: list[CoreMemory]
    log: Mapping[str, RecallCounts]


def core(parts: Parts) -> Core:
    """Return the current core, and record it if it differs from the last rewrite.

    The recall log counts up to now. A read-only memory records nothing.
    """
    _flush(parts)
    now_us = parts.clock.now_us()
    cap = _choose_cap(parts)
    with parts.active_calls, parts.store.reader(parts.user_id) as reader:
        found = _gather(reader, _ALL, now_us, until_day=now_us // DAY_US + 1)
        laid = build_core(found.candidates, found.log, cap)
        kept = _read_rewrites(reader)
        new = has_changed(kept[-1] if kept else None, laid.lines)
        # The lines of the last rewrite and of the one before; a `new` layout counts as the last.
        if new:
            before, after = (_word_lines(reader, kept[-1], cap) if kept else []), list(laid.lines)
        else:
            before, after = (_word_lines(reader, kept[-2], cap) if len(kept) > 1 else []), list(laid.lines)
    files = new and not parts.read_only
    if files:
        rewrite = RewriteRecord(
            at_us=now_us, lines=tuple((one.section, one.memory_id, one.version) for one in laid.lines)
        )
        kept = parts.store.commit(parts.user_id, lambda writer: _write_rewrite(writer, rewrite))
    previous = kept if new and not files else kept[:-1]
    return Core(
        text=laid.text,
        lines=laid.lines,
        tokens=laid.tokens,
        tokens_max=cap.budget.tokens,
        lines_max=cap.lines,
        left_out=laid.left_out,
        diff=diff_rewrites(before, after),
        rewritten=files,
        rewrites=len(kept),
        counted_by=parts.counter.name,
        rewritten_us=kept[-1].at_us if kept and (files or not new) else now_us,
        previous_us=previous[-1].at_us if previous else None,
    )


def _choose_cap(parts: Parts) -> CoreLimits:
    """Return the cap of the core: its own settings and the limit of MEMORY.md (S-086)."""
    settings = parts.settings
    return CoreLimits(
        budget=TokenBudget(settings.core_tokens, parts.counter),
        lines=settings.core_lines,
        zone=settings.zone,
        memories=settings.memory_consolidation_memory_max_lines,
    )


def gather_candidates(parts: Parts, reader: Reader, query: Query, now_us: int) -> list[CoreMemory]:
    """Return the core memories of a context block, in order of priority and within the cap.

    Frequently recalled memories stay as in the rewrite of the last 24 hours, or else as in the recall log at the start
    of the day: within a day only edits by the user change the block, so that prompts can be cached. A query about
    another time gets only instructions and pins.
    """
    if query.as_of_us is not None or query.known_at_us is not None:
        firm = find_core_memories(reader, query, now_us)
        then = add_statement_times(reader, [to_core_memory(memory) for memory in firm])
        return [one for one in then if is_memory_of_project(one.memory, query.project)]
    kept = _read_rewrites(reader)
    last = kept[-1] if kept and now_us - DAY_US < kept[-1].at_us and not is_ahead(kept[-1].at_us, now_us) else None
    found = _gather(reader, query, now_us, until_day=now_us // DAY_US, chosen=last)
    cap = _choose_cap(parts)
    candidates = [one for one in found.candidates if is_memory_of_project(one.memory, query.project)]
    held = {one.memory.id: one for one in reversed(candidates)}
    return [held[line.memory_id] for line in build_core(candidates, found.log, cap).lines]


def _flush(parts: Parts) -> None:
    """Write the buffered recalls; a failure is ignored, because the recall log is optional (S-059)."""
    if parts.read_only:
        return
    try:
        flush_accesses(parts)
    except CredendaError:
        return


def _gather(
    reader: Reader, query: Query, now_us: int, *, until_day: int, chosen: RewriteRecord | None = None
) -> _Gathered:
    """Read the candidates of the core; `chosen` gives the recalled memories instead of the log."""
    firm = find_core_memories(reader, query, now_us)
    candidates = [
        to_core_memory(one) for one in sorted(firm, key=lambda one: (not one.pinned, -one.created_us, one.id))
    ]
    own = choose_identity(find_user_memories(reader, IDENTITY, now_us))
    candidates += [CoreMemory(Section.IDENTITY, memory) for memory in own]
    if chosen is None:
        log = sort_by_recall(
            reader.usage.recalled(until_day - limits.CORE_RECALL_DAYS, until_day, limits.CORE_RECALLED)
        )
    else:
        ids = [name for section, name, _ in chosen.lines if section is Section.RECALLED]
        log = [RecallCounts(name, 0, 0, 0, 0) for name in ids]
    often = [memory for memory in find_often_recalled(reader, log, now_us) if is_settled(memory) and has_slot(memory)]
    candidates += [CoreMemory(Section.RECALLED, memory) for memory in often]
    return _Gathered(add_statement_times(reader, candidates), {one.memory_id: one for one in log})


def _word_lines(reader: Reader, rewrite: RewriteRecord, cap: CoreLimits) -> list[CoreLine]:
    """Rebuild the lines of an earlier rewrite from the rows of its memories; "" for deleted ones."""
    versions = reader.versions([name for _, name, _ in rewrite.lines])
    held = {(memory.id, memory.version): memory for memory in versions}
    rows = [
        CoreMemory(section, held[name, version]) for section, name, version in rewrite.lines if (name, version) in held
    ]
    worded = {one.memory.id: one for one in add_statement_times(reader, rows) if one.memory.text}
    found: list[CoreLine] = []
    for section, name, version in rewrite.lines:
        if name in worded:
            found.append(format_line(worded[name], None, cap.zone))
        else:
            found.append(CoreLine(section=section, memory_id=name, version=version, text=""))
    return found


def _read_rewrites(reader: Reader) -> list[RewriteRecord]:
    """Read the recorded rewrites, oldest first; unreadable records count as none."""
    try:
        told = json.loads(b"".join(reader.snapshot(_NAME)) or b"[]")
        return [_parse_rewrite(one, reader.tenant.tag) for one in cast("Iterable[object]", told)]
    except (ValueError, TypeError, LookupError):
        return []


def _parse_rewrite(told: object, tag: str) -> RewriteRecord:
    at_us, lines = cast("tuple[int, list[tuple[str, str, int]]]", told)
    own = [(Section(section), str(name), int(version)) for section, name, version in lines if name.endswith(f"-{tag}")]
    return RewriteRecord(at_us=int(at_us), lines=tuple(own))


def _write_rewrite(writer: Writer, rewrite: RewriteRecord) -> list[RewriteRecord]:
    """Add a rewrite to the record, unless another process has just recorded the same one."""
    kept = _read_rewrites(writer)
    if not kept or kept[-1].lines != rewrite.lines:
        kept = [*kept, rewrite][-limits.CORE_REWRITES :]
        told = json.dumps([(one.at_us, one.lines) for one in kept], separators=(",", ":")).encode()
        writer.put(Snapshot(name=_NAME, blobs=(told,)))
    return kept
