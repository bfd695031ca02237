"""The open memories behind one shim: one for each user, opened when first asked for, the least used closed."""

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
"""What a SQLite database consists of, after its name."""


@dataclass(slots=True)
class Tenant:
    """One user's open memory, and how many calls are using it."""

    parts: Parts
    client: Credenda
    lent: int = 0


class Tenants:
    """Open memories by user. A memory that a call is using is never closed under it."""

    def __init__(self, open_parts: Callable[[str], Parts], *, most: int, shared: str) -> None:
        """Open nothing yet; at most `most` idle memories stay open, `shared` is whose file-wide questions are asked."""
        self._open_parts = open_parts
        self._most = most
        self._shared = shared
        self._lock = Lock()
        self._open: OrderedDict[str, Tenant] = OrderedDict()
        self._users: dict[str, str] = {}
        self._closed = False

    def __len__(self) -> int:
        """Count the memories that are open."""
        return len(self._open)

    @contextmanager
    def lend(self, user: str) -> Generator[Tenant]:
        """Lend a user's memory for the length of a call."""
        tenant = self._take(user)
        try:
            yield tenant
        finally:
            self._give_back(tenant)

    @contextmanager
    def owning(self, memory_id: str, user: str | None) -> Generator[Tenant]:
        """Lend the memory that an id belongs to; raises `NotFound` for an id of nobody, or not of the user named."""
        owner = self._owner(memory_id)
        if owner is None or (user is not None and user != owner):
            raise NotFound(
                f"nothing here is called {memory_id[:64]!r}",
                why="no user has it, or not the one that was named",
                fix="copy an id from search or get_all",
            )
        with self.lend(owner) as tenant:
            yield tenant

    def close(self) -> None:
        """Close every memory; one that a call is using closes when the call ends."""
        with self._lock:
            self._closed = True
            idle = [tenant for tenant in self._open.values() if not tenant.lent]
            self._open.clear()
        for tenant in idle:
            tenant.client.close()

    def wipe(self) -> None:
        """Close every memory and remove the file with all its users; raises `Unavailable` while a call is using one."""
        with self.lend(self._shared) as tenant:
            path = tenant.parts.store_name
        with self._lock:
            if any(tenant.lent for tenant in self._open.values()):
                raise Unavailable("the memory is in use", why="another call is under way", fix="reset it when none is")
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
        """Take out the least recently used idle memories beyond the bound."""
        idle = [user for user, tenant in self._open.items() if not tenant.lent]
        return [self._open.pop(user) for user in idle[: max(0, len(self._open) - self._most)]]

    def _owner(self, memory_id: str) -> str | None:
        """Find whose id it is: an id carries its tenant's tag."""
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
