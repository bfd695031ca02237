"""`files sync --watch`: poll for changes, and synchronise once they have settled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from credenda.errors import CredendaError
from credenda.interfaces.cli.agent_processes import wait_for_signal
from credenda.interfaces.cli.commands import write_result
from credenda.interfaces.cli.output import Session, escape_controls, note
from credenda.portability.files.folder import Rest, compute_signature

if TYPE_CHECKING:
    from credenda.client import Credenda
    from credenda.model.report import SyncReport

_LOOK_SECONDS: Final = 1.0


def keep_watch(
    session: Session, memory: Credenda, again: Callable[[], SyncReport], *, report: SyncReport
) -> SyncReport:
    """Synchronise whenever pages or the memory changed, until INT or TERM; return the last report."""
    root = Path(report.path)
    rest = Rest()
    trouble = ""
    memory.start_worker()
    if not session.json:
        write_result(session, "files", report)
    note(f"watching {escape_controls(report.path)}; stop with Ctrl-C")
    with wait_for_signal() as stopped:
        while not stopped.wait(_LOOK_SECONDS):
            stats = memory.stats()
            seen = (
                compute_signature(root),
                stats.events,
                stats.changes,
                stats.redacted_events,
                stats.tombstones,
            )  # before the sync, so that an edit made during it is seen
            if not rest.ready(seen):
                continue
            try:
                report = again()
            except CredendaError as error:
                # Print a problem once, however often it recurs.
                now = f"not synchronised: {escape_controls(str(error))}"
                if now != trouble:
                    note(now)
                trouble = now
                continue
            trouble = ""
            rest.handled(seen)
            if report.changed and not session.json:
                write_result(session, "files", report)
    return report
