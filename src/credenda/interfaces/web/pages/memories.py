"""Memories: find, narrow down by facets, look at a past day, compare two days, and change several at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from credenda.clock import DAY_US
from credenda.errors import Invalid
from credenda.interfaces.web.page import ChangeMark, Done, Page
from credenda.interfaces.web.render import format_day
from credenda.interfaces.web.view import View
from credenda.model.browse import Browse
from credenda.model.event import Source
from credenda.model.memory import Layer, Memory, MemoryType, Stance, Status

_PAGE: Final = 50
_CHOICES: Final[Mapping[str, Sequence[str]]] = {
    "status": [one.value for one in Status if one is not Status.DELETED],
    "type": list(MemoryType),
    "layer": list(Layer),
    "stance": list(Stance),
    "source": list(Source),
}
_FREE: Final = ("topic", "entity", "attribute", "session")
_FIELDS: Final = {
    **{name: name for name in ("status", "type", "layer", "stance", "topic", "entity", "attribute")},
    "session": "source_session",
}
_VALUES: Final = 12
_ALL: Final = "all"
_DAYS: Final = 365
"""How many days the slider goes back at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk:
    """An action for several memories."""

    label: str
    operation: str
    inputs: Mapping[str, object]
    is_destructive: bool = False


BULK: Final[Mapping[str, Bulk]] = {
    "forget": Bulk(label="Forget", operation="forget", inputs={}),
    "archive": Bulk(label="Archive", operation="set-status", inputs={"status": "archived"}),
    "believe": Bulk(label="Believe", operation="set-status", inputs={"status": "active"}),
    "pin": Bulk(label="Pin", operation="pin", inputs={}),
    "unpin": Bulk(label="Unpin", operation="unpin", inputs={}),
    "promote": Bulk(label="Promote", operation="promote", inputs={}),
    "demote": Bulk(label="Demote", operation="demote", inputs={}),
    "restore": Bulk(label="Restore", operation="restore", inputs={}),
    "delete": Bulk(label="Delete for good", operation="delete", inputs={}, is_destructive=True),
}


def load(view: View) -> Mapping[str, object]:
    """Load memories by words or by conditions, with facets, or the difference of two days."""
    # Return the conditions that the address names; believed memories alone are shown unless it says otherwise.
    named = {name: view.get(name).strip() for name in (*_CHOICES, *_FREE)}
    given = {name: value for name, value in named.items() if value}
    if "status" not in given:
        given["status"] = Status.ACTIVE.value
    conditions = given
    words = view.get("q").strip()
    today = format_day(view.now_us, view.memory.zone)
    data: dict[str, object] = {
        "q": words,
        "conditions": conditions,
        "day_shown": view.get("as_of").strip(),
        "today": today,
        "since": view.get("since").strip(),
        "until": view.get("until").strip(),
        "chosen": _load_chosen(view),
        "action": view.get("do") if view.get("do") in BULK else "",
    }
    if view.get("since").strip():
        return {**data, **_load_diff(view)}
    return {**data, "diff": None, **(_load_found(view, words, conditions) if words else _load_listed(view, conditions))}


def _load_listed(view: View, conditions: Mapping[str, str]) -> Mapping[str, object]:
    offset = view.get_int("offset", 0, low=0, high=1_000_000)
    asked = {name: value for name, value in conditions.items() if value != _ALL}
    day = view.get("as_of").strip() or None
    browsed: Browse = view.call("browse", **asked, limit=_PAGE, offset=offset, as_of=day)
    return {
        "memories": browsed.items,
        "said": browsed.said,
        "counted": browsed.counted,
        "has_more": browsed.has_more,
        "facets": browsed.facets,
        "offset": offset,
        "next_offset": offset + _PAGE if browsed.counted > offset + _PAGE else None,
        "scores": {},
    }


