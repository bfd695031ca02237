"""Wait until all queued jobs have run, and flush buffers before a store is closed."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from credenda.clock import SECOND_US
from credenda.errors import CredendaError, Invalid
from credenda.runtime import Parts
from credenda.storage.records import READING_JOBS
from credenda.storage.store import Reader
from credenda.workers.loop import flush_accesses, save_index
from credenda.workers.loop import settle as settle_jobs

_log = logging.getLogger(__name__)


def settle(parts: Parts, timeout_seconds: float = 30.0) -> None:
    """Wait until every queued job of this tenant has run; raises `Unavailable` on time-out."""
    if not isinstance(timeout_seconds, int | float) or not timeout_seconds > 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(
            f"a timeout of {timeout_seconds!r} s", why="it must be a positive number", fix="give seconds, like 30"
        )
    settle_jobs(parts, timeout_seconds)
    flush_accesses(parts)


def flush_and_stop(parts: Parts) -> None:
    """Write all buffered data before a store is closed; a store that cannot be written is left unchanged."""
    if parts.read_only:
        return
    try:
        flush_accesses(parts)
        save_index(parts)
    except CredendaError as error:
        _log.warning("closing without saving the index", extra={"code": error.code})


# Messages that were filed and not read yet.


@dataclass(frozen=True, slots=True)
class Unread:
    """How many messages of a tenant wait to be read, and for how many seconds the oldest one has; 0 without any."""

    messages: int
    oldest_seconds: float


def measure_unread(reader: Reader, now_us: int) -> Unread:
    """Measure the messages of a tenant that are not read yet, whatever keeps them waiting, except abandoned ones."""
    messages, oldest_us = reader.duties.count_waiting(READING_JOBS)
    return Unread(messages, _to_age(now_us if oldest_us is None else oldest_us, now_us))


def measure_oldest_unread(parts: Parts) -> float:
    """Return for how many seconds the oldest unread message of any tenant has waited; 0 without one."""
    oldest_us = parts.store.find_oldest_waiting(READING_JOBS)
    now_us = parts.clock.now_us()
    return _to_age(now_us if oldest_us is None else oldest_us, now_us)


def _to_age(since_us: int, now_us: int) -> float:
    return max(0, now_us - since_us) / SECOND_US
