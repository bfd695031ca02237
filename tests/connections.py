"""Every SQLite connection that a test opens, and where; one that the test leaves open is a failure of that test.

Python 3.13 warns of one when it is collected, which happens in whichever test runs by then.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from inspect import currentframe
from itertools import islice
from pathlib import Path
from traceback import walk_stack
from typing import Any, Final, NamedTuple

_CALLERS: Final = 24
"""How many callers are named of the place where a connection was opened."""


class Opened(NamedTuple):
    """A connection, its file, and the lines that led to it, the innermost first."""

    connection: sqlite3.Connection
    file: str
    lines: tuple[tuple[str, int, str], ...]

    def __str__(self) -> str:
        return "\n".join(f"  {Path(name).name}:{line} in {function}" for name, line, function in self.lines)


opened: Final[list[Opened]] = []
"""What the running test has opened, closed or not."""
_connect = sqlite3.connect


def _noted(*given: Any, **named: Any) -> sqlite3.Connection:  # noqa: ANN401 - as sqlite3 has it
    connection = _connect(*given, **named)
    callers = islice(walk_stack(currentframe()), 1, _CALLERS)
    lines = tuple((frame.f_code.co_filename, line, frame.f_code.co_name) for frame, line in callers)
    opened.append(Opened(connection, str(given[0]), lines))
    return connection


def watch() -> None:
    """Note every connection from now on."""
    sqlite3.connect = _noted


def left_open(since: int) -> list[str]:
    """Tell where each was opened that is not closed, of those noted after the first `since`; close and forget them.

    A memory that was open before may open more of its file when it is asked; those stay, for whoever closes it.
    """
    found: list[str] = []
    held = {one.file for one in opened[:since] if _is_open(one.connection)} - {":memory:"}
    still = [one for one in opened[since:] if _is_open(one.connection)]
    opened[since:] = [one for one in still if one.file in held]
    for one in still:
        if one.file not in held:
            found.append(str(one))
            with suppress(sqlite3.ProgrammingError):  # it belongs to another thread
                one.connection.close()
    return found


def _is_open(connection: sqlite3.Connection) -> bool:
    try:
        return connection.total_changes >= 0
    except sqlite3.ProgrammingError:
        return False
