"""Consolidation and dreams: the last report, a dry run as a diff, the run itself, and undo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from credenda import limits
from credenda.errors import CredendaError
from credenda.interfaces.web.page import Done, Page
from credenda.interfaces.web.view import View
from credenda.model.change import ChangeRecord
from credenda.model.job import ENDED, JobInfo
from credenda.storage.job_kinds import CALL

_LOOKED_AT: Final = 50
_OPERATIONS: Final = ("consolidate", "dream")
_DREAM: Final = "dream:"
"""What the cause of every change of a dream begins with."""
_PAIRS: Final = 50
_MARKS: Final = 50
"""So many changes one form can undo."""


def load(view: View) -> Mapping[str, object]:
    """Load the runs, and the report of one: of that in the address, else of the latest."""
    found = view.call("jobs", kind=CALL, limit=_LOOKED_AT).items
    runs: Sequence[JobInfo] = [one for one in found if one.operation in _OPERATIONS]
    job = _find_job(view, runs)
    result = None if job is None else job.result
    report = result if job is not None and job.operation == "consolidate" else None
    dream = result if job is not None and job.operation == "dream" else None
    duties = {one.name: one for one in view.call("schedule").duties}
    return {
        "runs": runs[:10],
        "job": job,
        "is_running": job is not None and job.state not in ENDED,
        "report": report,
        "dream": dream,
        "planned": {one["name"]: _read_changes(view, one) for one in _list_steps(dream)},
        "undo": _list_marks(report) if dream is None else _list_dream_marks(view, job, dream),
        "duties": [duties[name] for name in _OPERATIONS],
    }


def _find_job(view: View, runs: Sequence[JobInfo]) -> JobInfo | None:
    named = view.get("job")
    if not named:
        return runs[0] if runs else None
    try:
        return view.call("job", id=named)
    except CredendaError:
        return None


def _list_marks(report: Mapping[str, Any] | None) -> Sequence[str]:
    """Return the changes of a run as a form names them, if one form can hold them all."""
    if report is None or report.get("dry_run"):
        return ()
    changes = cast("Sequence[Mapping[str, Any]]", report.get("changes", ()))
    marks = [f"{one['memory_id']}.{one['id']}" for one in changes if one.get("memory_id")]
    return marks if len(marks) <= _MARKS else ()


def _list_steps(dream: Mapping[str, Any] | None) -> Sequence[Mapping[str, Any]]:
    """Return the steps of a dream; none of its report that is gone."""
    return () if dream is None else cast("Sequence[Mapping[str, Any]]", dream.get("steps", ()))


def _list_dream_marks(view: View, job: JobInfo | None, dream: Mapping[str, Any]) -> Sequence[str]:
    """Return the changes of a dream as a form names them, if one form can hold them all: it logs its own name."""
    if job is None or dream.get("dry_run"):
        return ()
    marks = [mark for step in _list_steps(dream) for mark in _list_marks(step.get("merged"))]
    found: Sequence[ChangeRecord] = view.call("changes", limit=limits.LATEST_CHANGES)
    marks += [
        f"{one.memory_id}.{one.id}"
        for one in reversed(found)
        if one.memory_id and (one.cause or "").startswith(_DREAM) and job.created_us <= one.at_us <= job.updated_us
    ]
    return marks if len(marks) <= _MARKS else ()


def _read_changes(view: View, step: Mapping[str, Any]) -> Sequence[Mapping[str, object]]:
    """Return the changes of a step of a dream as pairs: the memory that is there, and what becomes of it."""
    pairs: list[Mapping[str, object]] = []
    for one in cast("Sequence[Mapping[str, Any]]", step.get("changes", ()))[:_PAIRS]:
        draft, memory_id = one.get("draft"), one.get("memory_id")
        then = cast("Mapping[str, str]", draft).get("text", "") if isinstance(draft, dict) else ""
        status = str(one.get("status") or ("superseded" if one.get("relation") else ""))
        memory = _find_memory(view, memory_id) if isinstance(memory_id, str) else None
        pairs.append({"memory": memory, "then": then, "status": status, "reason": str(one.get("reason", ""))})
    return pairs


def _find_memory(view: View, memory_id: str) -> object:
    try:
        return view.call("get", id=memory_id)
    except CredendaError:
        return None


def consolidate(view: View) -> Done:
    """Merge what says the same, or only show what would be merged."""
    is_dry, is_forced = view.get("dry_run") == "yes", view.get("force") == "yes"
    topic = view.get("topic").strip() or None
    return _end(view.start("consolidate", dry_run=is_dry, force=is_forced, topic=topic))


def run_dream(view: View) -> Done:
    """Run the dream cycle, or only show what it would do."""
    return _end(view.start("dream", dry_run=view.get("dry_run") == "yes"))


def _end(job_id: str) -> Done:
    return Done(to=f"/consolidation?job={job_id}", note="started")


PAGE = Page(
    name="consolidation",
    path="/consolidation",
    title="Consolidation and dreams",
    operation="consolidate",
    load=load,
    actions={"consolidate": consolidate, "dream": run_dream},
    group="upkeep",
)
