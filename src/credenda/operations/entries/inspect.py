"""Looking at what is held, why, and since when."""

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
            Param(name="status", default="active", choices=tuple(Status), help="Where they stand."),
            Param(name="type", choices=tuple(MemoryType), help="Only this type."),
            Param(name="layer", choices=tuple(Layer), help="Only this layer."),
            TOPIC,
            text("entity", "About whom or what."),
            text("attribute", "Which attribute."),
            Param(name="limit", kind="integer", default=20, help="Most items, 1 to 50."),
            Param(name="offset", kind="integer", default=0, help="How many to pass over."),
            text("cursor", "Where the last page ended."),
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
        name="event",
        call="event",
        summary="Show an event as it was said, and the memories that rest on it.",
        params=(Param(name="id", help="The id of an event.", positional=True),),
        output="EventDetails",
        errors=(Invalid, NotFound),
        idempotent=True,
        doors=frozenset({"python", "rest"}),  # at the terminal it is `get`
    ),
    Operation(
        name="why",
        call="why",
        summary="Say why a memory is held: the words it rests on, and every change to it.",
        params=(ID,),
        output="Explanation",
        errors=(NotFound,),
        idempotent=True,
    ),
    Operation(
        name="changes",
        call="changes",
        summary="Show what an event led to: the changes in belief because it was said.",
        params=(Param(name="cause", help="The id of an event.", positional=True),),
        output="ChangeRecord",
        errors=(NotFound,),
        idempotent=True,
        doors=frozenset({"python"}),
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
        output="SlotVersion",
        errors=(Invalid, NotFound),
        idempotent=True,
    ),
    Operation(
        name="diff",
        call="diff",
        summary="Show what changed in belief between two times: what is new, replaced, corrected, ended or unsettled.",
        params=(
            Param(name="since", kind="time", default="yesterday", help="From when; a day counts whole.", option="from"),
            Param(name="until", kind="time", help="To when, if not to now; a day counts whole.", option="to"),
            Param(
                name="axis",
                default="known",
                choices=("known", "valid"),
                help="Compare what was held then, or what was true then.",
            ),
            text("topic", "Only what is of this topic."),
            text("entity", "Only what is about this one, such as user."),
        ),
        output="Diff",
        errors=(Invalid,),
        idempotent=True,
    ),
)
