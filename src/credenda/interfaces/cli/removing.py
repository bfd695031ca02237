"""Commands that remove or overwrite: they ask on a terminal, and need --yes or --force where nobody can be asked."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

import credenda
from credenda import services
from credenda.errors import Conflict, Invalid, NotFound
from credenda.interfaces.cli.outcome import Done, Outcome
from credenda.interfaces.cli.output import Session, escape_controls, is_interactive, note, truncate
from credenda.interfaces.dispatch import invoke
from credenda.lazy import import_on_use
from credenda.model.memory import Status
from credenda.operation import Operation
from credenda.text.recalled_block import count_noun

if TYPE_CHECKING:
    from credenda import Credenda
    from credenda.interfaces.cli import render_forgetting
    from credenda.model.event import Event
else:
    render_forgetting = import_on_use("credenda.interfaces.cli.render_forgetting")

Given = dict[str, Any]
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
        if is_interactive() and not sure:
            for line in render_forgetting.describe_shared(plan):
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
                for line in render_forgetting.describe_report(report):
                    note(line)
            question = (
                f"Delete {count_noun(report.events, 'event')} and {count_noun(report.memories, 'memory')} for good?"
            )
            if not ask_consent(question, sure=sure):
                return Outcome(value=Done(id=", ".join(map(escape_controls, conditions.values())), done="kept"))
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
