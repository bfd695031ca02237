"""The fault injector: one operation of a call fails, at each place in turn.

After each fault: the caller got a clear error or a result; the next call works; nothing acknowledged is lost, and
nothing is half applied.
"""

from __future__ import annotations

import errno
import os
import random
import sqlite3
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.crash.check import check
from benchmarks.crash.disk_shim import install_shim
from benchmarks.crash.report import AttackReport, Note
from benchmarks.crash.write_paths import NEXT_TEXT, WRITE_PATHS, Attempt, Template, make_template
from credenda import Credenda, CredendaError
from credenda.providers.embed.hashed import HashedEmbedder
from credenda.providers.llm.protocol import Trouble
from credenda.testing import ModelFailure, Question, ScriptedModel

# Ways to make one operation of a call fail: below SQLite, at a statement, in a file, in a model.


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


_MODEL_TROUBLES: Final = ("busy", "away", "denied", "garbled")
_KINDS: Final = (*DISK_FAULTS, "disk stays full", "interrupt", "file refused", "embedder", *_MODEL_TROUBLES)
_MODEL_PATHS: Final = frozenset({"settle", "consolidate"})
_THOROUGH_EVERY: Final = 10
_NOTE_EVERY: Final = 100


@dataclass(frozen=True, slots=True)
class _Fault:
    """A kind of fault at the nth operation of a call."""

    kind: str
    path: str
    at: int

    def __str__(self) -> str:
        return f"{self.path}, {self.kind} at {self.at}"


@contextmanager
def _open_with(fault: _Fault, attempt: Attempt, countdown: Countdown) -> Generator[Credenda]:
    """Open the memory so that the countdown can make it fail."""
    match fault.kind:
        case "embedder":
            with attempt.open(embedder=FailingEmbedder(countdown)) as memory:
                yield memory
        case "interrupt":
            with fail_statement(countdown), attempt.open() as memory:
                yield memory
        case "file refused":
            with fail_files(countdown), attempt.open() as memory:
                yield memory
        case kind if kind in _MODEL_TROUBLES:
            with attempt.open(llm=make_failing_model(countdown, kind)) as memory:
                yield memory
        case kind:
            stays = kind == "disk stays full"
            disk = FaultyDisk("disk full" if stays else kind, countdown, stays=stays)
            with install_shim(disk), attempt.open() as memory:
                yield memory


def _make_attempt(fault: _Fault, attempt: Attempt, countdown: Countdown) -> Iterator[str]:
    """Make the call with the fault, then another call without; yield what is wrong."""
    with _open_with(fault, attempt, countdown) as memory:
        countdown.active = True
        try:
            WRITE_PATHS[fault.path](memory, attempt)
        except (CredendaError, KeyboardInterrupt) as error:
            if isinstance(error, KeyboardInterrupt) and fault.kind != "interrupt":
                yield "an interrupt that nobody sent"
        except Exception as error:  # noqa: BLE001 - any other error is a violation
            yield f"not a clear error: {type(error).__name__}: {error}"
        finally:
            countdown.active = False
        try:
            attempt.tell(e="said", ids=memory.remember(NEXT_TEXT).event_ids, texts=[NEXT_TEXT])
        except CredendaError as error:
            yield f"the next call failed: {error}"


def _run_fault(fault: _Fault, template: Template, *, thorough: bool) -> tuple[list[str], Countdown]:
    """Make one attempt in a folder of its own, and check its file."""
    countdown = Countdown(fault.at)
    with tempfile.TemporaryDirectory(prefix="credenda-faults-") as parent:
        attempt = template.copy(Path(parent) / "copy")
        found = [*_make_attempt(fault, attempt, countdown), *(attempt.contradictions or ())]
        try:
            found += check(attempt.ledger, thorough=thorough)
        except CredendaError as error:
            found.append(f"it cannot be opened: {error}")
    return found, countdown


def _count_places(kind: str, path: str, template: Template) -> int:
    """Count the operations of a call that a fault can strike, in a call without one."""
    found, countdown = _run_fault(_Fault(kind, path, 0), template, thorough=False)
    assert not found, f"{path} breaks a promise without any fault: {found}"  # noqa: S101 - the run would mean nothing
    return countdown.seen


def _plan_faults(template: Template, cases: int, pairs_max: int | None, draw: random.Random) -> list[_Fault]:
    """Draw faults evenly among the kinds and the calls, at most as many as there are places."""
    pairs = [(kind, path) for kind in _KINDS for path in WRITE_PATHS]
    pairs = [(kind, path) for kind, path in pairs if kind not in _MODEL_TROUBLES or path in _MODEL_PATHS]
    pairs = draw.sample(pairs, len(pairs))[:pairs_max]
    places = [
        [_Fault(kind, path, at + 1) for at in draw.sample(range(count), count)]
        for kind, path in pairs
        if (count := _count_places(kind, path, template))
    ]
    rounds = [fault for one in zip_longest(*places) for fault in one if fault is not None]
    return sorted(rounds[:cases], key=str)


def run_faults(cases: int, *, seed: int, note: Note, pairs_max: int | None = None) -> AttackReport:
    """Make so many faults; `pairs_max` bounds the pairs of a kind and a call that they are drawn from."""
    report = AttackReport("faults", seed)
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="credenda-faults-") as folder:
        template = make_template(Path(folder) / "template")
        planned = _plan_faults(template, cases, pairs_max, draw)
        for fault in planned:
            thorough = fault.kind not in _MODEL_TROUBLES and report.cases % _THOROUGH_EVERY == 0
            found, countdown = _run_fault(fault, template, thorough=thorough)
            report.cases += 1
            report.counts[fault.kind] += 1
            report.counts["struck"] += countdown.seen >= fault.at
            report.add(str(fault), found)
            if report.cases % _NOTE_EVERY == 0:
                note(f"{report.cases} of {len(planned)} faults, {len(report.violations)} violations")
    return report.finish()
