"""Memories: find, narrow down by facets, look at a past day, compare two days, and change several at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Final
from urllib.parse import urlencode

from credenda.clock import DAY_US, format_time
from credenda.errors import Invalid
from credenda.interfaces.web.drawings import Drawing, Version, draw_lanes
from credenda.interfaces.web.render import format_day
from credenda.interfaces.web.view import (
    Action,
    ChangeMark,
    Done,
    Page,
    View,
    describe_undo,
    find_change,
    find_neighbours,
    read_marks,
    write_mark,
)
from credenda.model.browse import Browse, EntityMap, EntitySummary
from credenda.model.change import ChangeKind
from credenda.model.event import Event, Source, find_quoted
from credenda.model.memory import HELD, OPEN_STANCES, TRANSITIONS, Layer, Memory, MemoryType, Relation, Stance, Status
from credenda.model.query import Hit, SlotVersion
from credenda.model.report import UndoReport
from credenda.model.statement import format_planned, format_validity
from credenda.services.browse import name_version
from credenda.text.given_time import parse_period
from credenda.text.normalize import normalise_name
from credenda.text.sentences import GAP
from credenda.text.tokens import tokenize

_PAGE: Final = 50
_ALIKE: Final = 0.1
"""A hit with none of the words and a lower score is not shown."""
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


def load_memories(view: View) -> Mapping[str, object]:
    """Load memories by words or by conditions, with facets, or the difference of two days."""
    # Return the conditions that the address names; believed memories alone are shown unless it says otherwise.
    named = {name: view.get(name).strip() for name in (*_CHOICES, *_FREE)}
    given = {name: value for name, value in named.items() if value}
    if "status" not in given:
        given["status"] = Status.ACTIVE.value
    conditions = given
    words = view.get("q").strip()
    today = format_day(view.now_us, view.zone)
    data: dict[str, object] = {
        "q": words,
        "conditions": conditions,
        "day_shown": view.get("as_of").strip(),
        "today": today,
        "since": view.get("since").strip(),
        "until": view.get("until").strip(),
        "chosen": (
            () if view.get("do") not in BULK else [view.call("get", id=one) for one in view.get_list("id")[:_PAGE]]
        ),
        "action": view.get("do") if view.get("do") in BULK else "",
    }
    if view.get("since").strip():
        return {**data, **_load_diff(view)}
    return {**data, "diff": None, **(_load_found(view, words, conditions) if words else _load_listed(view, conditions))}


def _load_listed(view: View, conditions: Mapping[str, str]) -> Mapping[str, object]:
    offset = view.get_int("offset", 0, low=0, high=1_000_000)
    asked = {name: value for name, value in conditions.items() if value != _ALL}
    browsed: Browse = view.call("browse", **asked, limit=_PAGE, offset=offset, as_of=view.get_moment("as_of"))
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
        as_of=view.get_moment("as_of"),
        include=["superseded", "low_confidence", "archived"],
        record_access=False,
    )
    hits = _order_by_words(words, [*result.hits, *result.nearest])
    memories = [hit.memory for hit in hits if hit.memory is not None and _is_match(hit.memory, conditions)]
    return {
        "memories": memories,
        "said": {hit.id: said.occurred_at for hit in hits if (said := find_quoted(hit.evidence, hit.quote))},
        "counted": len(memories),
        "has_more": len(result.hits) == _PAGE,
        "facets": {
            name: dict(Counter(str(value) for one in memories if (value := getattr(one, field))).most_common(_VALUES))
            for name, field in _FIELDS.items()
        },
        "offset": 0,
        "next_offset": None,
        "scores": {hit.id: hit.score for hit in hits},
    }


def _order_by_words(words: str, hits: Sequence[Hit]) -> Sequence[Hit]:
    """Put the hits with every word first; those with none of them stay only where they are much alike."""
    asked = set(tokenize(words))
    found = {hit.id: len(asked & set(tokenize(f"{hit.text} {hit.quote}"))) for hit in hits}
    kept = [hit for hit in hits if found[hit.id] or hit.score >= _ALIKE or not asked]
    return sorted(kept, key=lambda hit: not asked or found[hit.id] < len(asked))


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
    first = parse_period(view.get("since"), view.zone, view.now_us)
    since = format_time(first.from_us if first.moment else first.from_us - 1)  # a day begins where the person is
    asked = {"until": view.get_moment("until"), "axis": axis, "topic": view.get("topic") or None}
    diff = view.call("diff", since=since, **asked)
    return {"diff": diff, "axis": axis, "memories": (), "said": {}, "counted": 0, "facets": {}, "next_offset": None}


def _find_slider(view: View) -> int:
    """Return where the slider stands: at its end for today, one to the left for each day before."""
    day = view.get("as_of").strip()
    for back in range(_DAYS + 1):
        if day and format_day(view.now_us - back * DAY_US, view.zone) == day:
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


MEMORIES_PAGE = Page(
    name="memories",
    path="/memories",
    title="Memories",
    operation="browse",
    load=load_memories,
    draw=describe,
    actions={"change": apply_to_all},
)


# One memory: why it is believed, what it replaced, who got it, and everything that a person can do with it.


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


def load_memory(view: View) -> Mapping[str, object]:
    """Load a memory with its evidence, its slot, its changes and its use."""
    explanation = view.call("why", id=view.get("id"))
    memory: Memory = explanation.memory
    slot: Sequence[SlotVersion] = view.call("history", id=memory.id)
    neighbours = find_neighbours(memory.id, slot)
    since = None if memory.valid_from_us is None else format_day(memory.valid_from_us, view.zone)
    quoted = find_quoted((event for event, _, _ in explanation.evidence), memory.text)
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
        "said_us": quoted and quoted.occurred_us,
        "is_told": any(format_day(event.occurred_us, view.zone) == since for event, _, _ in explanation.evidence),
        "told_us": [event.occurred_us for event, _, _ in explanation.evidence],
        "slot": slot,
        "uses": view.call("uses", id=memory.id),
        "contest": _find_contest(view, memory),
        "statuses": sorted(one.value for one in TRANSITIONS[memory.status] - _BY_OTHER_MEANS),
    }


def draw_memory(view: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Draw the versions of the slot on both time axes; a dated plan has its time in words."""
    lanes = _draw_versions(view, data["slot"], lambda one: _name_version(view, one))
    return {"lanes": lanes, "planned_for": format_planned(data["memory"], view.language)}


