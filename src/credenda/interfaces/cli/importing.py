"""The command `import`: it stores and reads all messages, shows progress, and tells after Ctrl-C how much is kept."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from credenda.clock import seconds
from credenda.errors import Invalid, Unavailable
from credenda.interfaces import hook_engine
from credenda.interfaces.cli.outcome import Outcome
from credenda.interfaces.cli.output import Session, note, write_progress
from credenda.interfaces.dispatch import invoke
from credenda.operation import Operation
from credenda.text.recalled_block import count_noun

if TYPE_CHECKING:
    from credenda import Credenda
    from credenda.model.report import ImportReport, Stats

Given = dict[str, Any]
_STEP_SECONDS: Final = 5.0
_IDLE_STEPS: Final = 30
"""Steps in a row without any progress after which waiting for an import is given up: longer than a lease lasts."""
_LINES: Final = 10
"""Lines of progress at most, for each half of an import, where standard error is a file or a pipe."""
_LONG: Final = 2_000
"""Messages from which it is told that their reading begins."""
_MINUTE_SECONDS: Final = 60
_UNKNOWN_BYTES: Final = 1 << 26
"""Bytes between two lines if the size of the input is unknown."""


def import_file(session: Session, operation: Operation, given: Given) -> Outcome:
    """Import a file, and extract all its messages; an interruption keeps what is stored, and says so."""
    progress = Progress(on_terminal=sys.stderr.isatty())
    with session.open() as memory:
        hook_engine.filing.file_waiting(memory, hook_engine.filing.find_memory_places(memory))
        before = memory.stats().events
        try:
            report = _run_import(memory, operation, given | {"progress": progress.show_stored}, progress)
            _read_all(memory, progress)
            held = memory.stats().memories.get("active", 0)
        except KeyboardInterrupt:
            stats = memory.stats()
            waiting = f"; {count_noun(stats.waiting, 'message')} are still to be read" if stats.waiting else ""
            new = f"{stats.events - before:,} of them new"
            progress.clear()
            note(f"interrupted: all stored messages are kept, {new}{waiting}; the same command continues from there")
            raise
    _require_content(report)
    if held and not given.get("dry_run"):
        note(f"{count_noun(held, 'memory')} now; see them: credenda list{session.write_options()}")
    return Outcome(value=report)


@dataclass(slots=True)
class Progress:
    """The counter on a terminal, or plain lines now and then."""

    on_terminal: bool
    _step: int = 0
    began_at: float = 0.0

    def show_stored(self, done: int, size: int | None) -> None:
        """Show how much of a file has been stored."""
        if self.on_terminal:
            write_progress(f"\rstored {100 * done // size} % " if size else f"\rstored {done:,} bytes ")
            return
        step = _LINES * done // size if size else done // _UNKNOWN_BYTES
        if self._step < step and done != size:
            note(f"stored {100 * done // size} %" if size else f"stored {done:,} bytes")
        self._step = step

    def begin(self, verb: str, count: int) -> int:
        """Count anew, and return the count; tell where it is long."""
        self._step, self.began_at = 0, seconds()
        if count >= _LONG and not self.on_terminal:
            note(f"{verb} {count:,} messages")
        return count

    def show_done(self, verb: str, done: int, count: int) -> None:
        """Show how many messages have been read or indexed, and about how long the others take."""
        step = _LINES * done // max(count, 1)
        minutes = (seconds() - self.began_at) * (count - done) / max(done, 1) / _MINUTE_SECONDS
        left = f", about {minutes:.0f} min left" if done and minutes >= 1 else ""
        if self.on_terminal:
            write_progress(f"\r\033[K{verb} {done:,} of {count:,}{left} ")
        elif self._step < step and done < count:
            note(f"{verb} {done:,} of {count:,} messages{left}")
        self._step = step

    def clear(self) -> None:
        """Remove the counter."""
        if self.on_terminal:
            write_progress("\r\033[K")


def _require_content(report: ImportReport) -> None:
    """Raise `Invalid` if an import found nothing at all: the file is another one than its format."""
    if report.turns or report.skipped or report.rows:
        return
    left_out = "it has only what this format leaves out" if report.left_out else "it has no message and no memory"
    raise Invalid(
        f"nothing of {Path(report.path).name} was imported, in the format {report.format}",
        why=report.problems[0] if report.problems else left_out,
        fix="check that it is the right file, or name its format with --format",
    )


def _run_import(memory: Credenda, operation: Operation, given: Given, progress: Progress) -> ImportReport:
    """Import; when the queue is full, process it and continue."""
    filed = 0
    while True:
        try:
            report: ImportReport = invoke(memory, operation, given)
        except Unavailable as error:
            if not memory.stats().pending_extractions:
                raise
            filed += int(error.ids.get("filed", "0"))
            _read_all(memory, progress)
        else:
            return replace(report, turns=report.turns + filed, skipped=report.skipped - filed)


def _read_all(memory: Credenda, progress: Progress) -> None:
    """Settle step by step for as long as there is progress, however long that takes."""
    stats = memory.stats()
    unread, jobs, idle = progress.begin("reading", stats.waiting), 0, 0
    while stats.pending_extractions:
        try:
            memory.settle(_STEP_SECONDS)
        except Unavailable:
            if idle >= _IDLE_STEPS:
                raise
        before, stats = stats, memory.stats()
        idle = idle + 1 if _measure_progress(stats) == _measure_progress(before) else 0
        if stats.waiting or not (stats.pending_extractions or jobs):
            progress.show_done("read", unread - stats.waiting, unread)
        else:
            jobs = jobs or progress.begin("indexing", stats.pending_extractions)
            progress.show_done("indexed", jobs - stats.pending_extractions, jobs)
    progress.clear()


def _measure_progress(stats: Stats) -> tuple[int, ...]:
    """Return figures of which one moves with every batch.

    The number of waiting jobs is none: a message that was read leaves a job that embeds it.
    """
    return sum(stats.jobs.values()) - stats.pending_extractions, stats.changes, stats.vectors
