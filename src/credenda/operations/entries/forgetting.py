"""Deleting in bulk, by age and for good, and what stops it."""

from __future__ import annotations

from typing import Final

from credenda.errors import Conflict, Invalid, NotFound, Unavailable
from credenda.operations.entries.schema import ID, PERSONS, TOPIC, WITH_FILES, Operation, Param, text

__all__ = ["ENTRIES"]

_DRY_RUN: Final = Param(name="dry_run", kind="flag", default=False, help="Only count what would go.")
_WHY: Final = Param(name="reason", help="Why; it is kept.", positional=True)

ENTRIES: Final = (
    Operation(
        name="delete-where",
        call="delete_where",
        summary="Delete everything said that meets all conditions, and what rests on that alone.",
        params=(
            text("session", "What was said in this session."),
            text("topic", "What belongs to this topic."),
            text("source", "What came in this way."),
            Param(name="before", kind="time", help="What was said before this time."),
            _DRY_RUN,
        ),
        output="DeletionReport",
        errors=(Invalid, Conflict),
        writes=True,
        destructive=True,
        idempotent=True,
        doors=frozenset({"python", "rest"}),  # at the terminal it is `delete` with conditions
    ),
    Operation(
        name="plan-deletion",
        call="manage.plan_deletion",
        summary="Say what deleting a memory or an event would remove; nothing is deleted.",
        params=(ID,),
        output="DeletionPlan",
        errors=(Invalid, NotFound, Conflict),
        idempotent=True,
        doors=frozenset({"python", "rest"}),  # at the terminal it is `delete --dry-run`
    ),
    Operation(
        name="erase",
        call="erase",
        summary="Erase everything of this user for good, and prove on the raw bytes that it is gone.",
        params=(
            text("confirm", "The name of the user, exactly."),
            Param(name="export", kind="path", help="Write everything to this file first."),
        ),
        output="EraseReceipt",
        errors=(Invalid, Conflict, Unavailable),
        writes=True,
        destructive=True,
        idempotent=True,
        doors=WITH_FILES,
    ),
    Operation(
        name="policy",
        call="manage.policy",
        summary="Show, set or remove how long what was said is kept.",
        params=(
            Param(name="days", kind="integer", help="Keep what was said for so many days."),
            TOPIC,
            Param(name="remove", kind="flag", default=False, help="Keep it for good again."),
        ),
        output="RetentionPolicy",
        errors=(Invalid,),
        writes=True,
        idempotent=True,
        doors=PERSONS,
    ),
    Operation(
        name="apply-policies",
        call="manage.apply_policies",
        summary="Delete now what has expired, or is older than the policies allow.",
        params=(_DRY_RUN,),
        output="ExpiryReport",
        errors=(Conflict,),
        writes=True,
        destructive=True,
        idempotent=True,
        doors=PERSONS,
    ),
    Operation(
        name="hold",
        call="manage.hold",
        summary="Set a legal hold: nothing of this user is deleted until it is lifted.",
        params=(_WHY,),
        output="LegalHold",
        errors=(Invalid, Conflict),
        writes=True,
        doors=PERSONS,
    ),
    Operation(
        name="lift-hold",
        call="manage.lift_hold",
        summary="Lift the legal hold.",
        params=(_WHY,),
        output="LegalHold",
        errors=(Invalid, Conflict),
        writes=True,
        doors=PERSONS,
    ),
    Operation(
        name="holds",
        call="manage.holds",
        summary="List the legal holds there were and are, oldest first.",
        output="LegalHold",
        idempotent=True,
        doors=PERSONS,
    ),
    Operation(
        name="backup",
        call="data.backup",
        summary="Copy the whole database, with all its users, while others go on; `restore FILE` puts it back.",
        params=(Param(name="path", kind="path", help="File to write.", positional=True),),
        output="BackupReport",
        errors=(Invalid, Conflict, Unavailable),
        doors=frozenset({"python", "cli"}),  # it holds every user: not for whom one of them may call
    ),
)