def _draw_versions(
    view: View, slot: Sequence[SlotVersion], label: Callable[[SlotVersion], str], title: str = ""
) -> Drawing:
    """Draw the values of a slot on both time axes."""
    starts = {one.memory_id: one.recorded_us for one in slot}
    versions = [
        Version(
            label=label(one),
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
    return draw_lanes(versions, now_us=view.now_us, zone=view.zone, words=view.t, title=title)


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
    if text is None and value is None:
        fix = "write the right value, or the right sentence, and send it again"
        raise Invalid("nothing was corrected", why="both fields are empty", fix=fix)
    corrected = view.change("correct", id=view.get("id"), text=text, value=value, reason=view.get("reason"))
    return _end(view, corrected.id)


def _make_action(operation: str, *fields: str) -> Action:
    """Make the action of an operation on the memory, with these fields of the form as its other inputs."""

    def act(view: View) -> Done:
        return _end(view, view.change(operation, id=view.get("id"), **{name: view.get(name) for name in fields}).id)

    return act


def give_feedback(view: View) -> Done:
    """Say whether the memory was useful."""
    view.call("feedback", id=view.get("id"), useful=view.get("useful") == "yes")
    return Done(to=f"/memory/{view.get('id')}", note="feedback")


MEMORY_PAGE = Page(
    name="memory",
    path="/memory/{id}",
    title="One memory",
    operation="why",
    load=load_memory,
    draw=draw_memory,
    actions={
        "correct": correct,
        "forget": _make_action("forget", "reason"),
        "status": _make_action("set-status", "status", "reason"),
        "feedback": give_feedback,
        **{name: _make_action(name) for name in ("restore", "pin", "unpin", "promote", "demote")},
    },
    group="",
)


# The people and things that memories are about: their slots over time, and how they are related.


_SHOWN: Final = 60
_SLOTS: Final = 24
_SLOTS_NAMED: Final = 8
_SLOTS_MAX: Final = 400
_RELATIONS: Final = 100


def load_entities(view: View) -> Mapping[str, object]:
    """Load all entities, and of one that is named its slots with every value that they have had."""
    found: EntityMap = view.call("entities")
    wanted = view.get("q").casefold()
    matching = [one for one in found.entities if wanted in one.name.casefold()]
    entity = _find_entity(found.entities, view.get("name"))
    most = _SLOTS_MAX if view.get("slots") == "all" else _SLOTS
    slots = [] if entity is None else [_load_slot(view, entity.name, one) for one in entity.attributes[:most]]
    relations = _find_relations(found, view.get("name") if entity is None else entity.name)
    offset = view.get_int("offset", 0, low=0, high=len(matching))
    return {
        "entities": matching[offset : offset + _SHOWN],
        "matching": len(matching),
        "offset": offset,
        "previous_offset": max(0, offset - _SHOWN) if offset else None,
        "next_offset": offset + _SHOWN if len(matching) > offset + _SHOWN else None,
        "counted": found.counted,
        "has_more": found.has_more,
        "query": view.get("q"),
        "name": view.get("name"),
        "entity": entity,
        "slots": slots,
        "slots_left_out": 0 if entity is None else max(0, len(entity.attributes) - most),
        "relations": relations[:_RELATIONS],
        "relations_counted": len(relations),
        "map": found,
    }


def draw_entities(view: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Draw each slot that has had several values."""
    slots = [one for one in data["slots"] if len(one["versions"]) > 1]
    return {
        "named_by": {
            one.target: f"{view.name_entity(one.source)} · {view.name_slot(one.attribute)}"
            for one in data["map"].relations
        },
        "named": {one.name: _list_slots(view, one.attributes) for one in data["entities"]},
        "statuses": {one.id: describe_status(one) for slot in data["slots"] for one in slot["memories"].values()},
        "times": {
            one.id: ", ".join(format_validity(one, view.zone, language=view.language))
            for slot in data["slots"]
            for one in slot["memories"].values()
            if one.relation is not Relation.CORRECTED
        },
        "lanes": {one["attribute"]: _draw_slot(view, one["attribute"], one["versions"]) for one in slots},
    }


def describe_status(memory: Memory) -> str:
    """Return the word for where a memory stands: that it is over, only planned or never true goes before its status."""
    if memory.relation is Relation.CORRECTED:
        return "never true"
    if memory.over:
        return "ended"
    return memory.stance.value if memory.status in HELD and memory.stance in OPEN_STANCES else memory.status.value


def _list_slots(view: View, attributes: Sequence[str]) -> str:
    """List the first slots of an entity by their names, and how many more there are."""
    names = [view.name_slot(one) for one in attributes]
    left = len(names) - _SLOTS_NAMED
    return ", ".join(names[:_SLOTS_NAMED]) + (f" + {left}" if left > 0 else "")


def _find_entity(entities: Iterable[EntitySummary], name: str) -> EntitySummary | None:
    wanted = normalise_name(name)
    return next((one for one in entities if wanted and normalise_name(one.name) == wanted), None)


def _find_relations(found: EntityMap, name: str) -> Sequence[Mapping[str, str]]:
    wanted = normalise_name(name)
    return [
        {"source": one.source, "attribute": one.attribute, "target": one.target, "memory_id": one.memory_id}
        for one in found.relations
        if not wanted or wanted in {normalise_name(one.source), normalise_name(one.target)}
    ]


def _load_slot(view: View, entity: str, attribute: str) -> Mapping[str, object]:
    versions: Sequence[SlotVersion] = view.call("history", entity=entity, attribute=attribute)
    found = {one.memory_id: memory for one in versions if (memory := view.find_memory(one.memory_id)) is not None}
    return {"attribute": attribute, "versions": versions, "memories": found}


def _draw_slot(view: View, attribute: str, versions: Sequence[SlotVersion]) -> Drawing:
    title = view.t("Values of {slot}", slot=view.name_slot(attribute))
    return _draw_versions(view, versions, lambda one: one.value or one.text, title)


ENTITIES_PAGE = Page(
    name="entities",
    path="/entities",
    title="People and things",
    operation="entities",
    load=load_entities,
    draw=draw_entities,
)


# Delete a memory for good, after a look at everything that would go with it, or rests on the same words.


def load_deletion(view: View) -> Mapping[str, object]:
    """Load what a deletion would remove; nothing is deleted."""
    memory = view.call("get", id=view.get("id"))
    whole = view.get("whole") == "yes"
    plan = view.call("plan-deletion", id=memory.id, whole_message=whole or None)
    shortened = [replace(one, left=mark_gap(one.text, one.left)) for one in plan.kept if one.left not in {"", one.text}]
    return {"memory": memory, "version": name_version(memory), "plan": plan, "shortened": shortened, "whole": whole}


def mark_gap(text: str, left: str) -> str:
    """Return what a deletion leaves of a text, with a short line where words are missing inside.

    >>> mark_gap("I work as a nurse at St. Olaf.", "I work as a at St. Olaf.")
    'I work as a ___ at St. Olaf.'
    """
    before, after = text.split(), left.split()
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    pieces = [
        GAP if kind == "delete" and to < len(before) else " ".join(after[low:high]) for kind, _, to, low, high in steps
    ]
    return " ".join(one for one in pieces if one)


def delete(view: View) -> Done:
    """Delete, and show the memories that are left."""
    view.change("delete", id=view.get("id"), whole_message=view.get("whole") == "yes" or None)
    return Done(to="/memories", note="deleted")


DELETION_PAGE = Page(
    name="deletion",
    path="/memory/{id}/delete",
    title="Delete for good",
    operation="plan-deletion",
    load=load_deletion,
    actions={"now": delete},
    group="",
)


# Undo changes, after a look at what would stand again and at later changes in the way.


def load_undo(view: View) -> Mapping[str, object]:
    """Load what undoing the changes of the address would change; nothing is changed."""
    marks = _read_changes(view)
    reports: list[UndoReport] = [view.call("undo", change_id=mark.change, dry_run=True) for mark in marks]
    conflicts = list({one.id: one for report in reports for one in report.conflicts}.values())
    if conflicts:  # only together with them, so that is what is shown
        reports = [view.call("undo", change_id=mark.change, dry_run=True, cascade=True) for mark in marks]
    undone = list({one.id: one for report in reports for one in report.memories}.values())
    names = dict.fromkeys([*(one.id for one in undone), *(one.memory_id for one in conflicts if one.memory_id)])
    memories = {name: memory for name in names if (memory := view.find_memory(name)) is not None}
    return {
        "marks": marks,
        "changes": [change for mark in marks if (change := find_change(view, mark)) is not None],
        "outcomes": describe_undo(undone, memories),
        "memories": undone,
        "conflicts": conflicts,
        "about": {one.id: memories[one.memory_id] for one in conflicts if one.memory_id in memories},
        "lasting": [one for report in reports for one in report.lasting],
    }


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


UNDO_PAGE = Page(
    name="undo", path="/undo", title="Undo", operation="undo", load=load_undo, actions={"now": undo}, group=""
)
