"""Growing arrays that the versions of an index share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["GrowingArray", "NameNumbers"]

T = TypeVar("T", bound=np.generic)

_SLACK_LEAST: Final = 256
_SLACK_SHARE: Final = 16
"""A full column grows by a sixteenth: 3 % of unused memory on average. The first values get exactly their space."""


class GrowingArray(Generic[T]):
    """Values by row (last axis), shared by versions that each see their own number of rows.

    Appending writes behind the rows that older versions see; changing a row makes a copy. Successive versions that
    append share one column; a second branch of versions gets its own.
    """

    __slots__ = ("buffer", "used")

    def __init__(self, values: NDArray[T]) -> None:
        self.buffer = values
        self.used = values.shape[-1]

    @property
    def nbytes(self) -> int:
        """Bytes used, slack included."""
        return self.buffer.nbytes

    def view(self, rows: int) -> NDArray[T]:
        """Return the first rows."""
        return self.buffer[..., :rows]

    def appended(self, rows: int, values: NDArray[T]) -> GrowingArray[T]:
        """Return the column with `values` after its first `rows`."""
        stop = rows + values.shape[-1]
        fits = stop <= self.buffer.shape[-1] and self.buffer.flags.writeable
        column = self if fits and self.used == rows else self._grown(rows, stop)
        column.buffer[..., rows:stop] = values
        column.used = stop
        return column

    def altered(self, rows: int, at: NDArray[np.int64], values: NDArray[T]) -> GrowingArray[T]:
        """Return the column with new values in the rows `at`: itself if they are the same, otherwise a copy."""
        if np.array_equal(self.buffer[..., at], values):
            return self
        column = self._grown(rows, rows)
        column.buffer[..., at] = values
        return column

    def overwritten(self, at: NDArray[np.int64], values: NDArray[T]) -> GrowingArray[T]:
        """Write into the rows `at` in place if possible; use it only where every version may see the change."""
        column = self if self.buffer.flags.writeable else self._grown(self.used, self.used)
        column.buffer[..., at] = values
        return column

    def _grown(self, rows: int, least: int) -> GrowingArray[T]:
        slack = max(_SLACK_LEAST, least // _SLACK_SHARE) if rows else 0
        column: GrowingArray[T] = GrowingArray(np.zeros((*self.buffer.shape[:-1], least + slack), self.buffer.dtype))
        column.buffer[..., :rows] = self.buffer[..., :rows]
        column.used = rows
        return column


class NameNumbers:
    """Names numbered in order of arrival. Immutable."""

    __slots__ = ("_numbers", "names", "nbytes")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = tuple(names)
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self.nbytes = sum(160 + len(name) for name in self.names)
        """Approximate bytes used: a string, its entry in the dictionary and its number."""

    def with_all(self, names: Iterable[str]) -> NameNumbers:
        """Return these names and the new ones among `names`."""
        new = [name for name in dict.fromkeys(names) if name not in self._numbers]
        return NameNumbers((*self.names, *new)) if new else self

    def numbers(self, names: Iterable[str]) -> NDArray[np.int32]:
        """Return the number of each name, -1 for an unknown name."""
        return np.array([self._numbers.get(name, -1) for name in names], np.int32)
