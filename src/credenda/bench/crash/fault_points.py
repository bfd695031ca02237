"""Ways to make one operation of a call fail: below SQLite, at a statement, in a file, in a model.

Each is a context manager that counts, and fails the nth operation; with n = 0 it only counts.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from credenda.providers.embed.hashed import HashedEmbedder
from credenda.providers.llm.protocol import Trouble
from credenda.testing import ModelFailure, Question, ScriptedModel

__all__ = [
    "DISK_FAULTS",
    "Countdown",
    "FailingEmbedder",
    "FaultyDisk",
    "fail_files",
    "fail_statement",
    "make_failing_model",
]

DISK_FAULTS: Final[dict[str, tuple[str, int]]] = {
    "write refused": ("write", sqlite3.SQLITE_IOERR_WRITE),
    "disk full": ("write", sqlite3.SQLITE_FULL),
    "flush refused": ("sync", sqlite3.SQLITE_IOERR_FSYNC),
    "truncation refused": ("truncate", sqlite3.SQLITE_IOERR_TRUNCATE),
}
"""Fault → the operation, and the result code that SQLite gets."""


@dataclass(slots=True)
class Countdown:
    """Counts operations, and says when the nth is reached."""

    at: int
    seen: int = 0
    active: bool = False

    def strikes(self) -> bool:
        """Count one operation."""
        if not self.active:
            return False
        self.seen += 1
        return self.seen == self.at


class FaultyDisk:
    """A `DiskObserver` whose nth operation of one kind fails, and with `stays` each one after it too."""

    def __init__(self, fault: str, countdown: Countdown, *, stays: bool = False) -> None:
        self._kind, self._code = DISK_FAULTS[fault]
        self._countdown = countdown
        self._stays = stays

    def _answer(self, kind: str) -> int | None:
        if kind != self._kind:
            return None
        strikes = self._countdown.strikes()
        passed = self._stays and self._countdown.active and 0 < self._countdown.at < self._countdown.seen
        return self._code if strikes or passed else None

    def opened(self, path: str) -> None:
        """Ignore it."""

    def write(self, path: str, offset: int, data: bytes) -> int | None:
        """Perhaps fail."""
        del path, offset, data
        return self._answer("write")

    def truncate(self, path: str, size: int) -> int | None:
        """Perhaps fail."""
        del path, size
        return self._answer("truncate")

    def sync(self, path: str) -> int | None:
        """Perhaps fail; spare the machine's disk otherwise."""
        del path
        return self._answer("sync") or 0

    def delete(self, path: str) -> int | None:
        """Never fail."""
        del path


class _Interruptible(sqlite3.Connection):
    """A connection that is fail_statement before the nth statement, as by Ctrl-C."""

    countdown: ClassVar[Countdown] = Countdown(0)

    def execute(self, *given: Any) -> sqlite3.Cursor:  # noqa: ANN401 - as sqlite3 has it
        """Run a statement, unless it is the one."""
        if _Interruptible.countdown.strikes():
            raise KeyboardInterrupt
        return super().execute(*given)


@contextmanager
def fail_statement(countdown: Countdown) -> Generator[None]:
    """Interrupt the nth statement of the connections that open inside the block."""
    original: Callable[..., sqlite3.Connection] = sqlite3.connect
    _Interruptible.countdown = countdown

    def connect(*given: Any, **named: Any) -> sqlite3.Connection:  # noqa: ANN401 - as sqlite3 has it
        return original(*given, **{"factory": _Interruptible, **named})

    sqlite3.connect = connect  # type: ignore[assignment]
    try:
        yield
    finally:
        sqlite3.connect = original  # type: ignore[assignment]


@contextmanager
def fail_files(countdown: Countdown) -> Generator[None]:
    """Fail the nth flush or renaming of a file that the program writes itself, as on a full disk."""
    flush, rename = os.fsync, os.replace

    def full(call: Callable[..., None]) -> Callable[..., None]:
        def either(*given: Any, **named: Any) -> None:  # noqa: ANN401 - any call of `os`
            if countdown.strikes():
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            call(*given, **named)

        return either

    os.fsync, os.replace = full(flush), full(rename)
    try:
        yield
    finally:
        os.fsync, os.replace = flush, rename


class FailingEmbedder:
    """The hashed embedder, whose nth call fails as the library of a model might."""

    def __init__(self, countdown: Countdown) -> None:
        self._inner = HashedEmbedder()
        self._countdown = countdown

    @property
    def model_id(self) -> str:
        """The name of the hashed embedder, whose vectors it gives."""
        return self._inner.model_id

    @property
    def dims(self) -> int:
        """Dimensions of every vector."""
        return self._inner.dims

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed, or fail."""
        if self._countdown.strikes():
            raise RuntimeError("the library of the model failed")
        return self._inner.embed(texts)


def make_failing_model(countdown: Countdown, trouble: str) -> ScriptedModel:
    """Return a language model whose nth answer is a failure, or is not JSON."""

    def answer(question: Question) -> Any:  # noqa: ANN401 - an answer or an error
        del question
        if not countdown.strikes():
            return {"claims": [], "more": False}
        return "not JSON" if trouble == "garbled" else ModelFailure(Trouble(trouble), "as planned")

    return ScriptedModel(answer)
