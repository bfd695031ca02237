"""Snapshots of an index as bytes: stored in the database, read at the next start, discarded if anything is wrong.

Layout: magic, CRC-32 of the rest (initialised with the length of the head), length of a JSON head, the head, the sign
words of those rows that have a vector, word by word, and then the other arrays end to end, deflated (RFC 1950).
Ascending numbers are written as differences, which compress better: a third of the bytes, for 4 ms of reading at 10,000
rows. A CRC finds every single damaged byte; forgery is no concern, because a process that can write into the database
can write anything.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from credenda import limits
from credenda.index.bm25 import InvertedLists, Statistics, TermLists, compute_rarities, score_terms
from credenda.storage.store import Document, DocumentState, IndexPosition, pack_code
from credenda.text.tokens import TOKENIZER

# The columns of the documents in an index, and the look-up from a code to its row.


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


IMAGE_VERSION: Final = 3
_MAGIC: Final = b"CREDIDX\n"
_PREFIX: Final = struct.Struct("<8sII")
_LEVEL: Final = 1
"""The compression level: higher ones take longer and hardly save more."""
_COLUMNS: Final = (
    ("codes", np.int64),
    ("state", np.uint8),
    ("session", np.int32),
    ("speaker", np.int32),
    ("occurred_us", np.int64),
    ("length", np.uint16),
    ("has_vector", np.bool_),
)
_LISTS: Final = (("terms", np.uint64), ("offsets", np.int32), ("docs", np.int32), ("tf", np.uint8))
"""The fields of `DocumentColumns` and `InvertedLists` in a snapshot, in this order, with `by_code` between them."""
_STEPS: Final = frozenset({"codes", "occurred_us", "by_code", "offsets", "docs"})
"""Fields written as differences, with wrap-around in their type."""


class SnapshotHeader(NamedTuple):
    """The metadata of a snapshot."""

    model_id: str | None
    dims: int
    heads: IndexPosition
    lineage: bytes
    """The checksum of the tenant's history up to `heads` (`TaskProgress.lineage`)."""


def write_snapshot(head: SnapshotHeader, table: DocumentColumns, base: InvertedLists) -> tuple[bytes, ...]:
    """Return the snapshot in pieces of at most `limits.SNAPSHOT_BLOB_BYTES`."""
    has_vector = table.has_vector.view(table.rows)
    arrays = {name: getattr(table, name).view(table.rows) for name, _ in _COLUMNS}
    arrays |= {"by_code": table.by_code} | {name: getattr(base, name) for name, _ in _LISTS}
    about = {
        "version": [IMAGE_VERSION, TOKENIZER],
        "model_id": head.model_id,
        "dims": head.dims,
        "heads": [head.heads.event, head.heads.change, head.heads.vector],
        "lineage": head.lineage.hex(),
        "rows": table.rows,
        "words": len(table.bits.view(0)),
        "vectors": int(np.count_nonzero(has_vector)),
        "terms": [len(base.terms), len(base.docs)],
        "sessions": table.sessions.names,
        "speakers": table.speakers.names,
    }
    text = json.dumps(about).encode()
    signs = np.ascontiguousarray(table.bits.view(table.rows)[:, has_vector]).tobytes()
    packed = zlib.compress(
        b"".join(
            (np.diff(array, prepend=array.dtype.type(0)) if name in _STEPS else array).tobytes()
            for name, array in arrays.items()
        ),
        _LEVEL,
    )
    body = text + signs + packed
    whole = _PREFIX.pack(_MAGIC, zlib.crc32(body, len(text)), len(text)) + body
    step = limits.SNAPSHOT_BLOB_BYTES
    return tuple(whole[start : start + step] for start in range(0, len(whole), step))


