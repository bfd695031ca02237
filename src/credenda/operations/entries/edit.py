"""Entries for edits of memories, feedback, contests, status and undo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from credenda.errors import Conflict, Invalid, NotFound
from credenda.model.memory import Status
from credenda.operations.entries.schema import ID, NOT_A_SKILL, REASON, WHOLE_MESSAGE, Operation, Param, Rest, text

__all__ = ["ENTRIES"]

_WHERE: Final = (
    text("session", "All changes caused by this session."),
    text("source", "All changes caused by this source, such as ingest."),
    Param(name="since", type=datetime, help="All changes from this time on."),
    Param(name="until", type=datetime, help="All changes before this time."),
    Param(name="cascade", type=bool, default=False, help="Also undo later changes that depend on it."),
    Param(name="dry_run", type=bool, default=False, help="Change nothing, and show the planned changes."),
)
_WHOLE_ID: Final = Param(name="id", help="An id from a list or a search.", positional=True)
"""What deletes takes no short ids where nobody is asked; the command line asks, and says what one names."""

ENTRIES: Final = (
    Operation(
        name="correct",
        call="correct",
        summary="Correct a memory that was wrong from the start.",
        params=(ID, text("text", "The corrected text."), text("value", "The corrected value."), REASON),
        errors=(Invalid, NotFound, Conflict),
        writes=True,
        scope="memory:write",
        rest=(Rest(method="PATCH", path="/v1/memories/{id}", versioned=True),),
    ),
    Operation(
        name="forget",
        call="forget",
        summary="Take a memory out of use; `restore` reverses it.",
        params=(ID, REASON),
        errors=(NotFound, Conflict),
        writes=True,
        idempotent=True,
        scope="memory:write",
        rest=(Rest(method="POST", path="/v1/memories/{id}/forget", versioned=True),),
    ),
    Operation(
        name="restore",
        call="restore",
        summary="Restore a forgotten memory.",
        params=(ID,),
        errors=(NotFound, Conflict),
        writes=True,
        scope="memory:write",
        rest=(Rest(method="POST", path="/v1/memories/{id}/restore", versioned=True),),
    ),
    Operation(
        name="delete",
        call="delete",
        summary="Delete a memory or an event permanently, with its words; the same content is not added again.",
        params=(_WHOLE_ID, WHOLE_MESSAGE),
        errors=(NotFound, Conflict),
        writes=True,
        destructive=True,
        idempotent=True,
        scope="memory:write",
        rest=(Rest(method="DELETE", path="/v1/memories/{id}", versioned=True),),
    ),
    Operation(
        name="feedback",
        call="feedback",
        summary="Say whether a hit was useful; it counts once per session and day, the latest one wins.",
        params=(
            ID,
            Param(name="useful", type=bool, help="Whether it was useful.", option="useful/useless"),
            text("session", "Conversation in which it was shown. [default: the last one]"),
        ),
        errors=(NotFound,),
        writes=True,
        scope="memory:write",
        rest=(Rest(method="POST", path="/v1/memories/{id}/feedback", status=204),),
    ),
    Operation(
        name="pin",
        call="manage.pin",
        summary="Pin a memory: it is in every context.",
        params=(ID,),
        errors=(NotFound, Conflict),
        writes=True,
        idempotent=True,
        scope="memory:review",
        rest=(Rest(method="POST", path="/v1/memories/{id}/pin", versioned=True),),
    ),
    Operation(
        name="unpin",
        call="manage.unpin",
        summary="Unpin a memory.",
        params=(ID,),
        errors=(NotFound,),
        writes=True,
        idempotent=True,
        scope="memory:review",
        rest=(Rest(method="DELETE", path="/v1/memories/{id}/pin", versioned=True),),
    ),
    Operation(
        name="contests",
        call="manage.contests",
        summary="List slots with an undecided value, each with its question; open ones first.",
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/contests"),),
        closed={},
    ),
    Operation(
        name="contest",
        call="manage.contest",
        summary="Show one contest.",
        params=(Param(name="id", argument="contest_id", help="The id of a contest.", positional=True),),
        errors=(Invalid, NotFound),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/contests/{id}", versioned=True),),
        closed={**NOT_A_SKILL, **dict.fromkeys(("cli", "mcp"), "`contests` shows every one")},
    ),
    Operation(
        name="resolve",
        call="manage.resolve",
        summary="Resolve a contest: keep one value or both, or give each value a scope.",
        params=(
            Param(
                name="id",
                argument="contest_id",
                help="A contest, or a contradicting memory.",
                positional=True,
            ),
            text("keep", "The value, both, or: X when …, else Y."),
            Param(
                name="scopes",
                type=Mapping[str, str],
                help="A value for each scope; the scope `default` means no scope.",
                option="scope",
            ),
        ),
        errors=(Invalid, NotFound, Conflict),
        writes=True,
        scope="memory:review",
        rest=(Rest(method="POST", path="/v1/contests/{id}/resolution", versioned=True),),
        closed={},
    ),
    Operation(
        name="outcome",
        call="manage.outcome",
        summary="Show the outcome of messages: their memories, and the values that they contradict.",
        params=(
            Param(
                name="event_ids",
                type=Sequence[str],
                help="The ids of events, from the receipt of the messages.",
                positional=True,
            ),
        ),
        errors=(Invalid, NotFound),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/outcome"),),
        closed={
            "mcp": "the receipt of the messages tells a model what it needs",
            "cli": "`contests` and `why` show the same for a person",
        },
    ),
    Operation(
        name="loops",
        call="manage.loops",
        summary="List slots whose value was replaced three or more times within 30 days, the worst first.",
        params=(Param(name="days", type=int, help="Number of days. [default: 30]"),),
        errors=(Invalid,),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/loops"),),
        closed={**NOT_A_SKILL, "cli": "it is `contests --audit` there"},
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
                type=Status,
                among=tuple(one.value for one in Status if one is not Status.DELETED),
            ),
            REASON,
        ),
        errors=(Invalid, NotFound, Conflict),
        writes=True,
        idempotent=True,
        scope="memory:review",
        rest=(Rest(method="POST", path="/v1/memories/{id}/status", versioned=True),),
    ),
    Operation(
        name="status-history",
        call="manage.status_history",
        summary="Show every status that a memory has had, and why.",
        params=(ID,),
        errors=(NotFound,),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/memories/{id}/status"),),
    ),
    Operation(
        name="undo",
        call="manage.undo",
        summary="Undo a change, or all changes of a session, a source or a span of time.",
        params=(Param(name="change_id", help="The id of a change.", positional=True, optional=True), *_WHERE),
        errors=(Invalid, NotFound, Conflict),
        writes=True,
        scope="memory:review",
        rest=(
            Rest(method="POST", path="/v1/changes/{change_id}/undo", without=("session", "source", "since", "until")),
            Rest(method="POST", path="/v1/undo", without=("change_id",)),
        ),
    ),
    Operation(
        name="undo-where",
        call="manage.undo_where",
        summary="Undo all changes of a session, a source or a span of time.",
        params=_WHERE,
        errors=(Invalid, Conflict),
        writes=True,
        scope="memory:review",
        closed={**NOT_A_SKILL, **dict.fromkeys(("cli", "mcp", "rest"), "`undo` takes the same conditions")},
    ),
)
