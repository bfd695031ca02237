"""Entries for listing memories, provenance, history and diff."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from credenda.errors import Invalid, NotFound
from credenda.model.browse import Axis
from credenda.model.memory import Layer, MemoryType, Status
from credenda.operations.entries.schema import ID, NOT_A_SKILL, TIMES, TOPIC, Operation, Param, Rest, text

ENTRIES: Final = (
    Operation(
        name="list",
        call="list",
        summary="List memories, newest first.",
        params=(
            Param(name="status", type=Status, default="active", help="Only this status."),
            Param(name="type", type=MemoryType, help="Only this type."),
            Param(name="layer", type=Layer, help="Only this layer."),
            TOPIC,
            text("entity", "Only this entity."),
            text("attribute", "Only this attribute."),
            Param(name="limit", type=int, default=20, help="Maximum number of items, 1 to 50."),
            Param(name="offset", type=int, default=0, help="How many to skip."),
            text("cursor", "Cursor of the last page."),
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
        rest=(Rest(method="GET", path="/v1/memories/{id}", versioned=True),),
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
        closed={**NOT_A_SKILL, "cli": "it is `get` there"},
    ),
    Operation(
        name="why",
        call="why",
        summary="Show the provenance of a memory: its evidence and every change to it.",
        params=(ID,),
        errors=(NotFound,),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/memories/{id}/why"),),
    ),
    Operation(
        name="changes",
        call="changes",
        summary="Show the changes in belief that an event caused, or the latest changes.",
        params=(
            Param(
                name="cause", help="The id of an event. [default: the latest changes]", positional=True, optional=True
            ),
            Param(name="limit", type=int, default=20, help="Maximum number of the latest changes, 1 to 200."),
        ),
        errors=(Invalid, NotFound),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/changes"),),
        closed={**NOT_A_SKILL, "cli": "`remember` shows them", "mcp": "`why` shows them with the memory"},
    ),
    Operation(
        name="history",
        call="history",
        summary="Show every value that a slot has had, oldest first.",
        params=(
            Param(name="entity", help="Entity, such as user.", positional=True, optional=True),
            Param(name="attribute", help="Attribute, such as residence.", positional=True, optional=True),
            text("id", "A memory in the slot, instead of entity and attribute."),
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
        summary="Show the changes in belief between two times: new, replaced, corrected, ended or contested.",
        params=(
            Param(
                name="since", type=datetime, default="yesterday", help="Start; a date is its whole day.", option="from"
            ),
            Param(name="until", type=datetime, help="End; a date is its whole day. [default: now]", option="to"),
            Param(
                name="axis",
                type=Axis,
                default="known",
                help="Compare beliefs as known at the two times, or facts that were true then.",
            ),
            text("topic", "Only this topic."),
            text("entity", "Only this entity, such as user."),
        ),
        errors=(Invalid,),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/diff"),),
    ),
)
