"""The author in the current call: a server names the member who writes, and the storage keeps it with each row."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_author: ContextVar[str] = ContextVar("credenda_author", default="")


@contextmanager
def use_author(member_id: str) -> Generator[None]:
    """Name the author of everything that is written inside the block, and in threads that it starts."""
    token = _author.set(member_id)
    try:
        yield
    finally:
        _author.reset(token)


def read_author() -> str:
    """Return the id of the member who writes; "" for the user whose memory it is, and for background work."""
    return _author.get()
