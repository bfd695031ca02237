"""Work of a call in a worker thread: its progress goes to the client, and a cancelled call stops."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from threading import Event
from typing import Any, Final, TypeVar

import anyio
from anyio import from_thread, to_thread
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.context import ServerRequestContext

from credenda import limits
from credenda.deadline import allow_stop, has_deadline, limit_duration
from credenda.progress import Report, report_to

__all__ = ["Call", "run_work"]

Call = ServerRequestContext[Any]
T = TypeVar("T")
_Step = tuple[float, float, str]
_STEPS_WAITING: Final = 64
"""Steps that a slow client may be behind; the next ones are left out."""


async def run_work(call: Call, work: Callable[..., T], *args: object, lasting: bool = False) -> T:
    """Run work in a worker thread and return its result.

    Work of a cancelled call ends at its next statement, and this returns when it has ended, so that nothing works on a
    memory that nobody holds any more. `lasting` work, which is maintenance, may take as long at this door as at the
    others, and a client that gave a progress token gets its progress.
    """
    outcome: list[T | Exception] = []
    tried = partial(_try, outcome, work, *args)
    with ExitStack() as stack:
        if lasting and has_deadline():
            stack.enter_context(limit_duration(limits.HTTP_MAINTENANCE_SECONDS))
        stop = stack.enter_context(allow_stop())
        async with anyio.create_task_group() as group:
            group.start_soon(_stop_with_call, stop)
            await (_report_while(call, tried) if lasting else to_thread.run_sync(tried))
            group.cancel_scope.cancel()
    (result,) = outcome
    if isinstance(result, Exception):
        raise result
    return result


def _try(outcome: list[T | Exception], work: Callable[..., T], *args: object) -> None:
    """Note the result, or the error, which a task group would wrap."""
    try:
        outcome.append(work(*args))
    except Exception as error:  # noqa: BLE001 - the caller raises it
        outcome.append(error)


async def _report_while(call: Call, work: Callable[[], None]) -> None:
    """Run work in a worker thread, and send its progress to the client."""
    sending, receiving = anyio.create_memory_object_stream[_Step](_STEPS_WAITING)
    async with anyio.create_task_group() as group:

        async def send_steps() -> None:
            async with receiving:
                async for done, total, doing in receiving:
                    await call.session.report_progress(done, total, doing)

        group.start_soon(send_steps)
        with sending, report_to(_make_report(sending)):
            await to_thread.run_sync(work)


def _make_report(sending: MemoryObjectSendStream[_Step]) -> Report:
    """Return a function for the worker thread; it only ever reports more than before, as the protocol requires."""
    last = -1.0

    def send(step: _Step) -> None:
        try:
            sending.send_nowait(step)
        except (anyio.WouldBlock, anyio.BrokenResourceError):
            return

    def report(done: float, total: float, doing: str) -> None:
        nonlocal last
        if done > last:
            last = done
            from_thread.run_sync(send, (done, total, doing))

    return report


async def _stop_with_call(stop: Event) -> None:
    """Set the event when the call ends, or is cancelled."""
    try:
        await anyio.sleep_forever()
    finally:
        stop.set()
