"""Undo changes, after a look at what would stand again and at later changes in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from credenda.errors import CredendaError, Invalid
from credenda.interfaces.web.changes import describe_undo
from credenda.interfaces.web.notes import find_change, read_marks, write_mark
from credenda.interfaces.web.page import ChangeMark, Done, Page
from credenda.interfaces.web.view import View
from credenda.model.memory import Memory
from credenda.model.report import UndoReport


def load(view: View) -> Mapping[str, object]:
    """Load what undoing the changes of the address would change; nothing is changed."""
    marks = _read_changes(view)
    reports: list[UndoReport] = [view.call("undo", change_id=mark.change, dry_run=True) for mark in marks]
    conflicts = list({one.id: one for report in reports for one in report.conflicts}.values())
    if conflicts:  # only together with them, so that is what is shown
        reports = [view.call("undo", change_id=mark.change, dry_run=True, cascade=True) for mark in marks]
    undone = list({one.id: one for report in reports for one in report.memories}.values())
    names = dict.fromkeys([*(one.id for one in undone), *(one.memory_id for one in conflicts if one.memory_id)])
    memories = {name: memory for name in names if (memory := _find_memory(view, name)) is not None}
    return {
        "marks": marks,
        "changes": [change for mark in marks if (change := find_change(view, mark)) is not None],
        "outcomes": describe_undo(undone, memories),
        "memories": undone,
        "conflicts": conflicts,
        "about": {one.id: memories[one.memory_id] for one in conflicts if one.memory_id in memories},
        "lasting": [one for report in reports for one in report.lasting],
    }


def _find_memory(view: View, memory_id: str) -> Memory | None:
    try:
        return view.call("get", id=memory_id)
    except CredendaError:
        return None


def undo(view: View) -> Done:
    """Undo changes, the newest first; where later changes stand in the way, go to the page that shows them."""
    marks = _read_changes(view)
    cascade = view.get("cascade") == "yes" or None
    if cascade is None and any(view.call("undo", change_id=mark.change, dry_run=True).conflicts for mark in marks):
        asked = [("change", write_mark(mark)) for mark in marks] + [("back", view.find_way_back())]
        return Done(to=f"/undo?{urlencode(asked)}")
    reports: list[UndoReport] = [view.call("undo", change_id=mark.change, cascade=cascade) for mark in reversed(marks)]
    undone = any(report.ran and report.undone for report in reports)
    return Done(to=view.find_way_back(), note="undone" if undone else "gone")


def _read_changes(view: View) -> Sequence[ChangeMark]:
    marks = read_marks(view.get_list("change"))
    if not marks:
        raise Invalid("no change is named", fix="open the page of a memory, and undo a change there")
    return marks


PAGE = Page(name="undo", path="/undo", title="Undo", operation="undo", load=load, actions={"now": undo}, group="")
