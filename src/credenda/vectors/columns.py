"""Growing arrays that the versions of an index share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Column", "Names"]

T = TypeVar("T", bound=np.generic)

_SLACK_LEAST: Final = 256
_SLACK_SHARE: Final = 8
"""A full column grows by an eighth: 6 % of memory idle on average, each value copied eight times at most."""


class Column(Generic[T]):
    """Values by row (last axis), shared by versions that each know how many rows they see.

    Appending writes behind the rows that older versions see; changing a row in place would not be safe and makes a
    copy. Versions that append to the same column one after the other share it; a second branch gets its own.
    """

    __slots__ = ("_buffer", "_used")

    def __init__(self, values: NDArray[T]) -> None:
        self._buffer = values
        self._used = values.shape[-1]

    @property
    def nbytes(self) -> int:
        """Bytes held, slack included."""
        return self._buffer.nbytes

    def view(self, rows: int) -> NDArray[T]:
        """Return the first rows."""
        return self._buffer[..., :rows]

    def appended(self, rows: int, values: NDArray[T]) -> Column[T]:
        """Return the column with `values` after the first `rows`."""
        stop = rows + values.shape[-1]
        if self._used == rows and stop <= self._buffer.shape[-1] and self._buffer.flags.writeable:
            self._buffer[..., rows:stop] = values
            self._used = stop
            return self
        slack = max(_SLACK_LEAST, stop // _SLACK_SHARE)
        grown: Column[T] = Column(np.zeros((*self._buffer.shape[:-1], stop + slack), self._buffer.dtype))
        grown._buffer[..., :rows] = self._buffer[..., :rows]
        grown._used = rows
        return grown.appended(rows, values)

    def altered(self, at: NDArray[np.int64], values: NDArray[T]) -> Column[T]:
        """Return a copy with other values in the rows `at`."""
        return self.writable(copy=True).overwritten(at, values)

    def writable(self, *, copy: bool = False) -> Column[T]:
        """Return this column, or a copy when it lies in memory that must not be written, or when asked for."""
        if self._buffer.flags.writeable and not copy:
            return self
        twin = Column(self._buffer.copy())
        twin._used = self._used
        return twin

    def overwritten(self, at: NDArray[np.int64], values: NDArray[T]) -> Column[T]:
        """Write into rows in place, seen by every version: only for rows that no version reads yet."""
        self._buffer[..., at] = values
        return self


class Names:
    """Names numbered in order of arrival. Never altered."""

    __slots__ = ("_numbers", "names")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = tuple(names)
        self._numbers = {name: number for number, name in enumerate(self.names)}

    def with_all(self, names: Iterable[str]) -> Names:
        """Return these names and the new ones among `names`."""
        new = [name for name in dict.fromkeys(names) if name not in self._numbers]
        return Names((*self.names, *new)) if new else self

    def numbers(self, names: Iterable[str]) -> NDArray[np.int32]:
        """Return the number of each name."""
        return np.array([self._numbers[name] for name in names], np.int32)

    @property
    def nbytes(self) -> int:
        """Bytes held, about: a string, its dictionary entry and number."""
        return sum(160 + len(name) for name in self.names)
