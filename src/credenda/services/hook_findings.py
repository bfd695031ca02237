"""Findings from the log of the hooks of agents for `doctor`: failures, slow calls and messages that wait."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Final

from credenda.clock import HOUR_US, SECOND_US
from credenda.hook_files.places import Places, find_places, list_waiting
from credenda.hook_files.ring_log import read_lines
from credenda.model.doctor_finding import Finding
from credenda.runtime import Parts
from credenda.text.counts import count_noun

__all__ = ["find_hook_problems"]

_CHECK: Final = "hooks"
_RECENT: Final = 50
"""Latest calls that are looked at."""
_SHARE: Final = 5
"""One failed call in this many is a finding."""
_SLOW_MS: Final = 250
_DAMAGED: Final = ".damaged"
_FOREIGN: Final = "input"
"""The error of a call with input that no host sends: a mistake of whoever calls, which says nothing of the store."""


def find_hook_problems(parts: Parts) -> list[Finding]:
    """Return findings about hooks; none where no hook has run."""
    places = find_places(parts.store_name, parts.user_id)
    if not os.path.isdir(places.folder):
        return []
    return [*_check_calls(places), *_check_waiting(places, parts.clock.now_us())]


def _check_calls(places: Places) -> Iterator[Finding]:
    recent = [line for line in read_lines(places) if line.get("error") != _FOREIGN][-_RECENT:]
    failed = Counter(str(line["error"]) for line in recent if "error" in line)
    if recent and failed.total() * _SHARE >= len(recent):
        reasons = ", ".join(f"{count} {name}" for name, count in failed.most_common())
        yield Finding(
            check=_CHECK,
            detail=f"{failed.total()} of the last {count_noun(len(recent), 'call')} of hooks failed: {reasons}",
            where=places.log,
            fix="run `credenda plugin status`, and install the plugin again",
        )
    slow = [line for line in recent if isinstance(ms := line.get("ms"), int) and ms > _SLOW_MS]
    if recent and len(slow) * _SHARE >= len(recent):
        yield Finding(
            check=_CHECK,
            detail=f"{len(slow)} of the last {count_noun(len(recent), 'call')} of hooks took more than {_SLOW_MS} ms",
            where=places.log,
            fix="keep `credenda worker` or `credenda serve` running",
        )


def _check_waiting(places: Places, now_us: int) -> Iterator[Finding]:
    waiting = list_waiting(places)
    first = os.path.basename(waiting[0]).partition("-")[0] if waiting else ""
    if first.isdigit() and now_us - int(first) > HOUR_US:
        minutes = (now_us - int(first)) // SECOND_US // 60
        yield Finding(
            check=_CHECK,
            detail=f"{count_noun(len(waiting), 'message of hooks', 'waits')} to be filed, "
            f"the oldest for {count_noun(minutes, 'minute')}",
            where=places.waiting,
            fix="run `credenda worker --once`",
        )
    damaged = [name for name in _list_names(places.waiting) if name.endswith(_DAMAGED)]
    if damaged:
        yield Finding(
            check=_CHECK,
            detail=f"{count_noun(len(damaged), 'message')} of hooks could not be read",
            where=places.waiting,
            fix="look at the files that end with .damaged, and remove them",
        )


def _list_names(folder: str) -> list[str]:
    return os.listdir(folder) if os.path.isdir(folder) else []
