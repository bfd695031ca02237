"""Retention: the forgetting curves, where memories lie on them, what fades next, and what other settings would do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from credenda import limits
from credenda.errors import Conflict, CredendaError, Invalid
from credenda.interfaces.web.drawings import Curve, CurvePoint, draw_curves
from credenda.interfaces.web.view import Done, Page, View
from credenda.model.change import ChangeRecord
from credenda.model.job import ENDED, JobInfo, JobState
from credenda.model.memory import Layer
from credenda.model.report import RetentionCurves, RetentionPoint
from credenda.services.browse import name_version
from credenda.storage.records import CALL

_POINTS: Final = 500
_NEXT: Final = 12
_MOST: Final = 96
_ARCHIVED_BELOW: Final = 0.15
"""The retention under which the lifecycle may archive an episodic memory (E-062)."""
_SETTINGS: Final = ("decay_profile", "retention_mode", "half_life_days", "trust_kappa")
_NUMBERS: Final = frozenset({"half_life_days", "trust_kappa"})
_DECAYING: Final = frozenset({"working", "episodic"})
_MODES: Final = ("huber", "huber_linear", "l2", "elastic")


def load_retention(view: View) -> Mapping[str, object]:
    """Load the curves of the settings and of the what-if, and the memories with the least retention."""
    wanted = {name: _read(view, name) for name in _SETTINGS}
    changed = {name: value for name, value in wanted.items() if value is not None}
    now: RetentionCurves = view.call("retention", limit=_POINTS)
    other: RetentionCurves = view.call("retention", limit=_POINTS, **changed) if changed else now
    shown = view.get_int("shown", _NEXT, low=1, high=_MOST)
    scores = {one.memory_id: one.score for one in other.points}
    # By retention, then layers that decay, then age.
    fading = sorted(now.points, key=lambda one: (one.score, one.layer not in _DECAYING, -one.age_days))[:shown]
    # The settings that these curves were computed with; they are drawn for trust 1 and ½.
    long, short = (pick(one.half_life_days for one in now.curves) for pick in (max, min))
    kappa = round(2 * (long / short - 1), 6)
    in_use = {
        "decay_profile": now.profile,
        "retention_mode": now.mode,
        "half_life_days": long,
        "trust_kappa": kappa,
    }
    return {
        "profile": now.profile,
        "mode": now.mode,
        "settings": in_use | changed,
        "what_if": changed,
        "now": now,
        "other": other,
        "layers": _count_layers(now.points),
        "counted": len(now.points),
        "more": min(shown * 2, _MOST) if shown < min(len(now.points), _MOST) else None,
        "fading": [one for one in (_load_point(view, point, scores) for point in fading) if one is not None],
    }


def draw(view: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Draw the curves with the memories on them."""
    now = data["now"]
    other = data["other"] if data["what_if"] else None
    longest = max(one.half_life_days for one in now.curves)
    curves = [
        Curve(
            label=view.t("{mode}, {days} d", mode=_word_curve(view, one.name), days=f"{one.half_life_days:g}"),
            values=one.values,
            colour=_MODES.index(one.name) + 1,
            dashed=one.half_life_days < longest,
        )
        for one in now.curves
        if one.half_life_days == longest or one.name == now.mode
    ]
    if other is not None:
        tried = max((one for one in other.curves if one.name == other.mode), key=lambda one: one.half_life_days)
        days = f"{tried.half_life_days:g}"
        label = view.t("what if: {mode}, {days} d", mode=_word_curve(view, tried.name), days=days)
        curves.append(Curve(label=label, values=tried.values, colour=5))
    points = [
        CurvePoint(label=one.memory_id, days=one.age_days, score=one.score, layer=one.layer) for one in now.points
    ]
    return {"curves": draw_curves(now.days, curves, points, threshold=_ARCHIVED_BELOW, words=view.t), "modes": _MODES}


def _read(view: View, name: str) -> str | float | None:
    text = view.get(name).strip()
    if not text or name not in _NUMBERS:
        return text or None
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise Invalid(f"{name} is not a number", fix="write a number such as 30") from None


def _word_curve(view: View, name: str) -> str:
    """Describe a mode without its name, so that the half-life after it is not cut off in the key of the drawing."""
    return view.word("curve", name).replace(f" ({name})", "")


