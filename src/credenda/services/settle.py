"""Wait until all queued jobs have run, and flush buffers before a store is closed."""

from __future__ import annotations

import logging

from credenda.errors import CredendaError, Invalid
from credenda.runtime import Parts
from credenda.workers.idle_tasks import flush_accesses, save_index
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
