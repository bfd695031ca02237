"""The last answer of a session of Copilot CLI, read from its file of events: what it sends to a hook has none."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

_TAIL_BYTES: Final = 262_144
"""The part of the file, from its end, in which an answer is looked for."""
_PAUSE_SECONDS: Final = 0.02


class Answer(NamedTuple):
    """An answer and its identity, by which it is kept once; both are "" where there is none."""

    identity: str = ""
    text: str = ""


def await_answer(path: str, known: str, *, seconds: float) -> Answer:
    """Return the answer to the last prompt unless it is the `known` one, waiting up to `seconds`.

    Copilot CLI writes events about a tenth of a second after it has called the hook of the end of a turn.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            with open(path, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
                tail = file.read(_TAIL_BYTES)
        except OSError:
            tail = b""
        found = find_answer(tail)
        if found.text and found.identity != known:
            return found
        if time.monotonic() >= deadline:
            return Answer()
        time.sleep(_PAUSE_SECONDS)


def find_answer(tail: bytes) -> Answer:
    """Return the last answer with words after the last prompt in the end of a file of events. Pure."""
    for line in reversed(tail.split(b"\n")):
        try:
            parsed: object = json.loads(line)
        except ValueError:  # half of a line
            continue
        if not isinstance(parsed, dict):
            continue
        event = cast("Mapping[str, Any]", parsed)
        kind, data = event.get("type"), event.get("data")
        if kind == "user.message":
            break
        if kind != "assistant.message" or not isinstance(data, dict):
            continue
        told = cast("Mapping[str, Any]", data)
        text, identity = told.get("content"), told.get("messageId") or event.get("id")
        is_last = not told.get("toolRequests") and not told.get("parentToolCallId")  # else a step, or a sub-agent's
        if is_last and isinstance(text, str) and text.strip():
            return Answer(str(identity), text.encode("utf-8", "replace").decode("utf-8"))
    return Answer()
