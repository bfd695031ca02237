"""How the shared code runs a named statement, and what it reads back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

__all__ = ["Cursor", "Record", "StatementRunner"]


class Record(Protocol):
    """A row: its cells by the name of their column, or by place."""

    def __getitem__(self, key: Any, /) -> Any:  # noqa: ANN401 - whatever the column holds
        """Return a cell."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Yield the cells."""
        ...

    def keys(self) -> Sequence[str]:
        """Return the names of the columns."""
        ...


class Cursor(Protocol):
    """The rows of a statement that was run."""

    @property
    def rowcount(self) -> int:
        """The number of rows that a statement changed."""
        ...

    @property
    def description(self) -> Any:  # noqa: ANN401 - one entry a column, whose first cell is the name
        """The columns of the rows."""
        ...

    def fetchone(self) -> Any:  # noqa: ANN401 - a Record, or None
        """Return the next row; None without one."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Yield the remaining rows."""
        ...


class StatementRunner(Protocol):
    """Runs a statement by its name, for one tenant."""

    def __call__(self, name: str, /, **parameters: object) -> Cursor:
        """Run the statement."""
        ...
