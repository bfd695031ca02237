"""Background work goes on in moments of quiet, and now and then without one."""

from __future__ import annotations

from threading import Event, Thread

from credenda import limits
from credenda.clock import seconds
from credenda.runtime import ActiveCalls
from tests.waiting import PATIENCE_SECONDS


def waited(active_calls: ActiveCalls, bound_seconds: float) -> float:
    start = seconds()
    active_calls.wait_idle(bound_seconds)
    return seconds() - start


def test_where_nobody_called_nothing_waits() -> None:
    assert waited(ActiveCalls(), 60.0) < 30


def test_after_a_call_it_waits_for_a_moment_of_quiet() -> None:
    foreground = ActiveCalls()
    with foreground:
        calling = seconds()
    foreground.wait_idle(60.0)
    assert seconds() - calling >= limits.QUIET_SECONDS * 0.9


def test_who_calls_again_and_again_holds_it_off_no_longer_than_its_bound() -> None:
    foreground, stop, began = ActiveCalls(), Event(), Event()

    def call_on() -> None:
        with foreground:  # calls that overlap: one begins before the last has ended
            while not stop.is_set():
                with foreground:
                    began.set()

    caller = Thread(target=call_on)
    caller.start()
    try:
        assert began.wait(PATIENCE_SECONDS), "it has not begun"
        assert waited(foreground, 0.05) >= 0.05 * 0.9
    finally:
        stop.set()
        caller.join()


def test_work_does_not_wait_for_the_call_that_it_is_done_in() -> None:
    active_calls = ActiveCalls()
    with active_calls:
        with active_calls.take_part():
            assert waited(active_calls, 60.0) < 30
            with active_calls:
                assert waited(active_calls, 0.05) >= 0.05 * 0.9
        assert waited(active_calls, 0.05) >= 0.05 * 0.9


def test_a_call_under_way_is_waited_for() -> None:
    foreground, entered, leave = ActiveCalls(), Event(), Event()

    def call() -> None:
        with foreground:
            entered.set()
            leave.wait(PATIENCE_SECONDS)

    caller = Thread(target=call)
    caller.start()
    assert entered.wait(PATIENCE_SECONDS), "nobody has entered"
    done = Event()

    def work() -> None:
        foreground.wait_idle(60.0)
        done.set()

    worker = Thread(target=work)
    worker.start()
    assert not done.is_set()
    leave.set()
    caller.join()
    worker.join(PATIENCE_SECONDS)
    assert done.is_set()
