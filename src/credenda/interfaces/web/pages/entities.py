"""The people and things that memories are about: their slots over time, and how they are related."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from credenda.interfaces.web.drawings import Drawing, Version, draw_lanes
from credenda.interfaces.web.page import Page
from credenda.interfaces.web.view import View
from credenda.model.browse import EntityMap, EntitySummary
from credenda.model.memory import Relation
from credenda.model.query import SlotVersion
from credenda.text.normalize import normalise_name

_SHOWN: Final = 60
_SLOTS: Final = 24
_SLOTS_MAX: Final = 400
_RELATIONS: Final = 100


def link_entity(name: str) -> str:
    """Return the address of an entity."""
    return f"/entities?{urlencode({'name': name})}"


def load(view: View) -> Mapping[str, object]:
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


def draw(view: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Draw each slot that has had several values."""
    slots = [one for one in data["slots"] if len(one["versions"]) > 1]
    return {
        "named_by": {
            one.target: f"{view.name_entity(one.source)} · {view.name_slot(one.attribute)}"
            for one in data["map"].relations
        },
        "named": {one.name: [view.name_slot(attribute) for attribute in one.attributes] for one in data["entities"]},
        "lanes": {one["attribute"]: _draw_slot(view, one["attribute"], one["versions"]) for one in slots},
    }


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
    return {"attribute": attribute, "versions": versions}


def _draw_slot(view: View, attribute: str, versions: Sequence[SlotVersion]) -> Drawing:
    """Draw the values of a slot on both time axes."""
    starts = {one.memory_id: one.recorded_us for one in versions}
    lanes = [
        Version(
            label=one.value or one.text,
            status=one.status.value,
            recorded_us=one.recorded_us,
            expired_us=starts.get(one.superseded_by or ""),
            valid_from_us=one.valid_from_us,
            valid_until_us=one.valid_until_us,
            was_true=one.relation is not Relation.CORRECTED,
            link=f"/memory/{one.memory_id}",
        )
        for one in versions
    ]
    title = view.t("Values of {slot}", slot=view.name_slot(attribute))
    return draw_lanes(lanes, now_us=view.now_us, zone=view.memory.zone, words=view.t, title=title)


PAGE = Page(name="entities", path="/entities", title="People and things", operation="entities", load=load, draw=draw)
