"""The simulated years and lives of the benchmarks, small."""

import tempfile
from datetime import timedelta
from itertools import groupby
from pathlib import Path

from .canonical import Line, contest_forms, line, memory_forms, numbered
from .product import Credenda, ManualClock, made_year, run_lifetime

_WEEK = timedelta(days=7)


def year_lines(name: str) -> list[Line]:
    """Live through a year: "140-2-weekly" are 140 turns with seed 2, consolidated every week."""
    turns, seed, *weekly = name.split("-")
    year = made_year(int(turns), seed=int(seed))
    last = max(one.at for one in year.turns)
    clock = ManualClock(year.turns[0].at)
    with (
        tempfile.TemporaryDirectory(prefix="credenda-golden-") as folder,
        Credenda.open(
            Path(folder) / "memory.db", user="year", embedder="none", llm="none", workers=False, clock=clock
        ) as memory,
    ):
        cores: list[object] = []
        consolidated = clock.now()
        for _, said in groupby(year.turns, key=lambda one: (one.late, one.at.date())):
            for one in said:
                moment = last + timedelta(days=1) if one.late else one.at
                clock.advance(max(timedelta(), moment - clock.now()))
                words = [{"role": one.role, "content": one.text}]
                memory.remember(words, session=f"{one.at:%Y-%m-%d}", occurred_at=one.at.isoformat())
            memory.settle()
            if weekly and clock.now() - consolidated >= _WEEK:
                consolidated = clock.now()
                memory.manage.consolidate(force=True)
            cores.append([[one.section.value, one.text] for one in memory.manage.core().lines])
        return [
            *numbered(f"year-{name}", [*memory_forms(memory)]),
            line(f"year-{name}:contests", contest_forms(memory)),
            *numbered(f"year-{name}:core", cores),
        ]


def lifetime_lines(name: str) -> list[Line]:
    """Live through so many events with a seed in so many days, with the daily duties, and return what came of it."""
    events, seed, days = map(int, name.split("-"))
    found = run_lifetime(events, seed=seed, days=days, away=20, note=_silent)
    del found["seconds"]
    idle = found["most_retained_idle"]
    found["most_retained_idle"] = None if idle is None else round(idle, 4)
    return [line(f"lifetime-{name}:{key}", value) for key, value in sorted(found.items())]


def _silent(_: str) -> None: ...
