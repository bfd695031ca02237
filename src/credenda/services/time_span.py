"""Spans of time that callers name."""

from __future__ import annotations

from datetime import datetime

from credenda.clock import format_time
from credenda.errors import Invalid
from credenda.runtime import Parts
from credenda.text.times import parse_period

__all__ = ["read_span"]


def read_span(parts: Parts, since: datetime | str | None, until: datetime | str | None) -> tuple[int, int]:
    """Return the first and the last microsecond of a span; a date is its whole day, and no end is now."""
    zone, now_us = parts.settings.zone, parts.clock.now_us()
    since_us = 0 if since is None else parse_period(since, zone, now_us).from_us
    last = None if until is None else parse_period(until, zone, now_us)
    until_us = now_us if last is None else last.until_us if last.moment else last.until_us - 1
    if since_us > until_us:
        raise Invalid(
            "a span goes from the earlier time to the later",
            why=f"{format_time(since_us)} comes after {format_time(until_us)}",
            fix="swap them",
        )
    return since_us, until_us
