"""One tenant's in-memory search index: words, sign bits and session order of every document, by row.

Exact per-tenant statistics at about 150 bytes a document. It scores by words and finds candidates by vectors; the store
has the source data, from which the index can be rebuilt at any time. An index that others may be searching never
changes: `fork` it, `fold` into the fork, and publish the fork. Versions share almost all their memory.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from credenda import limits
from credenda.current_call import check_deadline
from credenda.errors import IMPOSSIBLE, Corrupt, make_damage_error
from credenda.index import snapshot
from credenda.index.bm25 import InvertedLists, Postings, Statistics, TermLists, compute_rarities, score_terms
from credenda.index.quantize import (
    compute_distances,
    compute_divisor,
    decode_halves,
    decode_rows,
    find_lowest,
    is_all_finite,
    pack_signs,
    score_agreement,
    widen_to_float32,
)
from credenda.index.snapshot import (
    LENGTH_MAX,
    STATE_CODES,
    STATE_CURRENT,
    STATE_GONE,
    STATE_PAST,
    DocumentColumns,
    SessionOrder,
    SkipBoost,
)
from credenda.storage.rows import is_sound_vector, name_document
from credenda.storage.store import (
    Delta,
    Document,
    DocumentState,
    IndexPosition,
    Reader,
    Vector,
    VectorCopies,
    pack_code,
    unpack_code,
)
from credenda.text.tokens import extract_document_terms

# A cache of the standing instructions, which every search reads and which seldom change.


Occasion = frozenset[str]
"""The trigger terms of a standing instruction."""


class InstructionCache:
    """The standing instructions of one tenant, by code, at one position of the change log.

    The key is the head of the change log in a view, so that no view gets the data of another: no memory changes without
    a change in the log. Safe to use from any thread.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: tuple[int, Mapping[int, Occasion]] | None = None

    def at(self, change: int) -> Mapping[int, Occasion] | None:
        """Return the cached instructions for this head of the change log; None for any other head."""
        last = self._last
        return last[1] if last is not None and last[0] == change else None

    def note(self, change: int, instructions: Mapping[int, Occasion]) -> None:
        """Replace the cached instructions; one assignment, so that no thread sees half of it."""
        self._last = change, instructions


# A cache of recently compared vectors: reading a vector from the store costs more than the rest of its comparison.


HOT_BITS: Final = 16
"""Width of the cached vectors: that of the store, so that nothing is rounded."""
_LEAST: Final = 1_024
_DUE: Final = 2