def _count_layers(points: Sequence[RetentionPoint]) -> Sequence[Mapping[str, object]]:
    """Return for each layer how many memories it has, and their mean retention."""
    layers: dict[str, list[float]] = {}
    for one in points:
        layers.setdefault(one.layer, []).append(one.score)
    return [
        {"layer": layer, "memories": len(scores), "mean": sum(scores) / len(scores)}
        for layer, scores in sorted(layers.items())
    ]


def _load_point(view: View, point: RetentionPoint, scores: Mapping[str, float]) -> Mapping[str, object] | None:
    """Return a memory with its retention; None for one that has gone in the meantime."""
    memory = view.find_memory(point.memory_id)
    return memory and {
        "memory": memory,
        "version": name_version(memory),
        "score": point.score,
        "other": scores.get(point.memory_id, point.score),
        "age_days": point.age_days,
        "terms": point.terms,
    }


def _move(operation: str, view: View) -> Done:
    """Move a memory one layer up or down."""
    memory = view.change(operation, id=view.get("id"))
    return Done(to=view.find_way_back(), changes=view.mark_last_change(memory.id))


RETENTION_PAGE = Page(
    name="retention",
    path="/retention",
    title="Retention",
    operation="retention",
    load=load_retention,
    draw=draw,
    actions={name: partial(_move, name) for name in ("promote", "demote")},
    group="upkeep",
)


# Consolidation and dreams: the last report, a dry run as a diff, the run itself, and undo.


_LOOKED_AT: Final = 50
_OPERATIONS: Final = ("consolidate", "dream")
_DREAM: Final = "dream:"
"""What the cause of every change of a dream begins with."""
_PAIRS: Final = 50
_MARKS: Final = 50
"""So many changes one form can undo."""


def load_consolidation(view: View) -> Mapping[str, object]:
    """Load the runs, and the report of one: of that in the address, else of the latest."""
    found = view.call("jobs", kind=CALL, limit=_LOOKED_AT).items
    runs: Sequence[JobInfo] = [one for one in found if one.operation in _OPERATIONS]
    named = view.get("job")
    if not named:
        job = runs[0] if runs else None
    else:
        try:
            job = view.call("job", id=named)
        except CredendaError:
            job = None
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
        pairs.append(
            {
                "memory": view.find_memory(memory_id),
                "then": then,
                "status": status,
                "reason": str(one.get("reason", "")),
            }
        )
    return pairs


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


CONSOLIDATION_PAGE = Page(
    name="consolidation",
    path="/consolidation",
    title="Consolidation and dreams",
    operation="consolidate",
    load=load_consolidation,
    actions={"consolidate": consolidate, "dream": run_dream},
    group="upkeep",
)


# Jobs: running ones, dead ones to replay, the schedule, and the processes that work.


_LISTED: Final = 50
_LISTS: Final = 10
_REPLAYED: Final = 50
_TOGETHER: Final = frozenset({JobState.QUEUED, JobState.PROCESSING, JobState.COMPLETE})


@dataclass(frozen=True, slots=True)
class Work:
    """A line of the page: a job, or all that do the same with messages and are in the same state, the newest first."""

    jobs: tuple[JobInfo, ...]

    @property
    def messages(self) -> int:
        """How many messages it is for."""
        return sum(one.messages for one in self.jobs)


def load_jobs(view: View) -> Mapping[str, object]:
    """Load the jobs of one state or of all, with the tasks of the schedule where the person may see them."""
    state = view.get("state")
    cursor, jobs = view.get("cursor") or None, list[JobInfo]()
    for _ in range(_LISTS):
        page = view.call("jobs", state=state or None, limit=_LISTED, cursor=cursor)
        cursor = page.next_cursor
        jobs += page.items
        if cursor is None:
            break
    stats = view.call("stats")
    return {
        "state": state,
        "states": [one.value for one in JobState],
        "jobs": jobs,
        "next_cursor": cursor,
        "messages": stats.events,
        "dead": stats.dead_jobs,
        "waiting": stats.waiting,
        "oldest_unread_seconds": stats.oldest_unread_seconds,
        "trouble": view.memories.find_trouble(),
        "is_working": view.memories.is_working(),
        "probe": view.memories.describe_probe(),
        "workers": view.memories.list_workers() if view.may("schedule") else (),
        "duties": view.call("schedule").duties if view.may("schedule") else (),
    }


