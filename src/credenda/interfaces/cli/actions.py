"""Work of commands beyond calling their operation: standard input, waiting, confirmation, progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

import click

from credenda.errors import CredendaError, Invalid
from credenda.interfaces import cli
from credenda.interfaces.cli.importing import import_file
from credenda.interfaces.cli.outcome import (
    Believed,
    Consequence,
    Done,
    Outcome,
    Remembered,
    describe_change,
    find_successor,
)
from credenda.interfaces.cli.output import NOTHING_YET, Session, escape_controls, is_interactive, note, write_progress
from credenda.interfaces.cli.removing import delete, erase, export, forget, restore
from credenda.interfaces.cli.render_files import render_pending
from credenda.interfaces.dispatch import invoke
from credenda.model.change import ChangeKind, ChangeRecord, ContestState
from credenda.operation import Operation
from credenda.operations import OPERATIONS
from credenda.text.recalled_block import count_noun

if TYPE_CHECKING:
    from credenda.client import Credenda
    from credenda.model.change import ContestCase
    from credenda.model.evaluation import BeliefTestReport
    from credenda.model.event import Receipt
    from credenda.model.memory import Memory
    from credenda.model.report import DriftReport, SyncReport

Given = dict[str, Any]
Action = Callable[[Session, Operation, Given], Outcome]
_WAIT_SECONDS: Final = 30.0
_LONG_MESSAGES: Final = 5_000
"""From this many messages on, the command warns that a rebuild takes long."""
_READ_A_SECOND: Final = 400
"""Messages that are extracted again per second of CPU time, roughly."""
_CONFLICT: Final = 4
_CORRUPT: Final = 7


def run_operation(session: Session, operation: Operation, given: Given) -> Outcome:
    """Run one command on an open memory."""
    return _ACTIONS.get(operation.name, _run_simple)(session, operation, given)


def _run_simple(session: Session, operation: Operation, given: Given) -> Outcome:
    with session.open() as memory:
        return Outcome(value=invoke(memory, operation, given))


def _search(session: Session, operation: Operation, given: Given) -> Outcome:
    """Search; say beside the result how much was not read yet."""
    outcome = _run_simple(session, operation, given)
    _note_waiting(outcome.value)
    return outcome


def _note_waiting(found: object) -> None:
    waiting = getattr(found, "waiting", 0)
    if waiting:
        note(f"{count_noun(waiting, 'message')} not read yet")


def _get(session: Session, operation: Operation, given: Given) -> Outcome:
    """Show a memory, or an event where the id names one."""
    if not given["id"].strip().startswith("e"):
        return _run_simple(session, operation, given)
    if len(given) > 1:
        raise Invalid(
            "an event has no times to ask for", why="it never changes", fix="leave --as-of and --known-at out"
        )
    return _run_simple(session, OPERATIONS["event"], given)


def _run_feedback(session: Session, operation: Operation, given: Given) -> Outcome:
    _run_simple(session, operation, given)
    return Outcome(value=Done(id=given["id"], done="useful" if given["useful"] else "useless"))


def _run_and_settle(session: Session, operation: Operation, given: Given) -> Outcome:
    """Call an operation that queues work, and do that work."""
    with session.open() as memory:
        value = invoke(memory, operation, given)
        _settle(memory)
        return Outcome(value=value)


def _run_context(session: Session, operation: Operation, given: Given) -> Outcome:
    """Pack a context block; standard output holds only text for the prompt."""
    session.tokenizer = given.pop("tokenizer", None)
    outcome = _run_simple(session, operation, given)
    _note_waiting(outcome.value)
    if not getattr(outcome.value, "text", ""):
        note("no memory matches; the block is empty")
    return outcome


def _run_doctor(session: Session, operation: Operation, given: Given) -> Outcome:
    """Check the store, or a server."""
    server = given.pop("server", None)
    if server is not None and given.get("repair"):
        raise Invalid("--server and --repair exclude each other", fix="repair where the database is")
    if server is not None:
        outcome = Outcome(value=cli.server_commands.check_server(server))
    else:
        with session.open() as memory:
            outcome = Outcome(value=invoke(memory, operation, given))
            stats = memory.stats() if getattr(outcome.value, "ok", False) else None
        if stats is not None and not stats.events and not stats.memories:
            note(NOTHING_YET)
    return Outcome(value=outcome.value, exit_code=0 if getattr(outcome.value, "ok", False) else _CORRUPT)


def _rebuild(session: Session, operation: Operation, given: Given) -> Outcome:
    """Rebuild; show what re-extraction changes first, and apply it after confirmation or with `--yes`."""
    sure = given.pop("yes", False)
    if not given.get("reextract"):
        return _run_simple(session, operation, given)
    if given.get("dry_run") or sure:
        return _run_rebuild(session, operation, given)
    shown = _run_rebuild(session, operation, {**given, "dry_run": True})
    if not getattr(shown.value, "differences", ()):
        return shown
    if is_interactive():
        note(cli.render.render(cli.output.open_screen(), operation.name, shown.value))
        if click.confirm("Apply these changes?", err=True):
            return _run_rebuild(session, operation, given)
    note("nothing was changed; `--yes` applies these changes")
    return shown


def _run_rebuild(session: Session, operation: Operation, given: Given) -> Outcome:
    """Extract all messages again; print the expected duration first, and report on Ctrl-C that nothing changed."""
    with session.open() as memory:
        count = memory.stats().events
    kept = "; the model's answers are kept" if given.get("model") else ""
    if count >= _LONG_MESSAGES:
        told = f"extracting {count_noun(count, 'message')} by rules takes about {count / _READ_A_SECOND / 60:,.0f} min"
        note(f"{told}; nothing changes before the end")
    try:
        return _run_simple(session, operation, given)
    except KeyboardInterrupt:
        note(f"interrupted: nothing was changed, and the next run starts over{kept}")
        raise


def _run_drift(session: Session, operation: Operation, given: Given) -> Outcome:
    """Compare memories with code; exit with 7 when an error remains, so that a deployment can stop."""
    with session.open() as memory:
        report: DriftReport = invoke(memory, operation, given)
    errors = {finding.memory_id for finding in report.findings if finding.level == "error"}
    return Outcome(value=report, exit_code=_CORRUPT if errors - set(report.invalidated) else 0)


def _run_test(session: Session, operation: Operation, given: Given) -> Outcome:
    """Test beliefs; exit with 4 when an assertion fails, so that a build stops."""
    junit = given.pop("junit", None)
    with session.open() as memory:
        report: BeliefTestReport = invoke(memory, operation, given)
    if junit is not None:
        cli.junit.write_junit(report, junit)
    return Outcome(value=report, exit_code=0 if report.ok else _CONFLICT)


def _run_contests(session: Session, operation: Operation, given: Given) -> Outcome:
    """List open contests or all, or audit slots that flip-flop."""
    audit, days, everything = given.pop("audit", False), given.pop("days", None), given.pop("all", False)
    if not audit:
        if days is not None:
            raise Invalid("--days belongs to --audit", why="contests have no time span", fix="add --audit")
        found = _run_simple(session, operation, given)
        return found if everything else _hide_resolved(session, found)
    found = _run_simple(session, OPERATIONS["loops"], {} if days is None else {"days": days})
    return replace(found, shown_as="loops")


def _hide_resolved(session: Session, found: Outcome) -> Outcome:
    cases = cast("Sequence[ContestCase]", found.value)
    still_open = [case for case in cases if case.state is ContestState.OPEN]
    hidden = len(cases) - len(still_open)
    if hidden and not session.json:
        note(f"{hidden:,} resolved; --all lists them too")
    return replace(found, value=still_open)


def _remember(session: Session, operation: Operation, given: Given) -> Outcome:
    """Store a message, wait until it is extracted, and return the beliefs that follow from it."""
    wait = given.pop("wait", True)
    if given["content"] == "-":
        given["content"] = _read_standard_input()
    with session.open() as memory:
        receipt = invoke(memory, operation, given)
        settled = wait and _settle(memory)
        return Outcome(
            value=_find_consequences(memory, receipt) if settled else Remembered(receipt=receipt, settled=False)
        )


def _score(session: Session, operation: Operation, given: Given) -> Outcome:
    """Score a response; its context may come from standard input."""
    if given["context"] == "-":
        given["context"] = _read_standard_input()
    return _run_simple(session, operation, given)


def _read_standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise Invalid(
            "standard input is not UTF-8",
            why=f"byte {error.start} does not begin a character",
            fix="convert it first, for instance with iconv",
        ) from error


def _settle(memory: Credenda) -> bool:
    """Process queued messages. When this fails, stored messages stay stored, and a later command processes them."""
    try:
        memory.settle(_WAIT_SECONDS)
    except CredendaError as error:
        note(f"stored, but not extracted yet: {escape_controls(str(error))}")
        return False
    return True


def _find_consequences(memory: Credenda, receipt: Receipt) -> Remembered:
    """Find the changes that a receipt's events caused."""
    changes = [change for event_id in receipt.event_ids for change in memory.changes(event_id)]
    ids = dict.fromkeys(change.memory_id for change in changes if change.memory_id)
    held = {memory_id: one for memory_id in ids if (one := _get_if_present(memory, memory_id)) is not None}
    contested = {change.memory_id for change in changes if change.kind is ChangeKind.CONTEST}
    cases = [case for case in memory.manage.contests() if contested & set(case.memory_ids)] if contested else []
    return Remembered(
        receipt=receipt, settled=True, believed=tuple(_join_changes(changes, held)), contests=tuple(cases)
    )


