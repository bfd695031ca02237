"""Runs the calls of operations that wait in the background, in a thread beside the one that processes messages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from threading import Event, Thread
from typing import Any, Final

from credenda import workers
from credenda.bootstrap import build_user_parts
from credenda.client import Credenda
from credenda.errors import Invalid
from credenda.interfaces.dispatch import invoke
from credenda.interfaces.serialize import to_jsonable
from credenda.operations.table import OPERATIONS
from credenda.runtime import Parts
from credenda.services.background import Call, run_due_call

__all__ = ["CallWorker", "run_call", "run_calls", "run_calls_beside"]

_log: Final = logging.getLogger(__name__)
_IDLE_SECONDS: Final = 1.0
"""How long it waits for a call before it looks for those that other processes have queued."""


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


def _do_nothing(_: Parts) -> None:
    """Look after nothing: the worker of messages does."""


class CallWorker:
    """A thread that runs calls until it is stopped; `parts` stay those of the caller."""

    def __init__(self, parts: Parts, stop: Event) -> None:
        """Prepare the thread."""
        self._parts = parts
        self._stop = stop
        self._ready = Event()
        self._thread = Thread(target=self._run, name="credenda-calls")

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Look for calls now."""
        self._ready.set()

    def join(self) -> None:
        """Wait until the thread has ended, after `stop` was set."""
        self._thread.join()

    def is_alive(self) -> bool:
        """Return whether the thread runs."""
        return self._thread.is_alive()

    def _run(self) -> None:
        everyone = workers.tenants.AllUsers(self._parts, duties=_do_nothing, calls=run_calls)
        with closing(everyone):
            while not self._stop.is_set():
                self._ready.clear()
                try:
                    ran = everyone.run_round(self._stop)
                except Exception as error:  # noqa: BLE001 - the worker must outlive any fault of a job
                    _log.warning("a round of calls failed: %s", type(error).__name__)
                    ran = 0
                if not ran:
                    self._ready.wait(_IDLE_SECONDS)


@contextmanager
def run_calls_beside(parts: Parts, stop: Event, *, once: bool) -> Generator[None]:
    """Run calls beside the block, until it ends; with `once` those that are due before it."""
    if once:
        with closing(workers.tenants.AllUsers(parts, duties=_do_nothing, calls=run_calls)) as everyone:
            while everyone.run_round(stop):
                pass
        yield
        return
    caller = CallWorker(parts, stop)
    caller.start()
    try:
        yield
    finally:
        stop.set()
        caller.wake()
        caller.join()
