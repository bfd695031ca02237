"""The memories that a session of an agent was shown: ids alone, never words, so that no memory comes twice."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from credenda.hook_files.places import Places, load_table, write_durably

_SEEN_MAX: Final = 1_000
_KEPT_SECONDS: Final = 30 * 86_400


class Session(NamedTuple):
    """`seen` are the memories that the session was shown, `last` those with the last prompt.

    `pending` wait for the next tool call, for a host that takes no text with a prompt. `begun` tells whether the core
    was given. `at_us` is when its user last spoke, in microseconds, and `late_us` when the user sent a prompt that no
    engine answered in time: what it recalls comes with the next one. `silent` tells that the user asked that their last
    words are not kept, so that no answer to them is. `transcript` is the file of a host that sends no answers, while
    the last one is not read from it, and `heard` the identity of the last one that was.
    """

    seen: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    begun: bool = False
    at_us: int = 0
    silent: bool = False
    late_us: int = 0
    transcript: str = ""
    heard: str = ""

    def add(self, ids: Sequence[str]) -> Session:
        """Return the session after it was shown more memories."""
        return self._replace(seen=tuple(dict.fromkeys((*self.seen, *ids)))[-_SEEN_MAX:])


def load_session(places: Places, session: str) -> Session:
    """Return what a session was shown; nothing for a new one."""
    told = load_table(os.path.join(places.sessions, _name(session)))

    def read(name: str) -> tuple[str, ...]:
        found = told.get(name)
        return tuple(str(one) for one in found) if isinstance(found, list) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    at_us, late_us = told.get("at_us"), told.get("late_us")
    transcript, heard = told.get("transcript"), told.get("heard")
    return Session(
        seen=read("seen"),
        last=read("last"),
        pending=read("pending"),
        begun=told.get("begun") is True,
        at_us=at_us if isinstance(at_us, int) else 0,
        silent=told.get("silent") is True,
        late_us=late_us if isinstance(late_us, int) else 0,
        transcript=transcript if isinstance(transcript, str) else "",
        heard=heard if isinstance(heard, str) else "",
    )


def save_session(places: Places, session: str, state: Session) -> None:
    """Keep what a session was shown. Raises OSError."""
    write_durably(places.sessions, _name(session), json.dumps(state._asdict()).encode(), flush=False)


def remove_old_sessions(places: Places) -> None:
    """Remove the state of sessions that nothing was shown to for a month."""
    before = time.time() - _KEPT_SECONDS
    with suppress(OSError):
        for entry in os.scandir(places.sessions):
            if entry.stat().st_mtime < before:
                os.unlink(entry.path)


def _name(session: str) -> str:
    return hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:24] + ".json"
