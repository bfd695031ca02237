"""An interrupt of a caller that leads or waits stops that caller, and never blocks another."""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from threading import Event

import pytest

from credenda.errors import Unavailable
from credenda.storage.sqlite import connection
from tests.waiting import PATIENCE_SECONDS

from .sharing import Shared


def test_an_interrupt_while_leading_stops_the_leader_and_no_one_else(shared: Shared) -> None:
    def interrupt() -> None:
        shared.say("lost")
        raise KeyboardInterrupt

    first = shared.hold()
    leader = shared.join(lambda: shared.say("lost"))
    units = [shared.join(interrupt), shared.join(lambda: shared.say("lost"))]
    shared.go_on()
    first.result(PATIENCE_SECONDS)
    assert isinstance(leader.exception(PATIENCE_SECONDS), KeyboardInterrupt)
    assert all(isinstance(future.exception(PATIENCE_SECONDS), Unavailable) for future in units)
    assert shared.said() == []
    assert shared.commit.run(lambda: shared.say("after")) == "after"


def interrupt_main() -> None:
    ident = threading.main_thread().ident
    assert ident is not None
    signal.pthread_kill(ident, signal.SIGINT)


class InterruptedLock:
    """What a caller waits on: taken when it is made, interrupted at the first wait, honest at the second."""

    def __init__(self, before: Callable[[], object], again: Callable[[], object]) -> None:
        self._lock = threading.Lock()
        self._steps = iter((lambda: None, before, again))
        self._waits = 0

    def acquire(self) -> None:
        next(self._steps)()
        self._waits += 1
        if self._waits == 2:
            raise KeyboardInterrupt
        assert self._lock.acquire(timeout=PATIENCE_SECONDS)

    def release(self) -> None:
        self._lock.release()


def nothing() -> None: ...


def interrupted(
    shared: Shared,
    work: Callable[[], object],
    *,
    before: Callable[[], object] = nothing,
    again: Callable[[], object] = nothing,
) -> None:
    """Run a unit whose caller is interrupted while it waits; a real signal cannot be aimed at that moment."""
    locks = iter([InterruptedLock(before, again)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "Lock", lambda: next(locks, None) or threading.Lock())
        with pytest.raises(KeyboardInterrupt):
            shared.commit.run(work)


def test_an_interrupted_waiter_leaves_the_queue_and_blocks_no_one(shared: Shared) -> None:
    first = shared.hold()
    interrupted(shared, lambda: shared.say("never"))
    assert shared.queue.joined.acquire(timeout=PATIENCE_SECONDS)
    later = shared.join(lambda: shared.say("later"))
    shared.go_on()
    first.result(PATIENCE_SECONDS)
    assert later.result(PATIENCE_SECONDS) == "later"
    assert shared.said() == ["later"]


def test_an_interrupted_waiter_awaits_the_end_of_its_unit_that_another_runs(shared: Shared) -> None:
    first = shared.hold()
    leader = shared.join(lambda: shared.say("leader"))
    running, finish = Event(), Event()

    def slow() -> None:
        running.set()
        assert finish.wait(PATIENCE_SECONDS), "nobody let it finish"
        shared.say("mine")

    def until_it_runs() -> None:
        shared.go_on()
        assert running.wait(PATIENCE_SECONDS), "it does not run"

    interrupted(shared, slow, before=until_it_runs, again=finish.set)
    assert shared.said()[-1] == "mine"
    for future in (first, leader):
        future.result(PATIENCE_SECONDS)
    assert shared.commit.run(lambda: shared.say("after")) == "after"


def test_an_interrupted_waiter_that_was_handed_the_lead_hands_it_on(shared: Shared) -> None:
    first = shared.hold()
    others: list[Future[object]] = []

    def until_the_lead_is_ours() -> None:
        others.append(shared.join(lambda: shared.say("next")))
        shared.go_on()
        first.result(PATIENCE_SECONDS)

    assert not shared.queue.joined.acquire(blocking=False)
    interrupted(shared, lambda: shared.say("never"), before=until_the_lead_is_ours)
    (after,) = others
    assert after.result(PATIENCE_SECONDS) == "next"
    assert shared.said() == ["next"]


@pytest.fixture
def heard() -> Iterator[None]:
    """Let an interrupt be heard: who was started in the background by a shell ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_a_real_interrupt_while_another_runs_the_unit_blocks_no_one(shared: Shared) -> None:
    first = shared.hold()
    leader = shared.join(lambda: shared.say("leader"))
    running, finish = Event(), Event()

    def slow() -> None:
        running.set()
        assert finish.wait(PATIENCE_SECONDS), "nobody let it finish"
        shared.say("mine")

    def interrupt_when_running() -> None:
        assert shared.queue.joined.acquire(timeout=PATIENCE_SECONDS)
        shared.go_on()
        assert running.wait(PATIENCE_SECONDS), "it does not run"
        interrupt_main()
        finish.set()

    interrupter = shared.pool.submit(interrupt_when_running)
    with pytest.raises(KeyboardInterrupt):
        shared.commit.run(slow)
    for future in (interrupter, first, leader):
        future.result(PATIENCE_SECONDS)
    assert shared.said() == ["leader", "mine"]
    assert shared.commit.run(lambda: shared.say("after")) == "after"


def test_an_interrupt_that_comes_just_after_the_lead_was_handed_over_hands_it_on(shared: Shared) -> None:
    """The moment cannot be hit from outside: the lead is taken, and the interrupt comes before it is used."""
    unit = connection._Unit(lambda: shared.say("never"))  # noqa: SLF001 - see above
    unit.leads = shared.commit._led = True  # noqa: SLF001 - see above
    waiting = shared.join(lambda: shared.say("next"))
    shared.commit._abandon(unit)  # noqa: SLF001 - see above
    assert waiting.result(PATIENCE_SECONDS) == "next"


def test_an_interrupt_before_the_queue_is_reached_waits_for_no_one(shared: Shared) -> None:
    first = shared.hold()
    shared.commit._abandon(connection._Unit(lambda: shared.say("never")))  # noqa: SLF001 - as above
    shared.go_on()
    first.result(PATIENCE_SECONDS)
    assert shared.commit.run(lambda: shared.say("after")) == "after"
