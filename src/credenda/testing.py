"""Doubles for tests, shipped: a clock that moves when told.

>>> from datetime import UTC, datetime, timedelta
>>> clock = ManualClock(datetime(2026, 3, 1, tzinfo=UTC))
>>> clock.advance(timedelta(days=1))
>>> clock.now().isoformat()
'2026-03-02T00:00:00+00:00'
"""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import Lock

from credenda.clock import from_datetime, parse_time, to_datetime

__all__ = ["ManualClock"]


class ManualClock:
    """A clock that stands still until it is advanced."""

    def __init__(self, start: datetime | str) -> None:
        """Begin at a moment, given as an aware datetime or as RFC 3339."""
        self._lock = Lock()
        self._now_us = parse_time(start)

    def now_us(self) -> int:
        """Return the present moment in microseconds since 1970-01-01 UTC."""
        with self._lock:
            return self._now_us

    def now(self) -> datetime:
        """Return the present moment as an aware datetime."""
        return to_datetime(self.now_us())

    def advance(self, step: timedelta) -> None:
        """Move forward; raises `ValueError` for a step back."""
        if step < timedelta(0):
            raise ValueError("a clock moves forward")
        with self._lock:
            self._now_us = from_datetime(to_datetime(self._now_us) + step)
