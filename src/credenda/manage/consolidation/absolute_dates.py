"""Replace relative dates in a text, such as "yesterday", by absolute ones. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from credenda.clock import DAY_US, to_datetime
from credenda.text.dates import DateSpan, find_dates

_RELATIVE: Final = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|this|past|coming|now|in (?:an?|\d{1,3}|two|three|four|five"
    r"|six|seven|eight|nine|ten|eleven|twelve|a couple of) (?:day|week|month|year)s?)\b",
    re.IGNORECASE,
)
_WEEK_DAYS: Final = 7
_YEAR_DAYS: Final = (365, 366)
_MONTH_DAYS: Final = range(28, 32)


def has_relative_date(text: str) -> bool:
    """Return whether a text may have a date that depends on the day on which it was said.

    >>> has_relative_date("I moved to Portland last weekend."), has_relative_date("I moved in May 2024.")
    (True, False)
    """
    return _RELATIVE.search(text) is not None


def resolve_relative_dates(text: str, said_us: int) -> str:
    """Replace the relative dates of a text by absolute dates; `said_us` is the time of the statement.

    >>> march = 1772355600000000
    >>> resolve_relative_dates("I met Tom yesterday.", march), resolve_relative_dates("I moved here last year.", march)
    ('I met Tom on 2026-02-28.', 'I moved here in 2025.')
    """
    written = text
    for span in reversed(find_dates(text, said_us)):
        words = text[span.start : span.stop]
        broken = text[span.stop :].lstrip().startswith("ago")  # "moved in two weeks ago": not "in two weeks"
        day = _format_span(span) if _RELATIVE.search(words) and not broken else None
        if day is not None:
            before = written[: span.start]
            opener = re.search(r"\b(?:on|in|since|until|by|before|after|from)\s+$", before, re.IGNORECASE)
            shown = day.rpartition(" ")[2] if opener else day
            written = before + (shown if before else shown.capitalize()) + written[span.stop :]
    return written


def _format_span(span: DateSpan) -> str | None:
    """Format an interval: a day, a week by its Monday, a month, a year, or a range."""
    if span.from_us is None or span.until_us is None:
        known = span.from_us if span.until_us is None else span.until_us
        word = "since" if span.until_us is None else "before"
        return None if known is None else f"{word} {to_datetime(known):%Y-%m-%d}"
    start, days = to_datetime(span.from_us), (span.until_us - span.from_us) // DAY_US
    if days == 1:
        return f"on {start:%Y-%m-%d}"
    if days == _WEEK_DAYS:
        return f"in the week of {start:%Y-%m-%d}"
    if days in _YEAR_DAYS and start == datetime(start.year, 1, 1, tzinfo=UTC):
        return f"in {start:%Y}"
    if days in _MONTH_DAYS and start.day == 1:
        return f"in {start:%Y-%m}"
    return f"between {start:%Y-%m-%d} and {to_datetime(span.until_us - DAY_US):%Y-%m-%d}"
