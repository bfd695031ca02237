"""The cost of the contradiction check per write: `python -m benchmarks contradiction`.

A store is filled with memories about many people; then claims are decided, half of which contradict a belief. The
figure is CPU time for reading the slot and deciding: the work that a write without the check would save.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from benchmarks.stats import check_contradiction_targets, spread_ms
from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.clock import from_datetime
from credenda.model.claim import Claim, Span, UpdateKind
from credenda.model.event import Event
from credenda.model.memory import Memory, MemoryType
from credenda.storage.store import Store, Writer
from credenda.write.reconcile_job import decide_claim

Note = Callable[[str], None]
_START: Final = datetime(2026, 1, 1, 8, tzinfo=UTC)
_ATTRIBUTES: Final = ("residence", "employer", "phone", "car", "language")
_BATCH: Final = 2_000
_CLAIMS: Final = 400
_SEED: Final = 11


class _Clock:
    """A clock that advances only when set."""

    def __init__(self) -> None:
        self.now = _START

    def now_us(self) -> int:
        """Return the time."""
        return from_datetime(self.now)


def run_contradiction(memories: int, turns: int, *, note: Note) -> dict[str, Any]:
    """Measure the check in a store of this many memories, and turns that all change one slot."""
    with tempfile.TemporaryDirectory(prefix="credenda-bench-") as folder:
        check = _check(Path(folder) / "check.db", memories, note)
        note(f"{turns} turns that change one slot")
        loop = _run_loop(Path(folder) / "loop.db", turns)
    found = {"memories": memories, "check": check, "one_slot": loop, "seed": _SEED}
    return {**found, "targets": check_contradiction_targets(found)}


def _check(path: Path, count: int, note: Note) -> dict[str, Any]:
    clock = _Clock()
    parts = build_parts(path, user="bench", embedder="none", clock=clock)
    with Credenda(parts, workers=False) as memory:
        event_id = memory.remember("Hello.").event_ids[0]
        memory.settle()
        for start in range(0, count, _BATCH):
            note(f"{start} of {count} memories")
            _fill(parts.store, start, min(_BATCH, count - start), clock.now_us())
        clock.now += timedelta(days=1)
        times: dict[str, list[float]] = {"contradicts": [], "is_new": []}

        def decide_all(writer: Writer) -> None:
            event = writer.events([event_id])[0]
            for kind, claim in _make_claims(event, count):
                began = time.process_time()
                changes = decide_claim(writer, event, claim, clock.now_us())
                times[kind].append(time.process_time() - began)
                assert len(changes) == (2 if kind == "contradicts" else 1)  # noqa: S101 - a check of the measurement

        parts.store.commit("bench", decide_all)
    return {name: spread_ms(found) for name, found in times.items()}


def _fill(store: Store, start: int, count: int, now_us: int) -> None:
    """Write memories as rows, because the intake is not measured."""

    def work(writer: Writer) -> None:
        for number in range(start, start + count):
            person, attribute = f"Person{number // len(_ATTRIBUTES)}", _ATTRIBUTES[number % len(_ATTRIBUTES)]
            writer.put(
                Memory(
                    id="",
                    version=1,
                    text=f"{person}'s {attribute} is Value{number}.",
                    type=MemoryType.FACT,
                    entity=person,
                    attribute=attribute,
                    value=f"Value{number}",
                    valid_from_us=now_us,
                    created_us=now_us,
                    recorded_us=now_us,
                )
            )

    store.commit("bench", work)


def _make_claims(event: Event, count: int) -> list[tuple[str, Claim]]:
    rng = random.Random(_SEED)
    found: list[tuple[str, Claim]] = []
    for number in range(_CLAIMS):
        known = number % 2 == 0
        at = rng.randrange(count)
        person = f"Person{at // len(_ATTRIBUTES)}" if known else f"Stranger{number}"
        attribute = _ATTRIBUTES[at % len(_ATTRIBUTES)]
        claim = Claim(
            text=f"{person}'s {attribute} is New{number} now.",
            type=MemoryType.FACT,
            span=Span(event.id, 0, len(event.text)),
            entity=person,
            attribute=attribute,
            value=f"New{number}",
            move=UpdateKind.CHANGE,
            valid_from_us=event.occurred_us + number + 1,
        )
        found.append(("contradicts" if known else "is_new", claim))
    return found


def _run_loop(path: Path, turns: int) -> dict[str, Any]:
    """Store a new home in every turn, and extract all turns."""
    rng, clock = random.Random(_SEED), _Clock()
    with Credenda.open(path, user="bench", embedder="none", workers=False, clock=clock) as memory:
        for _ in range(turns):
            memory.remember(f"I live in Town{rng.randrange(100_000)}.")
            clock.now += timedelta(hours=7)
        began = time.process_time()
        memory.settle(3_600)
        took = time.process_time() - began
        held = memory.stats().total
    return {"turns": turns, "cpu_seconds": round(took, 2), "cpu_ms_a_turn": round(took / turns * 1e3, 3), "held": held}
