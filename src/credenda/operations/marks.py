"""How far consolidation has come: marks that survive a crash, for each kind of judge by itself (S-047, S-102, D-033).

Nothing at or below `low` waits. What lies at or below `top` was judged, but for the few memories whose group failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from credenda.storage.store import Reader, Watermark, Writer

__all__ = ["ATTEMPTS", "RAN", "Marks", "file_marks", "forget_marks", "read_marks"]

ATTEMPTS: Final = 3
"""How often a group may fail before its new memories are left out."""
RAN: Final = "consolidation.ran"
"""When it last ran, in microseconds."""
_SHIFT: Final = 3
"""Bits of a failure's row that count attempts; the rest names the memory."""
_KEPT: Final = 10_000


@dataclass(slots=True)
class Marks:
    """Numbers of memories: up to `top` all were judged but `failed`, which maps to how often each failed."""

    top: int = 0
    failed: dict[int, int] = field(default_factory=dict[int, int])
    rows: int = 0
    """How many rows of failures are filed, so that none is left behind."""

    @property
    def waiting(self) -> frozenset[int]:
        """What is to be tried again."""
        return frozenset(number for number, attempts in self.failed.items() if attempts < ATTEMPTS)

    @property
    def quarantined(self) -> frozenset[int]:
        """What failed too often."""
        return frozenset(self.failed) - self.waiting

    @property
    def low(self) -> int:
        """The number up to which nothing waits."""
        return min((*self.waiting, self.top + 1)) - 1

    def note(self, judged: Iterable[int], failed: Mapping[int, bool]) -> None:
        """Note how judging these went: those that failed, and whether the failure counts against them."""
        for number in judged:
            if number not in failed:
                self.failed.pop(number, None)
            elif len(self.failed) < _KEPT:
                self.failed[number] = self.failed.get(number, 0) + failed[number]


def read_marks(reader: Reader, judge: str) -> Marks:
    """Read the marks of a judge: "rules" or "model", or either of them in the night, "dream.rules" or "dream.model"."""
    name = f"consolidation.{judge}"
    rows = reader.watermark(f"{name}.failures") or 0
    failed = (reader.watermark(f"{name}.failure.{at}") or 0 for at in range(rows))
    return Marks(
        top=reader.watermark(f"{name}.top") or 0,
        failed={row >> _SHIFT: row & ((1 << _SHIFT) - 1) for row in failed},
        rows=rows,
    )


def file_marks(writer: Writer, judge: str, marks: Marks, now_us: int) -> None:
    """File the marks, in the caller's transaction."""
    name = f"consolidation.{judge}"
    failures = sorted(marks.failed.items())
    for at, (number, attempts) in enumerate(failures):
        writer.put(Watermark(name=f"{name}.failure.{at}", value=number << _SHIFT | attempts, at_us=now_us))
    for at in range(len(failures), marks.rows):
        writer.put(Watermark(name=f"{name}.failure.{at}", value=None))
    marks.rows = len(failures)
    writer.put(Watermark(name=f"{name}.failures", value=len(failures), at_us=now_us))
    writer.put(Watermark(name=f"{name}.top", value=marks.top, at_us=now_us))
    writer.put(Watermark(name=name, value=marks.low, at_us=now_us))


def forget_marks(writer: Writer) -> None:
    """Let the next run judge everything again: what is held was made anew (S-054)."""
    for judge in ("rules", "model", "dream.rules", "dream.model"):
        marks = read_marks(writer, judge)
        file_marks(writer, judge, Marks(rows=marks.rows), 0)
