"""One run at a time: a lock by name, in the database, that outlives a process which was killed only for a while."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from credenda.clock import SECOND_US
from credenda.errors import Conflict
from credenda.ids import new_tag
from credenda.parts import Parts
from credenda.storage.store import Lead

__all__ = ["HeldError", "locked"]


class HeldError(Exception):
    """Another run holds the lock."""


@contextmanager
def locked(parts: Parts, name: str, seconds: int, *, free: bool = False) -> Generator[Callable[[], None]]:
    """Hold a lock; two runs of one process exclude each other too. Hands out what renews it, for so many seconds.

    Raises `HeldError` while another run has it, at once or when it is renewed. A run that is `free` needs none.
    """
    owner = f"{parts.owner}:{new_tag()}"

    def take(for_seconds: int) -> None:
        now_us = parts.clock.now_us()
        lead = Lead(name=name, owner=owner, now_us=now_us, until_us=now_us + for_seconds * SECOND_US)
        parts.store.commit(parts.user_id, lambda writer: writer.put(lead))

    def renew() -> None:
        try:
            take(seconds)
        except Conflict as error:
            raise HeldError(error.what) from error

    if free:
        yield lambda: None
        return
    renew()
    try:
        yield renew
    finally:
        with suppress(Conflict):  # another run has taken it over: it is not ours to give up
            take(0)
