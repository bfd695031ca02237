"""A view of the change log for undo: which changes are in force, and typed fields. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Final, cast

from credenda.ids import parse_serial
from credenda.model.change import ChangeKind, ChangeRecord
from credenda.model.contest import ContestCase
from credenda.model.memory import Layer, Memory, Relation, Status

__all__ = ["QUESTIONS", "LogView", "is_in_force", "parse_fields"]

QUESTIONS: Final = frozenset({ChangeKind.CONTEST, ChangeKind.RESOLVE})
_SHARED: Final = QUESTIONS | {ChangeKind.UNDO}
_ENUMS: Final[Mapping[str, type[StrEnum]]] = {"status": Status, "relation": Relation, "layer": Layer}


@dataclass(frozen=True)
class LogView:
    """The rows that undo needs.

    `records`: the whole log of `memories`, and every change of kind contest, resolve and undo, in any order.
    `memories`: current versions of the memories that the undone changes name, of their predecessors and successors, and
    of the active memories in their slots. `contests`: all contests that the records name.
    """

    records: tuple[ChangeRecord, ...]
    memories: Mapping[str, Memory]
    contests: Mapping[str, ContestCase] = field(default_factory=dict[str, ContestCase])

    @cached_property
    def by_id(self) -> dict[str, ChangeRecord]:
        """The log by id, oldest first."""
        return {one.id: one for one in sorted(self.records, key=lambda one: parse_serial(one.id))}

    @cached_property
    def of_memory(self) -> dict[str, list[ChangeRecord]]:
        """The log of each memory, oldest first."""
        found: dict[str, list[ChangeRecord]] = {}
        for one in self.by_id.values():
            if one.memory_id is not None:
                found.setdefault(one.memory_id, []).append(one)
        return found

    @cached_property
    def _undone_by(self) -> dict[str, list[ChangeRecord]]:
        found: dict[str, list[ChangeRecord]] = {}
        for one in self.by_id.values():
            if one.kind is ChangeKind.UNDO and one.cause is not None:
                found.setdefault(one.cause, []).append(one)
        return found

    @cached_property
    def replaced_by(self) -> dict[str, list[ChangeRecord]]:
        """The changes that superseded memories, by the id of the successor."""
        found: dict[str, list[ChangeRecord]] = {}
        for one in self.by_id.values():
            if one.kind is ChangeKind.SUPERSEDE:
                found.setdefault(str(one.after.get("superseded_by")), []).append(one)
        return found

    @cached_property
    def shared(self) -> list[ChangeRecord]:
        """Changes about contests, and undone changes."""
        return [one for one in self.by_id.values() if one.kind in _SHARED]

    def in_force(self, record: ChangeRecord) -> bool:
        """Return whether a change was never undone, or was redone since."""
        return not any(self.in_force(one) for one in self._undone_by.get(record.id, ()))


def is_in_force(record: ChangeRecord, log: Iterable[ChangeRecord]) -> bool:
    """Return whether a change is in force, from the log of its memory."""
    return LogView(tuple(log), {}).in_force(record)


def parse_fields(plain: Mapping[str, object]) -> dict[str, object]:
    """Convert fields of a memory from their form in the log."""
    return {name: _parse_field(name, value) for name, value in plain.items()}


def _parse_field(name: str, value: object) -> object:
    if name in _ENUMS and isinstance(value, str):
        return _ENUMS[name](value)
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value
