"""Entries for edits of memories, feedback, contests, status and undo."""

from __future__ import annotations

from typing import Final

from credenda.errors import Conflict, Invalid, NotFound
from credenda.model.memory import Status
from credenda.operations.entries.schema import ID, REASON, Operation, Param, text

__all__ = ["ENTRIES"]

_WHERE: Final = (
    text("session", "All changes caused by this session."),
    text("source", "All changes caused by this source, such as ingest."),
    Param(name="since", kind="time", help="All changes from this time on."),
    Param(name="until", kind="time", help="All changes before this time."),
    Param(name="cascade", kind="flag", default=False, help="Also undo later changes that depend on it."),
    Param(name="dry_run", kind="flag", default=False, help="Change nothing, and show the planned changes."),
)

ENTRIES: Final = (
    Operation(
        name="correct",
        call="correct",
        summary="Correct a memory that was wrong from the start.",
        params=(ID, text("text", "The corrected text."), text("value", "The corrected value."), REASON),
        output="Memory",
        errors=(Invalid, NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="forget",
        call="forget",
        summary="Take a memory out of use; `restore` reverses it.",
        params=(ID, REASON),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="restore",
        call="restore",
        summary="Restore a forgotten memory.",
        params=(ID,),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="delete",
        call="delete",
        summary="Delete a memory or an event permanently, with its evidence; the same content is not added again.",
        params=(ID,),
        output="None",
        errors=(NotFound,),
        writes=True,
        destructive=True,
        idempotent=True,
    ),
    Operation(
        name="feedback",
        call="feedback",
        summary="Say whether a hit was useful; it counts once per session and day, the latest one wins.",
        params=(
            ID,
            Param(name="useful", kind="flag", help="Whether it was useful.", option="useful/useless"),
            text("session", "Conversation in which it was shown. [default: the last one]"),
        ),
        output="None",
        errors=(NotFound,),
        writes=True,
    ),
    Operation(
        name="pin",
        call="manage.pin",
        summary="Pin a memory: it is in every context.",
        params=(ID,),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="unpin",
        call="manage.unpin",
        summary="Unpin a memory.",
        params=(ID,),
        output="Memory",
        errors=(NotFound,),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="contests",
        call="manage.contests",
        summary="List slots with an undecided value, and the question about each; open ones first.",
        output="ContestCase",
        idempotent=True,
    ),
    Operation(
        name="resolve",
        call="manage.resolve",
        summary="Resolve a contest: keep one value, or give each value a scope.",
        params=(
            Param(name="id", help="The id of a contest.", positional=True),
            text("keep", "The value to keep; or when each applies: X when …, else Y."),
            Param(
                name="scopes",
                kind="table",
                help="A value for each scope; the scope `default` means no scope.",
                option="scope",
            ),
        ),
        output="Resolution",
        errors=(Invalid, NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="loops",
        call="manage.loops",
        summary="List slots whose value was replaced three or more times within 30 days, the worst first.",
        params=(Param(name="days", kind="integer", help="Number of days. [default: 30]"),),
        output="SlotLoop",
        errors=(Invalid,),
        idempotent=True,
        doors=frozenset({"python", "mcp", "rest"}),  # at the terminal it is `contests --audit`
    ),
    Operation(
        name="set-status",
        call="manage.set_status",
        summary="Move a memory to another status by hand, such as a candidate to active.",
        params=(
            ID,
            Param(
                name="status",
                help="The new status.",
                positional=True,
                choices=tuple(one for one in Status if one is not Status.DELETED),
            ),
            REASON,
        ),
        output="Memory",
        errors=(Invalid, NotFound, Conflict),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="status-history",
        call="manage.status_history",
        summary="Show every status that a memory has had, and why.",
        params=(ID,),
        output="StatusStep",
        errors=(NotFound,),
        idempotent=True,
    ),
    Operation(
        name="undo",
        call="manage.undo",
        summary="Undo a change, or all changes of a session, a source or a span of time.",
        params=(Param(name="change_id", help="The id of a change.", positional=True, optional=True), *_WHERE),
        output="UndoReport",
        errors=(Invalid, NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="undo-where",
        call="manage.undo_where",
        summary="Undo all changes of a session, a source or a span of time.",
        params=_WHERE,
        output="UndoReport",
        errors=(Invalid, Conflict),
        writes=True,
        doors=frozenset({"python"}),
    ),
)