def read_snapshot(blobs: Sequence[bytes]) -> tuple[SnapshotHeader, DocumentColumns, InvertedLists]:
    """Read a snapshot; some of its arrays are views of the bytes and must not be written.

    Raises `ValueError` for a damaged snapshot, or one from another version of the format or of the tokenizer.
    """
    whole = b"".join(blobs)
    about, start = _read_head(whole)
    rows, (terms, postings) = about["rows"], about["terms"]
    words, vectors = about["words"], about["vectors"]
    stop = start + 8 * words * vectors
    shapes = [(name, dtype, rows) for name, dtype in _COLUMNS] + [("by_code", np.int32, rows)]
    sizes = (terms, terms + 1, postings, postings)
    shapes += [(name, dtype, size) for (name, dtype), size in zip(_LISTS, sizes, strict=True)]
    plain = zlib.decompress(memoryview(whole)[stop:])
    arrays: dict[str, Any] = {}
    at = 0
    for name, dtype, size in shapes:
        array = np.frombuffer(plain, np.dtype(dtype).newbyteorder("<"), size, at)
        at += array.nbytes
        arrays[name] = np.cumsum(array, dtype=dtype) if name in _STEPS else array
    arrays["bits"] = np.zeros((words, rows), np.uint64)
    signs = np.frombuffer(whole, "<u8", words * vectors, start).reshape(words, vectors)
    arrays["bits"][:, arrays["has_vector"]] = signs
    head = SnapshotHeader(
        about["model_id"], about["dims"], IndexPosition(*about["heads"]), bytes.fromhex(about["lineage"])
    )
    table = DocumentColumns(
        rows=rows,
        by_code=arrays["by_code"],
        sessions=NameNumbers(about["sessions"]),
        speakers=NameNumbers(about["speakers"]),
        bits=GrowingArray(arrays["bits"]),
        **{name: GrowingArray(arrays[name]) for name, _ in _COLUMNS},
    )
    return head, table, InvertedLists(**{name: arrays[name] for name, _ in _LISTS})


def is_damaged(blobs: Sequence[bytes]) -> bool:
    """Return whether a stored snapshot is not what was written, of whichever version."""
    whole = b"".join(blobs)
    if len(whole) < _PREFIX.size:
        return True
    magic, checksum, length = _PREFIX.unpack_from(whole)
    return magic != _MAGIC or zlib.crc32(memoryview(whole)[_PREFIX.size :], length) != checksum


def hash_contents(table: DocumentColumns, base: InvertedLists) -> bytes:
    """Return a checksum of the documents that are not GONE, by code: their states, words and sign bits."""
    columns = {name: getattr(table, name).view(table.rows) for name, _ in _COLUMNS}
    live = np.flatnonzero(columns["state"] != STATE_GONE)
    live = live[np.argsort(columns["codes"][live])]
    codes, terms = columns["codes"][base.docs], np.repeat(base.terms, np.diff(base.offsets))
    order = np.lexsort((terms, codes))
    signs = table.bits.view(table.rows)[:, live[columns["has_vector"][live]]]
    digest = hashlib.blake2b(digest_size=16)
    for array in (
        *(columns[name][live] for name in ("codes", "state", "has_vector", "length")),
        *(column[order] for column in (codes, terms, base.tf)),
        signs,
    ):
        digest.update(f"{array.shape[-1]};".encode() + np.ascontiguousarray(array).tobytes())
    return digest.digest()


def _read_head(whole: bytes) -> tuple[dict[str, Any], int]:
    """Check the snapshot and return its head and the start of the arrays."""
    if is_damaged([whole]):
        raise ValueError("an index snapshot is damaged")
    length = _PREFIX.unpack_from(whole)[2]
    stop = _PREFIX.size + length
    about = cast("dict[str, Any]", json.loads(whole[_PREFIX.size : stop]))
    if about["version"] != [IMAGE_VERSION, TOKENIZER]:
        raise ValueError("an index snapshot is from another version")
    return about, stop


# The order of messages inside sessions: the neighbours of a message, and scores of whole sessions.


_EVENT_STEP: Final = pack_code(1, memory=False)
"""Codes of one event's passages differ by less than this, those of two events by more."""
_FEW: Final = 10
"""Below one scored row in so many it pays to look at those rows alone."""
_TABLE: Final = 1 << 16
"""Cells of a table of sessions by terms that is built at once; with many sessions, a few terms at a time."""
_CODE_BITS: Final = 43
"""Bits of an event's code; 20 remain for the session in one sortable integer."""


