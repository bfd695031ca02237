"""Rebuild: compare rows with the replayed change log, and repair rows that differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from credenda.ids import IdKind, format_id, parse_id_number
from credenda.manage.replay import COUNTED, ReplayedMemory, apply_surprise, diff_memory, replay_contests, replay_memory
from credenda.model.change import Actor, ChangeKind, ChangeRecord, ContestCase
from credenda.model.claim import Evidence
from credenda.model.memory import Memory
from credenda.storage.store import ChangeFilter, Reader, ReplayedRows, Writer

_MEMORIES_A_STEP: Final = 500
_ABOUT_CONTESTS: Final = frozenset({ChangeKind.CONTEST, ChangeKind.RESOLVE, ChangeKind.UNDO, ChangeKind.DELETE})


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDifferences:
    """The memories, with differing fields, and contests whose rows differ from the change log.

    `unexplained` are memories and contests that no change in the log adds. `redacted` counts memories, and
    `unsupported` those whose evidence, that an older version of Credenda logged incompletely.
    """

    memories: dict[str, tuple[str, ...]]
    contests: tuple[str, ...]
    unexplained: tuple[str, ...]
    compared: int
    redacted: int
    unsupported: int

    def __bool__(self) -> bool:
        return bool(self.memories or self.contests)


def compare_with_log(reader: Reader) -> LogDifferences:
    """Replay the whole log of a tenant and compare it with its rows, in batches of bounded size."""
    wrong: dict[str, tuple[str, ...]] = {}
    unexplained: list[str] = []
    compared = redacted = unsupported = 0
    for memory_id, folded, rows, evidence in _iterate_memories(reader):
        if folded is None:
            unexplained.append(memory_id)
            continue
        compared += 1
        redacted += not folded.whole
        unsupported += not folded.supported
        if names := diff_memory(folded, rows, evidence):
            wrong[memory_id] = tuple(names)
    said = _load_contests(reader)
    held = {case.id: case for case in reader.contests()}
    apart = [one for one, case in said.items() if case is not None and held.get(one) != case]
    return LogDifferences(
        memories=wrong,
        contests=tuple(apart),
        unexplained=(*unexplained, *(one for one in held if one not in said)),
        compared=compared,
        redacted=redacted,
        unsupported=unsupported,
    )


def _load_contests(reader: Reader) -> dict[str, ContestCase | None]:
    changes = reader.changes(ChangeFilter(kinds=_ABOUT_CONTESTS))
    return replay_contests(change for change in changes if change.memory_id is None)


def _iterate_memories(reader: Reader) -> Iterator[tuple[str, ReplayedMemory | None, list[Memory], list[Evidence]]]:
    """Yield each memory with its replay and its rows."""
    tag, start = reader.tenant.tag, 1
    while tag:  # a tenant without a tag has no rows
        numbers = range(start, start + _MEMORIES_A_STEP)
        ids = [format_id(IdKind.MEMORY, number, tag) for number in numbers]
        rows = {one: list(versions) for one, versions in groupby(reader.versions(ids), key=lambda memory: memory.id)}
        evidence = _group_evidence(reader.evidence(memory_ids=ids))
        grouped = groupby(reader.changes(ChangeFilter(memories=numbers)), key=lambda change: change.memory_id or "")
        folds = {memory_id: replay_memory(records) for memory_id, records in grouped}
        known = [one for one in ids if one in rows or one in folds]
        if not known:
            return
        for one in known:
            yield one, folds.get(one), rows.get(one, []), evidence.get(one, [])
        start = numbers.stop


def _group_evidence(evidence: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    found: dict[str, list[Evidence]] = {}
    for item in evidence:
        found.setdefault(item.memory_id, []).append(item)
    return found


def repair_rows(writer: Writer, wrong: LogDifferences, now_us: int) -> int:
    """Replace rows that differ by the replayed ones, in the caller's transaction; return their number.

    Each repaired memory gets a change of its own, which updates the indexes.
    """
    tag = writer.tenant.tag
    done = 0
    for memory_id in wrong.memories:
        number = parse_id_number(memory_id, IdKind.MEMORY, tag)
        folded = replay_memory(writer.changes(ChangeFilter(memories=range(number, number + 1))))
        if folded is None or not folded.whole:
            continue
        # Copy derived fields from the rows.
        rows = writer.versions([memory_id])
        held = {one.version: one for one in rows}
        versions = tuple(
            _copy_counted(one, held[one.version]) if one.version in held else one for one in folded.versions
        )
        writer.put(ReplayedRows(versions=versions, evidence=folded.evidence if folded.supported else None))
        writer.put(
            ChangeRecord(
                id="",
                kind=ChangeKind.REBUILD,
                actor=Actor.USER,
                reason="rows repaired from the change log",
                at_us=now_us,
                memory_id=memory_id,
            )
        )
        done += 1
    said = _load_contests(writer)
    for contest_id in wrong.contests:
        case = said.get(contest_id)
        if case is not None:
            writer.put(ReplayedRows(contest=case))
            done += 1
    return done


def _copy_counted(said: Memory, row: Memory) -> Memory:
    return apply_surprise(replace(said, **{name: getattr(row, name) for name in COUNTED}), row.surprise)