def group(_: View, data: Mapping[str, Iterable[JobInfo]]) -> Mapping[str, object]:
    """Group the jobs to lines."""
    found: dict[tuple[str, ...], list[JobInfo]] = {}
    for job in data["jobs"]:
        together = job.messages and not job.error and job.state in _TOGETHER
        found.setdefault((job.kind, job.state) if together else (job.id,), []).append(job)
    return {"works": [Work(tuple(jobs)) for jobs in found.values()]}


def retry(view: View) -> Done:
    """Queue a job again."""
    view.call("retry", id=view.get("id"))
    return Done(to=view.find_way_back(), note="started")


def replay(view: View) -> Done:
    """Queue every dead job again, up to fifty at a time."""
    found = view.call("jobs", state=JobState.DEAD.value, limit=_REPLAYED).items
    for job in found:
        try:
            view.call("retry", id=job.id)
        except Conflict:  # someone else was first
            continue
    return Done(to="/jobs", note="started" if found else "nothing")


def cancel(view: View) -> Done:
    """Stop a job that calls an operation."""
    try:
        view.call("cancel", id=view.get("id"))
    except Conflict:
        return Done(to=view.find_way_back(), note="nothing")
    return Done(to=view.find_way_back(), note="saved")


def run(view: View) -> Done:
    """Run a task of the schedule now."""
    try:
        report = view.call("schedule", run=True, only=[view.get("name")])
    except CredendaError as error:
        if not error.retryable:
            raise
        return Done(to="/jobs#schedule", note="nothing")
    return Done(to="/jobs#schedule", note="saved" if report.ran else "nothing")


JOBS_PAGE = Page(
    name="jobs",
    path="/jobs",
    title="Jobs",
    operation="jobs",
    load=load_jobs,
    draw=group,
    actions={"retry": retry, "replay": replay, "cancel": cancel, "run": run},
    slow=frozenset({"run"}),
    group="upkeep",
)


# One job: its progress while it runs, and its result.


def load_job(view: View) -> Mapping[str, object]:
    """Load a job."""
    job: JobInfo = view.call("job", id=view.get("id"))
    return {"job": job, "has_ended": job.state in ENDED}


def write_result(view: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Write the result of a job as text."""
    result = data["job"].result
    return {"result": "" if result is None else json.dumps(view.to_json(result), ensure_ascii=False, indent=2)}


JOB_PAGE = Page(
    name="job", path="/job/{id}", title="One job", operation="job", load=load_job, draw=write_result, group=""
)


# The known code, and whether the memories about it still agree with it.


_SHOWN: Final = 25


def load_code(view: View) -> Mapping[str, object]:
    """Load the memories of code, and the last check of their agreement with it."""
    page = view.call("list", layer=Layer.CODEBASE.value, limit=_SHOWN, cursor=view.get("cursor") or None)
    job, step = _find_check(view)
    return {
        "memories": page.items,
        "next_cursor": page.next_cursor,
        "job": job,
        "is_running": job is not None and job.state not in ENDED,
        "step": step,
        "drift": None if step is None else step.get("drift"),
    }


def _find_check(view: View) -> tuple[JobInfo | None, Mapping[str, Any] | None]:
    """Return the latest dream that checked code, with its step; a running one has none yet."""
    found: Sequence[JobInfo] = view.call("jobs", kind=CALL, limit=_LOOKED_AT).items
    for job in found:
        if job.operation != "dream":
            continue
        if job.state not in ENDED:
            return job, None
        steps = cast("Sequence[Mapping[str, Any]]", (job.result or {}).get("steps", ()))
        step = next((one for one in steps if one["name"] == "drift"), None)
        if step is not None:
            return job, step
    return None, None


def check(view: View) -> Done:
    """Compare the memories about code with the folders in the settings."""
    view.start("dream", steps=["drift"], dry_run=view.get("dry_run") == "yes")
    return Done(to="/code", note="started")


CODE_PAGE = Page(
    name="code",
    path="/code",
    title="Code and drift",
    operation="list",
    load=load_code,
    actions={"check": check},
    group="upkeep",
)
