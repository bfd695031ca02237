"""Looking at what is held, why, and since when."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from credenda.errors import Invalid, NotFound
from credenda.model.diff import Axis
from credenda.model.memory import Layer, MemoryType, Status
from credenda.operations.entries.schema import ID, NOT_A_SKILL, TIMES, TOPIC, Operation, Param, Rest, text

__all__ = ["ENTRIES"]

ENTRIES: Final = (
    Operation(
        name="list",
        call="list",
        summary="List memories, newest first.",
        params=(
            Param(name="status", type=Status, default="active", help="Where they stand."),
            Param(name="type", type=MemoryType, help="Only this type."),
            Param(name="layer", type=Layer, help="Only this layer."),
            TOPIC,
            text("entity", "About whom or what."),
            text("attribute", "Which attribute."),
            Param(name="limit", type=int, default=20, help="Most items, 1 to 50."),
            Param(name="offset", type=int, default=0, help="How many to pass over."),
            text("cursor", "Where the last page ended."),
            *TIMES,
        ),
        errors=(Invalid, NotFound),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/memories"),),
    ),
    Operation(
        name="get",
        call="get",
        summary="Show one memory.",
        params=(ID, *TIMES),
        errors=(Invalid, NotFound),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/memories/{id}"),),
    ),
    Operation(
        name="event",
        call="event",
        summary="Show an event as it was said, and the memories that rest on it.",
        params=(Param(name="id", help="The id of an event.", positional=True),),
        errors=(Invalid, NotFound),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/events/{id}"),),
        closed={**NOT_A_SKILL, "cli": "it is `get` there", "mcp": "a search shows the events that a model needs"},
    ),
    Operation(
        name="why",
        call="why",
        summary="Say why a memory is held: the words it rests on, and every change to it.",
        params=(ID,),
        errors=(NotFound,),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/memories/{id}/why"),),
    ),
    Operation(
        name="changes",
        call="changes",
        summary="Show what an event led to: the changes in belief because it was said.",
        params=(Param(name="cause", help="The id of an event.", positional=True),),
        errors=(NotFound,),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/changes"),),
        closed={**NOT_A_SKILL, "cli": "`remember` shows them", "mcp": "`why` shows them with the memory"},
    ),
    Operation(
        name="history",
        call="history",
        summary="Show every value that a slot has held, oldest first.",
        params=(
            Param(name="entity", help="About whom or what, such as user.", positional=True, optional=True),
            Param(name="attribute", help="Which attribute, such as residence.", positional=True, optional=True),
            text("id", "A memory whose slot is meant, instead of entity and attribute."),
            *TIMES,
        ),
        errors=(Invalid, NotFound),
        idempotent=True,
        scope="memory:read",
        rest=(
            Rest(method="GET", path="/v1/memories/{id}/history", without=("entity", "attribute")),
            Rest(method="GET", path="/v1/history", without=("id",)),
        ),
    ),
    Operation(
        name="diff",
        call="diff",
        summary="Show what changed in belief between two times: what is new, replaced, corrected, ended or unsettled.",
        params=(
            Param(
                name="since", type=datetime, default="yesterday", help="From when; a day counts whole.", option="from"
            ),
            Param(name="until", type=datetime, help="To when, if not to now; a day counts whole.", option="to"),
            Param(
                name="axis",
                type=Axis,
                default="known",
                help="Compare what was held then, or what was true then.",
            ),
            text("topic", "Only what is of this topic."),
            text("entity", "Only what is about this one, such as user."),
        ),
        errors=(Invalid,),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/diff"),),
    ),
)