class VectorCache:
    """Float16 vectors by row of an index, up to a bound; a row that needs an occupied place replaces the other row.

    All versions of an index share one cache. It contains only vectors that the store has at 16 bits, so nothing is
    rounded twice.
    """

    def __init__(self, rows_max: int = limits.HOT_VECTORS) -> None:
        self._rows_max = rows_max
        self._lock = Lock()
        self._owner = np.zeros(0, np.int64)
        self._matrix = np.zeros((0, 0), np.float16)
        self._finite = True
        self._looks = 0

    @property
    def nbytes(self) -> int:
        """Bytes used."""
        return self._owner.nbytes + self._matrix.nbytes

    def keep(self, rows: NDArray[np.int64], vectors: NDArray[np.float32] | NDArray[np.float16]) -> None:
        """Store these vectors, (n, d), for these rows, replacing earlier ones; of equal rows the first stays."""
        with self._lock:
            self._put(rows, self._seen(vectors.astype(np.float16, copy=False)))

    def fill(self, rows: NDArray[np.int64], vectors: NDArray[np.float16]) -> None:
        """Store these vectors for those of the rows that have none: a view may be older than the cache."""
        with self._lock:
            vectors = self._seen(vectors)
            if len(self._owner) and self._matrix.shape[1] == vectors.shape[1]:
                lacking = self._owner.take(rows % len(self._owner)) != rows
                rows, vectors = rows[lacking], vectors[lacking]
            self._put(rows, vectors)

    def _seen(self, vectors: NDArray[np.float16]) -> NDArray[np.float16]:
        self._finite = self._finite and is_all_finite(vectors)
        return vectors

    def _put(self, rows: NDArray[np.int64], vectors: NDArray[np.float16]) -> None:
        if not len(rows):
            return
        self._make_room(int(rows.max()) + 1, vectors.shape[1])
        backwards = rows[::-1]  # of several values for one place numpy keeps the last
        places = backwards % len(self._owner)
        self._matrix[places] = vectors[::-1]
        self._owner[places] = backwards

    def forget(self, rows: NDArray[np.int64]) -> None:
        """Drop the vectors of these rows, because the store has new ones."""
        with self._lock:
            if len(self._owner):
                places = rows % len(self._owner)
                self._owner[places[self._owner[places] == rows]] = -1

    @property
    def finite(self) -> bool:
        """Whether all stored values were finite numbers, a hint for `widened`."""
        return self._finite

    def take(self, rows: NDArray[np.int64], dims: int) -> tuple[NDArray[np.float16], NDArray[np.bool_]]:
        """Return the vectors of these rows, (n, dims), and which of them are cached; the others are undefined."""
        with self._lock:
            if not len(self._owner) or self._matrix.shape[1] != dims:
                return np.zeros((len(rows), dims), np.float16), np.zeros(len(rows), np.bool_)
            places = rows % len(self._owner)
            return self._matrix.take(places, axis=0), self._owner.take(places) == rows

    def is_due(self, rows: int) -> bool:
        """Return True once, at the second search, when it pays to read all vectors of an index of this size.

        Single reads cost 3 µs each, reads in order half of that: all of 10,000 take 25 ms, and save each later search
        .3 ms. A process that searches once, such as a command, never pays for it.
        """
        with self._lock:
            self._looks += 1
            return self._looks == _DUE and rows <= self._rows_max

    def _make_room(self, rows: int, dims: int) -> None:
        """Grow towards the bound; below it every row has a place of its own, so that cached vectors stay in place."""
        held = len(self._owner)
        if self._matrix.shape[1] != dims:
            held = 0
        elif rows <= held or held == self._rows_max:
            return
        size = min(self._rows_max, max(_LEAST, 2 * rows))
        owner, matrix = np.full(size, -1, np.int64), np.zeros((size, dims), np.float16)
        if held:
            owner[:held], matrix[:held] = self._owner, self._matrix
        self._owner, self._matrix = owner, matrix


_FIRST_MEMORY: Final = pack_code(0, memory=True)
_LastListed = tuple[Postings, tuple[str, ...], TermLists]


