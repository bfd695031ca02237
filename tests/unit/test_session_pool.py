"""A pool keeps at most so many memories open, one a user, and never closes one that a call is using."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier, Event, Lock

import pytest

from credenda import Credenda
from credenda.errors import Unavailable
from credenda.session_pool import SessionPool
from tests.waiting import PATIENCE_SECONDS


class Recorded:
    """A session that knows whether it was closed."""

    def __init__(self, user: str) -> None:
        self.user = user
        self.closed = False

    def close(self) -> None:
        assert not self.closed
        self.closed = True


class Opener:
    """Opens sessions and remembers them; `hold` makes it wait, `fails` makes it fail once."""

    def __init__(self) -> None:
        self.opened: list[Recorded] = []
        self.fails: list[Exception] = []
        self.most = 0
        self._lock = Lock()
        self.hold = Event()
        self.hold.set()

    def __call__(self, user: str) -> Recorded:
        assert self.hold.wait(PATIENCE_SECONDS), "nobody let it go on"
        with self._lock:
            if self.fails:
                raise self.fails.pop()
            self.opened.append(Recorded(user))
            self.most = max(self.most, len(self.open))
            return self.opened[-1]

    @property
    def open(self) -> list[str]:
        return [one.user for one in self.opened if not one.closed]


@pytest.fixture
def opener() -> Opener:
    return Opener()


@pytest.fixture
def pool(opener: Opener) -> Iterator[SessionPool[Recorded]]:
    made = SessionPool(opener, sessions_max=2, wait_seconds=PATIENCE_SECONDS)
    yield made
    made.close()
    assert opener.open == []


def use(pool: SessionPool[Recorded], *users: str) -> None:
    for user in users:
        with pool.lend(user) as session:
            assert session.user == user


def test_the_session_that_was_idle_longest_leaves(pool: SessionPool[Recorded], opener: Opener) -> None:
    use(pool, "ana", "ben", "ana", "cem")
    assert opener.open == ["ana", "cem"]
    counts = pool.counts()
    assert (counts.open, counts.opened, counts.reused, counts.evicted) == (2, 3, 1, 1)
    assert (counts.in_use, counts.waiting, counts.refused) == (0, 0, 0)


def test_a_session_in_use_is_never_closed_for_another(pool: SessionPool[Recorded], opener: Opener) -> None:
    with pool.lend("ana") as ana:
        use(pool, "ben", "cem", "dora")
        assert not ana.closed
        assert opener.open == ["ana", "dora"]
        assert pool.counts().in_use == 1


def test_calls_of_one_user_share_a_session_that_is_opened_once(pool: SessionPool[Recorded], opener: Opener) -> None:
    opener.hold.clear()
    start = Barrier(9)

    def call() -> int:
        start.wait(PATIENCE_SECONDS)
        with pool.lend("ana") as session:
            return id(session)

    with ThreadPoolExecutor(8) as threads:
        calls = [threads.submit(call) for _ in range(8)]
        start.wait(PATIENCE_SECONDS)
        opener.hold.set()
        assert len({one.result(PATIENCE_SECONDS) for one in calls}) == 1
    assert len(opener.opened) == 1


def test_where_all_are_in_use_a_call_waits_for_room(pool: SessionPool[Recorded], opener: Opener) -> None:
    with ThreadPoolExecutor(1) as threads, ExitStack() as held:
        held.enter_context(pool.lend("ana"))
        with pool.lend("ben"):
            waiting = threads.submit(use, pool, "cem")
        waiting.result(PATIENCE_SECONDS)
    assert opener.most == 2


def test_a_call_that_finds_no_room_in_time_is_refused_and_may_be_repeated(opener: Opener) -> None:
    pool = SessionPool(opener, sessions_max=1, wait_seconds=0.01)
    with pool.lend("ana"), pytest.raises(Unavailable) as caught, pool.lend("ben"):
        pass
    assert caught.value.retryable
    assert pool.counts().refused == 1
    use(pool, "ben")
    pool.close()


def test_an_opening_that_fails_leaves_no_place_taken(pool: SessionPool[Recorded], opener: Opener) -> None:
    opener.fails = [Unavailable("the disk is gone")]
    with pytest.raises(Unavailable, match="disk"):
        use(pool, "ana")
    assert len(pool) == 0
    use(pool, "ana")
    assert opener.open == ["ana"]


def test_those_who_wait_for_an_opening_that_fails_meet_its_error(pool: SessionPool[Recorded], opener: Opener) -> None:
    opener.hold.clear()
    opener.fails = [Unavailable("the disk is gone")]
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(use, pool, "ana")]
        while not pool.counts().opened:
            pass
        calls.append(threads.submit(use, pool, "ana"))
        while not pool.counts().waiting:
            pass
        opener.hold.set()
        for call in calls:
            assert isinstance(call.exception(PATIENCE_SECONDS), Unavailable)
    assert (len(pool), pool.counts().waiting) == (0, 0)


def test_closing_waits_for_the_call_that_uses_a_session(opener: Opener) -> None:
    pool = SessionPool(opener, sessions_max=2)
    with pool.lend("ana") as ana:
        use(pool, "ben")
        pool.close()
        assert opener.open == ["ana"]
        with pytest.raises(Unavailable, match="closed"), pool.lend("ana"):
            pass
    assert ana.closed
    pool.close()


def test_a_pause_needs_all_to_be_idle_and_lets_none_in(pool: SessionPool[Recorded], opener: Opener) -> None:
    with pool.lend("ana"), pytest.raises(Unavailable, match="in use"), pool.paused():
        pass
    with ThreadPoolExecutor(1) as threads:
        with pool.paused():
            assert opener.open == []
            waiting = threads.submit(use, pool, "ben")
            while not pool.counts().waiting:
                pass
            assert len(pool) == 0
        waiting.result(PATIENCE_SECONDS)


def test_a_session_that_does_not_close_hurts_no_other_user(
    pool: SessionPool[Recorded], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pool.lend("ana") as ana:
        closing = ana.close

    def fail() -> None:
        closing()
        raise OSError("what ana said")

    monkeypatch.setattr(ana, "close", fail)
    with caplog.at_level(logging.WARNING):
        use(pool, "ben", "cem")
    assert "OSError" in caplog.text
    assert "what ana said" not in caplog.text


def test_many_threads_never_open_more_than_the_bound(pool: SessionPool[Recorded], opener: Opener) -> None:
    with ThreadPoolExecutor(8) as threads:
        users = [f"user{number % 5}" for number in range(400)]
        for call in [threads.submit(use, pool, user) for user in users]:
            call.result(PATIENCE_SECONDS)
    assert opener.most <= 2
    counts = pool.counts()
    assert counts.opened + counts.reused == 400
    assert counts.evicted == counts.opened - counts.open


def test_memories_of_many_users_share_one_store_and_one_embedder(tmp_path: Path) -> None:
    with Credenda.open(tmp_path / "memory.db", user="server", workers=False, embedder="hashed") as root:
        pool = SessionPool(lambda user: root.for_user(user, workers=False), sessions_max=2)
        for user, town in (("ana", "Linz"), ("ben", "Graz"), ("cem", "Wien")):
            with pool.lend(user) as memory:
                memory.remember(f"I live in {town}.")
                memory.settle()
                parts, shared = memory._parts, root._parts  # noqa: SLF001 - what they share is the point
                assert parts.store is shared.store
                assert parts.embedder is shared.embedder
        assert len(pool) == 2
        with pool.lend("ana") as ana:
            assert [one.value for one in ana.list().items] == ["Linz"]
        pool.close()
