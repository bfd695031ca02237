"""Stop the statements of a call that is over: a thread that looks at the deadlines of all reads in progress."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from threading import Condition, Lock, Thread
from typing import Any, Final

import psycopg

from credenda.deadline import has_deadline, is_over

_LOOK_SECONDS: Final = 0.02
_CANCEL_SECONDS: Final = 2.0


class _Watched:
    """A connection, and the context of the call that uses it."""

    __slots__ = ("connection", "context", "done", "lock")

    def __init__(self, connection: psycopg.Connection[Any], context: Context) -> None:
        self.connection = connection
        self.context = context
        self.lock = Lock()
        self.done = False

    def stop_if_over(self) -> None:
        """Cancel the statement in progress; the lock keeps the connection from its next user meanwhile.

        The call may be between two statements just now, so this is repeated until it has ended.
        """
        with self.lock:
            if not self.done and self.context.run(is_over):
                with suppress(psycopg.Error):
                    self.connection.cancel_safe(timeout=_CANCEL_SECONDS)


class StatementWatch:
    """Watches reads that have a deadline; the thread exists only once there was one."""

    def __init__(self) -> None:
        """Start without a thread."""
        self._changed = Condition()
        self._watched: set[_Watched] = set()
        self._thread: Thread | None = None
        self._closed = False

    @contextmanager
    def stopping(self, connection: psycopg.Connection[Any]) -> Generator[None]:
        """Stop the statements of a connection inside the block when the current call is over."""
        if not has_deadline():
            yield
            return
        one = _Watched(connection, copy_context())
        with self._changed:
            self._watched.add(one)
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._run, name="credenda-deadlines", daemon=True)
                self._thread.start()
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._watched.discard(one)
            with one.lock:
                one.done = True

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._watched and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                watched = list(self._watched)
            for one in watched:
                one.stop_if_over()
            with self._changed:
                if not self._closed:
                    self._changed.wait(_LOOK_SECONDS)

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()