class _Mark:
    """The position of the last snapshot, shared by all versions of an index."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = 0


class ResidentIndex:
    """Documents of one tenant by row. A row keeps its number for good; every array has `len(index)` entries.

    Do not write into the arrays. A search may use an index as long as it likes, without a lock.
    """

    model_id: str | None
    """The model of the indexed vectors; None for words only."""
    dims: int
    """Dimensions of the vectors; 0 before the first one."""
    heads: IndexPosition
    lineage: bytes
    """The position up to which the index has read, and the checksum of the tenant's history up to it."""
    codes: NDArray[np.int64]
    """Packed code of each row (`storage.store.pack_code`)."""
    state: NDArray[np.uint8]
    """STATE_CURRENT, STATE_PAST, STATE_HIDDEN or STATE_GONE. GONE rows match nothing, the caller masks the others."""
    session: NDArray[np.int32]
    """Index into `session_names`; -1 for memories and for events outside any session."""
    speaker: NDArray[np.int32]
    """Index into `speaker_names`."""
    occurred_us: NDArray[np.int64]
    """The time of the event, or the start of the memory's validity."""
    length: NDArray[np.uint16]
    """Terms of the row's text, without stop words, at most 65,535; 0 for GONE rows."""
    has_vector: NDArray[np.bool_]
    """Whether `nearest` can find the row; False for GONE rows."""
    worded: int
    """Number of rows with any term."""

    def __init__(self, *, model_id: str | None = None) -> None:
        self.model_id = model_id
        self.dims = 0
        self.heads = IndexPosition()
        self.lineage = b""
        self._folded = 0
        self._saved = _Mark()
        self._waiting: dict[int, Vector] = {}
        self.hot = VectorCache()
        self.noted = InstructionCache()
        """Recently compared vectors and recently read instructions; all versions of this index share both."""
        self._postings = Postings.empty()
        self._last_listed: _LastListed | None = None
        self._adopt(DocumentColumns.empty())

    def __len__(self) -> int:
        """Return the number of rows, GONE ones included."""
        return self._table.rows

    @property
    def is_memory(self) -> NDArray[np.bool_]:
        """Whether each row is a memory; otherwise it is a passage of an event. Computed at every access."""
        return self.codes >= _FIRST_MEMORY

    @property
    def session_names(self) -> tuple[str, ...]:
        """Names of the sessions."""
        return self._table.sessions.names

    @property
    def speaker_names(self) -> tuple[str, ...]:
        """Names of the speakers."""
        return self._table.speakers.names

    @property
    def nbytes(self) -> int:
        """Bytes used, slack of growing arrays included; memory that versions share counts in each of them."""
        return self._table.nbytes + self._postings.nbytes + self.turns.nbytes

    @property
    def unsaved(self) -> int:
        """Documents, states and vectors added since the last snapshot of this index or a version of it."""
        return self._folded - self._saved.at

    def row_of(self, code: int) -> int | None:
        """Return the row of a document, None if the index lacks it. O(log n)."""
        row = int(self._table.rows_of(np.array([code], np.int64))[0])
        return None if row < 0 else row

    # Searching

    def lexical(self, terms: Sequence[str]) -> NDArray[np.float32]:
        """Score every row for terms of `text.tokens.query_terms` by BM25+; 0 where none of them occurs."""
        scores = np.zeros(len(self), np.float32)
        for rows, weights in self.each_term(terms):
            scores[rows] += weights
        return scores

    def each_term(self, terms: Sequence[str]) -> list[tuple[NDArray[np.intp], NDArray[np.float32]]]:
        """Return for each distinct term the rows that contain it, each row once, and their score from it."""
        found = self._listed(terms)
        lengths = self.length.take(found.rows).astype(np.float32)
        rarity = np.repeat(compute_rarities(found.counts, self._statistics), found.counts)
        return found.cut(score_terms(found.tf, lengths, rarity, self._statistics))

    def counts(self, terms: Sequence[str]) -> list[int]:
        """Return the number of rows for each distinct term."""
        return [sum(len(docs) for docs, _ in pieces) for pieces in self._postings.lists(terms)]

    def rows_of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of each document, -1 for a document that the index lacks."""
        return self._table.rows_of(codes)

    def _listed(self, terms: Sequence[str]) -> TermLists:
        """Look terms up; a search needs the same ones twice, for texts and for sessions."""
        asked, last = tuple(terms), self._last_listed
        if last is not None and last[0] is self._postings and last[1] == asked:
            self._last_listed = None
            return last[2]
        found = TermLists.of(self._postings.lists(asked))
        self._last_listed = self._postings, asked, found  # one assignment, so that threads never see a part of it
        return found

    def by_session(self, terms: Sequence[str], rows: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """Score the session of every row, or of these, by BM25+, with a session as one document; 0 without a session.

        A session's term counts are summed from the postings of its messages, so nothing is stored for it.
        """
        scores = self.turns.by_session(self._listed(terms), self.session)
        return scores.take(self.session if rows is None else self.session[rows], mode="wrap")  # -1 is the last, 0

    def spread(
        self, scores: NDArray[np.float32], *, back: float = 0.5, ahead: float = 0.3, second: SkipBoost | None = None
    ) -> NDArray[np.float32]:
        """Add to each message `back` × the previous and `ahead` × the next message's score in its session.

        The passages of a long event are one message with the score of its best passage. Rows without a session keep
        their scores. Deleted messages are skipped: their neighbours are adjacent. `second` selects rows that also gain
        a share of the message before the previous one.
        """
        return self.turns.spread(scores, back, ahead, second)

    def spread_few(
        self,
        scores: NDArray[np.float32],
        rows: NDArray[np.int64],
        *,
        back: float = 0.5,
        ahead: float = 0.3,
        second: SkipBoost | None = None,
    ) -> NDArray[np.float32]:
        """Do the same as `spread` when only these rows may have scores, in any order; may return `scores` itself."""
        return self.turns.spread_few(scores, rows, (back, ahead), second)

    def nearest(self, vector: NDArray[np.float32], k: int, mask: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return the k rows whose sign bits are nearest to the vector's, ascending by row; fewer if fewer exist.

        Only rows with a vector and, if given, marked in `mask`. Among equals the higher code wins.
        """
        usable = self.has_vector if mask is None else self.has_vector & mask
        count = int(np.count_nonzero(usable))
        if count <= k:
            return np.flatnonzero(usable)
        # Barred from the start: raising their distances afterwards would take two more passes over all of them.
        barred = None if count == len(self) else ~usable
        apart = compute_distances(self._table.bits.view(len(self)), pack_signs(vector[np.newaxis])[:, 0], barred)
        return find_lowest(apart, k, self.codes)

    def likeliest(self, vector: NDArray[np.float32], rows: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        """Return the k of these rows whose sign bits agree best with the vector's values, ascending by row."""
        if len(rows) <= k:
            return rows
        # From the whole buffer: numpy copies an array with gaps between its lines completely before it takes anything.
        agreed = score_agreement(self._table.bits.buffer.take(rows, axis=1), vector)
        return np.sort(rows[agreed.argpartition(len(rows) - k)[len(rows) - k :]])

    # Updates

    def fork(self) -> ResidentIndex:
        """Return a copy to fold into while others search this one; costs microseconds."""
        return copy.copy(self)

    def fold(self, delta: Delta) -> None:
        """Add new and changed documents, then states, then vectors. Repeating it changes nothing.

        Deltas may come in any order if each code's last document and state are the true ones; a vector that comes
        before its document waits for it. Raises `Corrupt` for a vector of this model with other dimensions or an
        unknown width.
        """
        heads, ahead = self.heads, delta.heads
        table = self._take_documents(self._table, delta.documents)
        table = self._take_states(table, delta.states)
        table = self._take_vectors(table, delta.vectors)
        self.heads = IndexPosition(
            max(heads.event, ahead.event), max(heads.change, ahead.change), max(heads.vector, ahead.vector)
        )
        self._folded += len(delta.documents) + len(delta.states) + len(delta.vectors)
        if table is not self._table:
            self._adopt(table, self.turns)

    def drop_waiting(self) -> None:
        """Drop vectors whose documents never came; call it when the index is up to date."""
        self._waiting = {}

    def _take_documents(self, table: DocumentColumns, documents: Sequence[Document]) -> DocumentColumns:
        latest = {document.code: document for document in documents}
        if not latest:
            return table
        rows = table.rows_of(np.fromiter(latest, np.int64, len(latest)))
        known = [document for document, row in zip(latest.values(), rows, strict=True) if row >= 0]
        fresh = [document for document, row in zip(latest.values(), rows, strict=True) if row < 0]
        if known:
            table = self._renew(table, rows[rows >= 0], known)
        if fresh:
            texts = [_extract_terms(document) for document in fresh]
            start = table.rows
            table = table.appended(fresh, _measure_lengths(texts))
            self._postings = self._postings.with_texts(range(start, table.rows), texts)
            return table
        return table

    def _renew(self, table: DocumentColumns, rows: NDArray[np.int64], documents: Sequence[Document]) -> DocumentColumns:
        """Update documents that the index knows; usually only their state has changed.

        Words change only if some were deleted: then the vectors, of all passages, are dropped, as in the
        store. They would still match the deleted words.
        """
        table = table.with_documents(rows, documents)
        lengths = table.length.view(table.rows)
        changed: list[int] = []
        texts: list[list[str]] = []
        for row, document in zip(rows.tolist(), documents, strict=True):
            text = _extract_terms(document)
            if min(len(text), LENGTH_MAX) != lengths[row] or not self._postings.holds(row, text):
                changed.append(row)
                texts.append(text)
        if changed:
            self._postings = self._postings.without(make_mask(table.rows, changed)).with_texts(changed, texts)
            table = table.with_lengths(np.array(changed), _measure_lengths(texts))
        told = dict(zip(rows.tolist(), (unpack_code(document.code)[:2] for document in documents), strict=True))
        redacted = {told[row] for row in changed}
        without = table.state.view(table.rows)[rows] == STATE_GONE
        without |= np.array([told[row] in redacted for row in rows.tolist()])
        gone = rows[without]
        return table.without_bits(gone) if len(gone) else table

    def _take_states(self, table: DocumentColumns, states: Sequence[tuple[int, DocumentState]]) -> DocumentColumns:
        latest = dict(states)
        if not latest:
            return table
        rows = table.rows_of(np.fromiter(latest, np.int64, len(latest)))
        wanted = np.array([STATE_CODES[state] for state in latest.values()], np.uint8)
        present = table.state.view(table.rows)
        # A GONE row has lost its words; only its document can bring it back.
        moves = (rows >= 0) & (present[rows] != STATE_GONE) if table.rows else rows >= 0
        rows, wanted = rows[moves], wanted[moves]
        table = table.with_states(rows, wanted)
        gone = rows[wanted == STATE_GONE]
        if not len(gone):
            return table
        self._postings = self._postings.without(make_mask(table.rows, gone))
        return table.with_lengths(gone, np.zeros(len(gone), np.uint16)).without_bits(gone)

    def _take_vectors(self, table: DocumentColumns, vectors: Sequence[Vector]) -> DocumentColumns:
        mine = {vector.code: vector for vector in vectors if vector.model_id == self.model_id}
        arrived = self._waiting | mine
        if not arrived:
            return table
        rows = table.rows_of(np.fromiter(arrived, np.int64, len(arrived)))
        found = [(row, vector) for row, vector in zip(rows.tolist(), arrived.values(), strict=True) if row >= 0]
        self._waiting = {vector.code: vector for row, vector in zip(rows, arrived.values(), strict=True) if row < 0}
        live = table.state.view(table.rows)
        found = [(row, vector) for row, vector in found if live[row] != STATE_GONE]
        if not found:
            return table
        values = self._decoded([vector for _, vector in found])
        at = np.array([row for row, _ in found])
        self.hot.forget(at)
        exact = np.array([vector.bits == HOT_BITS for _, vector in found])
        self.hot.keep(at[exact], values[exact])
        return table.with_bits(at, pack_signs(values))

    def _decoded(self, vectors: Sequence[Vector]) -> NDArray[np.float32]:
        """Return stored vectors as an (n, dims) array."""
        self.dims = self.dims or vectors[0].dims
        values = np.empty((len(vectors), self.dims), np.float32)
        for bits in {vector.bits for vector in vectors}:
            at = [number for number, vector in enumerate(vectors) if vector.bits == bits]
            try:
                values[at] = decode_rows([vectors[number].data for number in at], bits, self.dims)
            except ValueError as error:
                raise Corrupt(
                    f"a stored vector of {self.model_id} cannot be read",
                    why=f"not all of them have {self.dims} dimensions at a known width",
                    fix="run `credenda doctor`, or embed everything again",
                ) from error
        return values

    def _adopt(self, table: DocumentColumns, turns: SessionOrder | None = None) -> None:
        """Set the current table and derive the data that depends on all of it."""
        self._table, rows = table, table.rows
        seen = 0 if turns is None else len(self.codes)
        self.codes, self.state = table.codes.view(rows), table.state.view(rows)
        self.session, self.speaker = table.session.view(rows), table.speaker.view(rows)
        self.occurred_us, self.length = table.occurred_us.view(rows), table.length.view(rows)
        self.has_vector = table.has_vector.view(rows)
        live = self.state != STATE_GONE
        held = int(np.count_nonzero(live))
        self.worded = int(np.count_nonzero(self.length))
        self._statistics = Statistics(held, max(1.0, int(self.length.sum(dtype=np.int64)) / max(1, held)))
        in_session = (self.session >= 0) & live
        known = np.arange(seen, rows, dtype=np.int32)
        order = known if turns is None else np.concatenate([turns.rows, known])
        order = order[in_session[order]]
        if len(order) != np.count_nonzero(in_session):  # a deleted message came back
            order = np.flatnonzero(in_session).astype(np.int32)
        self.turns = SessionOrder.arrange(
            order, self.codes, self.session, self.length, sessions=len(self.session_names)
        )

    # Snapshots

    def compute_digest(self) -> bytes:
        """Return a checksum of what a search can find: the words, states and sign bits of the documents, by code."""
        return snapshot.hash_contents(self._table, self._postings.compacted().base)

    def to_blobs(self) -> tuple[bytes, ...]:
        """Return a snapshot in pieces of at most `limits.SNAPSHOT_BLOB_BYTES`, without any readable word."""
        head = snapshot.SnapshotHeader(self.model_id, self.dims, self.heads, self.lineage)
        return snapshot.write_snapshot(head, self._table, self._postings.compacted().base)

    def mark_saved(self) -> None:
        """Record, for all versions, that a snapshot of this one is being stored."""
        self._saved.at = max(self._saved.at, self._folded)

    @classmethod
    def from_blobs(cls, blobs: Sequence[bytes]) -> ResidentIndex:
        """Read a snapshot; raises `ValueError` if it is damaged or from another version."""
        head, table, base = snapshot.read_snapshot(blobs)
        index = cls(model_id=head.model_id)
        index.dims, index.heads, index.lineage = head.dims, head.heads, head.lineage
        index._postings = Postings(base, InvertedLists.empty(), 0)
        index._adopt(table)
        return index


def _extract_terms(document: Document) -> list[str]:
    return [] if document.state is DocumentState.GONE else extract_document_terms(document.text)


def _measure_lengths(texts: Sequence[Sequence[str]]) -> NDArray[np.uint16]:
    return np.array([min(len(text), LENGTH_MAX) for text in texts], np.uint16)


def make_mask(rows: int, at: NDArray[np.int64] | Sequence[int]) -> NDArray[np.bool_]:
    """Return a mask of so many rows that is set at some of them."""
    marks = np.zeros(rows, np.bool_)
    marks[at] = True
    return marks


# The vectors of some rows of an index: from the cache if compared recently, else from the store.


_BULK: Final = 2_000
"""Vectors read in one step when all are read."""

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]


