"""Threads beside the one that processes messages: for calls of operations, jobs that call a model, scheduled tasks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing, contextmanager
from threading import Event, Thread
from typing import Any, Final

from credenda import services, workers
from credenda.bootstrap import PROBE_USER, build_user_parts
from credenda.client import Credenda
from credenda.errors import Invalid
from credenda.interfaces.authorization import invoke
from credenda.interfaces.serialize import to_jsonable
from credenda.operations import OPERATIONS
from credenda.runtime import Parts
from credenda.services.jobs import Call, run_due_call

_log: Final = logging.getLogger(__name__)
_IDLE_SECONDS: Final = 0.25
"""How long it waits for a job before it looks for those that other processes have queued."""


def run_call(parts: Parts, call: Call, progress: Callable[[int, int | None], None]) -> Any:  # noqa: ANN401 - JSON
    """Call an operation on a user's memory, and return its result as a remote caller sees it."""
    operation = OPERATIONS.get(call.operation)
    if operation is None or not operation.long:
        raise Invalid(f"{call.operation} cannot run in the background", why="another version queued it")
    given = dict(call.inputs)
    if operation.name == "reembed":  # the one that says how far it is
        given["progress"] = progress
    memory = Credenda(build_user_parts(parts, parts.user_id), workers=False)
    with closing(memory):
        return to_jsonable(invoke(memory, operation, given), remote=True)


def run_calls(parts: Parts, stop: Event | None) -> int:
    """Run the due call of a user that has waited the longest, and return how many ran."""
    return run_due_call(parts, run_call, stop)


def _make_call_lane() -> workers.tenants.Lane:
    return workers.tenants.Lane(run_calls, kinds=workers.tenants.CALLS)


class LaneWorker(Thread):
    """A thread that works for all users, one step after the other, until it is stopped."""

    def __init__(
        self,
        everyone: workers.tenants.AllUsers,
        step: Callable[[workers.tenants.AllUsers], int | None],
        stop: Event,
        name: str,
        *,
        ready: Event | None = None,
        warm: Callable[[], object] | None = None,
    ) -> None:
        """Prepare the thread; after a step that returns nothing it waits for a moment, or until `ready`.

        `warm` is called first, because compiling later would delay a caller.
        """
        super().__init__(name=name)
        self._everyone = everyone
        self._step = step
        self._ended = stop
        self._ready = ready or Event()
        self._warm = warm

    def wake(self) -> None:
        """Look for jobs now."""
        self._ready.set()

    def run(self) -> None:
        """Work until `stop` is set."""
        if self._warm is not None:
            self._warm()
        with closing(self._everyone):
            while not self._ended.is_set():
                self._ready.clear()
                try:
                    ran = self._step(self._everyone)
                except Exception as error:  # noqa: BLE001 - the worker must outlive any fault of a job
                    _log.warning("a round of work failed: %s", type(error).__name__)
                    ran = 0
                if not ran:
                    self._ready.wait(_IDLE_SECONDS)


def start_lanes(parts: Parts, stop: Event, duties: Callable[[Parts], object]) -> list[LaneWorker]:
    """Start the threads, which end once `stop` is set; all processes share the duties of all users."""

    def claim() -> list[str]:
        view = parts.for_user(PROBE_USER)
        try:
            return services.scheduled_tasks.take_users(view)
        finally:
            view.release()

    jobs = {"credenda-calls": _make_call_lane()}
    if parts.llm is not None:
        jobs["credenda-model"] = workers.tenants.MODEL
    lanes = [
        LaneWorker(_make_worker(parts, lane), lambda everyone: everyone.run_round(stop), stop, name)
        for name, lane in jobs.items()
    ]
    tasks = workers.tenants.AllUsers(parts, duties=duties, claim=claim)
    lanes.append(LaneWorker(tasks, lambda everyone: everyone.look_after(stop), stop, "credenda-tasks"))
    for lane in lanes:
        lane.start()
    return lanes


def _make_worker(parts: Parts, lane: workers.tenants.Lane) -> workers.tenants.AllUsers:
    return workers.tenants.AllUsers(parts, duties=lambda _: None, lane=lane)


@contextmanager
def run_lanes_beside(parts: Parts, stop: Event, duties: Callable[[Parts], object], *, once: bool) -> Generator[None]:
    """Run all but messages beside the block; with `once` only the calls that are due, before it."""
    if once:
        with closing(_make_worker(parts, _make_call_lane())) as everyone:
            while everyone.run_round(stop):
                pass
        yield
        return
    lanes = start_lanes(parts, stop, duties)
    with ExitStack() as held:
        for lane in lanes:
            held.callback(lane.join)
            held.callback(lane.wake)
        held.callback(stop.set)
        yield
