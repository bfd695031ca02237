"""Answers about any time, held against a simple list of intervals through hundreds of changes of one slot."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypedDict, Unpack

import pytest

from credenda import Credenda, MemoryUnit, NotFound
from credenda.testing import ManualClock

START = datetime(1990, 1, 1, tzinfo=UTC)
ASKED = "Where do I live?"


@dataclass
class Was:
    """How a value stood from one recording to the next: `until` is None while it is true."""

    recorded: datetime
    status: str
    until: datetime | None


@dataclass
class Value:
    """One value of the slot: since when it is true, and how it stood over time."""

    id: str
    name: str
    since: datetime
    life: list[Was] = field(default_factory=list[Was])
    wrong: bool = False
    gone: bool = False

    def then(self, known: datetime) -> Was | None:
        return next((was for was in reversed(self.life) if was.recorded <= known), None)

    @property
    def now(self) -> Was:
        return self.life[-1]

    def turn(self, at: datetime, status: str, until: datetime | None) -> None:
        self.life.append(Was(at, status, until))


class Oracle:
    """What a slot with one value at a time should hold; knows nothing of the code under test."""

    def __init__(self) -> None:
        self.values: list[Value] = []

    def held(self) -> Value | None:
        return next((one for one in self.values if not one.gone and one.now.status == "active"), None)

    def change(self, id: str, name: str, since: datetime, at: datetime) -> None:
        """A saying about its own time: the next later value ends it, and it ends the one before."""
        told = [one for one in self.values if not one.gone and not one.wrong and one.now.status != "forgotten"]
        later = min((one for one in told if one.since > since), key=lambda one: one.since, default=None)
        spanning = [one for one in told if one.since < since and (one.now.until is None or one.now.until > since)]
        made = Value(id, name, since)
        made.turn(at, "active" if later is None else "superseded", None if later is None else later.since)
        for one in spanning:
            one.turn(at, "superseded", since)
        self.values.append(made)

    def correct(self, id: str, old: Value, name: str, at: datetime) -> None:
        old.turn(at, "superseded", None)  # what was wrong has no period
        old.wrong = True
        made = Value(id, name, old.since)
        made.turn(at, "active", None)
        self.values.append(made)

    def true_at(self, moment: datetime) -> set[str]:
        """What was true at a time, as it is seen now: never what was wrong, forgotten or deleted."""
        return {
            one.id
            for one in self.values
            if not (one.gone or one.wrong or one.now.status == "forgotten")
            and one.since <= moment
            and (one.now.until is None or moment < one.now.until)
        }

    def held_at(self, known: datetime, status: str = "active") -> set[str]:
        """What was held at a time; deleted words are in no answer."""
        then = ((one, one.then(known)) for one in self.values if not one.gone)
        return {one.id for one, was in then if was is not None and was.status == status}


class Story:
    """One tenant lives through changes, and the oracle beside it."""

    def __init__(self, mem: Credenda, clock: ManualClock, seed: int) -> None:
        self.mem, self.clock, self.oracle = mem, clock, Oracle()
        self.random = random.Random(seed)
        self.named = 0

    def live(self) -> None:
        self.clock.advance(timedelta(days=self.random.randint(15, 40), seconds=self.random.randint(0, 80_000)))
        step = self.random.choices(["say", "late", "correct", "forget", "restore", "delete"], [60, 15, 8, 6, 6, 5])[0]
        getattr(self, step)()

    def name(self) -> str:
        self.named += 1
        return f"Town{self.named}"

    def _say(self, since: datetime) -> None:
        name = self.name()
        unit = MemoryUnit(text=f"Home is {name}", entity="user", attribute="residence", value=name, created_at=since)
        self.oracle.change(self.mem.store(unit).id, name, since, self.clock.now())

    def say(self) -> None:
        self._say(self.clock.now())

    def late(self) -> None:
        held = self.oracle.held()
        if held is None:
            return
        back = self.random.uniform(0.05, 0.95) * (held.since - START)
        self._say(START + timedelta(seconds=int(back.total_seconds())))

    def correct(self) -> None:
        held = self.oracle.held()
        if held is not None:
            name = self.name()
            self.oracle.correct(self.mem.correct(held.id, value=name).id, held, name, self.clock.now())

    def _some(self, wanted: Iterable[Value]) -> Value | None:
        found = list(wanted)
        return self.random.choice(found) if found else None

    def forget(self) -> None:
        one = self._some(one for one in self.oracle.values if not one.gone and one.now.status == "superseded")
        if one is not None:
            self.mem.forget(one.id)
            one.turn(self.clock.now(), "forgotten", one.now.until)

    def restore(self) -> None:
        one = self._some(one for one in self.oracle.values if not one.gone and one.now.status == "forgotten")
        if one is not None:
            self.mem.restore(one.id)
            one.turn(self.clock.now(), "superseded", one.now.until)

    def delete(self) -> None:
        one = self._some(one for one in self.oracle.values if not one.gone and one is not self.oracle.held())
        if one is not None:
            self.mem.delete(one.id)
            one.gone = True

    def moments(self, count: int, seed: int) -> list[datetime]:
        """Times to ask about: anywhere, and right at the edges, where off-by-one errors live."""
        edges = [one.since for one in self.oracle.values] + [
            was.recorded for one in self.oracle.values for was in one.life
        ]
        draw = random.Random(seed)
        chosen = draw.sample(edges, count)
        shifted = [at + timedelta(microseconds=draw.choice([-1, 0, 1])) for at in chosen]
        span = (self.clock.now() - START).total_seconds()
        return shifted + [START + timedelta(seconds=draw.uniform(-1, 1) * span) for _ in range(count // 4)]


class Times(TypedDict, total=False):
    as_of: datetime
    known_at: datetime


def listed(mem: Credenda, **times: Unpack[Times]) -> set[str]:
    found: set[str] = set()
    cursor: str | None = None
    while True:
        page = mem.list(attribute="residence", limit=50, cursor=cursor, **times)
        found |= {one.id for one in page.items}
        cursor = page.next_cursor
        if cursor is None:
            return found


@pytest.fixture(scope="module", params=[150, pytest.param(500, marks=pytest.mark.long_load)])
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """A story of so many changes."""
    clock = ManualClock(START.isoformat())
    path = tmp_path_factory.mktemp("time") / "memory.db"
    with Credenda.open(path, user="ana", clock=clock, embedder="none", workers=False) as mem:
        story = Story(mem, clock, seed=20)
        for _ in range(request.param):
            story.live()
        yield story


@pytest.mark.requirement("R-080", "C-005", "S-055")
def test_hundreds_of_changes_are_answered_as_by_a_list_of_intervals(story: Story) -> None:
    mem, oracle = story.mem, story.oracle
    assert len(oracle.values) > 90
    kinds = Counter("gone" if one.gone else "wrong" if one.wrong else one.now.status for one in oracle.values)
    assert all(kinds[kind] >= 2 for kind in ("gone", "wrong", "superseded", "forgotten"))
    for moment in story.moments(60, seed=1):
        assert listed(mem, as_of=moment) == oracle.true_at(moment)
        assert listed(mem, known_at=moment) == oracle.held_at(moment)
        assert {one.memory_id for one in mem.history(entity="user", attribute="residence", as_of=moment)} == (
            oracle.true_at(moment)
        )
        held = {one.memory_id for one in mem.history(entity="user", attribute="residence", known_at=moment)}
        assert held == oracle.held_at(moment) | oracle.held_at(moment, "superseded") | oracle.held_at(
            moment, "forgotten"
        )


@pytest.mark.requirement("R-080")
def test_searches_and_single_memories_agree_with_the_list_of_intervals(story: Story) -> None:
    mem, oracle = story.mem, story.oracle
    for moment in story.moments(24, seed=2):
        true = mem.search(ASKED, kinds=["memory"], limit=50, record_access=False, as_of=moment)
        assert {hit.id for hit in true.hits} == oracle.true_at(moment)
        held = mem.search(ASKED, kinds=["memory"], limit=50, record_access=False, known_at=moment)
        assert {hit.id for hit in held.hits} == oracle.held_at(moment)
    for at, one in enumerate(random.Random(3).sample(oracle.values, 80)):
        _ask_for(mem, oracle, one, story.moments(4, seed=at))
    assert len(mem.history(entity="user", attribute="residence")) >= len([one for one in oracle.values if not one.gone])


def _ask_for(mem: Credenda, oracle: Oracle, one: Value, moments: list[datetime]) -> None:
    for moment in moments:
        was = one.then(moment)
        if one.gone or was is None:
            with pytest.raises(NotFound):
                mem.get(one.id, known_at=moment)
        else:
            held = mem.get(one.id, known_at=moment)
            assert (held.status.value, held.valid_until, held.value) == (was.status, was.until, one.name)
        if one.id in oracle.true_at(moment):
            assert mem.get(one.id, as_of=moment).value == one.name
        elif not one.gone and one.now.status != "forgotten":
            with pytest.raises(NotFound):
                mem.get(one.id, as_of=moment)