def read_stored_vectors(index: ResidentIndex, reader: Reader, rows: Integers) -> tuple[Integers, Floats]:
    """Return the rows among these with a stored vector, and the vectors, (n, d), from the cache or the store.

    Vectors with few bits are scaled by `frqad.divisor`, so that a cosine with them counts for less: of two copies of a
    text the exact one comes first.
    """
    if index.hot.is_due(len(index)):
        _read_all(index, reader)
    return _read_vectors(index, reader, rows)


def _read_all(index: ResidentIndex, reader: Reader) -> None:
    """Read all vectors of an index into the cache; the last rows first, so that the space is allocated once."""
    rows = np.flatnonzero(index.has_vector)
    for stop in range(len(rows), 0, -_BULK):
        _read_vectors(index, reader, rows[max(0, stop - _BULK) : stop])


def _read_vectors(index: ResidentIndex, reader: Reader, rows: Integers) -> tuple[Integers, Floats]:
    matrix, held = index.hot.take(rows, index.dims)
    if held.all():
        return rows, widen_to_float32(matrix, finite=index.hot.finite)
    missing = np.flatnonzero(~held)
    missing = missing[np.argsort(index.codes[rows[missing]])]
    codes = index.codes[rows[missing]]
    stored = reader.vector_data(codes.tolist(), index.model_id or "")
    odd: list[tuple[Integers, Floats]] = []
    if stored:
        found, widths, data = zip(*stored, strict=True)
        places = missing[np.searchsorted(codes, found)]
        held[places] = True
        for bits in set(widths):
            at = places[np.equal(widths, bits)]
            blobs = [one for one, width in zip(data, widths, strict=True) if width == bits]
            try:
                if bits == HOT_BITS:
                    matrix[at] = fresh = decode_halves(b"".join(blobs)).reshape(len(at), -1)
                    index.hot.fill(rows[at], fresh)
                else:
                    odd.append((at, decode_rows(blobs, bits, index.dims) / np.float32(compute_divisor(bits))))
            except IMPOSSIBLE as error:
                dims = index.dims
                wrong = (
                    code for code, bits, data in stored if not is_sound_vector(code, "", dims, bits, 1.0, data, None)
                )
                raise make_damage_error("embeddings", name_document(next(wrong, -1)), repaired=True) from error
    wide = widen_to_float32(matrix, finite=index.hot.finite)
    for at, values in odd:
        wide[at] = values
    return (rows, wide) if held.all() else (rows[held], wide[held])


