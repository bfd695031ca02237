"""Two simulated years of one user with daily scheduled tasks: decay, promotion and archiving match the formulas.

A seeded person talks (`benchmarks.year`), some events are stored as episodes, and a few episodes are recalled. The
clock is set by hand; the scheduled tasks run each day. At the end the store is compared with the script: the true
facts, and the outcome of every episode by an independent implementation of the formulas.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from benchmarks.lifetime_oracle import Episode, Fate, fate_on, retention
from benchmarks.year import Truth, Year, make_year
from credenda import Credenda, MemoryUnit
from credenda.clock import DAY_US, from_datetime
from credenda.model.memory import Memory, Status
from credenda.text.normalize import normalise_value

_DAYS: Final = 728
_SABBATICAL_DAYS: Final = 183
_CHECKED: Final = 200
_PAGE: Final = 50
_EVERY: Final = 20
"""One event in so many is an episode."""
_SOURCES: Final = (("human", 1.0), ("interaction", 0.6), ("ingest", 0.5))
_IMPORTANCES: Final = (0.1, 0.2, 0.4, 0.6, 0.8)
_IDLE_DAYS: Final = 30
_MORTAL: Final = 0.95
"""The minimum loss of retention of a decaying memory that was not recalled for a month."""
_SLACK: Final = 2e-6
_WHO: Final = ("heron", "owl", "fox", "badger", "otter", "kestrel", "marten", "adder", "lynx", "crane")
_WHERE: Final = ("weir", "quarry", "orchard", "harbour", "viaduct", "chapel", "sawmill", "ferry", "meadow", "dyke")


@dataclass(slots=True)
class _Clock:
    at_us: int = 0

    def now_us(self) -> int:
        """Return the time that was set."""
        return self.at_us


@dataclass(slots=True)
class _Life:
    """The simulated memory, and the script's knowledge of its episodes."""

    memory: Credenda
    clock: _Clock
    draw: random.Random
    start: datetime
    episodes: dict[str, Episode] = field(default_factory=dict[str, Episode])
    loved: list[str] = field(default_factory=list[str])
    fates: dict[str, tuple[Fate, int]] = field(default_factory=dict[str, tuple[Fate, int]])
    """The expected outcome of each episode by the formulas, with its day."""
    checked: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    """Checked facts, and whether each was wrongly archived."""

    def set(self, day: int, hour: float) -> float:
        """Set the clock and return the time as days since the first."""
        moment = self.start + timedelta(days=day, hours=hour)
        self.clock.at_us = from_datetime(moment)
        return day + hour / 24


