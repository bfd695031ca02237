"""Entries for bulk deletion, erasure, retention policies, legal holds and backup."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

from credenda.errors import Conflict, Invalid, NotFound, Unavailable
from credenda.operations.entries.schema import ID, LOCAL, PERSONS, TOPIC, WHOLE_MESSAGE, Operation, Param, Rest, text

_DRY_RUN: Final = Param(name="dry_run", type=bool, default=False, help="Only count what to delete.")
_NAMES_ONLY: Final = Param(name="dry_run", type=bool, default=False, help="Only name what to delete.")
_WHY: Final = Param(name="reason", help="The reason; it is recorded.", positional=True)

ENTRIES: Final = (
    Operation(
        name="delete-where",
        call="delete_where",
        summary="Delete every event that meets all conditions, and everything that only they support.",
        params=(
            text("session", "Events of this session."),
            text("topic", "Events of this topic."),
            text("source", "Events from this source."),
            Param(name="before", type=datetime, help="Events before this time."),
            _NAMES_ONLY,
        ),
        errors=(Invalid, Conflict),
        writes=True,
        destructive=True,
        idempotent=True,
        scope="memory:erase",
        rest=(Rest(method="POST", path="/v1/deletions"),),
        closed={**PERSONS, "cli": "it is `delete` with conditions there"},
    ),
    Operation(
        name="plan-deletion",
        call="manage.plan_deletion",
        summary="Say what deleting a memory or an event would remove, and what shares its words; nothing is deleted.",
        params=(ID, WHOLE_MESSAGE),
        errors=(Invalid, NotFound, Conflict),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/memories/{id}/deletion"),),
        closed={**PERSONS, "cli": "it is `delete --dry-run` there"},
    ),
    Operation(
        name="erase",
        call="erase",
        summary="Erase all data of this user permanently, and verify it on the raw bytes.",
        params=(
            Param(name="confirm", default="", help="The exact name of the user, or DELETE MY DATA."),
            Param(name="export", type=Path, remote="nothing", help="Export all data to this file first."),
        ),
        errors=(Invalid, Conflict, Unavailable),
        writes=True,
        destructive=True,
        idempotent=True,
        scope="memory:erase",
        rest=(Rest(method="DELETE", path="/v1/me"),),
        closed=PERSONS,
    ),
    Operation(
        name="policy",
        call="manage.policy",
        summary="Show, set or remove retention policies.",
        params=(
            Param(name="days", type=int, help="Keep events for this many days."),
            TOPIC,
            Param(name="remove", type=bool, default=False, help="Remove the policy."),
        ),
        errors=(Invalid,),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/policies"),),
        closed=PERSONS,
    ),
    Operation(
        name="apply-policies",
        call="manage.apply_policies",
        summary="Delete everything that has expired or is older than the policies allow.",
        params=(_DRY_RUN,),
        errors=(Conflict,),
        writes=True,
        destructive=True,
        idempotent=True,
        scope="memory:erase",
        rest=(Rest(method="POST", path="/v1/policies/apply"),),
        closed=PERSONS,
    ),
    Operation(
        name="hold",
        call="manage.hold",
        summary="Set a legal hold: nothing of this user is deleted until it is lifted.",
        params=(_WHY,),
        errors=(Invalid, Conflict),
        writes=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/holds"),),
        closed=PERSONS,
    ),
    Operation(
        name="lift-hold",
        call="manage.lift_hold",
        summary="Lift the legal hold.",
        params=(_WHY,),
        errors=(Invalid, Conflict),
        writes=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/holds/lift"),),
        closed=PERSONS,
    ),
    Operation(
        name="holds",
        call="manage.holds",
        summary="List all legal holds, current and past, oldest first.",
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/holds"),),
        closed=PERSONS,
    ),
    Operation(
        name="backup",
        call="data.backup",
        summary="Copy the whole database, with all its users, without stopping writers; `restore FILE` restores it.",
        params=(Param(name="path", type=Path, remote="nothing", help="File to write.", positional=True),),
        errors=(Invalid, Conflict, Unavailable),
        scope="memory:admin",
        closed={**LOCAL, "rest": "the copy holds every user, and a caller is one of them"},
    ),
)
