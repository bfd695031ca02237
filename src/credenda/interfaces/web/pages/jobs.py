"""Jobs: running ones, dead ones to replay, the schedule, and the processes that work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from credenda.errors import Conflict, CredendaError
from credenda.interfaces.web.page import Done, Page
from credenda.interfaces.web.view import View
from credenda.model.job import JobInfo, JobState

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


def load(view: View) -> Mapping[str, object]:
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
        "trouble": view.memories.check(),
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


PAGE = Page(
    name="jobs",
    path="/jobs",
    title="Jobs",
    operation="jobs",
    load=load,
    draw=group,
    actions={"retry": retry, "replay": replay, "cancel": cancel, "run": run},
    slow=frozenset({"run"}),
    group="upkeep",
)
