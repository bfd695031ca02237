"""What a caller expects to change: a change is refused if another one came first (HTTP: If-Match).

The expectation is in a context variable, as the deadline is. Every edit reads it in the thread of its caller, because
units of several callers share a commit, and checks it in the unit that files the change.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import blake2b

from credenda.errors import Conflict
from credenda.model.change import ContestCase
from credenda.model.job import JobInfo
from credenda.model.memory import Memory, Status

Versioned = Memory | JobInfo | ContestCase
"""Rows that have versions for callers."""
_ANY = "*"


@dataclass(slots=True)
class Expectation:
    """The versions of which the row that an edit changes must have one; "*" is any version."""

    versions: frozenset[str] = frozenset({_ANY})
    checked: bool = False
    """Whether an edit has looked; one that never does would let a stale request through."""

    def check(self, row_id: str, row: Versioned) -> None:
        """Raise `Conflict` if the row has another version; call it in the unit that changes the row."""
        self.checked = True
        if _ANY in self.versions:
            return
        version = name_version(row)
        if version not in self.versions:
            named = ", ".join(sorted(self.versions))[:256]
            raise Conflict(
                f"{row_id} is not as the caller expects it",
                why=f"it has version {version}, and the request names {named}",
                fix="read it again, and decide on what it is now",
                version=version,
                expected=named,
            )


_expected: ContextVar[Expectation | None] = ContextVar("credenda_expectation", default=None)


@contextmanager
def expect(versions: frozenset[str]) -> Generator[Expectation]:
    """Let the edit inside the block happen only to a row of one of these versions."""
    expectation = Expectation(versions)
    token = _expected.set(expectation)
    try:
        yield expectation
    finally:
        _expected.reset(token)


def read_expectation() -> Expectation:
    """Return what the caller of an edit expects; call it in the caller's thread, before the unit."""
    return _expected.get() or Expectation()


def name_version(row: Versioned) -> str:
    """Name the version of a row: a memory by its number, anything else by a hash of what a caller sees.

    How often a memory was used is no version of it.
    """
    if isinstance(row, Memory):
        return f"{row.id}.deleted" if row.status is Status.DELETED else f"{row.id}.{row.version}"
    return f"{row.id}.{blake2b(repr(row).encode(), digest_size=6).hexdigest()}"