def _load_found(view: View, words: str, conditions: Mapping[str, str]) -> Mapping[str, object]:
    """Load the memories that a search finds, among those that the conditions allow."""
    result = view.call(
        "search",
        query=words,
        kinds=["memory"],
        limit=_PAGE,
        topic=conditions.get("topic"),
        types=[conditions["type"]] if "type" in conditions else None,
        layers=[conditions["layer"]] if "layer" in conditions else None,
        as_of=view.get("as_of").strip() or None,
        include=["superseded", "low_confidence", "archived"] if conditions["status"] != "active" else None,
        record_access=False,
    )
    memories = [hit.memory for hit in result.hits if hit.memory is not None and _is_match(hit.memory, conditions)]
    return {
        "memories": memories,
        "said": {hit.id: hit.evidence[-1].occurred_at for hit in result.hits if hit.evidence},
        "counted": len(memories),
        "has_more": len(result.hits) == _PAGE,
        "facets": {
            name: dict(Counter(str(value) for one in memories if (value := getattr(one, field))).most_common(_VALUES))
            for name, field in _FIELDS.items()
        },
        "offset": 0,
        "next_offset": None,
        "scores": {hit.id: hit.score for hit in result.hits},
    }


def _is_match(memory: Memory, conditions: Mapping[str, str]) -> bool:
    """Return whether a memory meets the conditions that a search does not take."""
    values = {
        "status": memory.status.value,
        "stance": memory.stance.value,
        "entity": memory.entity or "",
        "attribute": memory.attribute or "",
        "session": memory.source_session,
    }
    wanted = ((values[name], value) for name, value in conditions.items() if name in values and value != _ALL)
    return all(have.casefold() == value.casefold() for have, value in wanted)


def _load_diff(view: View) -> Mapping[str, object]:
    """Load what changed between two days."""
    axis = view.get("axis") if view.get("axis") in {"known", "valid"} else "known"
    until = view.get("until").strip() or None
    diff = view.call("diff", since=view.get("since").strip(), until=until, axis=axis, topic=view.get("topic") or None)
    return {"diff": diff, "axis": axis, "memories": (), "said": {}, "counted": 0, "facets": {}, "next_offset": None}


def _load_chosen(view: View) -> Sequence[Memory]:
    """Load the memories that a bulk action would be done with, for its preview."""
    if view.get("do") not in BULK:
        return ()
    return [view.call("get", id=one) for one in view.get_list("id")[:_PAGE]]


def _find_slider(view: View) -> int:
    """Return where the slider stands: at its end for today, one to the left for each day before."""
    day = view.get("as_of").strip()
    for back in range(_DAYS + 1):
        if day and format_day(view.now_us - back * DAY_US, view.memory.zone) == day:
            return _DAYS - back
    return _DAYS


def apply_to_all(view: View) -> Done:
    """Do one thing with several memories; those that cannot be changed so are left as they are."""
    bulk = BULK.get(view.get("do"))
    ids = view.get_list("id")[:_PAGE]
    if bulk is None or not ids:
        raise Invalid("nothing was chosen", fix="tick memories, and choose what to do with them")
    marks = [mark for one in ids for mark in _apply_to_one(view, bulk, one)]
    back = view.find_way_back()
    if bulk.is_destructive:
        return Done(to=back, note="deleted")
    return Done(to=back, changes=marks, note="" if marks else "nothing")


def _apply_to_one(view: View, bulk: Bulk, memory_id: str) -> Sequence[ChangeMark]:
    """Change a memory; none of its changes is returned where nothing was logged."""
    before = {mark.change for mark in view.mark_last_change(memory_id)}
    view.call(bulk.operation, id=memory_id, **bulk.inputs)
    if bulk.is_destructive:
        return ()
    return [mark for mark in view.mark_last_change(memory_id) if mark.change not in before]


def describe(view: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Say whether the page shows a list, hits or a difference, and list the choices."""
    kind = "diff" if data["diff"] is not None else "found" if data["q"] else "list"
    return {
        "kind": kind,
        "choices": _CHOICES,
        "free": _FREE,
        "slider_days": _DAYS,
        "slider_at": _find_slider(view),
        "bulk": {name: one.label for name, one in BULK.items() if view.may(one.operation)},
    }


PAGE = Page(
    name="memories",
    path="/memories",
    title="Memories",
    operation="browse",
    load=load,
    draw=describe,
    actions={"change": apply_to_all},
)
