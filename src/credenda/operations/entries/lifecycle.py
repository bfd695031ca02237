"""Keeping beliefs alive: fading, layers, and what is put away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from credenda.errors import Conflict, Invalid, NotFound, Unavailable
from credenda.operations.entries.schema import ID, NOT_A_SKILL, PERSONS, TOPIC, Operation, Param, Rest

__all__ = ["ENTRIES"]

_DRY_RUN: Final = Param(name="dry_run", type=bool, default=False, help="Only show what would be done.")

ENTRIES: Final = (
    Operation(
        name="core",
        call="manage.core",
        summary="Show what every prompt gets, and what its last rewrite changed.",
        errors=(Unavailable,),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/core"),),
    ),
    Operation(
        name="decay",
        call="manage.decay",
        summary="Compute afresh how much of each memory is retained; nothing is believed otherwise afterwards.",
        params=(_DRY_RUN,),
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/decay"),),
    ),
    Operation(
        name="lifecycle",
        call="manage.lifecycle",
        summary="Promote what has proved itself, and put away what has faded.",
        params=(_DRY_RUN,),
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/lifecycle"),),
    ),
    Operation(
        name="consolidate",
        call="manage.consolidate",
        summary="Merge what says the same, and let one entry say what changed; a dry run only shows it.",
        params=(
            TOPIC,
            Param(
                name="similarity_threshold",
                type=float,
                default=0.85,
                help="How near memories lie that are looked at together, 0 to 1; it never decides.",
            ),
            _DRY_RUN,
            Param(name="force", type=bool, default=False, help="Do not wait for a day and 20 new memories."),
        ),
        errors=(Invalid, Unavailable),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/consolidations"),),
        closed={},
    ),
    Operation(
        name="dream",
        call="manage.dream",
        summary="Run the nightly cycle, or some steps of it; a second run finds nothing to do.",
        params=(
            Param(
                name="steps",
                type=Sequence[str],
                help="Only this step: forgetting, merge, cards, bridges, probe, drift or prune.",
            ),
            _DRY_RUN,
        ),
        errors=(Invalid, Unavailable),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/dreams"),),
    ),
    Operation(
        name="promote",
        call="manage.promote",
        summary="Move a memory one layer up: working, episodic, semantic.",
        params=(ID,),
        errors=(NotFound, Conflict),
        writes=True,
        scope="memory:review",
        rest=(Rest(method="POST", path="/v1/memories/{id}/promote"),),
    ),
    Operation(
        name="demote",
        call="manage.demote",
        summary="Move a memory one layer down: semantic, episodic, working.",
        params=(ID,),
        errors=(NotFound, Conflict),
        writes=True,
        scope="memory:review",
        rest=(Rest(method="POST", path="/v1/memories/{id}/demote"),),
    ),
    Operation(
        name="retention",
        call="manage.retention",
        summary="Show the forgetting curves, and where the newest memories stand on them.",
        params=(
            Param(name="plot", type=Path, remote="nothing", help="SVG file to draw them into."),
            Param(name="limit", type=int, default=200, help="Most memories, 1 to 2,000."),
        ),
        errors=(Invalid, Unavailable),
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/retention"),),
        closed={**NOT_A_SKILL, "mcp": "curves are for people to look at"},
    ),
    Operation(
        name="compress",
        call="manage.compress",
        summary="Keep the vectors of fading memories at fewer bits; recall gives them their precision back.",
        params=(
            Param(
                name="dry_run",
                type=bool,
                default=True,
                help="Only show what it would save, and cost.",
                option="dry-run/apply",
            ),
        ),
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/compress"),),
    ),
    Operation(
        name="schedule",
        call="manage.schedule",
        summary="Show the duties of this memory: when each last ran, what it did, and when it is due.",
        params=(
            Param(name="run", type=bool, default=False, help="Run those that are due first."),
            Param(name="only", type=Sequence[str], default=(), help="Run this one, due or not."),
        ),
        errors=(Invalid, Unavailable),
        writes=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/schedule"),),
        closed=PERSONS,
    ),
)
