"""How far consolidation has come: marks that survive a crash, for each kind of judge by itself (S-047, S-102, D-033).

Nothing at or below `low` waits. What lies at or below `top` was judged, but for the few memories whose group failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from credenda.ids import IdKind, format_id
from credenda.model.report import Finding
from credenda.runtime import Parts
from credenda.storage.store import Reader, Watermark, Writer

__all__ = ["ATTEMPTS", "RAN", "Marks", "find_skipped_groups", "forget_marks", "read_marks", "write_watermarks"]

ATTEMPTS: Final = 3
"""How often a group may fail before its new memories are left out."""
RAN: Final = "consolidation.ran"
"""When it last ran, in microseconds."""
_SHIFT: Final = 3
"""Bits of a failure's row that count attempts; the rest names the memory."""
_KEPT: Final = 10_000
_NAMED: Final = 20
_JUDGES: Final = ("rules", "model", "dream.rules", "dream.model")


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
    rows = reader.duties.watermark(f"{name}.failures") or 0
    failed = (reader.duties.watermark(f"{name}.failure.{at}") or 0 for at in range(rows))
    return Marks(
        top=reader.duties.watermark(f"{name}.top") or 0,
        failed={row >> _SHIFT: row & ((1 << _SHIFT) - 1) for row in failed},
        rows=rows,
    )


def write_watermarks(writer: Writer, judge: str, marks: Marks, now_us: int) -> None:
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


def find_skipped_groups(parts: Parts, *, repair: bool) -> list[Finding]:
    """Find memories whose groups failed too often to be judged; `repair` lets the next run try them again."""
    found: list[Finding] = []
    for judge in _JUDGES:
        with parts.store.reader(parts.user_id) as reader:
            marks, tag = read_marks(reader, judge), reader.tenant.tag
        names = [format_id(IdKind.MEMORY, one, tag) for one in sorted(marks.quarantined)]
        if not names:
            continue
        if repair:
            marks.failed |= dict.fromkeys(marks.quarantined, 0)
            now_us = parts.clock.now_us()
            parts.store.commit(parts.user_id, partial(write_watermarks, judge=judge, marks=marks, now_us=now_us))
        found.append(
            Finding(
                check="consolidation",
                detail=f"{len(names)} memories could not be judged {ATTEMPTS} times and are left out",
                repaired=repair,
                where=", ".join(names[:_NAMED]),
                fix="run `credenda doctor --repair` to have them judged again",
            )
        )
    return found


def forget_marks(writer: Writer) -> None:
    """Let the next run judge everything again: what is held was made anew (S-054)."""
    for judge in _JUDGES:
        marks = read_marks(writer, judge)
        write_watermarks(writer, judge, Marks(rows=marks.rows), 0)