class SkipBoost(NamedTuple):
    """The gain of a message from the one before the previous one: a share of its score, if its `length` is `below`.

    `length` (n,) is that of every row of the index, in terms.
    """

    share: float
    length: NDArray[np.uint16]
    below: int

    def gains(self, rows: NDArray[np.intp] | NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which of these rows gain it."""
        return self.length.take(rows) < self.below


@dataclass(frozen=True, slots=True)
class SessionOrder:
    """Rows of events that belong to a session, by session and then in chronological order.

    `rows` (p,) int32. `starts` (t,) int32: the start of each message in `rows`, None if every message is one row; a
    long event has several rows, its passages, and is one message. `links` (t + 1,) bool: a message is in the same
    session as the one before; False at both ends. `lengths` (s,) float32: terms of each session; `statistics` of all
    sessions with a row. `places` (n,) int32: the position of each row of the index in `rows`, -1 for others.
    """

    rows: NDArray[np.int32]
    starts: NDArray[np.int32] | None
    links: NDArray[np.bool_]
    lengths: NDArray[np.float32]
    statistics: Statistics
    places: NDArray[np.int32]

    @classmethod
    def arrange(
        cls,
        rows: NDArray[np.int32],
        codes: NDArray[np.int64],
        session: NDArray[np.int32],
        lengths: NDArray[np.uint16],
        *,
        sessions: int,
    ) -> SessionOrder:
        """Sort rows; rows in order except for a few new ones at the end take linear time.

        `codes`, `session` and `lengths` are those of all rows of the index, `sessions` is the number of sessions.
        """
        of_row = session[rows]
        key = of_row.astype(np.int64) << _CODE_BITS | codes[rows]
        if (key[1:] < key[:-1]).any():
            rows = rows[np.argsort(key, kind="stable")]
            of_row = session[rows]
        said = codes[rows] // _EVENT_STEP
        new_turn = np.ones(len(rows), np.bool_)
        np.logical_or(of_row[1:] != of_row[:-1], said[1:] != said[:-1], out=new_turn[1:])
        starts = None if new_turn.all() else np.flatnonzero(new_turn).astype(np.int32)
        turn_session = of_row if starts is None else of_row[starts]
        links = np.zeros(len(turn_session) + 1, np.bool_)
        np.equal(turn_session[1:], turn_session[:-1], out=links[1:-1])
        places = np.full(len(codes), -1, np.int32)
        places[rows] = np.arange(len(rows), dtype=np.int32)
        terms = np.bincount(of_row, weights=lengths[rows], minlength=sessions).astype(np.float32)
        held = int(np.count_nonzero(np.bincount(of_row, minlength=sessions)))
        statistics = Statistics(held, max(1.0, float(terms.sum()) / max(1, held)))
        return cls(rows, starts, links, terms, statistics, places)

    def find_adjacent(self, rows: NDArray[np.int64], session: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return (n, 2) the row before and the row after each of these in its session, -1 if there is none.

        `session` is that of every row of the index.
        """
        found = np.full((len(rows), 2), -1, np.int64)
        places = self.places.take(rows).astype(np.int64)
        for side, step in enumerate((-1, 1)):
            at = places + step
            inside = (places >= 0) & (at >= 0) & (at < len(self.rows))
            beside = self.rows[at[inside]]
            same = session[beside] == session[rows[inside]]
            found[np.flatnonzero(inside)[same], side] = beside[same]
        return found

    @property
    def nbytes(self) -> int:
        """Bytes used."""
        arrays = (self.rows, self.links, self.lengths, self.places)
        return sum(array.nbytes for array in arrays) + (0 if self.starts is None else self.starts.nbytes)

    def by_session(self, found: TermLists, session: NDArray[np.int32]) -> NDArray[np.float32]:
        """Score each session by BM25+ for these terms, as one document; one more entry at the end is 0.

        `session` is that of every row of the index. A session's term counts are summed from the postings of its
        messages.
        """
        count = len(self.lengths) + 1
        scores = np.zeros(count, np.float32)
        if not len(found.rows):
            return scores
        together = max(1, _TABLE // count)
        for some in found.parted(together):
            place = session.take(some.rows) + (1 + np.repeat(np.arange(len(some.counts)) * count, some.counts))
            tf = np.bincount(place, some.tf, len(some.counts) * count).reshape(-1, count)[:, 1:].astype(np.float32)
            holds = tf > 0
            rarity = compute_rarities(np.add.reduce(holds, axis=1).tolist(), self.statistics)[:, np.newaxis]
            scores[:-1] += np.add.reduce(score_terms(tf, self.lengths, rarity, self.statistics) * holds, axis=0)
        return scores

    def spread(
        self, scores: NDArray[np.float32], back: float, ahead: float, second: SkipBoost | None = None
    ) -> NDArray[np.float32]:
        """Add to every row `back` × the previous message's score and `ahead` × the next one's.

        A message of several passages scores as its best one, and all of them get its gain. `second` is the share of the
        message before the previous one, usually by the same speaker, for some rows.
        """
        out = scores.copy()
        if not len(self.rows):
            return out
        if self.starts is None:
            scored = (scores != 0).nonzero()[0]  # ten times as fast on flags as on numbers
            if len(scored) * _FEW < len(self.rows):
                return self._spread_few(out, scored, (back, ahead), second)
        return self._spread_all(out, scores, (back, ahead), second)

    def spread_few(
        self,
        scores: NDArray[np.float32],
        rows: NDArray[np.int64],
        shares: tuple[float, float],
        second: SkipBoost | None = None,
    ) -> NDArray[np.float32]:
        """Do the same as `spread` when only these rows may have scores, in any order; may return `scores` itself.

        A row may occur twice: its contribution is then set twice, not added twice.
        """
        if self.starts is None and len(rows) * _FEW < len(self.rows):
            return self._spread_few(scores, rows, shares, second)
        return self.spread(scores, *shares, second)

    def _spread_all(
        self,
        out: NDArray[np.float32],
        scores: NDArray[np.float32],
        shares: tuple[float, float],
        second: SkipBoost | None,
    ) -> NDArray[np.float32]:
        back, ahead = shares
        rows = self.rows.astype(np.intp)
        own = turn = scores.take(rows)
        if self.starts is not None:
            turn = np.maximum.reduceat(own, self.starts)
        gain = np.zeros(len(turn), np.float32)
        apart = (~self.links[1:-1]).nonzero()[0]  # few sessions: cheaper than a test for each row
        np.multiply(turn[:-1], back, out=gain[1:])
        gain[apart + 1] = 0
        following = np.multiply(turn[1:], ahead)
        following[apart] = 0
        gain[:-1] += following
        if second is None:
            more = None
        else:
            # Each message's gain from the one before the previous one; none across the start of a session.
            share = second.share
            more = np.zeros(len(turn), np.float32)
            np.multiply(turn[:-2], share, out=more[2:])
            more[apart + 1] = 0
            more[np.minimum(apart + 2, len(more) - 1)] = 0  # the last message, if it is alone, gains nothing either
        if self.starts is not None:
            sizes = np.diff(self.starts, append=len(rows))
            gain = np.repeat(gain, sizes)
            more = None if more is None else np.repeat(more, sizes)
        if second is not None and more is not None:
            gain += more * second.gains(rows)
        gain += own
        out[rows] = gain
        return out

    def _spread_few(
        self, out: NDArray[np.float32], scored: NDArray[np.int64], shares: tuple[float, float], second: SkipBoost | None
    ) -> NDArray[np.float32]:
        """Do the same when few rows have a score: only they and their neighbours are visited."""
        back, ahead = shares
        place = self.places.take(scored).astype(np.intp)
        own = out.take(scored)
        if place.min(initial=0) < 0:
            own, place = own[place >= 0], place[place >= 0]
        has_next, has_previous = self.links.take(place + 1), self.links.take(place)
        following, previous = place[has_next] + 1, place[has_previous] - 1
        gain = np.zeros(len(self.rows), np.float32)
        gain[following] = own[has_next] * np.float32(back)
        gain[previous] += own[has_previous] * np.float32(ahead)
        gaining = np.concatenate([following, previous])
        if second is not None:
            goes_on = self.links.take(following + 1)
            later, theirs = following[goes_on] + 1, own[has_next][goes_on]
            allowed = second.gains(self.rows[later])
            gain[later[allowed]] += theirs[allowed] * np.float32(second.share)
            gaining = np.concatenate([gaining, later[allowed]])
        touched = self.rows[gaining]
        out[touched] = out[touched] + gain[gaining]  # a row may occur twice, with the same sum
        return out
