"""Counts for Prometheus, in its text format. No label names a user, a token, or an id."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from threading import Lock
from typing import Final

_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets of durations, in seconds."""


class Metrics:
    """What happened since the process started."""

    def __init__(self) -> None:
        """Start at nought."""
        self._lock = Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: Counter[tuple[str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._durations: Counter[str] = Counter()

    def count_request(self, method: str, route: str, status: int, duration_seconds: float) -> None:
        """Count an answered request by its route, which has placeholders for ids."""
        with self._lock:
            self._requests[method, route, status] += 1
            self._buckets[route, bisect_left(_BOUNDS, duration_seconds)] += 1
            self._durations[route] += 1
            self._seconds[route] += duration_seconds

    def write(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Write gauges, given by name as their help and value, and then everything else."""
        lines: list[str] = []
        for name, (about, value) in gauges.items():
            lines += [*_write_head(name, "gauge", about), f"{name} {value:g}"]
        with self._lock:
            lines += [*self._write_requests(), *self._write_durations()]
        return "\n".join([*lines, ""])

    def _write_requests(self) -> Iterator[str]:
        name = "credenda_http_requests_total"
        yield from _write_head(name, "counter", "Requests that were answered.")
        for (method, route, status), count in sorted(self._requests.items()):
            yield f'{name}{{method="{method}",route="{route}",status="{status}"}} {count}'

    def _write_durations(self) -> Iterator[str]:
        name = "credenda_http_request_duration_seconds"
        yield from _write_head(name, "histogram", "Time from a request to the end of its answer.")
        for route, count in sorted(self._durations.items()):
            below = 0
            for place, bound in enumerate(_BOUNDS):
                below += self._buckets[route, place]
                yield f'{name}_bucket{{route="{route}",le="{bound:g}"}} {below}'
            yield f'{name}_bucket{{route="{route}",le="+Inf"}} {count}'
            yield f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'{name}_count{{route="{route}"}} {count}'


def _write_head(name: str, kind: str, about: str) -> Iterable[str]:
    return f"# HELP {name} {about}", f"# TYPE {name} {kind}"
