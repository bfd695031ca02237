"""An LRU pool of open memories, one per user, opened on first use."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final

from credenda.client import Credenda
from credenda.errors import NotFound, Unavailable
from credenda.runtime import Parts

__all__ = ["Tenant", "Tenants"]

_TAG: Final = re.compile(r"[em][0-9]+-([0-9a-f]{6})")
_FILES: Final = ("", "-wal", "-shm")
"""Suffixes of the files of a SQLite database."""


@dataclass(slots=True)
class Tenant:
    """One user's open memory, and the number of calls that use it."""

    parts: Parts
    client: Credenda
    lent: int = 0


class Tenants:
    """Open memories by user. A memory in use is never closed."""

    def __init__(self, open_parts: Callable[[str], Parts], *, most: int, shared: str) -> None:
        """Start empty; at most `most` idle memories stay open, `shared` is the user for queries over the whole file."""
        self._open_parts = open_parts
        self._most = most
        self._shared = shared
        self._lock = Lock()
        self._open: OrderedDict[str, Tenant] = OrderedDict()
        self._users: dict[str, str] = {}
        self._closed = False

    def __len__(self) -> int:
        """Return the number of open memories."""
        return len(self._open)

    @contextmanager
    def lend(self, user: str) -> Generator[Tenant]:
        """Provide a user's memory for the duration of a call."""
        tenant = self._take(user)
        try:
            yield tenant
        finally:
            self._give_back(tenant)

    @contextmanager
    def owning(self, memory_id: str, user: str | None) -> Generator[Tenant]:
        """Provide the memory that an id belongs to; raise `NotFound` for an unknown id, or one of another user."""
        owner = self._owner(memory_id)
        if owner is None or (user is not None and user != owner):
            raise NotFound(
                f"there is no memory {memory_id[:64]!r}",
                why="no user has this id, or not the given user",
                fix="copy an id from search or get_all",
            )
        with self.lend(owner) as tenant:
            yield tenant

    def close(self) -> None:
        """Close every memory; one in use closes when its call ends."""
        with self._lock:
            self._closed = True
            idle = [tenant for tenant in self._open.values() if not tenant.lent]
            self._open.clear()
        for tenant in idle:
            tenant.client.close()

    def wipe(self) -> None:
        """Close every memory and remove the file with all its users; raise `Unavailable` while one is in use."""
        with self.lend(self._shared) as tenant:
            path = tenant.parts.store_name
        with self._lock:
            if any(tenant.lent for tenant in self._open.values()):
                raise Unavailable(
                    "the memory is in use", why="another call is running", fix="reset when no call is running"
                )
            while self._open:
                self._open.popitem()[1].client.close()
            self._users.clear()
            for ending in _FILES:
                Path(f"{path}{ending}").unlink(missing_ok=True)

    def _take(self, user: str) -> Tenant:
        with self._lock:
            if self._closed:
                raise Unavailable("this memory is closed", fix="make a new Memory")
            tenant = self._open.get(user)
            if tenant is None:
                parts = self._open_parts(user)
                tenant = self._open[user] = Tenant(parts, Credenda(parts, workers=False))
            tenant.lent += 1
            self._open.move_to_end(user)
            return tenant

    def _give_back(self, tenant: Tenant) -> None:
        with self._lock:
            tenant.lent -= 1
            leaving = [tenant] if self._closed and not tenant.lent else self._surplus()
        for one in leaving:
            one.client.close()

    def _surplus(self) -> list[Tenant]:
        """Remove and return the least recently used idle memories beyond the limit."""
        idle = [user for user, tenant in self._open.items() if not tenant.lent]
        return [self._open.pop(user) for user in idle[: max(0, len(self._open) - self._most)]]

    def _owner(self, memory_id: str) -> str | None:
        """Find the user of an id, by the tenant's tag in it."""
        found = _TAG.fullmatch(memory_id)
        if found is None:
            return None
        tag = found[1]
        if tag not in self._users:
            with self.lend(self._shared) as tenant:
                user = tenant.parts.store.user_of(tag)
            if user is None:
                return None
            self._users[tag] = user
        return self._users[tag]
