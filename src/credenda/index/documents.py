"""The columns of the documents in an index, and the look-up from a code to its row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from credenda.storage.store import Document, DocumentState

# Growing arrays that the versions of an index share.


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


STATE_CURRENT: Final = 0
STATE_PAST: Final = 1
STATE_HIDDEN: Final = 2
STATE_GONE: Final = 3
STATE_CODES: Final = {
    DocumentState.CURRENT: STATE_CURRENT,
    DocumentState.PAST: STATE_PAST,
    DocumentState.HIDDEN: STATE_HIDDEN,
    DocumentState.GONE: STATE_GONE,
}
LENGTH_MAX: Final = 65_535
_NOWHERE: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentColumns:
    """Documents by row. `bits` are sign words (w, n); `by_code` lists the rows in order of their codes, int32.

    Immutable for its users: each method returns a new table, which shares unchanged columns.
    """

    rows: int
    codes: GrowingArray[np.int64]
    state: GrowingArray[np.uint8]
    session: GrowingArray[np.int32]
    speaker: GrowingArray[np.int32]
    occurred_us: GrowingArray[np.int64]
    length: GrowingArray[np.uint16]
    has_vector: GrowingArray[np.bool_]
    bits: GrowingArray[np.uint64]
    by_code: NDArray[np.int32]
    sessions: NameNumbers
    speakers: NameNumbers

    @classmethod
    def empty(cls) -> DocumentColumns:
        """Return a table without rows."""
        return cls(
            rows=0,
            codes=GrowingArray(np.zeros(0, np.int64)),
            state=GrowingArray(np.zeros(0, np.uint8)),
            session=GrowingArray(np.zeros(0, np.int32)),
            speaker=GrowingArray(np.zeros(0, np.int32)),
            occurred_us=GrowingArray(np.zeros(0, np.int64)),
            length=GrowingArray(np.zeros(0, np.uint16)),
            has_vector=GrowingArray(np.zeros(0, np.bool_)),
            bits=GrowingArray(np.zeros((0, 0), np.uint64)),
            by_code=np.zeros(0, np.int32),
            sessions=NameNumbers(),
            speakers=NameNumbers(),
        )

    @property
    def nbytes(self) -> int:
        """Bytes used, slack included."""
        small = self.state.nbytes + self.length.nbytes + self.has_vector.nbytes + self.by_code.nbytes
        wide = self.codes.nbytes + self.session.nbytes + self.speaker.nbytes + self.occurred_us.nbytes
        return small + wide + self.bits.nbytes + self.sessions.nbytes + self.speakers.nbytes

    def rows_of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each code, -1 for an unknown code."""
        if not self.rows:
            return np.full(len(codes), _NOWHERE, np.int64)
        known = self.codes.view(self.rows)
        at = np.minimum(np.searchsorted(known, codes, sorter=self.by_code), self.rows - 1)
        rows = self.by_code[at].astype(np.int64)
        return np.where(known[rows] == codes, rows, _NOWHERE)

    def appended(self, documents: Sequence[Document], lengths: NDArray[np.uint16]) -> DocumentColumns:
        """Add rows for documents whose codes are new."""
        codes = np.array([document.code for document in documents], np.int64)
        order = np.argsort(codes, kind="stable")
        place = np.searchsorted(self.codes.view(self.rows), codes[order], sorter=self.by_code)
        named = self._with_names(documents)
        start, count = self.rows, len(documents)
        words = self.bits.view(0).shape[0]
        return replace(
            named,
            rows=start + count,
            codes=self.codes.appended(start, codes),
            state=self.state.appended(start, _encode_states(documents)),
            session=self.session.appended(start, named.session_numbers(documents)),
            speaker=self.speaker.appended(start, named.speaker_numbers(documents)),
            occurred_us=self.occurred_us.appended(start, _encode_times(documents)),
            length=self.length.appended(start, lengths),
            has_vector=self.has_vector.appended(start, np.zeros(count, np.bool_)),
            bits=self.bits.appended(start, np.zeros((words, count), np.uint64)),
            by_code=np.insert(self.by_code, place, (start + order).astype(np.int32)),
        )

    def with_documents(self, at: NDArray[np.int64], documents: Sequence[Document]) -> DocumentColumns:
        """Replace the data of the rows `at` by that of their documents, except the lengths."""
        named = self._with_names(documents)
        return replace(
            named,
            state=self.state.altered(self.rows, at, _encode_states(documents)),
            session=self.session.altered(self.rows, at, named.session_numbers(documents)),
            speaker=self.speaker.altered(self.rows, at, named.speaker_numbers(documents)),
            occurred_us=self.occurred_us.altered(self.rows, at, _encode_times(documents)),
        )

    def with_states(self, at: NDArray[np.int64], states: NDArray[np.uint8]) -> DocumentColumns:
        """Give the rows `at` other states."""
        return replace(self, state=self.state.altered(self.rows, at, states))

    def with_lengths(self, at: NDArray[np.int64], lengths: NDArray[np.uint16]) -> DocumentColumns:
        """Give the rows `at` other lengths."""
        return replace(self, length=self.length.altered(self.rows, at, lengths))

    def with_bits(self, at: NDArray[np.int64], words: NDArray[np.uint64]) -> DocumentColumns:
        """Give the rows `at` the sign words of their vectors."""
        bits = self.bits
        if not bits.view(0).shape[0]:
            bits = GrowingArray(np.zeros((len(words), self.rows), np.uint64))
        return replace(
            self,
            # In place: older versions take these rows to have no vector. After a replacement they use the
            # new vector for candidates, which is harmless, because those are compared by stored vectors.
            bits=bits.overwritten(at, words),
            has_vector=self.has_vector.altered(self.rows, at, np.ones(len(at), np.bool_)),
        )

    def without_bits(self, at: NDArray[np.int64]) -> DocumentColumns:
        """Remove the vectors of the rows `at` from the search."""
        return replace(self, has_vector=self.has_vector.altered(self.rows, at, np.zeros(len(at), np.bool_)))

    def session_numbers(self, documents: Sequence[Document]) -> NDArray[np.int32]:
        """Return the number of each document's session, -1 for none."""
        return self.sessions.numbers(document.session for document in documents)  # "" is never among the names

    def speaker_numbers(self, documents: Sequence[Document]) -> NDArray[np.int32]:
        """Return the number of each document's speaker."""
        return self.speakers.numbers(document.speaker for document in documents)

    def _with_names(self, documents: Sequence[Document]) -> DocumentColumns:
        return replace(
            self,
            sessions=self.sessions.with_all(document.session for document in documents if document.session),
            speakers=self.speakers.with_all(document.speaker for document in documents),
        )


def _encode_states(documents: Sequence[Document]) -> NDArray[np.uint8]:
    return np.array([STATE_CODES[document.state] for document in documents], np.uint8)


def _encode_times(documents: Sequence[Document]) -> NDArray[np.int64]:
    return np.array([document.occurred_us for document in documents], np.int64)
