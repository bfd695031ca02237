"""Entries for what a person browses: memories with counts, the use of a memory, and sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from credenda.errors import Invalid, NotFound
from credenda.model.event import Source
from credenda.model.memory import Layer, MemoryType, Stance, Status
from credenda.operations.entries.schema import ID, NOT_A_SKILL, TIMES, TOPIC, Door, Operation, Param, Rest, text

_BROWSED: Final[Mapping[Door, str]] = {
    **NOT_A_SKILL,
    "mcp": "a person browses; a model searches",
    "cli": "the pages of the server show it",
}

ENTRIES: Final = (
    Operation(
        name="browse",
        call="inspect.browse",
        summary="List memories that match all conditions, newest first, and count the values of their fields.",
        params=(
            Param(name="status", type=Status, help="Only this status. [default: all]"),
            Param(name="type", type=MemoryType, help="Only this type."),
            Param(name="layer", type=Layer, help="Only this layer."),
            Param(name="stance", type=Stance, help="Only this stance of the speaker."),
            TOPIC,
            text("entity", "Only this entity."),
            text("attribute", "Only this attribute."),
            text("session", "Only memories that this session brought."),
            Param(name="source", type=Source, help="Only memories that rest on a message from this source."),
            Param(name="limit", type=int, default=20, help="Maximum number of items, 1 to 50."),
            Param(name="offset", type=int, default=0, help="How many to skip."),
            *TIMES,
        ),
        errors=(Invalid,),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/browse"),),
        closed=_BROWSED,
    ),
    Operation(
        name="uses",
        call="inspect.uses",
        summary="Show which sessions got a memory, and the feedback on it.",
        params=(ID,),
        errors=(NotFound,),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/memories/{id}/uses"),),
        closed=_BROWSED,
    ),
    Operation(
        name="sessions",
        call="inspect.sessions",
        summary="List sessions, the latest first: their messages, and how many memories rest on them.",
        params=(text("cursor", "Cursor of the last page."),),
        errors=(Invalid, NotFound),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/sessions"),),
        closed=_BROWSED,
    ),
    Operation(
        name="session",
        call="inspect.session",
        summary="Show the messages of a session, and the memories that rest on them.",
        params=(Param(name="session", help="The name of a session; empty for messages without one.", positional=True),),
        errors=(Invalid, NotFound),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/session"),),
        closed=_BROWSED,
    ),
)
