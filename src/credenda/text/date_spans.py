"""Intervals from the times in a text and the words before them: "since", "until", "from … to …"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import cache
from typing import Final, NamedTuple

from credenda.clock import from_datetime
from credenda.text.days import Days

__all__ = ["DateSpan", "TimeExpression", "find_preposition", "join_date_spans"]

_MOVING: Final = re.compile(
    r"\b(?:mov(?:es?|ed|ing)|shift(?:s|ed)?|push(?:es|ed)?|chang(?:es?|ed)|switch(?:es|ed)?|w[ea]nt|goes|postponed"
    r"|rescheduled|brought|slipped|extended|delayed)(?: \w+){0,2}\s*$",
    re.IGNORECASE,
)
"""Words before "from X to Y" that mean a replacement of X by Y rather than an interval."""


class DateSpan(NamedTuple):
    """Characters [start, stop) that name a time, and the interval [from_us, until_us); None is an open end."""

    start: int
    stop: int
    from_us: int | None
    until_us: int | None


class TimeExpression(NamedTuple):
    """A time in a text, with the kind of preposition before it."""

    start: int
    stop: int
    word: str
    days: Days


@cache
def _compile_prepositions() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:(?P<since>since|starting(?: (?:from|on|in))?|as of|from)|(?P<until>until|till|up to|til|before)"
        r"|(?P<through>through)|(?P<to>to|and)|(?P<by>by)|(?P<after>after)|(?P<plain>on|in|at|during|over)|between)\s+(?:the\s+)?$",
        re.IGNORECASE,
    )


def _to_us(day: date) -> int:
    return from_datetime(datetime(day.year, day.month, day.day, tzinfo=UTC))


def find_preposition(text: str, start: int) -> tuple[str, int]:
    """Return the kind of preposition right before an offset and its start."""
    floor = max(0, start - 24)
    found = _compile_prepositions().search(text[floor:start])
    if found is None:
        return "", start
    return found.lastgroup or "between", floor + found.start()


def _to_span(atom: TimeExpression) -> DateSpan:
    since, until = _to_us(atom.days.since), _to_us(atom.days.until)
    match atom.word:
        case "since":
            return DateSpan(atom.start, atom.stop, since, None)
        case "until" | "by":
            return DateSpan(atom.start, atom.stop, None, since if atom.word == "until" else until)
        case "through":
            return DateSpan(atom.start, atom.stop, None, until)
        case "after":
            return DateSpan(atom.start, atom.stop, until, None)
        case _:
            return DateSpan(atom.start, atom.stop, since, until)


def _join_interval(text: str, one: TimeExpression, other: TimeExpression) -> DateSpan | None:
    """Join "from X to Y" and "between X and Y" into one interval."""
    if one.word not in {"since", "between"} or other.word not in {"to", "until", "through"}:
        return None
    if _MOVING.search(text, 0, one.start):
        return None
    if text[one.stop : other.start].strip() or one.days.since > other.days.since:
        return None
    return DateSpan(one.start, other.stop, _to_us(one.days.since), _to_us(other.days.until))


def join_date_spans(text: str, atoms: Sequence[TimeExpression]) -> list[DateSpan]:
    """Join the times of a text that form an interval, in order."""
    spans: list[DateSpan] = []
    at = 0
    while at < len(atoms):
        pair = _join_interval(text, atoms[at], atoms[at + 1]) if at + 1 < len(atoms) else None
        spans.append(pair or _to_span(atoms[at]))
        at += 2 if pair else 1
    return spans
