"""The line that says what just happened, with its undo: it is read from the change log, never from the address."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

from credenda.errors import CredendaError
from credenda.interfaces.web.page import ChangeMark
from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.memory import Memory
from credenda.model.query import Explanation

if TYPE_CHECKING:
    from credenda.interfaces.web.view import View

NOTES: Final = {
    "feedback": "Your feedback is recorded.",
    "undone": "Undone.",
    "deleted": "Deleted, with its words. It cannot return.",
    "gone": "Nothing is left to undo: it was undone before.",
    "started": "Started. It goes on in the background.",
    "saved": "Saved.",
    "nothing": "Nothing was changed.",
}
"""What an action may say that is no change in the log, by the word in the address."""
KINDS: Final = {
    "add": "Added",
    "confirm": "Confirmed",
    "supersede": "Replaced",
    "contest": "Contested",
    "resolve": "Answered",
    "set_status": "Status changed",
    "set_layer": "Layer changed",
    "pin": "Pin changed",
    "forget": "Forgotten",
    "restore": "Restored",
    "delete": "Deleted, with its words. It cannot return.",
    "revise": "Revised",
    "link": "Linked",
    "retag": "Labels changed",
    "undo": "Undone",
    "rebuild": "Rebuilt",
}
_MARK: Final = re.compile(r"(m[0-9]{1,18}-[0-9a-f]{6})\.(c[0-9]{1,18}-[0-9a-f]{6})")
_MARKS: Final = 50
_LASTING: Final = frozenset({"delete", "rebuild"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One line: a message, the memory that it is about, and the changes that a button undoes."""

    message: str
    text: str = ""
    memory: str = ""
    undo: tuple[ChangeMark, ...] = ()


def write_mark(mark: ChangeMark) -> str:
    """Write a change for an address."""
    return f"{mark.memory}.{mark.change}"


def read_marks(texts: list[str]) -> list[ChangeMark]:
    """Read changes from an address or form; what names none is left out."""
    found = [_MARK.fullmatch(text) for text in texts[:_MARKS]]
    return [ChangeMark(one[1], one[2]) for one in found if one is not None]


def list_notes(view: View) -> tuple[Note, ...]:
    """Say what the address of a page names: changes as the log has them, and one message."""
    notes: list[Note] = []
    named = view.get("note")
    if named in NOTES:
        notes.append(Note(message=NOTES[named]))
    marks = read_marks(view.get_list("changed"))
    known = [one for one in (_find_note(view, mark) for mark in marks) if one is not None]
    if len(known) > 1:
        undo = tuple(mark for one in known for mark in one.undo)
        messages = {one.message for one in known}
        message = known[0].message if len(messages) == 1 else "Changed"
        return (*notes, Note(message=message, text=view.t("{n} memories", n=len(known)), undo=undo))
    return (*notes, *known)


def find_change(view: View, mark: ChangeMark) -> ChangeRecord | None:
    """Return the logged change that a mark names; None for one that the log does not have."""
    found = _find_change(view, mark)
    return None if found is None else found[0]


def _find_change(view: View, mark: ChangeMark) -> tuple[ChangeRecord, Memory] | None:
    try:
        explanation: Explanation = view.call("why", id=mark.memory)
    except CredendaError:
        return None
    causes = dict.fromkeys(one.cause for one in explanation.changes if one.cause and one.cause.startswith("e"))
    beside = (change for cause in causes for change in view.call("changes", cause=cause))
    for change in chain(explanation.changes, beside):  # an answer to a contest is logged beside its memories
        if change.id == mark.change:
            return change, explanation.memory
    return None


def _find_note(view: View, mark: ChangeMark) -> Note | None:
    found = _find_change(view, mark)
    if found is None:
        return None
    change, memory = found
    undo = (mark,) if change.kind not in _LASTING and view.may("undo") else ()
    corrected = change.kind is ChangeKind.ADD and change.actor is Actor.USER
    message = "Corrected" if corrected else KINDS[change.kind]
    return Note(message=message, text=view.state(memory), memory=mark.memory, undo=undo)
