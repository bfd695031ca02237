"""The known code, and whether the memories about it still agree with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from credenda.interfaces.web.page import Done, Page
from credenda.interfaces.web.view import View
from credenda.model.job import ENDED, JobInfo
from credenda.model.memory import Layer
from credenda.storage.job_kinds import CALL

_SHOWN: Final = 25
_LOOKED_AT: Final = 50


def load(view: View) -> Mapping[str, object]:
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


PAGE = Page(
    name="code",
    path="/code",
    title="Code and drift",
    operation="list",
    load=load,
    actions={"check": check},
    group="upkeep",
)
