"""Undo changes, after a look at the fields that change back and at later changes in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from credenda.errors import Invalid
from credenda.interfaces.web.notes import read_marks, write_mark
from credenda.interfaces.web.page import ChangeMark, Done, Page
from credenda.interfaces.web.view import View
from credenda.model.report import UndoReport

__all__ = ["PAGE"]


def load(view: View) -> Mapping[str, object]:
    """Load what undoing the changes of the address would change; nothing is changed."""
    marks = _read_changes(view)
    reports = [view.call("undo", change_id=mark.change, dry_run=True) for mark in marks]
    return {
        "marks": marks,
        "memories": [one for report in reports for one in report.memories],
        "conflicts": [one for report in reports for one in report.conflicts],
        "lasting": [one for report in reports for one in report.lasting],
    }


def undo(view: View) -> Done:
    """Undo changes, the newest first; where later changes stand in the way, go to the page that shows them."""
    marks = _read_changes(view)
    cascade = view.get("cascade") == "yes" or None
    if cascade is None and _has_later_changes(view, marks):
        asked = [("change", write_mark(mark)) for mark in marks] + [("back", view.find_way_back())]
        return Done(to=f"/undo?{urlencode(asked)}")
    reports: list[UndoReport] = [view.call("undo", change_id=mark.change, cascade=cascade) for mark in reversed(marks)]
    undone = any(report.ran and report.undone for report in reports)
    return Done(to=view.find_way_back(), note="undone" if undone else "gone")


def _has_later_changes(view: View, marks: Sequence[ChangeMark]) -> bool:
    """Return whether any change can be undone only together with later ones."""
    return any(view.call("undo", change_id=mark.change, dry_run=True).conflicts for mark in marks)


def _read_changes(view: View) -> Sequence[ChangeMark]:
    marks = read_marks(view.get_list("change"))
    if not marks:
        raise Invalid("no change is named", fix="open the page of a memory, and undo a change there")
    return marks


PAGE = Page(name="undo", path="/undo", title="Undo", operation="undo", load=load, actions={"now": undo}, group="")
