"""Rebuild: compare rows with the replayed change log, and repair rows that differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from credenda.ids import Kind, number_of, public_id
from credenda.manage.replay import COUNTED, Folded, fold_contests, fold_memory, memory_differences, weighed
from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.claim import Evidence
from credenda.model.contest import ContestCase
from credenda.model.memory import Memory
from credenda.storage.store import ChangeFilter, Reader, Refold, Writer

__all__ = ["Differences", "compare", "refold"]

_MEMORIES_A_STEP: Final = 500
_ABOUT_CONTESTS: Final = frozenset({ChangeKind.CONTEST, ChangeKind.RESOLVE, ChangeKind.UNDO, ChangeKind.DELETE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
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
        """Return whether there is a difference that the log can repair."""
        return bool(self.memories or self.contests)


def compare(reader: Reader) -> Differences:
    """Replay the whole log of a tenant and compare it with its rows, in batches of bounded size."""
    wrong: dict[str, tuple[str, ...]] = {}
    unexplained: list[str] = []
    compared = redacted = unsupported = 0
    for memory_id, folded, rows, evidence in _beside(reader):
        if folded is None:
            unexplained.append(memory_id)
            continue
        compared += 1
        redacted += not folded.whole
        unsupported += not folded.supported
        if names := memory_differences(folded, rows, evidence):
            wrong[memory_id] = tuple(names)
    said = _cases(reader)
    held = {case.id: case for case in reader.contests()}
    apart = [one for one, case in said.items() if case is not None and held.get(one) != case]
    return Differences(
        memories=wrong,
        contests=tuple(apart),
        unexplained=(*unexplained, *(one for one in held if one not in said)),
        compared=compared,
        redacted=redacted,
        unsupported=unsupported,
    )


def _cases(reader: Reader) -> dict[str, ContestCase | None]:
    changes = reader.changes(ChangeFilter(kinds=_ABOUT_CONTESTS))
    return fold_contests(change for change in changes if change.memory_id is None)


def _beside(reader: Reader) -> Iterator[tuple[str, Folded | None, list[Memory], list[Evidence]]]:
    """Yield each memory with its replay and its rows."""
    tag, start = reader.tenant.tag, 1
    while tag:  # a tenant without a tag has no rows
        numbers = range(start, start + _MEMORIES_A_STEP)
        ids = [public_id(Kind.MEMORY, number, tag) for number in numbers]
        rows = _grouped(reader.versions(ids))
        evidence = _grouped_evidence(reader.evidence(memory_ids=ids))
        folds = _folds(reader.changes(ChangeFilter(memories=numbers)))
        known = [one for one in ids if one in rows or one in folds]
        if not known:
            return
        for one in known:
            yield one, folds.get(one), rows.get(one, []), evidence.get(one, [])
        start = numbers.stop


def _folds(changes: Iterable[ChangeRecord]) -> dict[str, Folded | None]:
    grouped = groupby(changes, key=lambda change: change.memory_id or "")
    return {memory_id: fold_memory(records) for memory_id, records in grouped}


def _grouped(memories: Iterable[Memory]) -> dict[str, list[Memory]]:
    return {one: list(versions) for one, versions in groupby(memories, key=lambda memory: memory.id)}


def _grouped_evidence(evidence: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    found: dict[str, list[Evidence]] = {}
    for item in evidence:
        found.setdefault(item.memory_id, []).append(item)
    return found


def refold(writer: Writer, wrong: Differences, now_us: int) -> int:
    """Replace rows that differ by the replayed ones, in the caller's transaction; return their number.

    Each repaired memory gets a change of its own, which updates the indexes.
    """
    tag = writer.tenant.tag
    done = 0
    for memory_id in wrong.memories:
        number = number_of(memory_id, Kind.MEMORY, tag)
        folded = fold_memory(writer.changes(ChangeFilter(memories=range(number, number + 1))))
        if folded is None or not folded.whole:
            continue
        versions = _counted(folded.versions, writer.versions([memory_id]))
        writer.put(Refold(versions=versions, evidence=folded.evidence if folded.supported else None))
        _log(writer, now_us, memory_id)
        done += 1
    said = _cases(writer)
    for contest_id in wrong.contests:
        case = said.get(contest_id)
        if case is not None:
            writer.put(Refold(contest=case))
            done += 1
    return done


def _counted(versions: Iterable[Memory], rows: Iterable[Memory]) -> tuple[Memory, ...]:
    """Copy derived fields from the rows."""
    held = {one.version: one for one in rows}
    return tuple(_kept(one, held[one.version]) if one.version in held else one for one in versions)


def _kept(said: Memory, row: Memory) -> Memory:
    return weighed(replace(said, **{name: getattr(row, name) for name in COUNTED}), row.surprise)


def _log(writer: Writer, now_us: int, memory_id: str) -> None:
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
