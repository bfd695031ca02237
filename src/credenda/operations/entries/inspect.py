"""Entries for listing memories, provenance, history and diff."""

from __future__ import annotations

from typing import Final

from credenda.errors import Invalid, NotFound
from credenda.model.memory import Layer, MemoryType, Status
from credenda.operations.entries.schema import ID, TIMES, TOPIC, Operation, Param, text

__all__ = ["ENTRIES"]

ENTRIES: Final = (
    Operation(
        name="list",
        call="list",
        summary="List memories, newest first.",
        params=(
            Param(name="status", default="active", choices=tuple(Status), help="Only this status."),
            Param(name="type", choices=tuple(MemoryType), help="Only this type."),
            Param(name="layer", choices=tuple(Layer), help="Only this layer."),
            TOPIC,
            text("entity", "Only this entity."),
            text("attribute", "Only this attribute."),
            Param(name="limit", kind="integer", default=20, help="Maximum number of items, 1 to 50."),
            Param(name="offset", kind="integer", default=0, help="How many to skip."),
            text("cursor", "Cursor of the last page."),
            *TIMES,
        ),
        output="Page",
        errors=(Invalid, NotFound),
        idempotent=True,
    ),
    Operation(
        name="get",
        call="get",
        summary="Show one memory.",
        params=(ID, *TIMES),
        output="Memory",
        errors=(Invalid, NotFound),
        idempotent=True,
    ),
    Operation(
        name="why",
        call="why",
        summary="Show the provenance of a memory: its evidence and every change to it.",
        params=(ID,),
        output="Explanation",
        errors=(NotFound,),
        idempotent=True,
    ),
    Operation(
        name="changes",
        call="changes",
        summary="Show the changes in belief that an event caused.",
        params=(Param(name="cause", help="The id of an event.", positional=True),),
        output="ChangeRecord",
        errors=(NotFound,),
        idempotent=True,
        doors=frozenset({"python"}),
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
        output="SlotVersion",
        errors=(Invalid, NotFound),
        idempotent=True,
    ),
    Operation(
        name="diff",
        call="diff",
        summary="Show the changes in belief between two times: new, replaced, corrected, ended or contested.",
        params=(
            Param(
                name="since", kind="time", default="yesterday", help="Start; a date is its whole day.", option="from"
            ),
            Param(name="until", kind="time", help="End; a date is its whole day. [default: now]", option="to"),
            Param(
                name="axis",
                default="known",
                choices=("known", "valid"),
                help="Compare beliefs as known at the two times, or facts that were true then.",
            ),
            text("topic", "Only this topic."),
            text("entity", "Only this entity, such as user."),
        ),
        output="Diff",
        errors=(Invalid,),
        idempotent=True,
    ),
)