def run_lifetime(
    events: int, *, seed: int, days: int = _DAYS, away: int = _SABBATICAL_DAYS, note: Callable[[str], None]
) -> dict[str, Any]:
    """Simulate this many days and check the memories; return the document of `--json`.

    `away` are the days of the sabbatical that follows on the clock of active days.
    """
    began = time.process_time()
    year = make_year(events - events // _EVERY, seed=seed, days=days)
    clock = _Clock()
    with tempfile.TemporaryDirectory(prefix="credenda-lifetime-") as folder:
        path = Path(folder) / "memory.db"
        with Credenda.open(path, user="life", embedder="none", workers=False, clock=clock) as memory:
            life = _Life(memory, clock, random.Random(f"life {seed}"), year.turns[0].at.replace(hour=0, minute=0))
            _run_days(life, year, days=days, happenings=events // _EVERY, note=note)
            found = _check_promises(life, days, seed)
        settings = {"decay_clock": "active"}
        with Credenda.open(path, user="life", embedder="none", workers=False, clock=clock, settings=settings) as memory:
            note(f"a sabbatical of {away} days on the active clock")
            found["sabbatical_moved"] = _check_absence(_Life(memory, clock, life.draw, life.start), days, away)
    found |= {"seed": seed, "events": events, "days": days, "seconds": round(time.process_time() - began, 2)}
    kept = not (found["immortal"] or found["archived_wrongly"]["found"] or found["fates"]["differ"])
    return found | {"kept": kept and found["decay"]["varied"] and not found["sabbatical_moved"]}


def _run_days(life: _Life, year: Year, *, days: int, happenings: int, note: Callable[[str], None]) -> None:
    """Store each day's messages, add episodes, recall some, and run the scheduled tasks."""
    said = {day: list(turns) for day, turns in groupby(year.turns, key=lambda one: (one.at - life.start).days)}
    checks, count = dict(year.checks), 0
    for day in range(days):
        for one in said.get(day, ()):
            clock_at = max(life.clock.at_us, from_datetime(one.at))
            life.clock.at_us = clock_at
            life.memory.remember([{"role": one.role, "content": one.text}], session=f"day {day}")
            count += not one.late
        life.memory.settle()
        _add_episodes(life, day, happenings * (day + 1) // days - happenings * day // days)
        _recall_episode(life, day)
        _keep(life, day)
        if count in checks:
            note(f"day {day}: {count} turns")
            life.checked += _put_away(life.memory, checks[count])
    life.checked += _put_away(life.memory, year.truths)


def _add_episodes(life: _Life, day: int, count: int) -> None:
    """Store a day's events as episodes; a few of them are favourites, which will be recalled repeatedly."""
    at = life.set(day, 20.0)
    for _ in range(count):
        number = len(life.episodes)
        text = f"Saw {life.draw.choice(_WHO)} x{number}z at the {life.draw.choice(_WHERE)}."
        (source, trust), importance = life.draw.choice(_SOURCES), life.draw.choice(_IMPORTANCES)
        unit = MemoryUnit(text=text, layer="episodic", importance=importance, source=source)
        held = life.memory.store(unit)
        life.episodes[held.id] = Episode(text, at, importance, trust, held.emotional_valence or 0.0)
        if life.draw.random() < 0.1:  # noqa: PLR2004 - one in ten
            life.loved.append(held.id)


def _recall_episode(life: _Life, day: int) -> None:
    """Recall one of the favourite episodes and sometimes a random one; every hit of the search counts as recalled."""
    at = life.set(day, 22.0)
    wanted = [life.draw.choice(life.loved[-12:])] if life.loved else []
    if life.episodes and life.draw.random() < 0.5:  # noqa: PLR2004 - every other day
        wanted.append(life.draw.choice(list(life.episodes)))
    for memory_id in dict.fromkeys(wanted):
        asked = life.episodes[memory_id].text
        for hit in life.memory.search(asked, limit=1, kinds=["memory"]).hits:
            one = life.episodes.get(hit.id)
            if one is not None and at not in one.recalled:
                one.recalled.append(at)


def _keep(life: _Life, day: int) -> None:
    """Run the scheduled tasks of a day, and record the outcomes that the formulas predict."""
    at = life.set(day, 23.0)
    life.memory.manage.schedule(run=True, only=["decay", "lifecycle"])
    for memory_id, one in life.episodes.items():
        if memory_id not in life.fates and (fate := fate_on(one, at)) != "stays":
            life.fates[memory_id] = fate, day


def _put_away(memory: Credenda, truths: Sequence[Truth]) -> list[tuple[str, bool]]:
    """Return for every current fact whether it was archived and no active memory states it."""
    away = list(_list_all(memory, Status.ARCHIVED))
    texts = [f" {normalise_value(one.text)} " for one in _list_all(memory, Status.ACTIVE)]
    facts = [(truth.name, value) for truth in truths for value in truth.current]
    return [
        (
            f"{name}: {value}",
            any(_has_value(f" {normalise_value(one.text)} ", value) for one in away)
            and not any(_has_value(text, value) for text in texts),
        )
        for name, value in facts
    ]


def _has_value(text: str, value: str) -> bool:
    return f" {normalise_value(value)} " in text


def _list_all(memory: Credenda, status: Status) -> Iterator[Memory]:
    cursor = None
    while True:
        page = memory.list(status=status.value, limit=_PAGE, cursor=cursor)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def _check_promises(life: _Life, days: int, seed: int) -> dict[str, Any]:
    held = list(_list_all(life.memory, Status.ACTIVE))
    scores = [one.decay_score for one in held]
    known = [score for score in scores if score is not None]
    picked = random.Random(f"checked {seed}").sample(life.checked, min(_CHECKED, len(life.checked)))
    fading = [one for one in held if one.layer in {"working", "episodic"} and not one.pinned]
    idle = [one for one in fading if _count_idle_days(life, one) > _IDLE_DAYS]
    return {
        "memories": len(held),
        "episodes": len(life.episodes),
        "archived": len(list(_list_all(life.memory, Status.ARCHIVED))),
        "idle": len(idle),
        "immortal": [one.text for one in idle if (one.decay_score or 1.0) >= _MORTAL],
        "most_retained_idle": max((one.decay_score or 1.0 for one in idle), default=None),
        "archived_wrongly": {"checked": len(picked), "found": [name for name, away in picked if away]},
        "fates": _check_fates(life, days),
        "decay": {
            "null": len(scores) - len(known),
            "distinct": len(set(known)),
            "spread": round(statistics.pstdev(known), 4) if known else 0.0,
            "varied": len(known) == len(scores) and len(set(known)) > len(fading) // 10,
        },
    }


def _count_idle_days(life: _Life, one: Memory) -> float:
    return (life.clock.at_us - (one.last_accessed_us or one.created_us)) / DAY_US


def _check_fates(life: _Life, days: int) -> dict[str, Any]:
    """Compare the outcome of every episode, and the retention of the remaining ones, with the formulas."""
    counts: dict[str, int] = {"rises": 0, "archived": 0, "stays": 0}
    differ: list[str] = []
    for memory_id, one in life.episodes.items():
        foretold = life.fates.get(memory_id, ("stays", 0))
        memory = life.memory.get(memory_id)
        found = _find_fate(life, memory)
        counts[found[0]] += 1
        if found != foretold:
            differ.append(f"{memory_id}: {found[0]} on day {found[1]}, foretold {foretold[0]} on day {foretold[1]}")
        elif found[0] == "stays" and abs((memory.decay_score or 0.0) - retention(one, days - 1 / 24)) > _SLACK:
            differ.append(f"{memory_id}: retained {memory.decay_score}, foretold {retention(one, days - 1 / 24):.6f}")
    return {**counts, "differ": differ}


def _find_fate(life: _Life, memory: Memory) -> tuple[Fate, int]:
    """Read from the log the first change of a memory by the scheduled tasks, and its day."""
    for change in life.memory.why(memory.id).changes:
        if change.actor == "schedule" and change.kind in {"set_layer", "set_status"}:
            day = (change.at_us - from_datetime(life.start)) // DAY_US
            return ("archived" if change.kind == "set_status" else "rises"), day
    return "stays", 0


def _check_absence(life: _Life, days: int, away: int) -> list[str]:
    """Let this many days pass on the clock of active days without activity, and name changed memories."""
    _keep(life, days)
    before = _read_state(life.memory)
    for day in range(days + 1, days + 1 + away):
        _keep(life, day)
    after = _read_state(life.memory)
    return [one for one in sorted(before | after) if before.get(one) != after.get(one)]


def _read_state(memory: Credenda) -> dict[str, tuple[object, ...]]:
    rows = (one for status in (Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED) for one in _list_all(memory, status))
    return {one.id: (one.version, one.status, one.layer, one.decay_score, one.importance) for one in rows}
