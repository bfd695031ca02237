"""One run at a time: a lock by name, in the database, that outlives a process which was killed only for a while.

On the machine where that process ran it is known to be gone, and its lock is taken over at once; elsewhere nobody can
tell, and its lease must end first.
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

__all__ = ["HeldError", "Lock", "hold_lock", "take"]

_log = logging.getLogger(__name__)


class HeldError(Exception):
    """Another run holds the lock."""


def take(parts: Parts, lead: SchedulerLease) -> bool:
    """Take or keep a lock or the lead; say whether it was taken from a process that was killed.

    Raises `Conflict` while another run has it that may still live.
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
    """A lock that is held; `taken` from a process that was killed, or free."""

    parts: Parts
    name: str
    owner: str
    seconds: int
    free: bool = False
    taken: bool = False

    def renew(self) -> None:
        """Take or keep it for its seconds; raises `HeldError` where another run has it."""
        try:
            self.taken = (not self.free and take(self.parts, self._lead(self.seconds))) or self.taken
        except Conflict as error:
            raise HeldError(error.what) from error

    def give_up(self) -> None:
        """Let go of it, unless another run has taken it over and it is not ours."""
        with suppress(Conflict):
            if not self.free:
                self.parts.store.commit(self.parts.user_id, lambda writer: writer.put(self._lead(0)))

    def _lead(self, seconds: int) -> SchedulerLease:
        now_us = self.parts.clock.now_us()
        return SchedulerLease(name=self.name, owner=self.owner, now_us=now_us, until_us=now_us + seconds * SECOND_US)


@contextmanager
def hold_lock(parts: Parts, name: str, seconds: int, *, free: bool = False) -> Generator[Lock]:
    """Hold a lock for so many seconds at a time; two runs of one process exclude each other too.

    Raises `HeldError` while another run has it, at once or when it is renewed. A run that is `free` needs none.
    """
    lock = Lock(parts, name, f"{parts.owner}:{draw_tag()}", seconds, free=free)
    lock.renew()
    try:
        yield lock
    finally:
        lock.give_up()
