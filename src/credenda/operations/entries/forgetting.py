"""Entries for bulk deletion, erasure, retention policies, legal holds and backup."""

from __future__ import annotations

from typing import Final

from credenda.errors import Conflict, Invalid, Unavailable
from credenda.operations.entries.schema import PERSONS, TOPIC, WITH_FILES, Operation, Param, text

__all__ = ["ENTRIES"]

_DRY_RUN: Final = Param(name="dry_run", kind="flag", default=False, help="Only count what to delete.")
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
            Param(name="before", kind="time", help="Events before this time."),
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
        name="erase",
        call="erase",
        summary="Erase all data of this user permanently, and verify it on the raw bytes.",
        params=(
            text("confirm", "The exact name of the user."),
            Param(name="export", kind="path", help="Export all data to this file first."),
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
        summary="Show, set or remove retention policies.",
        params=(
            Param(name="days", kind="integer", help="Keep events for this many days."),
            TOPIC,
            Param(name="remove", kind="flag", default=False, help="Remove the policy."),
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
        summary="Delete everything that has expired or is older than the policies allow.",
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
        summary="List all legal holds, current and past, oldest first.",
        output="LegalHold",
        idempotent=True,
        doors=PERSONS,
    ),
    Operation(
        name="backup",
        call="data.backup",
        summary="Copy the whole database, with all its users, without stopping writers; `restore FILE` restores it.",
        params=(Param(name="path", kind="path", help="File to write.", positional=True),),
        output="BackupReport",
        errors=(Invalid, Conflict, Unavailable),
        doors=frozenset({"python", "cli"}),  # a backup has all users, so no single user may request it
    ),
)
