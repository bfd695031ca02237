"""One memory: why it is believed, what it replaced, who got it, and everything that a person can do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from credenda.interfaces.web.changes import find_neighbours
from credenda.interfaces.web.drawings import Version, draw_lanes
from credenda.interfaces.web.page import Done, Page
from credenda.interfaces.web.view import View
from credenda.model.change import ChangeKind
from credenda.model.event import Event
from credenda.model.memory import HELD, TRANSITIONS, Memory, Relation, Status
from credenda.model.query import SlotVersion
from credenda.services.expectation import name_version

_AROUND = 300
"""So many characters of an event are shown on either side of the marked ones."""
_BY_OTHER_MEANS = frozenset({Status.FORGOTTEN, Status.DELETED, Status.MERGED, Status.SUPERSEDED})
"""Statuses that a person does not set: there is a button, or a correction, for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words of a message, and the characters that state the memory."""

    event: Event
    before: str
    marked: str
    after: str


def load(view: View) -> Mapping[str, object]:
    """Load a memory with its evidence, its slot, its changes and its use."""
    explanation = view.call("why", id=view.get("id"))
    memory: Memory = explanation.memory
    slot: Sequence[SlotVersion] = view.call("history", id=memory.id)
    neighbours = find_neighbours(memory.id, slot)
    return {
        "memory": memory,
        "version": name_version(memory),
        "is_believed": memory.status in HELD,
        "quotes": [_cut_quote(*one) for one in explanation.evidence],
        "changes": explanation.changes,
        "undone": [one.cause for one in explanation.changes if one.kind is ChangeKind.UNDO],
        "authors": explanation.authors,
        "earned": explanation.earned,
        "replaced": neighbours.replaced,
        "merged": neighbours.merged,
        "successor": neighbours.successor,
        "goes_on": neighbours.is_same,
        "ending": next((one.reason for one in slot if one.memory_id == memory.id), ""),
        "said_us": max((event.occurred_us for event, _, _ in explanation.evidence), default=None),
        "slot": slot,
        "uses": view.call("uses", id=memory.id),
        "contest": _find_contest(view, memory),
        "statuses": sorted(one.value for one in TRANSITIONS[memory.status] - _BY_OTHER_MEANS),
    }


def draw(view: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Draw the versions of the slot on both time axes."""
    slot: Sequence[SlotVersion] = data["slot"]
    starts = {one.memory_id: one.recorded_us for one in slot}
    versions = [
        Version(
            label=_name_version(view, one),
            status=one.status.value,
            recorded_us=one.recorded_us,
            expired_us=starts.get(one.superseded_by or ""),
            valid_from_us=one.valid_from_us,
            valid_until_us=one.valid_until_us,
            was_true=one.relation is not Relation.CORRECTED,
            link=f"/memory/{one.memory_id}",
        )
        for one in slot
    ]
    return {"lanes": draw_lanes(versions, now_us=view.now_us, zone=view.memory.zone, words=view.t)}


def _name_version(view: View, one: SlotVersion) -> str:
    """Name a version by its value; one that was only joined with another says so, because both have the same."""
    name = (view.t("not") + " " if one.denied else "") + (one.value or one.text)
    return f"{name} ({view.t(one.status.value)})" if one.status is Status.MERGED else name


def _cut_quote(event: Event, start: int, end: int) -> Quote:
    """Cut the surroundings of a span from a message that may be long."""
    low, high = max(0, start - _AROUND), min(len(event.text), end + _AROUND)
    return Quote(
        event=event,
        before=("…" if low else "") + event.text[low:start],
        marked=event.text[start:end],
        after=event.text[end:high] + ("…" if high < len(event.text) else ""),
    )


def _find_contest(view: View, memory: Memory) -> object:
    if not memory.contested:
        return None
    return next((one for one in view.call("contests") if memory.id in one.memory_ids and one.state == "open"), None)


def _end(view: View, memory_id: str) -> Done:
    """Go to the page of a memory, with the change just made."""
    return Done(to=f"/memory/{memory_id}", changes=view.mark_last_change(memory_id))


def correct(view: View) -> Done:
    """Put another text, or another value, in the place of the memory."""
    text, value = view.get("text").strip() or None, view.get("value").strip() or None
    corrected = view.change("correct", id=view.get("id"), text=text, value=value, reason=view.get("reason"))
    return _end(view, corrected.id)


def forget(view: View) -> Done:
    """Take the memory out of use."""
    return _end(view, view.change("forget", id=view.get("id"), reason=view.get("reason")).id)


def restore(view: View) -> Done:
    """Bring a forgotten memory back."""
    return _end(view, view.change("restore", id=view.get("id")).id)


def pin(view: View) -> Done:
    """Put the memory into every context."""
    return _end(view, view.change("pin", id=view.get("id")).id)


def unpin(view: View) -> Done:
    """Take the memory out of the contexts that do not ask for it."""
    return _end(view, view.change("unpin", id=view.get("id")).id)


def promote(view: View) -> Done:
    """Move the memory to the next layer."""
    return _end(view, view.change("promote", id=view.get("id")).id)


def demote(view: View) -> Done:
    """Move the memory to the layer before."""
    return _end(view, view.change("demote", id=view.get("id")).id)


def set_status(view: View) -> Done:
    """Move the memory to another status."""
    status, reason = view.get("status"), view.get("reason")
    return _end(view, view.change("set-status", id=view.get("id"), status=status, reason=reason).id)


def give_feedback(view: View) -> Done:
    """Say whether the memory was useful."""
    view.call("feedback", id=view.get("id"), useful=view.get("useful") == "yes")
    return Done(to=f"/memory/{view.get('id')}", note="feedback")


PAGE = Page(
    name="memory",
    path="/memory/{id}",
    title="One memory",
    operation="why",
    load=load,
    draw=draw,
    actions={
        "correct": correct,
        "forget": forget,
        "restore": restore,
        "pin": pin,
        "unpin": unpin,
        "promote": promote,
        "demote": demote,
        "status": set_status,
        "feedback": give_feedback,
    },
    group="",
)
