"""Jobs: running ones, dead ones to replay, the schedule, and the processes that work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from credenda.errors import Conflict, CredendaError
from credenda.interfaces.web.page import Done, Page
from credenda.interfaces.web.view import View
from credenda.model.job import JobState

_SHOWN: Final = 12
_REPLAYED: Final = 50


def load(view: View) -> Mapping[str, object]:
    """Load the jobs of one state or of all, with the tasks of the schedule where the person may see them."""
    state = view.get("state")
    page = view.call("jobs", state=state or None, limit=_SHOWN, cursor=view.get("cursor") or None)
    stats = view.call("stats")
    return {
        "state": state,
        "states": [one.value for one in JobState],
        "jobs": page.items,
        "next_cursor": page.next_cursor,
        "dead": stats.dead_jobs,
        "waiting": stats.waiting,
        "oldest_unread_seconds": stats.oldest_unread_seconds,
        "trouble": view.memories.check(),
        "probe": view.memories.describe_probe(),
        "workers": view.memories.list_workers() if view.may("schedule") else (),
        "duties": view.call("schedule").duties if view.may("schedule") else (),
    }


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
    actions={"retry": retry, "replay": replay, "cancel": cancel, "run": run},
    slow=frozenset({"run"}),
    group="upkeep",
)
