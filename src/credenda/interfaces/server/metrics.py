"""Counts for Prometheus, in its text format. No label names a user, a token, or an id."""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Event, Lock, Thread
from typing import Final

from credenda.bootstrap import PROBE_USER
from credenda.client import Credenda
from credenda.clock import seconds
from credenda.errors import CredendaError, Unavailable
from credenda.ids import draw_request_id
from credenda.runtime import Parts

_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets of durations, in seconds."""


class Metrics:
    """What happened since the process started."""

    def __init__(self) -> None:
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


# A synthetic probe: from time to time the server writes a message, waits until it is read, and finds it.


_log: Final = logging.getLogger(__name__)
_FIRST_SECONDS: Final = 15.0
"""When the first probe runs: after a start, so that it does not slow it down."""
_STEP_SECONDS: Final = 0.02
_READ_SECONDS: Final = 60.0
"""How long the message may wait to be read."""
_EVENTS_MAX: Final = 5_000
"""Messages after which the user of the probe is erased, so that it stays small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The result of one probe; a part that was not reached took 0 seconds."""

    ok: bool
    at_seconds: float
    """When it ended, by `clock.seconds`."""
    write_seconds: float = 0.0
    read_seconds: float = 0.0
    find_seconds: float = 0.0


class Probe(Thread):
    """Probes a store every so many seconds in a thread of its own; takes over `parts`, and releases them at the end."""

    def __init__(self, parts: Parts, jobs_ready: Event, period_seconds: float) -> None:
        """Prepare; `jobs_ready` wakes the worker of this process, if it has one."""
        super().__init__(name="credenda-probe")
        self._parts = replace(parts.for_user(PROBE_USER), jobs_ready=jobs_ready, llm_jobs_ready=jobs_ready)
        self.period_seconds = period_seconds
        self._ended = Event()
        self.last: ProbeResult | None = None

    def close(self) -> None:
        """Stop, and wait for the step under way."""
        self._ended.set()
        if self.is_alive():
            self.join()

    def list_gauges(self) -> Mapping[str, tuple[str, float]]:
        """Return the metrics of the last probe; none before the first."""
        last = self.last
        if last is None:
            return {}
        total = last.write_seconds + last.read_seconds + last.find_seconds
        return {
            "credenda_probe_success": ("Whether the last probe was written, read and found.", float(last.ok)),
            "credenda_probe_age_seconds": ("Time since the last probe.", seconds() - last.at_seconds),
            "credenda_probe_write_seconds": ("Time until the last probe was stored.", last.write_seconds),
            "credenda_probe_read_seconds": ("Time until the last probe was read.", last.read_seconds),
            "credenda_probe_find_seconds": ("Time of the search for the last probe.", last.find_seconds),
            "credenda_probe_total_seconds": ("Time of the whole last probe.", total),
        }

    def run(self) -> None:
        """Probe until it is closed."""
        wait_seconds = min(_FIRST_SECONDS, self.period_seconds)
        with Credenda(self._parts, workers=False) as memory:
            while not self._ended.wait(wait_seconds):
                wait_seconds = self.period_seconds
                self.run_once(memory)

    def run_once(self, memory: Credenda) -> None:
        """Probe once, and keep the result."""
        times: list[float] = []
        try:
            _probe(memory, self._ended, times)
        except CredendaError as error:
            if self._ended.is_set():
                return
            _log.warning("the probe failed: %s", error.what)
        except Exception as error:  # noqa: BLE001 - it reports what it meets, and goes on
            _log.warning("the probe failed: %s", type(error).__name__)
        write, read, find = (*times, 0.0, 0.0, 0.0)[:3]
        self.last = ProbeResult(
            ok=len(times) == 3,  # noqa: PLR2004 - all steps
            at_seconds=seconds(),
            write_seconds=write,
            read_seconds=read,
            find_seconds=find,
        )


def _probe(memory: Credenda, stop: Event, times: list[float]) -> None:
    """Write, wait until it is read, and find; note how long each took."""
    if memory.stats().events >= _EVENTS_MAX:
        memory.erase(confirm=PROBE_USER)
    code, begun = draw_request_id(), seconds()
    written = memory.remember(f"The code of the last probe is {code}.", session="probe").event_ids[0]
    times.append(seconds() - begun)
    begun = seconds()
    while memory.stats().waiting:
        if seconds() - begun > _READ_SECONDS or stop.wait(_STEP_SECONDS):
            raise Unavailable("the message was not read", why=f"it waits for more than {_READ_SECONDS:g} seconds")
    times.append(seconds() - begun)
    begun = seconds()
    hits = memory.search(code, limit=5, record_access=False).hits
    shown = {one.id for hit in hits for one in (hit, *hit.evidence)}
    if written not in shown:
        raise Unavailable("the message was not found")
    times.append(seconds() - begun)
