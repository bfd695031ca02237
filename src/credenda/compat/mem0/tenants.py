"""The open memories behind the shim: one for each user, over one shared store."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final

from credenda.bootstrap import build_user_parts
from credenda.client import Credenda
from credenda.errors import NotFound, Unavailable
from credenda.runtime import Parts
from credenda.session_pool import SessionPool

__all__ = ["Tenant", "Tenants"]

_TAG: Final = re.compile(r"[em][0-9]+-([0-9a-f]{6})")
_USERS_PAGE: Final = 500
_FILES: Final = ("", "-wal", "-shm")
"""Suffixes of the files of a SQLite database."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """One user's open memory."""

    parts: Parts
    client: Credenda

    def close(self) -> None:
        """Close the memory."""
        self.client.close()


class Tenants:
    """The memories of all users of one file: they share its connections and its embedder.

    A memory that a call is using is never closed under it.
    """

    def __init__(self, open_parts: Callable[[str], Parts], *, most: int, shared: str) -> None:
        """Open nothing yet; at most `most` memories are open, and file-wide questions are put to that of `shared`."""
        self._open_parts = open_parts
        self._shared = shared
        self._lock = Lock()
        self._root: Parts | None = None
        self._closed = False
        self._users: dict[str, str] = {}
        self._pool = SessionPool(self._open, sessions_max=most)

    def __len__(self) -> int:
        """Return the number of open memories."""
        return len(self._pool)

    def lend(self, user: str) -> AbstractContextManager[Tenant]:
        """Provide a user's memory for the duration of a call."""
        return self._pool.lend(user)

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

    def list_users(self) -> list[str]:
        """Return the names of all users but the shared one, in order."""
        found: list[str] = []
        with self.lend(self._shared) as tenant:
            while page := tenant.parts.store.users(after=found[-1] if found else "", limit=_USERS_PAGE):
                found += page
        return [name for name in found if name != self._shared]

    def close(self) -> None:
        """Close every memory; one in use closes when its call ends."""
        self._closed = True
        self._pool.close()
        self._release()

    def wipe(self) -> None:
        """Close every memory and remove all users; raise `Unavailable` while one is in use.

        The file of a SQLite database goes, and with it the record of deletions. From Postgres the users are erased.
        """
        with self._pool.paused():
            path = self._store().store_name
            if not Path(path).is_file():
                self._erase_users(self._store())
            self._release()
            self._users.clear()
            for ending in _FILES:
                Path(f"{path}{ending}").unlink(missing_ok=True)

    @staticmethod
    def _erase_users(parts: Parts) -> None:
        while page := parts.store.users(limit=_USERS_PAGE):
            for user in page:
                parts.store.erase(user)
                parts.indexes.drop(user, store=parts.store_name)

    def _open(self, user: str) -> Tenant:
        parts = build_user_parts(self._store(), user)
        return Tenant(parts, Credenda(parts, workers=False))

    def _store(self) -> Parts:
        """Return the view that keeps the store open, opened when first asked for."""
        with self._lock:
            if self._closed:
                raise Unavailable("this memory is closed", fix="make a new Memory")
            if self._root is None:
                self._root = self._open_parts(self._shared)
            return self._root

    def _release(self) -> None:
        """Let go of the store, which closes with the last memory."""
        with self._lock:
            root, self._root = self._root, None
        if root is not None:
            root.release()

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
