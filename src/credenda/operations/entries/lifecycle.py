"""Keeping beliefs alive: fading, layers, and what is put away."""

from __future__ import annotations

from typing import Final

from credenda.errors import Conflict, Invalid, NotFound, Unavailable
from credenda.operations.entries.schema import ID, TOPIC, Operation, Param

__all__ = ["ENTRIES"]

_DRY_RUN: Final = Param(name="dry_run", kind="flag", default=False, help="Only show what would be done.")

ENTRIES: Final = (
    Operation(
        name="core",
        call="manage.core",
        summary="Show what every prompt gets, and what its last rewrite changed.",
        output="Core",
        errors=(Unavailable,),
        idempotent=True,
    ),
    Operation(
        name="decay",
        call="manage.decay",
        summary="Compute afresh how much of each memory is retained; nothing is believed otherwise afterwards.",
        params=(_DRY_RUN,),
        output="DecayReport",
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="lifecycle",
        call="manage.lifecycle",
        summary="Promote what has proved itself, and put away what has faded.",
        params=(_DRY_RUN,),
        output="LifecycleReport",
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="consolidate",
        call="manage.consolidate",
        summary="Merge what says the same, and let one entry say what changed; a dry run only shows it.",
        params=(
            TOPIC,
            Param(
                name="similarity_threshold",
                kind="number",
                default=0.85,
                help="How near memories lie that are looked at together, 0 to 1; it never decides.",
            ),
            _DRY_RUN,
            Param(name="force", kind="flag", default=False, help="Do not wait for a day and 20 new memories."),
        ),
        output="ConsolidationReport",
        errors=(Invalid, Unavailable),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="dream",
        call="manage.dream",
        summary="Run the nightly cycle, or some steps of it; a second run finds nothing to do.",
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
        summary="Show the forgetting curves, and where the newest memories stand on them.",
        params=(
            Param(name="plot", kind="path", help="SVG file to draw them into."),
            Param(name="limit", kind="integer", default=200, help="Most memories, 1 to 2,000."),
        ),
        output="RetentionCurves",
        errors=(Invalid, Unavailable),
        doors=frozenset({"python", "cli"}),
    ),
    Operation(
        name="compress",
        call="manage.compress",
        summary="Keep the vectors of fading memories at fewer bits; recall gives them their precision back.",
        params=(
            Param(
                name="dry_run",
                kind="flag",
                default=True,
                help="Only show what it would save, and cost.",
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
        summary="Show the duties of this memory: when each last ran, what it did, and when it is due.",
        params=(
            Param(name="run", kind="flag", default=False, help="Run those that are due first."),
            Param(name="only", kind="names", default=(), help="Run this one, due or not."),
        ),
        output="ScheduleReport",
        errors=(Invalid, Unavailable),
        writes=True,
        doors=frozenset({"python", "cli", "rest"}),
    ),
)
