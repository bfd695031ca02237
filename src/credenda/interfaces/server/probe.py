"""A synthetic probe: from time to time the server writes a message, waits until it is read, and finds it.

It has a user of its own, whom nobody else can be, so that no other memory holds its words. A green process whose worker
stands still is the commonest fault of memory servers, and this is what shows it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import Final

from credenda.bootstrap import PROBE_USER
from credenda.client import Credenda
from credenda.clock import seconds
from credenda.errors import CredendaError, Unavailable
from credenda.ids import draw_request_id
from credenda.runtime import Parts

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


class Probe:
    """Probes a store every so many seconds in a thread of its own; takes over `parts`, and releases them at the end."""

    def __init__(self, parts: Parts, jobs_ready: Event, period_seconds: float) -> None:
        """Prepare; `jobs_ready` wakes the worker of this process, if it has one."""
        self._parts = replace(parts.for_user(PROBE_USER), jobs_ready=jobs_ready, llm_jobs_ready=jobs_ready)
        self._period_seconds = period_seconds
        self._stop = Event()
        self._thread = Thread(target=self._run, name="credenda-probe")
        self.last: ProbeResult | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait for the step under way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

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

    def _run(self) -> None:
        wait_seconds = min(_FIRST_SECONDS, self._period_seconds)
        with Credenda(self._parts, workers=False) as memory:
            while not self._stop.wait(wait_seconds):
                wait_seconds = self._period_seconds
                self.run_once(memory)

    def run_once(self, memory: Credenda) -> None:
        """Probe once, and keep the result."""
        times: list[float] = []
        try:
            _probe(memory, self._stop, times)
        except CredendaError as error:
            if self._stop.is_set():
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
