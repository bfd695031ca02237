"""The cost of finding the memory that a change replaces, in a large store: a part of the contradiction benchmark.

Half of the memories are facts about many people in slots, half are sentences of a chat without a slot. Then messages
are stored and extracted, and the search is repeated for each to measure its CPU time, without changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final

from credenda import Credenda
from credenda.bench.sentences import make_sentences
from credenda.bench.stats import spread_ms
from credenda.bootstrap import build_parts
from credenda.clock import cpu_seconds, from_datetime
from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.memory import Memory, MemoryType
from credenda.runtime import Parts
from credenda.storage.store import Store, Writer
from credenda.write.succession.seek import told_changes
from credenda.write.succession.turning import turning

__all__ = ["measure_succession"]

_START: Final = datetime(2026, 1, 1, 8, tzinfo=UTC)
_BATCH: Final = 2_000
_EACH: Final = 200
_SEED: Final = 17


class _Clock:
    """A clock that advances only when set."""

    def __init__(self) -> None:
        self.now = _START

    def now_us(self) -> int:
        """Return the time."""
        return from_datetime(self.now)


def measure_succession(path: Path, memories: int, *, note: Callable[[str], None]) -> dict[str, Any]:
    """Measure the search at this many memories: for messages with a change, with a change in a slot, and without."""
    clock = _Clock()
    parts = build_parts(path, user="bench", embedder="none", clock=clock)
    told = make_sentences(memories // 2 + 1, seed=_SEED)
    with Credenda(parts, workers=False) as memory:
        for start in range(0, memories, _BATCH):
            note(f"{start} of {memories} memories to be replaced")
            _fill(parts.store, told, range(start, min(memories, start + _BATCH)), clock.now_us())
        clock.now += timedelta(days=1)
        found: dict[str, Any] = {}
        for name, texts in _messages(memories).items():
            ids = [one for text in texts for one in memory.remember(text).event_ids]
            memory.settle(3_600)
            found[name] = spread_ms(_timed(parts, ids))
    return found


def _messages(memories: int) -> dict[str, list[str]]:
    """Make messages by kind of change."""
    talk = make_sentences(20 * _EACH, seed=_SEED + 1)
    people = range(0, memories // 2, max(1, memories // 2 // _EACH))
    return {
        "tells_of_a_change": list(islice(_telling(talk, changes=True), _EACH)),
        "changes_a_slot": [f"Person{number}'s residence is Elsewhere{number} now." for number in people][:_EACH],
        "tells_of_none": list(islice(_telling(talk, changes=False), _EACH)),
    }


def _telling(texts: Sequence[str], *, changes: bool) -> Iterator[str]:
    return (text for text in texts if (turning(text) is not None) is changes)


def _fill(store: Store, told: Sequence[str], numbers: range, now_us: int) -> None:
    """Write memories and their log as rows, because the intake is not measured."""

    def work(writer: Writer) -> None:
        for number in numbers:
            held = _in_slot(number // 2, now_us) if number % 2 == 0 else _as_said(told[number // 2], now_us)
            name = writer.put(held)
            writer.put(
                ChangeRecord(
                    id="",
                    kind=ChangeKind.ADD,
                    actor=Actor.RULE,
                    reason="said",
                    at_us=now_us,
                    memory_id=name,
                    cause="e1",
                )
            )

    store.commit("bench", work)


def _in_slot(person: int, now_us: int) -> Memory:
    return Memory(
        id="",
        version=1,
        text=f"Person{person}'s residence is Value{person}.",
        type=MemoryType.FACT,
        entity=f"Person{person}",
        attribute="residence",
        value=f"Value{person}",
        valid_from_us=now_us,
        created_us=now_us,
        recorded_us=now_us,
    )


def _as_said(text: str, now_us: int) -> Memory:
    return Memory(
        id="",
        version=1,
        text=text,
        type=MemoryType.FACT,
        valid_from_us=now_us,
        created_us=now_us,
        recorded_us=now_us,
    )


def _timed(parts: Parts, ids: Sequence[str]) -> list[float]:
    """Time the search for the memories that each event replaces."""
    times: list[float] = []
    with parts.store.reader("bench") as reader:
        for event in reader.events(ids):
            began = cpu_seconds()
            list(told_changes(reader, event))
            times.append(cpu_seconds() - began)
    return times
