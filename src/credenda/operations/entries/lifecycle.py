"""Entries for the core, decay, layers, consolidation, the dream and scheduled tasks."""

from __future__ import annotations

from typing import Final

from credenda.errors import Conflict, Invalid, NotFound, Unavailable
from credenda.operations.entries.schema import ID, TOPIC, Operation, Param

__all__ = ["ENTRIES"]

_DRY_RUN: Final = Param(name="dry_run", kind="flag", default=False, help="Only show the planned changes.")

ENTRIES: Final = (
    Operation(
        name="core",
        call="manage.core",
        summary="Show the core and the changes of its last rewrite.",
        output="Core",
        errors=(Unavailable,),
        idempotent=True,
    ),
    Operation(
        name="decay",
        call="manage.decay",
        summary="Recompute the retention score of each memory; no belief changes.",
        params=(_DRY_RUN,),
        output="DecayReport",
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="lifecycle",
        call="manage.lifecycle",
        summary="Promote proven memories, and archive faded ones.",
        params=(_DRY_RUN,),
        output="LifecycleReport",
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="consolidate",
        call="manage.consolidate",
        summary="Merge equivalent memories, and combine successive values into one entry.",
        params=(
            TOPIC,
            Param(
                name="similarity_threshold",
                kind="number",
                default=0.85,
                help="Minimum similarity of memories to compare, 0 to 1; it never decides.",
            ),
            _DRY_RUN,
            Param(
                name="force",
                kind="flag",
                default=False,
                help="Run even without 20 new memories and a day since the last run.",
            ),
        ),
        output="ConsolidationReport",
        errors=(Invalid, Unavailable),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="dream",
        call="manage.dream",
        summary="Run the dream (nightly maintenance) or some of its steps; a second run finds nothing to do.",
        params=(
            Param(
                name="steps",
                kind="names",
                help="Only this step: forgetting, merge, cards, bridges, probe, drift or prune.",
            ),
            _DRY_RUN,
        ),
        output="DreamReport",
        errors=(Invalid, Unavailable),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="promote",
        call="manage.promote",
        summary="Move a memory one layer up: working, episodic, semantic.",
        params=(ID,),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="demote",
        call="manage.demote",
        summary="Move a memory one layer down: semantic, episodic, working.",
        params=(ID,),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="retention",
        call="manage.retention",
        summary="Show the forgetting curves, and the positions of the newest memories on them.",
        params=(
            Param(name="plot", kind="path", help="SVG file for the drawing."),
            Param(name="limit", kind="integer", default=200, help="Maximum number of memories, 1 to 2,000."),
        ),
        output="RetentionCurves",
        errors=(Invalid, Unavailable),
        doors=frozenset({"python", "cli"}),
    ),
    Operation(
        name="compress",
        call="manage.compress",
        summary="Store the vectors of fading memories with fewer bits; a recall restores their precision.",
        params=(
            Param(
                name="dry_run",
                kind="flag",
                default=True,
                help="Only show the savings and the loss of precision.",
                option="dry-run/apply",
            ),
        ),
        output="CompressReport",
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="schedule",
        call="manage.schedule",
        summary="Show the scheduled tasks: when each last ran, its result, and when it is due.",
        params=(
            Param(name="run", kind="flag", default=False, help="First run the tasks that are due."),
            Param(name="only", kind="names", default=(), help="Run this task, due or not."),
        ),
        output="ScheduleReport",
        errors=(Invalid, Unavailable),
        writes=True,
        doors=frozenset({"python", "cli", "rest"}),
    ),
)