# The memories nearest to new ones: candidates by sign bits, compared by their stored vectors, without a scan.


_NOMINATED: Final = 64
_SHARE: Final = 400
"""Rows compared exactly: 64 and one in 400. A search, which needs the ten best in order, compares twice as many."""


def find_nearest_memories(
    index: ResidentIndex, reader: Reader, vectors: Sequence[Vector], k: int
) -> list[list[tuple[int, float]]]:
    """Return for each vector the k nearest memories of lower code as (code, cosine), nearest first.

    Candidates are the memories of the index that a search may return, now or in the past, and the given vectors
    themselves. The result has fewer than k if fewer exist.
    """
    if not vectors:
        return []
    codes = np.array([vector.code for vector in vectors], np.int64)
    matrix = np.concatenate([decode_rows([vector.data], vector.bits, vector.dims) for vector in vectors])
    usable = index.is_memory & ((index.state == STATE_CURRENT) | (index.state == STATE_PAST))
    usable &= ~np.isin(index.codes, codes)
    own = matrix @ matrix.T
    found: list[list[tuple[int, float]]] = []
    for place, code in enumerate(codes):
        held_codes, held = _compare_nearest(index, reader, matrix[place], usable & (index.codes < code))
        before = np.flatnonzero(codes < code)
        every = np.concatenate([held_codes, codes[before]])
        cosines = np.concatenate([held, own[place, before]])
        best = np.lexsort((every, -cosines))[:k]
        found.append([(int(every[at]), min(1.0, float(cosines[at]))) for at in best])
    return found


