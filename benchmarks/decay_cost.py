"""The cost of a decay run over a large store, and a check that it changes only scores."""

from __future__ import annotations

import hashlib
import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.clock import DAY_US
from credenda.model.memory import Layer, Memory, MemoryType
from credenda.runtime import Parts
from credenda.storage.store import Access, MemoryFilter, Writer

_UNIT: Final = 1_000
_BEGAN_US: Final = 1_767_225_600_000_000
"""2026-01-01."""
_AGES_DAYS: Final = 700
_TRUSTS: Final = (1.0, 0.7, 0.5)
_USES: Final = (0, 0, 1, 3)
_RUNS: Final = (("first", 0), ("an hour later", 1), ("the same moment again", 1), ("a day later", 25))
"""Each run by its name and the hours since the first."""
SECONDS_MAX: Final = 10.0
"""Target in CPU seconds for 100,000 memories."""


class _Clock:
    at_us = _BEGAN_US

    def now_us(self) -> int:
        """Return the time that was set."""
        return self.at_us


def run_decay(memories: int, *, seed: int, note: Callable[[str], None]) -> dict[str, Any]:
    """Fill a store with episodes of all ages and uses, run decay, and return the document of `--json`."""
    clock = _Clock()
    with tempfile.TemporaryDirectory(prefix="credenda-decay-") as folder:
        parts = build_parts(Path(folder) / "memory.db", user="bench", embedder="none", clock=clock)
        with Credenda(parts, workers=False) as memory:
            note(f"filling a store with {memories:,} memories")
            _fill(parts, memories, random.Random(f"decay {seed}"))
            before = _hash_beliefs(parts)
            runs: list[dict[str, Any]] = []
            for name, hours in _RUNS:
                clock.at_us = _BEGAN_US + hours * DAY_US // 24
                started, cpu = time.perf_counter(), time.process_time()
                report = memory.manage.decay()
                cpu_s, wall_s = time.process_time() - cpu, time.perf_counter() - started
                runs.append({"run": name, "moved": report.updated, "cpu_s": round(cpu_s, 2), "s": round(wall_s, 2)})
            unmoved = _hash_beliefs(parts) == before
    most = max(run["cpu_s"] for run in runs)
    per_100k = most * 100_000 / memories
    met = unmoved and per_100k <= SECONDS_MAX
    bar = {"cpu_s_per_100k": round(per_100k, 2), "bar": SECONDS_MAX}
    return {"memories": memories, "runs": runs, "beliefs_unmoved": unmoved, "met": met, **bar}


def _fill(parts: Parts, count: int, draw: random.Random) -> None:
    for start in range(0, count, _UNIT):

        def work(writer: Writer, numbers: range = range(start, min(count, start + _UNIT))) -> None:
            for number in numbers:
                _store_memory(writer, number, draw)

        parts.store.commit(parts.user_id, work)


def _store_memory(writer: Writer, number: int, draw: random.Random) -> None:
    created_us = _BEGAN_US - draw.randrange(_AGES_DAYS) * DAY_US
    memory_id = writer.put(
        Memory(
            id="",
            version=1,
            text=f"Saw bird number {number}.",
            type=MemoryType.NARRATIVE,
            layer=draw.choice((Layer.EPISODIC, Layer.EPISODIC, Layer.WORKING, Layer.SEMANTIC)),
            trust=draw.choice(_TRUSTS),
            created_us=created_us,
            recorded_us=created_us,
        )
    )
    for use in range(draw.choice(_USES)):
        at_us = _BEGAN_US - use * DAY_US
        writer.put(Access(memory_id=memory_id, session=str(use), day=at_us // DAY_US, at_us=at_us, shown=1))


def _hash_beliefs(parts: Parts) -> str:
    """Hash all beliefs without their scores, and the number of changes."""
    found = hashlib.blake2b()
    below: int | None = None
    with parts.store.reader(parts.user_id) as reader:
        found.update(str(reader.counts().changes).encode())
        while page := reader.find(MemoryFilter(below=below, limit=_UNIT)):
            for one in page:
                found.update(repr(replace(one, decay_score=None)).encode())
            below = int(page[-1].id[1:].partition("-")[0])
    return found.hexdigest()
