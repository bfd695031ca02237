"""One job: its progress while it runs, and its result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from credenda.interfaces.web.page import Page
from credenda.interfaces.web.view import View
from credenda.model.job import ENDED, JobInfo


def load(view: View) -> Mapping[str, object]:
    """Load a job."""
    job: JobInfo = view.call("job", id=view.get("id"))
    return {"job": job, "has_ended": job.state in ENDED}


def write_result(view: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Write the result of a job as text."""
    result = data["job"].result
    return {"result": "" if result is None else json.dumps(view.to_json(result), ensure_ascii=False, indent=2)}


PAGE = Page(name="job", path="/job/{id}", title="One job", operation="job", load=load, draw=write_result, group="")
