"""Entries for the people and things that memories are about."""

from __future__ import annotations

from typing import Final

from credenda.operations.entries.schema import NOT_A_SKILL, Operation, Rest

ENTRIES: Final = (
    Operation(
        name="entities",
        call="inspect.entities",
        summary="List the people and things that memories are about, and how they are related.",
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/entities"),),
        closed={
            **NOT_A_SKILL,
            "mcp": "a person browses; a model searches",
            "cli": "the pages of the server show it",
        },
    ),
)
