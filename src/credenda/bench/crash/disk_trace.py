"""A record of all writes below SQLite, and the disk states that a power cut can leave.

A write is certain once its file was flushed after it. Until then a disk may have all of it, none, or some sectors; and
it may have a later write without an earlier one. The model is per file: each sector of an unflushed write is on disk or
not, independently of the others, and so is each change of a file's length. A new name of a file is certain after the
first flush of any file of its folder, as SQLite flushes the folder with it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

__all__ = ["MODES", "DiskState", "DiskTrace", "Mode", "generate_states"]

Mode = Literal["dropped", "kept", "prefix", "reordered", "torn sectors", "torn pages"]
MODES: Final[tuple[Mode, ...]] = ("dropped", "kept", "prefix", "reordered", "torn sectors", "torn pages")
_SECTOR_BYTES: Final = 512
_PAGE_BYTES: Final = 4_096
_OK: Final = 0


@dataclass(frozen=True, slots=True)
class _Operation:
    """One operation on a file: `at` is an offset or a length."""

    kind: Literal["create", "write", "truncate", "sync", "delete"]
    name: str
    at: int = 0
    data: bytes = b""


@dataclass(slots=True)
class DiskTrace:
    """A `DiskObserver` that records; the program also enters each fact that it was told.

    Real flushes are left out: the model decides what they protect. With `honest` false, flushes are recorded as if
    they had never happened, as on a disk that confirms them and does nothing.
    """

    honest: bool = True
    operations: list[_Operation] = field(default_factory=list[_Operation])
    facts: list[tuple[int, dict[str, object]]] = field(default_factory=list[tuple[int, dict[str, object]]])
    """The number of operations before each fact, and the fact."""
    _known: set[str] = field(default_factory=set[str])

    def tell(self, **fact: object) -> None:
        """Record a fact: a call that begins or was acknowledged."""
        self.facts.append((len(self.operations), fact))

    def opened(self, path: str) -> None:
        """Record a new file."""
        name = Path(path).name
        if name not in self._known:
            self._known.add(name)
            self.operations.append(_Operation("create", name))

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Record a write."""
        self.operations.append(_Operation("write", Path(path).name, offset, data))

    def truncate(self, path: str, size: int) -> None:
        """Record a change of length."""
        self.operations.append(_Operation("truncate", Path(path).name, size))

    def sync(self, path: str) -> int:
        """Record a flush, and spare the machine's disk."""
        if self.honest:
            self.operations.append(_Operation("sync", Path(path).name))
        return _OK

    def delete(self, path: str) -> None:
        """Record a deletion."""
        name = Path(path).name
        self._known.discard(name)
        self.operations.append(_Operation("delete", name))


@dataclass(slots=True)
class _File:
    """A file: its certain bytes, and the operations since its last flush."""

    certain: bytearray = field(default_factory=bytearray)
    pending: list[_Operation] = field(default_factory=list[_Operation])
    named: bool = False
    """Whether its name is certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskState:
    """The files after a cut at a position of the record."""

    position: int
    mode: Mode
    files: Mapping[str, bytes]


def _apply(content: bytearray, operation: _Operation) -> None:
    if operation.kind == "truncate":
        del content[operation.at :]
        content.extend(bytes(operation.at - len(content)))
        return
    content.extend(bytes(max(0, operation.at - len(content))))
    content[operation.at : operation.at + len(operation.data)] = operation.data


def _split_torn(operation: _Operation, unit: int, draw: random.Random) -> Iterator[_Operation]:
    """Yield the parts of an operation that reached the disk."""
    if operation.kind == "truncate":
        if draw.random() < 0.5:  # noqa: PLR2004 - as likely as not
            yield operation
        return
    start, stop = operation.at, operation.at + len(operation.data)
    while start < stop:
        end = min(stop, (start // unit + 1) * unit)
        if draw.random() < 0.5:  # noqa: PLR2004 - as above
            yield _Operation("write", operation.name, start, operation.data[start - operation.at : end - operation.at])
        start = end


def _choose(pending: Sequence[_Operation], mode: Mode, draw: random.Random) -> list[_Operation]:
    """Choose the unflushed operations that reached the disk, or the parts that did."""
    match mode:
        case "dropped":
            return []
        case "kept":
            return list(pending)
        case "prefix":
            return list(pending[: draw.randint(0, len(pending))])
        case "reordered":
            return [operation for operation in pending if draw.random() < 0.5]  # noqa: PLR2004 - as above
        case "torn sectors":
            return [part for operation in pending for part in _split_torn(operation, _SECTOR_BYTES, draw)]
        case "torn pages":
            return [part for operation in pending for part in _split_torn(operation, _PAGE_BYTES, draw)]


class _Disk:
    """The files as a record is replayed."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    def replay(self, operation: _Operation) -> None:
        """Apply one operation."""
        if operation.kind == "delete":
            self._files.pop(operation.name, None)
            return
        file = self._files.setdefault(operation.name, _File())
        if operation.kind == "sync":
            for pending in file.pending:
                _apply(file.certain, pending)
            file.pending.clear()
            for other in self._files.values():
                other.named = True
        elif operation.kind != "create":
            file.pending.append(operation)

    def cut(self, mode: Mode, draw: random.Random) -> dict[str, bytes]:
        """Return the files that a power cut leaves at this point."""
        left: dict[str, bytes] = {}
        for name, file in self._files.items():
            if not file.named and mode != "kept" and draw.random() < 0.5:  # noqa: PLR2004 - as above
                continue
            content = bytearray(file.certain)
            for operation in _choose(file.pending, mode, draw):
                _apply(content, operation)
            left[name] = bytes(content)
        return left


def generate_states(trace: DiskTrace, count: int, draw: random.Random) -> Iterator[DiskState]:
    """Yield up to `count` different states, in order of their cut.

    Half of the cuts are at any operation, half just after a flush or a fact, where a promise begins to count.
    """
    total = len(trace.operations)
    sharp = [position for position, _ in trace.facts]
    sharp += [place + 1 for place, operation in enumerate(trace.operations) if operation.kind in ("sync", "truncate")]
    cuts = sorted(draw.choice(sharp) if number % 2 else draw.randint(0, total) for number in range(count))
    disk, replayed, seen = _Disk(), 0, set[tuple[int, int]]()
    for number, position in enumerate(cuts):
        while replayed < position:
            disk.replay(trace.operations[replayed])
            replayed += 1
        mode = MODES[number % len(MODES)]
        files = disk.cut(mode, draw)
        told = sum(at <= position for at, _ in trace.facts)
        key = (hash(frozenset(files.items())), told)
        if key not in seen:
            seen.add(key)
            yield DiskState(position=position, mode=mode, files=files)
