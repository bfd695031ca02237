"""Entries for jobs: work that goes on in the background."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from credenda.errors import Conflict, Invalid, NotFound, Unavailable
from credenda.model.job import JobState
from credenda.operations.entries.schema import PERSONS, Door, Operation, Param, Rest, text

_Kind = Literal["extract", "embed", "think", "reread", "keep", "call"]
_ID: Final = Param(name="id", help="The id of a job.", positional=True)
_CLOSED: Final[Mapping[Door, str]] = {**PERSONS, "mcp": "an operator watches jobs, not a model"}

ENTRIES: Final = (
    Operation(
        name="jobs",
        call="jobs.list",
        summary="List jobs, the newest first: what is processed in the background, and what failed.",
        params=(
            Param(name="state", type=JobState, help="Only jobs in this state."),
            Param(name="kind", type=_Kind, help="Only jobs of this kind; call is an operation in the background."),
            Param(name="limit", type=int, default=20, help="Maximum number of jobs, 1 to 50."),
            text("cursor", "Cursor of the last page."),
        ),
        errors=(Invalid, NotFound),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/jobs"),),
        closed=_CLOSED,
    ),
    Operation(
        name="job",
        call="jobs.get",
        summary="Show a job: its state, its progress and its result.",
        params=(_ID,),
        errors=(NotFound,),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/jobs/{id}", versioned=True),),
        closed=_CLOSED,
    ),
    Operation(
        name="retry",
        call="jobs.retry",
        summary="Queue a dead or cancelled job again.",
        params=(_ID,),
        errors=(NotFound, Conflict, Unavailable),
        writes=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/jobs/{id}/retry", status=202, versioned=True),),
        closed=_CLOSED,
    ),
    Operation(
        name="cancel",
        call="jobs.cancel",
        summary="Cancel a job that calls an operation; what it has committed stays.",
        params=(_ID,),
        errors=(NotFound, Conflict, Unavailable),
        writes=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/jobs/{id}/cancel", status=202, versioned=True),),
        closed=_CLOSED,
    ),
)
