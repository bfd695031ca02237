"""Bounds on how often a caller may call: a bucket of permits for each, which fills again at a steady rate."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final

from credenda.clock import seconds

_CALLERS: Final = 10_000
"""Buckets that are kept; the least recently used is dropped, which gives its caller a full one."""


@dataclass(slots=True)
class _Bucket:
    permits: float
    at: float


class RateLimit:
    """At most `rate` calls a second for each caller on average, and at most `burst` at once; a rate of 0 bounds none.

    All methods may be called from any thread. `now` reads a monotonic clock in seconds.
    """

    def __init__(self, rate: float, burst: float, *, now: Callable[[], float] = seconds) -> None:
        """Begin with a full bucket for each caller."""
        self._rate = rate
        self._burst = burst
        self._now = now
        self._lock = Lock()
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, caller: str) -> float:
        """Take a permit: return 0, or the seconds after which there will be one."""
        if self._rate <= 0:
            return 0.0
        with self._lock:
            bucket = self._fill(caller)
            if bucket.permits >= 1:
                bucket.permits -= 1
                return 0.0
            return (1 - bucket.permits) / self._rate

    def wait_seconds(self, caller: str) -> float:
        """Return the seconds after which a caller has a permit, 0 for one who has; takes none."""
        if self._rate <= 0:
            return 0.0
        with self._lock:
            bucket = self._buckets.get(caller)
            permits = self._burst if bucket is None else self._count(bucket)
            return max(0.0, (1 - permits) / self._rate)

    def _count(self, bucket: _Bucket) -> float:
        return min(self._burst, bucket.permits + (self._now() - bucket.at) * self._rate)

    def _fill(self, caller: str) -> _Bucket:
        bucket = self._buckets.pop(caller, None) or _Bucket(self._burst, self._now())
        bucket.permits, bucket.at = self._count(bucket), self._now()
        self._buckets[caller] = bucket
        while len(self._buckets) > _CALLERS:
            self._buckets.popitem(last=False)
        return bucket
