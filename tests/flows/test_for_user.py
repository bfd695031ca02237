"""Many users share one open store: each memory is separate, and is opened, closed and erased on its own."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from credenda import AsyncCredenda, Credenda, Invalid, LimitExceeded, NotFound, Unavailable
from credenda.providers.llm.client import ModelClient
from credenda.testing import ManualClock, ScriptedModel
from tests.waiting import PATIENCE_SECONDS

VALUES = {"ana": "Linz", "bob": "Graz", "cem": "Wels", "dora": "Steyr"}


@pytest.fixture
def ana(path: Path, clock: ManualClock) -> Iterator[Credenda]:
    with Credenda.open(path, user="ana", clock=clock, workers=False) as memory:
        yield memory


def lives(memory: Credenda) -> list[str | None]:
    return [held.value for held in memory.list(attribute="residence").items]


def say_home(memory: Credenda, place: str) -> None:
    memory.remember(f"I live in {place}.")
    memory.settle()


def test_two_users_of_one_store_share_it_and_see_only_their_own(ana: Credenda) -> None:
    with ana.for_user("bob", workers=False) as bob:
        assert (ana.user, bob.user) == ("ana", "bob")
        assert bob._parts.store is ana._parts.store  # noqa: SLF001 - that it is shared is the point
        say_home(ana, "Linz")
        say_home(bob, "Graz")
        assert (lives(ana), lives(bob)) == (["Linz"], ["Graz"])
        assert not bob.search("Linz").hits
        (memory,) = ana.list().items
        with pytest.raises(NotFound):
            bob.get(memory.id)


def test_a_view_opens_no_connection_of_its_own(ana: Credenda, monkeypatch: pytest.MonkeyPatch) -> None:
    say_home(ana, "Linz")
    made: list[str] = []
    plain = sqlite3.connect

    def connect(database: str, **given: Any) -> sqlite3.Connection:  # noqa: ANN401 - as sqlite3 has it
        made.append(database)
        return plain(database, **given)

    monkeypatch.setattr(sqlite3, "connect", connect)
    views = [ana.for_user(f"user {number}", workers=False) for number in range(5)]
    for view in views:
        assert view.stats().events == 0
        view.remember("I live in Graz.")
        view.close()
    assert len(made) <= 1  # the log is lengthened once, through a connection that is closed at once


def test_users_of_one_store_write_and_search_at_the_same_time(ana: Credenda) -> None:
    others = [ana.for_user(user, workers=False) for user in VALUES if user != "ana"]
    memories = {memory.user: memory for memory in (ana, *others)}
    start = Barrier(len(memories))

    def run(user: str) -> None:
        start.wait(timeout=PATIENCE_SECONDS)
        for turn in range(10):
            memories[user].remember(f"I like tea number {turn} of {user}.")
        say_home(memories[user], VALUES[user])
        assert memories[user].search("Where do I live?").hits

    with ThreadPoolExecutor(len(memories)) as pool:
        list(pool.map(run, memories))
    for user, memory in memories.items():
        assert lives(memory) == [VALUES[user]]
        assert memory.stats().events == 11
        assert memory.data.doctor().ok
    for memory in others:
        memory.close()


@pytest.mark.parametrize("closed_first", ["ana", "bob"])
def test_closing_one_leaves_the_other_usable(path: Path, clock: ManualClock, closed_first: str) -> None:
    ana = Credenda.open(path, user="ana", clock=clock, workers=False)
    bob = ana.for_user("bob", workers=False)
    first, second = (ana, bob) if closed_first == "ana" else (bob, ana)
    say_home(first, "Linz")
    first.close()
    first.close()
    say_home(second, "Graz")
    assert lives(second) == ["Graz"]
    with second.for_user(first.user, workers=False) as again:
        assert lives(again) == ["Linz"]
    second.close()
    with pytest.raises(Unavailable):
        second.list()


def test_a_closed_memory_opens_no_other_user(ana: Credenda) -> None:
    bob = ana.for_user("bob", workers=False)
    bob.close()
    with pytest.raises(Unavailable):
        bob.for_user("cem")
    say_home(ana, "Linz")


@pytest.mark.parametrize("name", ["", "   ", "x" * 10_000])
def test_a_bad_name_is_refused_and_leaves_nothing_open(path: Path, clock: ManualClock, name: str) -> None:
    ana = Credenda.open(path, user="ana", clock=clock, workers=False)
    with pytest.raises((Invalid, LimitExceeded)):
        ana.for_user(name)
    ana.close()  # the last view: that no connection stays open is checked after each test


def test_erasing_one_user_leaves_the_other(ana: Credenda) -> None:
    with ana.for_user("bob", workers=False) as bob:
        say_home(ana, "Linz")
        say_home(bob, "Graz")
        assert bob.search("Graz").hits
        assert bob.erase("bob").remaining_matches == 0
        assert (lives(ana), lives(bob)) == (["Linz"], [])
        assert bob.stats().events == 0
        assert ana.search("Linz").hits
        say_home(bob, "Wels")
        assert lives(bob) == ["Wels"]


def test_each_user_has_a_background_worker_that_ends_with_the_memory(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock) as ana, ana.for_user("bob") as bob:
        for memory, place in ((ana, "Linz"), (bob, "Graz")):
            memory.remember(f"I live in {place}.")
        ana.settle()
        bob.settle()
        assert (lives(ana), lives(bob)) == (["Linz"], ["Graz"])


def test_the_model_is_released_with_the_last_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []

    def note(_: ModelClient) -> None:
        closed.append("model")

    monkeypatch.setattr(ModelClient, "close", note)
    ana = Credenda.open(path, user="ana", llm=ScriptedModel([]), workers=False)
    bob = ana.for_user("bob", workers=False)
    ana.close()
    assert closed == []
    bob.close()
    assert closed == ["model"]


def test_a_reader_of_one_user_reads_for_others_too(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="bob", clock=clock, workers=False) as bob:
        say_home(bob, "Graz")
    with Credenda.open(path, user="ana", clock=clock, read_only=True) as ana, ana.for_user("bob") as bob:
        assert lives(bob) == ["Graz"]
        with pytest.raises(Invalid):
            bob.remember("I live in Wels.")


def test_the_coroutine_twin_shares_the_store_as_well(path: Path, clock: ManualClock) -> None:
    async def talk() -> tuple[int, int]:
        async with (
            AsyncCredenda.open(path, user="ana", clock=clock, workers=False) as ana,
            ana.for_user("bob", workers=False) as bob,
        ):
            await bob.remember("I live in Linz.")
            return (await bob.stats()).events, (await ana.stats()).events

    assert asyncio.run(talk()) == (1, 0)
