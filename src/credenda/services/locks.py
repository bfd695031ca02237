"""Named locks in the database, with a lease that ends if the process is killed.

On the same machine a killed process is detected and its lock is taken over at once; on another machine the lease must
end first.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from credenda.clock import SECOND_US
from credenda.errors import Conflict
from credenda.ids import draw_tag
from credenda.runtime import Parts
from credenda.storage.store import SchedulerLease
from credenda.workers.leases import is_gone

_log = logging.getLogger(__name__)


class HeldError(Exception):
    """Another run holds the lock."""


def take(parts: Parts, lead: SchedulerLease) -> bool:
    """Take or renew a lock or the leadership; return whether it was taken over from a killed process.

    Raises `Conflict` while another run holds it that may still be running.
    """
    try:
        parts.store.commit(parts.user_id, lambda writer: writer.put(lead))
    except Conflict as error:
        holder = error.ids.get("owner", "")
        if not is_gone(holder, parts.owner):
            raise
        parts.store.commit(parts.user_id, lambda writer: writer.put(replace(lead, over=holder)))
        _log.warning("took over from a process that is gone", extra={"duty": lead.name})
        return True
    return False


@dataclass(slots=True)
class Lock:
    """A held lock; `taken` if it was taken over from a killed process. A `free` lock takes nothing."""

    parts: Parts
    name: str
    owner: str
    seconds: int
    free: bool = False
    taken: bool = False

    def renew(self) -> None:
        """Take or renew the lock for its seconds; raises `HeldError` if another run holds it."""
        try:
            self.taken = (not self.free and take(self.parts, self._lead(self.seconds))) or self.taken
        except Conflict as error:
            raise HeldError(error.what) from error

    def give_up(self) -> None:
        """Release the lock, unless another run has taken it over."""
        with suppress(Conflict):
            if not self.free:
                self.parts.store.commit(self.parts.user_id, lambda writer: writer.put(self._lead(0)))

    def _lead(self, seconds: int) -> SchedulerLease:
        now_us = self.parts.clock.now_us()
        return SchedulerLease(name=self.name, owner=self.owner, now_us=now_us, until_us=now_us + seconds * SECOND_US)


@contextmanager
def hold_lock(parts: Parts, name: str, seconds: int, *, free: bool = False) -> Generator[Lock]:
    """Hold a lock and release it at the end; two runs of one process exclude each other, too.

    The holder renews it before `seconds` have passed. Raises `HeldError` while another run holds it, also at a renewal.
    With `free` no lock is taken.
    """
    lock = Lock(parts, name, f"{parts.owner}:{draw_tag()}", seconds, free=free)
    lock.renew()
    try:
        yield lock
    finally:
        lock.give_up()
