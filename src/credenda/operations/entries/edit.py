"""Changing what is held by hand."""

from __future__ import annotations

from typing import Final

from credenda.errors import Conflict, Invalid, NotFound
from credenda.model.memory import Status
from credenda.operations.entries.schema import ID, REASON, Operation, Param, text

__all__ = ["ENTRIES"]

_WHERE: Final = (
    text("session", "All that was believed because of what was said in this session."),
    text("source", "All that came from this source, such as ingest."),
    Param(name="since", kind="time", help="All that changed from this time on."),
    Param(name="until", kind="time", help="All that changed before this time."),
    Param(name="cascade", kind="flag", default=False, help="Take back later changes that rest on it as well."),
    Param(name="dry_run", kind="flag", default=False, help="Change nothing, and show what would."),
)
_WHOLE_ID: Final = Param(name="id", help="An id from a list or a search.", positional=True)
"""What deletes takes no short ids where nobody is asked; the command line asks, and says what one names."""

ENTRIES: Final = (
    Operation(
        name="correct",
        call="correct",
        summary="Put a memory right: the old one was wrong.",
        params=(ID, text("text", "What it should say."), text("value", "What its value should be."), REASON),
        output="Memory",
        errors=(Invalid, NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="forget",
        call="forget",
        summary="Take a memory out of use; `restore` brings it back.",
        params=(ID, REASON),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="restore",
        call="restore",
        summary="Bring back a forgotten memory.",
        params=(ID,),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="delete",
        call="delete",
        summary="Delete a memory or an event for good, with the words it rests on; it never comes back by itself.",
        params=(_WHOLE_ID,),
        output="None",
        errors=(NotFound,),
        writes=True,
        destructive=True,
        idempotent=True,
    ),
    Operation(
        name="feedback",
        call="feedback",
        summary="Say whether a hit was of use; it counts once a session and day, and the last word stands.",
        params=(
            ID,
            Param(name="useful", kind="flag", help="Whether it was of use.", option="useful/useless"),
            text("session", "Conversation in which it was shown; the last one where it is left out."),
        ),
        output="None",
        errors=(NotFound,),
        writes=True,
    ),
    Operation(
        name="pin",
        call="manage.pin",
        summary="Keep a memory in every context.",
        params=(ID,),
        output="Memory",
        errors=(NotFound, Conflict),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="unpin",
        call="manage.unpin",
        summary="Take a memory's pin away.",
        params=(ID,),
        output="Memory",
        errors=(NotFound,),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="contests",
        call="manage.contests",
        summary="List slots whose value cannot be decided, with their questions; open ones first.",
        output="ContestCase",
        idempotent=True,
    ),
    Operation(
        name="resolve",
        call="manage.resolve",
        summary="Answer a contest: keep one value, or give each its scope.",
        params=(
            Param(name="id", help="The id of a contest.", positional=True),
            text("keep", "The value that holds, by its words; or when each does: X when …, else Y."),
            Param(
                name="scopes",
                kind="table",
                help="A value for each scope; the scope `default` means none.",
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
        params=(Param(name="days", kind="integer", help="How many days back, if not 30."),),
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
                help="Where it shall stand.",
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
        summary="Show every status that a memory had, and why.",
        params=(ID,),
        output="StatusStep",
        errors=(NotFound,),
        idempotent=True,
    ),
    Operation(
        name="undo",
        call="manage.undo",
        summary="Take back a change, or all that a session, a source or a span of time did.",
        params=(Param(name="change_id", help="The id of a change.", positional=True, optional=True), *_WHERE),
        output="UndoReport",
        errors=(Invalid, NotFound, Conflict),
        writes=True,
    ),
    Operation(
        name="undo-where",
        call="manage.undo_where",
        summary="Take back all that a session, a source or a span of time did.",
        params=_WHERE,
        output="UndoReport",
        errors=(Invalid, Conflict),
        writes=True,
        doors=frozenset({"python"}),
    ),
)
