"""How long a test waits: for minutes, because a busy machine is no fault, and never without saying for what.

A test waits for an event, not for a time; the bound only ends a test that would otherwise hang. It is below the time
after which pytest ends any test, so that the message here is the one that is read.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event
from typing import Final

import anyio

PATIENCE_SECONDS: Final = 240.0
_PAUSE_SECONDS: Final = 0.02


def await_that(holds: Callable[[], object], what: str) -> None:
    """Wait until a condition holds that nothing announces, such as a file of another process."""
    pause = Event()
    for _ in range(int(PATIENCE_SECONDS / _PAUSE_SECONDS)):
        if holds():
            return
        pause.wait(_PAUSE_SECONDS)
    assert holds(), _describe(what)


@contextmanager
def limit_waiting(what: str) -> Generator[None]:
    """End what a block of asynchronous code awaits, and say what it was."""
    with anyio.move_on_after(PATIENCE_SECONDS) as scope:
        yield
    assert not scope.cancelled_caught, _describe(what)


def _describe(what: str) -> str:
    return f"waited {PATIENCE_SECONDS:g} seconds for {what}"
