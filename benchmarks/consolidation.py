"""The cost of consolidation, and a check that it loses no facts: `python -m benchmarks consolidation`.

A store without a model is filled with facts, some of them twice and some that differ from another fact only by a
number, and consolidated in one run: CPU time and memory growth. Then a simulated year is run twice, once with weekly
consolidation; every value known at the end of the first run must be known in the second.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.year_run import run_year
from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.clock import from_datetime
from credenda.model.change import Actor, Add, Support
from credenda.model.claim import Span
from credenda.model.memory import Draft, MemoryType
from credenda.storage.store import Store, Writer
from credenda.write.apply import Application, apply

Note = Callable[[str], None]
_START: Final = datetime(2026, 1, 1, 8, tzinfo=UTC)
_SEED: Final = 17
_BATCH: Final = 500
_TWICE: Final = 10
"""One fact in this many is duplicated, with other capitals and without its full stop."""
_WEEK_DAYS: Final = 7
_WEEKS: Final = 52
_DUPLICATES_MAX: Final = 0.02
_WHO: Final = (
    "Anna",
    "Boris",
    "Chen",
    "Dana",
    "Emil",
    "Fatma",
    "Goran",
    "Hana",
    "Iris",
    "Jonas",
    "Kira",
    "Liam",
    "Mona",
    "Nils",
    "Olga",
    "Pavel",
)
_DOES: Final = (
    "keeps {n} folders about {what} in the {where}",
    "orders {n} boxes of {what} for the {where}",
    "teaches {what} to {n} people in the {where}",
    "stores the {what} on shelf {n} of the {where}",
)
_WHAT: Final = (
    "paper",
    "maps",
    "glass",
    "tools",
    "seeds",
    "lamps",
    "cables",
    "paint",
    "cloth",
    "books",
    "wires",
    "salt",
    "rope",
    "clay",
    "masks",
)
_WHERE: Final = ("attic", "cellar", "office", "garage", "library", "kitchen", "hall", "studio", "barn", "workshop")


def run_consolidation(memories: int, turns: int, *, seed: int, note: Note) -> dict[str, Any]:
    """Consolidate this many memories without a model, and simulate a year of this many turns with weekly runs."""
    with tempfile.TemporaryDirectory(prefix="credenda-bench-") as folder:
        once = _run_once(Path(folder) / "memory.db", memories, note)
    note(f"a year of {turns} turns, twice")
    plain = run_year(turns, seed=seed, note=lambda _: None)
    weekly = run_year(turns, seed=seed, note=note, consolidate_days=_WEEK_DAYS)
    lost = sorted(set(plain["held_facts"]) - set(weekly["held_facts"]))
    year = {
        "turns": weekly["turns"],
        "runs": weekly["consolidations"],
        "consolidated": weekly["consolidated"],
        "memories": weekly["memories"],
        "memories_without": plain["memories"],
        "facts_held": len(weekly["held_facts"]),
        "facts_lost": lost,
        "retired_wrongly": weekly["retired_wrongly"]["found"],
        "duplicates_share": weekly["duplicates"]["share"],
    }
    kept = not lost and not once["lost"] and weekly["duplicates"]["share"] < _DUPLICATES_MAX and weekly["kept"]
    return {"once": once, "year": year, "seed": seed, "kept": kept}


class _Clock:
    def now_us(self) -> int:
        """Return a fixed time."""
        return from_datetime(_START)


def _make_facts(count: int) -> Iterator[str]:
    """Make distinct facts; neighbours in the list often differ only by a number."""
    rng = random.Random(_SEED)
    seen: set[str] = set()
    while len(seen) < count:
        words = {"what": rng.choice(_WHAT), "where": rng.choice(_WHERE)}
        who, does = rng.choice(_WHO), rng.choice(_DOES)
        for number in rng.sample(range(2, 400), 3):
            fact = f"{who} {does.format(n=number, **words)}."
            if fact not in seen and len(seen) < count:
                seen.add(fact)
                yield fact


def _run_once(path: Path, count: int, note: Note) -> dict[str, Any]:
    twice = count // _TWICE
    distinct = list(_make_facts(count - twice))
    texts = distinct + [fact.rstrip(".").replace(" keeps ", " KEEPS ") for fact in distinct[:twice]]
    parts = build_parts(path, user="bench", embedder="none", clock=_Clock())
    with Credenda(parts, workers=False) as memory:
        event_id = memory.remember("Hello.").event_ids[0]
        memory.settle()
        note(f"{len(texts)} memories")
        for start in range(0, len(texts), _BATCH):
            _fill(parts.store, texts[start : start + _BATCH], event_id)
        memory.manage.consolidate(topic="none", dry_run=True)  # load lazily imported code before measuring growth
        before, began = _measure_peak_mb(), time.process_time()
        report = memory.manage.consolidate(force=True)
        cpu, after = time.process_time() - began, _measure_peak_mb()
        held = set(_list_held(memory))
        began = time.process_time()
        again = memory.manage.consolidate(force=True)
        second = time.process_time() - began
    lost = [fact for fact in distinct if fact not in held and fact.rstrip(".") not in held]
    return {
        "memories": len(texts),
        "cpu_seconds": round(cpu, 2),
        "rss_growth_mb": round(after - before, 1),
        "duplicates": twice,
        "merged": report.memories_consolidated,
        "linked_groups": report.linked,
        "failed": report.failed,
        "lost": len(lost),
        "second_run": {"ran": again.ran, "cpu_seconds": round(second, 2)},
    }


def _fill(store: Store, texts: list[str], event_id: str) -> None:
    """Store memories as changes, without reconciliation, which would merge the duplicates."""
    span = Span(event_id, 0, 6)

    def work(writer: Writer) -> None:
        adds = [
            Add(
                key=f"new:{at}",
                draft=Draft(text=text, type=MemoryType.FACT),
                support=(Support(span=span, claim_hash=random.Random(text).randbytes(16)),),
                reason="filled",
            )
            for at, text in enumerate(texts)
        ]
        apply(writer, adds, Application(actor=Actor.RULE, now_us=from_datetime(_START)))

    store.commit("bench", work)


def _list_held(memory: Credenda) -> Iterator[str]:
    cursor = None
    while True:
        page = memory.list(limit=50, cursor=cursor)
        yield from (one.text for one in page.items)
        cursor = page.next_cursor
        if cursor is None:
            return


def _measure_peak_mb() -> float:
    """Return the peak memory of this process in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024