def _get_if_present(memory: Credenda, memory_id: str) -> Memory | None:
    """Return a memory, or None when it was deleted."""
    try:
        return memory.get(memory_id)
    except CredendaError:
        return None


def _join_changes(changes: Sequence[ChangeRecord], held: Mapping[str, Memory]) -> list[Believed]:
    """Join the changes of one message: a replacement is listed once, together with the memories it replaced."""
    told: dict[str, Believed] = {}
    for change in changes:
        one = held.get(change.memory_id or "")
        if one is None or (change.kind is ChangeKind.SUPERSEDE and find_successor(change) in held):
            continue
        previous = tuple(
            held[other.memory_id]
            for other in changes
            if other.memory_id
            and other.memory_id in held
            and other.kind is ChangeKind.SUPERSEDE
            and find_successor(other) == one.id
        )
        what = describe_change(change)
        if previous and what in {Consequence.ADDED, Consequence.CONFIRMED}:
            what = Consequence.CHANGED
        if one.id not in told or what is Consequence.CONTESTED:
            told[one.id] = Believed(consequence=what, memory=one, previous=previous, reason=change.reason)
    return list(told.values())


def _reembed(session: Session, operation: Operation, given: Given) -> Outcome:
    """Compute all embeddings again, with a progress counter on a terminal."""
    shown = {"progress": _show_embedded} if sys.stderr.isatty() else {}
    with session.open() as memory:
        return Outcome(value=invoke(memory, operation, given | shown))


