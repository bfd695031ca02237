"""Messages that hooks journal: each a small file on disk, until a process that holds the memory open files it.

A file appears complete or not at all, its name orders it in time, and its key makes a second filing do nothing. So a
message that a hook has written is neither lost nor doubled, whichever process ends in between.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from credenda.hook_files.places import Places, list_waiting, load_table, write_durably
from credenda.interfaces.hook.payload import Moment
from credenda.text.spoken import extract_spoken

SPOKEN: Final[Mapping[str, tuple[str, str]]] = {
    "prompt": ("user", "human"),
    "reply": ("assistant", "ai"),
    "subagent_reply": ("assistant", "interaction"),
    "summary": ("assistant", "dream"),
}
"""Role and source of the words of each kind of moment; a summary is derived, and trusted less than what it sums up."""
_CHARACTERS: Final = 200_000
"""Longest message; the rest of a pasted file is left out."""
_COMMAND: Final = ("/", "!", "#")
"""First characters of a prompt that is a command of the agent."""
_CONTINUED: Final = "This session is being continued from a previous conversation"


class Waiting(NamedTuple):
    """A message that waits. `shown` are the memories that the agent got before the message was written."""

    path: str
    text: str
    role: str
    source: str
    session: str
    project: str
    agent: str
    key: str
    moment_us: int
    shown: tuple[str, ...] = ()


def find_words(moment: Moment) -> str:
    """Return the words of a moment that are to be kept; "" for none, and for a command of the agent."""
    if moment.kind not in SPOKEN or not moment.text:
        return ""
    text = extract_spoken(moment.text[:_CHARACTERS])
    if moment.kind == "prompt":
        bare = text.startswith(_COMMAND) and "\n" not in text and len(text.split()) == 1
        text = "" if bare or text.startswith(_CONTINUED) else text
    return text


def add_message(
    places: Places, moment: Moment, project: str, shown: Sequence[str], *, after_us: int = 0
) -> tuple[str, int]:
    """Write the words of a moment to disk and return them with their microsecond; ("", 0) for nothing to keep.

    The message is dated after `after_us`, when its session began or last spoke, and after those that wait, so that a
    clock that is put back leaves messages in their order. Raises OSError.
    """
    text = find_words(moment)
    if not text:
        return "", 0
    role, source = SPOKEN[moment.kind]
    moment_us = max(time.time_ns() // 1_000, after_us + 1, _find_last(places) + 1)
    turn = moment.turn or str(moment_us)  # without a name of the turn, words that are said again count again
    told = json.dumps([moment.host, moment.session, moment.kind, turn, moment.agent, text])
    key = hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:32]
    body = {
        "text": text,
        "role": role,
        "source": source,
        "session": moment.session,
        "project": project,
        "agent": f"{moment.host}/{moment.agent}" if moment.kind == "subagent_reply" else moment.host,
        "key": key,
        "moment_us": moment_us,
        "shown": list(shown),
    }
    write_durably(places.waiting, f"{moment_us:017d}-{key[:8]}.json", json.dumps(body).encode())
    return text, moment_us


def _find_last(places: Places) -> int:
    """Return the microsecond of the newest message that waits; 0 without one."""
    names = list_waiting(places)
    number = os.path.basename(names[-1]).partition("-")[0] if names else ""
    return int(number) if number.isdigit() else 0


def read_waiting(path: str) -> Waiting | None:
    """Read a message that waits; None for a file that is gone or cannot be read."""
    told = load_table(path)
    words = {name: told.get(name) for name in ("text", "role", "source", "session", "project", "agent", "key")}
    moment_us, shown = told.get("moment_us"), told.get("shown")
    if not all(isinstance(one, str) for one in words.values()) or not isinstance(moment_us, int):
        return None
    ids = tuple(str(one) for one in shown) if isinstance(shown, list) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return Waiting(path=path, moment_us=moment_us, shown=ids, **{name: str(value) for name, value in words.items()})
