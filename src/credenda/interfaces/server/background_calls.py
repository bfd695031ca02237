"""Calls that a caller wants in the background: the answer is a job (RFC 7240, `Prefer: respond-async`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from starlette.requests import Request

from credenda.interfaces.call_note import note_operation
from credenda.interfaces.serialize import to_jsonable
from credenda.interfaces.server.memories import Memories
from credenda.interfaces.server.replays import Answer
from credenda.operations.table import Operation
from credenda.services.expectation import name_version

_PREFERENCE: Final = "respond-async"


def is_background_wanted(request: Request, operation: Operation) -> bool:
    """Return whether an operation takes long and its caller prefers not to wait."""
    if not operation.long:
        return False
    preferred = ",".join(request.headers.getlist("prefer")).split(",")
    return any(one.partition(";")[0].strip().casefold() == _PREFERENCE for one in preferred)


def start_in_background(memories: Memories, operation: Operation, given: Mapping[str, object]) -> Answer:
    """Queue a call, and answer with its job and where that is found."""
    note_operation(operation, "rest", given)
    with memories.lend() as memory:
        job = memory.jobs.start(operation.name, given)
    memories.wake_caller()
    headers = {
        "Location": f"/v1/jobs/{job.id}",
        "Preference-Applied": _PREFERENCE,
        "ETag": f'"{name_version(job)}"',
    }
    return Answer(202, json.dumps(to_jsonable(job, remote=True), ensure_ascii=False), headers)