def _compare_nearest(
    index: ResidentIndex, reader: Reader, vector: NDArray[np.float32], usable: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Compare a vector with the rows of the index whose signs are nearest; return their codes and cosines."""
    if index.dims != len(vector):
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    rows = index.nearest(vector, _NOMINATED + len(index) // _SHARE, usable)
    rows, matrix = read_stored_vectors(index, reader, rows)
    return index.codes[rows], matrix @ vector


# The nearest vectors of a tenant that no index in memory holds: from the index of its backend, or one by one.


_PAGE: Final = 8_192
_COPIED: Final = 512
"""Vectors that are copied in one unit: pgvector takes about a millisecond for each."""


def find_nearest_codes(reader: Reader, model_id: str, vector: Floats, count: int) -> list[int]:
    """Return the codes of at most 2 · `count` documents, among them those of the `count` nearest vectors.

    Vectors of another length than the question's are passed over. Raises `Unavailable` when the call is over.
    """
    found, head = reader.by_vector.nearest(model_id, vector.tolist(), count)
    best, nearest = np.zeros(0, np.int64), np.zeros(0, np.float32)
    while page := reader.by_vector.page(model_id, head, _PAGE):
        head = page[-1][0]
        for bits in {row[3] for row in page}:
            rows = [row for row in page if row[2] == len(vector) and row[3] == bits]
            if not rows:
                continue
            check_deadline()
            best = np.concatenate([best, np.array([row[1] for row in rows], np.int64)])
            nearest = np.concatenate([nearest, _decode(rows, bits, len(vector)) @ vector])
            if len(best) > count:
                kept = nearest.argpartition(len(nearest) - count)[len(nearest) - count :]
                best, nearest = best[kept], nearest[kept]
    return sorted({*found, *best.tolist()})


def _decode(rows: list[tuple[int, int, int, int, bytes]], bits: int, dims: int) -> Floats:
    try:
        return decode_rows([row[4] for row in rows], bits, dims)
    except IMPOSSIBLE as error:
        raise make_damage_error("embeddings", name_document(rows[0][1]), repaired=True) from error


def copy_vectors(reader: Reader, model_id: str) -> VectorCopies | None:
    """Read the next vectors that the backend's index does not know; None when it knows all, or there is none."""
    if not reader.by_vector.is_indexed:
        return None
    page = reader.by_vector.page(model_id, reader.by_vector.nearest(model_id, (), 0)[1], _COPIED)
    if not page:
        return None
    vectors = [(row[1], _decode([row], row[3], row[2])[0].tolist()) for row in page]
    return VectorCopies(model_id=model_id, head=page[-1][0], vectors=vectors)
