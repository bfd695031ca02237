"""Work of commands beyond calling their operation: standard input, waiting, confirmation, progress."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

import credenda
from credenda import services
from credenda.clock import seconds, to_datetime
from credenda.errors import Conflict, CredendaError, Invalid, NotFound, Unavailable
from credenda.interfaces import cli, hook_engine
from credenda.interfaces.authorization import invoke
from credenda.interfaces.cli.outcome import (
    Believed,
    Consequence,
    Done,
    Outcome,
    Remembered,
    describe_change,
    find_successor,
)
from credenda.interfaces.cli.output import (
    NOTHING_YET,
    Session,
    escape_controls,
    is_interactive,
    note,
    truncate,
    write_progress,
)
from credenda.model.change import ChangeKind, ChangeRecord, ContestState
from credenda.model.memory import Status
from credenda.operation import Operation
from credenda.operations import OPERATIONS
from credenda.text.recalled_block import count_noun, count_unread

if TYPE_CHECKING:
    from credenda import Credenda
    from credenda.model.change import ContestCase
    from credenda.model.evaluation import BeliefTestReport
    from credenda.model.event import Event, Receipt
    from credenda.model.memory import Memory
    from credenda.model.report import DriftReport, ImportReport, Stats, SyncReport

Given = dict[str, Any]
Action = Callable[[Session, Operation, Given], Outcome]
_WAIT_SECONDS: Final = 30.0
_LONG_MESSAGES: Final = 5_000
"""From this many messages on, the command warns that a rebuild takes long."""
_READ_A_SECOND: Final = 400
"""Messages that are extracted again per second of CPU time, roughly."""
_QUEUING: Final = frozenset({"correct", "resolve", "set-status", "undo"})
_CONFLICT: Final = 4
_CORRUPT: Final = 7


def run_operation(session: Session, operation: Operation, given: Given) -> Outcome:
    """Run one command on an open memory."""
    return _ACTIONS.get(operation.name, _run_simple)(session, operation, given)


def _run_simple(session: Session, operation: Operation, given: Given) -> Outcome:
    """Call the operation, and do the work that it queues."""
    with session.open() as memory:
        value = invoke(memory, operation, given)
        if operation.name in _QUEUING:
            _settle(memory)
        return Outcome(value=value)


def _search(session: Session, operation: Operation, given: Given) -> Outcome:
    """Search; say beside the result how much was not read yet."""
    outcome = _run_simple(session, operation, given)
    _note_waiting(outcome.value)
    return outcome


def _note_waiting(found: object) -> None:
    waiting = getattr(found, "waiting", 0)
    if waiting:
        note(f"{count_unread(waiting)} not read yet")


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


def _run_context(session: Session, operation: Operation, given: Given) -> Outcome:
    """Pack a context block; standard output holds only text for the prompt."""
    session.tokenizer = given.pop("tokenizer", None)
    outcome = _run_simple(session, operation, given)
    _note_waiting(outcome.value)
    if not getattr(outcome.value, "text", ""):
        note(f"{_explain_empty_block(outcome.value, given)}; the block is empty")
    return outcome


def _explain_empty_block(found: object, given: Given) -> str:
    """Say why a context has no line: nothing was found, or nothing fits."""
    if getattr(found, "abstained", False):
        return "no memory matches"
    tokens = given.get("token_budget")
    room = "the setting context_tokens" if tokens is None else count_noun(tokens, "token")
    return f"nothing fits into {room}" if given.get("query") else f"no memory is for every prompt and fits into {room}"


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
    report = cast("DriftReport", _run_simple(session, operation, given).value)
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
            note(cli.render.render_pending(report))
            if click.confirm(f"Delete {report.waiting:,} missing entries permanently?", err=True):
                report = invoke(memory, operation, given | {"missing": "delete"})
        if watch:
            report = cli.agent_processes.keep_watch(
                session, memory, lambda: invoke(memory, operation, given), report=report
            )
    return Outcome(value=report, exit_code=_CONFLICT if report.waiting or report.left_alone else 0)


# Commands that remove or overwrite: they ask on a terminal, and need --yes or --force where nobody can be asked.


_AGAIN: Final = 5
_NAMED: Final = 64
"""Characters of what is neither memory nor backup, that an error repeats."""
_WORD: Final = re.compile(r"[^\W_]")
_HIDING: Final = frozenset({Status.FORGOTTEN, Status.DELETED, Status.CANDIDATE})
"""Statuses of memories that keep no message in searches."""
_MEMORY: Final = re.compile(r"m[1-9][0-9]*(-[0-9a-f]{0,6})?")


def delete(session: Session, operation: Operation, given: Given) -> Outcome:
    """Delete one thing, or all that meets conditions."""
    sure = given.pop("yes", False)
    if "id" not in given:
        return _delete_where(session, given, sure=sure)
    dry_run, whole = given.pop("dry_run", False), given.pop("whole_message", False)
    if len(given) > 1:
        raise Invalid("an id and conditions cannot both be given", why="each says what to delete", fix="give one")
    with session.open() as memory:
        plan = memory.manage.plan_deletion(given["id"], whole_message=whole)
        if dry_run:
            return Outcome(value=plan)
        named = f"{plan.id} “{truncate(escape_controls(plan.text), _NAMED)}”" if plan.text else plan.id
        for line in cli.render.describe_shared(plan) if sure or is_interactive() else ():
            note(line)
        if not ask_consent(f"Delete {named} permanently, with its evidence?", sure=sure):
            return Outcome(value=Done(id=plan.id, done="kept"))
        if sure and plan.id != given["id"].strip():
            note(f"{escape_controls(given['id'])} is {named}")
        return Outcome(value=invoke(memory, operation, {"id": plan.id, "whole_message": whole}))


def _delete_where(session: Session, given: Given, *, sure: bool) -> Outcome:
    conditions = {name: value for name, value in given.items() if name != "dry_run"}
    if not conditions:
        raise Invalid("nothing says what to delete", why="there is neither an id nor a condition", fix="give one")
    if "whole_message" in conditions:
        raise Invalid("--whole-message needs an id", why="conditions delete whole messages anyway", fix="leave it out")
    with session.open() as memory:
        if given.get("dry_run") or not sure:
            report = memory.delete_where(**conditions, dry_run=True)
            if given.get("dry_run"):
                return Outcome(value=report)
            if is_interactive():
                for line in cli.render.describe_shared(report):
                    note(line)
            named = cli.render.name_deleted(cli.output.open_screen(session.zone), report)
            if not ask_consent(f"Delete {named} for good?", sure=sure):
                return Outcome(value=Done(id=", ".join(map(escape_controls, conditions.values())), done="kept"))
            if report.before_us is not None:
                conditions["before"] = to_datetime(report.before_us)  # the moment that was shown
        return Outcome(value=memory.delete_where(**conditions))


def forget(session: Session, operation: Operation, given: Given) -> Outcome:
    """Take a memory out of use; first name the words that no other memory keeps in searches."""
    with session.open() as memory:
        held = memory.get(given["id"])
        for event in [] if held.status in _HIDING else _list_hidden(memory, held.id):
            note(f"Searches hide the other words of {event.id} too: “{truncate(escape_controls(event.text), _NAMED)}”")
        return Outcome(value=invoke(memory, operation, given | {"id": held.id}))


def _list_hidden(memory: Credenda, memory_id: str) -> list[Event]:
    """Return the events that rest on one memory alone, and have words that do not state it."""
    try:
        blanked = {one.event_id: one.words for one in memory.manage.plan_deletion(memory_id).blanked}
    except Conflict:  # a legal hold forbids the deletion, and nothing plans it
        blanked = dict[str, str]()
    found = {event.id: event for event, _, _ in memory.why(memory_id).evidence}.values()
    return [
        event
        for event in found
        if all(one.id == memory_id or one.status in _HIDING for one in memory.event(event.id).memories)
        and _WORD.search(event.text.replace(blanked.get(event.id, ""), ""))
    ]


def restore(session: Session, operation: Operation, given: Given) -> Outcome:
    """Bring back a forgotten memory, or put a backup in the place of the database."""
    replace_it, deletions, sure = given.pop("replace", False), given.pop("deletions", None), given.pop("yes", False)
    name = given["id"].strip()
    if _MEMORY.fullmatch(name) and not _is_file(name):
        with session.open() as memory:
            held = memory.get(name)
            if held.status.value == "forgotten" and not ask_consent(f"Bring back {held.id}?", sure=sure):
                return Outcome(value=Done(id=held.id, done="left alone"))
            return Outcome(value=invoke(memory, operation, {"id": held.id}))
    if not _is_file(given["id"]):
        raise NotFound(
            f"{escape_controls(given['id'][:_NAMED])} is neither a memory nor a backup",
            why="no file is there, and ids look like m42-3fa9c2",
            fix="copy an id from `list`, or check the path",
        )
    if not ask_consent("Put this backup in the place of the database?", sure=sure):
        return Outcome(value=Done(id=escape_controls(given["id"]), done="left alone"))
    return Outcome(value=credenda.restore_backup(given["id"], session.db, replace=replace_it, deletions=deletions))


def erase(session: Session, operation: Operation, given: Given) -> Outcome:
    """Erase; exits with 5 when something of it could be found afterwards."""
    sure, force = given.pop("yes", False), given.pop("force", False)
    with session.open() as memory:
        if "export" in given:
            _check_free(given["export"], force=force)
        if given.get("confirm") in {memory.user, services.delete.PHRASE} and not ask_consent(
            f"Erase everything of {escape_controls(memory.user)} for good?", sure=sure
        ):
            return Outcome(value=Done(id=memory.user, done="kept"))
        receipt = invoke(memory, operation, given)
    return Outcome(value=receipt, exit_code=0 if receipt.remaining_matches == 0 and receipt.log_emptied else _AGAIN)


def export(session: Session, operation: Operation, given: Given) -> Outcome:
    """Write a file that is not there yet, or standard output."""
    force = given.pop("force", False)
    with session.open() as memory:
        if given["path"] != "-":
            _check_free(given["path"], force=force)
            return Outcome(value=invoke(memory, operation, given))
        with tempfile.TemporaryDirectory(prefix="credenda-export-") as folder:
            file = Path(folder) / "export.jsonl"
            invoke(memory, operation, {**given, "path": str(file)})
            # Write a file to standard output as it is.
            sys.stdout.flush()
            with file.open("rb") as whole:
                shutil.copyfileobj(whole, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    return Outcome(value=None, written=True)


def _check_free(path: str, *, force: bool) -> None:
    """Refuse to overwrite a file that nobody said may go."""
    if not force and _is_file(path):
        raise Conflict(
            f"{escape_controls(path)} is there already",
            why="an export replaces no existing file by default",
            fix="add --force",
        )


def ask_consent(question: str, *, sure: bool) -> bool:
    """Ask, unless --yes was given; raises `Invalid` where nobody can be asked."""
    if sure:
        return True
    if not is_interactive():
        raise Invalid(
            "nothing was done", why="this command asks for confirmation, and there is no terminal", fix="add --yes"
        )
    return click.confirm(question, err=True)


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


# The command `import`: it stores and reads all messages, shows progress, and tells after Ctrl-C how much is kept.


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
        hook_engine.listener.file_waiting(memory, hook_engine.listener.find_memory_places(memory))
        before = memory.stats()
        try:
            report = _run_import(memory, operation, given | {"progress": progress.show_stored}, progress)
            _read_all(memory, progress)
            held, earlier = (one.memories.get("active", 0) for one in (memory.stats(), before))
        except KeyboardInterrupt:
            stats = memory.stats()
            waiting = f"; {count_noun(stats.waiting, 'message')} are still to be read" if stats.waiting else ""
            new = f"{stats.events - before.events:,} of them new"
            progress.clear()
            note(f"interrupted: all stored messages are kept, {new}{waiting}; the same command continues from there")
            raise
    if not report.turns and not report.skipped and not report.rows:
        raise _make_nothing_error(report, named="format" in given)
    if not held or report.dry_run:
        return Outcome(value=report)
    more = f"{held - earlier:,} more than before" if held > earlier else "no more than before"
    see = f"see them: credenda list{session.write_options()}"
    return Outcome(value=report, noted=f"{count_noun(held, 'memory')} now, {more}; {see}")


def _make_nothing_error(report: ImportReport, *, named: bool) -> Invalid:
    """Return the error of an import that found nothing at all: it got another file than one of its format."""
    left_out = "it has only what this format leaves out" if report.left_out else "it has no message and no memory"
    other = "leave out --format, which detects the format" if named else "name its format with --format"
    return Invalid(
        f"nothing of {Path(report.path).name} was imported, in the format {report.format}",
        why=report.problems[0] if report.problems else left_out,
        fix=f"check that it is the right file, or {other}",
    )


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


_ACTIONS: Final[Mapping[str, Action]] = {
    "search": _search,
    "get": _get,
    "export": export,
    "compliance": export,
    "score": _score,
    "remember": _remember,
    "contests": _run_contests,
    "context": _run_context,
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
