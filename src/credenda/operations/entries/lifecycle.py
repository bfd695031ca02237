"""Entries for the core, decay, layers, consolidation, the dream and scheduled tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from credenda.errors import Conflict, Invalid, NotFound, Unavailable
from credenda.operations.entries.schema import ID, NOT_A_SKILL, PERSONS, TOPIC, Operation, Param, Rest

_DRY_RUN: Final = Param(name="dry_run", type=bool, default=False, help="Only show the planned changes.")
_CURVE: Final = Literal["huber", "huber_linear", "l2", "elastic"]
_WHAT_IF: Final = (
    Param(name="decay_profile", type=Literal["layered", "recall"], help="As if the setting had this value."),
    Param(name="retention_mode", type=_CURVE, help="As if the setting had this value."),
    Param(name="half_life_days", type=float, help="As if the setting had this value."),
    Param(name="trust_kappa", type=float, help="As if the setting had this value."),
)

ENTRIES: Final = (
    Operation(
        name="core",
        call="manage.core",
        summary="Show the core and the changes of its last rewrite.",
        errors=(Unavailable,),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/core"),),
    ),
    Operation(
        name="decay",
        call="manage.decay",
        summary="Recompute the retention score of each memory; no belief changes.",
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
        summary="Promote proven memories, and archive faded ones.",
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
        summary="Merge equivalent memories, and combine successive values into one entry.",
        params=(
            TOPIC,
            Param(
                name="similarity_threshold",
                type=float,
                default=0.85,
                help="Minimum similarity of memories to compare, 0 to 1; it never decides.",
            ),
            _DRY_RUN,
            Param(
                name="force",
                type=bool,
                default=False,
                help="Run even without 20 new memories and a day since the last run.",
            ),
        ),
        errors=(Invalid, Unavailable),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/consolidations"),),
        long=True,
    ),
    Operation(
        name="dream",
        call="manage.dream",
        summary="Run the dream (nightly maintenance) or some of its steps; a second run finds nothing to do.",
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
        long=True,
    ),
    Operation(
        name="promote",
        call="manage.promote",
        summary="Move a memory one layer up: working, episodic, semantic.",
        params=(ID,),
        errors=(NotFound, Conflict),
        writes=True,
        scope="memory:review",
        rest=(Rest(method="POST", path="/v1/memories/{id}/promote", versioned=True),),
    ),
    Operation(
        name="demote",
        call="manage.demote",
        summary="Move a memory one layer down: semantic, episodic, working.",
        params=(ID,),
        errors=(NotFound, Conflict),
        writes=True,
        scope="memory:review",
        rest=(Rest(method="POST", path="/v1/memories/{id}/demote", versioned=True),),
    ),
    Operation(
        name="retention",
        call="manage.retention",
        summary="Show the forgetting curves, and the positions of the newest memories on them.",
        params=(
            Param(name="plot", type=Path, remote="nothing", help="SVG file for the drawing."),
            Param(name="limit", type=int, default=200, help="Maximum number of memories, 1 to 2,000."),
            *_WHAT_IF,
        ),
        errors=(Invalid, Unavailable),
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/retention"),),
        closed={**NOT_A_SKILL, "mcp": "curves are for people to look at"},
    ),
    Operation(
        name="compress",
        call="manage.compress",
        summary="Store the vectors of fading memories with fewer bits; a recall restores their precision.",
        params=(
            Param(
                name="dry_run",
                type=bool,
                default=True,
                help="Only show the savings and the loss of precision.",
                option="dry-run/apply",
            ),
        ),
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/compress"),),
        long=True,
    ),
    Operation(
        name="schedule",
        call="manage.schedule",
        summary="Show the scheduled tasks: when each last ran, its result, and when it is due.",
        params=(
            Param(name="run", type=bool, default=False, help="First run the tasks that are due."),
            Param(name="only", type=Sequence[str], default=(), help="Run this task, due or not."),
        ),
        errors=(Invalid, Unavailable),
        writes=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/schedule"),),
        closed=PERSONS,
    ),
)