def _show_embedded(done: int, size: int | None) -> None:
    """Show how many texts have embeddings."""
    write_progress(f"\rembedded {done:,} of {size:,} " if done != size else "\r\033[K")


def _run_files(session: Session, operation: Operation, given: Given) -> Outcome:
    """Synchronise a folder, once or continuously with `--watch`."""
    watch, sure = given.pop("watch", False), given.pop("yes", False)
    if watch and (given.get("dry_run") or sure):
        raise Invalid("--watch excludes --dry-run and --yes", why="it keeps running", fix="leave one out")
    decision = {"missing": "delete"} if sure else {}
    with session.open() as memory:
        report: SyncReport = invoke(memory, operation, given | decision)
        if report.waiting and not (sure or watch or given.get("dry_run") or session.json) and is_interactive():
            note(render_pending(report))
            if click.confirm(f"Delete {report.waiting:,} missing entries permanently?", err=True):
                report = invoke(memory, operation, given | {"missing": "delete"})
        if watch:
            report = cli.watching.keep_watch(session, memory, lambda: invoke(memory, operation, given), report=report)
    return Outcome(value=report, exit_code=_CONFLICT if report.waiting or report.left_alone else 0)


_ACTIONS: Final[Mapping[str, Action]] = {
    "search": _search,
    "get": _get,
    "export": export,
    "compliance": export,
    "score": _score,
    "remember": _remember,
    "contests": _run_contests,
    "context": _run_context,
    "correct": _run_and_settle,
    "resolve": _run_and_settle,
    "set-status": _run_and_settle,
    "undo": _run_and_settle,
    "delete": delete,
    "forget": forget,
    "erase": erase,
    "restore": restore,
    "feedback": _run_feedback,
    "drift": _run_drift,
    "doctor": _run_doctor,
    "rebuild": _rebuild,
    "test": _run_test,
    "files": _run_files,
    "import": import_file,
    "reembed": _reembed,
}
