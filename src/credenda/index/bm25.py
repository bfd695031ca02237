"""Inverted lists in flat arrays, with term frequencies, and BM25+ scores.

Terms are stored as sorted 64-bit hashes: a few bytes a term instead of a Python string, no parsing when a snapshot is
loaded, and no readable word in a snapshot on disk. Among a million terms any two collide with a probability of 3e-8;
the only effect is that each also finds the other's documents.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credenda.text.tokens import ALTERNATIVE, is_run

K1: Final = 1.2
B: Final = 0.75
DELTA: Final = 1.0
"""Parameters of BM25+ (Lv and Zhai, "Lower-bounding term frequency normalization", CIKM 2011)."""
TAIL_ROWS: Final = 800
"""Recent documents held in the tail before a merge into the base: merging copies all postings."""
_TF_MAX: Final = 255
_PAIR: Final = 2
_HALF: Final = 4
_Pieces = tuple[NDArray[np.int32], NDArray[np.uint8]]
_NO_PIECE: Final[_Pieces] = np.zeros(0, np.int32), np.zeros(0, np.uint8)
_FIRST_RUN: Final = "\u0e00"
"""No script that is split into bigrams begins before it."""


def hash_terms(terms: Iterable[str]) -> NDArray[np.uint64]:
    """Return the 64-bit hashes of terms: the same in every process, on every machine."""
    return np.frombuffer(b"".join(map(_hash_term, terms)), "<u8")


def _hash_term(term: str) -> bytes:
    """Hash a term into eight bytes, little-endian; the pairs of a script share the half of their first character.

    So all terms that begin with a character are adjacent, and a query of one character finds them.
    """
    if len(term) <= _PAIR and term >= _FIRST_RUN and is_run(term):
        low = _hash_text(term, _HALF) if len(term) == _PAIR else bytes(_HALF)
        return low + _hash_text(term[0], _HALF)
    return _hash_text(term, 2 * _HALF)


def _hash_text(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


def _is_prefix_term(term: str) -> bool:
    """Return whether a term is one character of a script that is split into bigrams."""
    return len(term) == 1 and is_run(term)


def _merge_lists(
    pieces: Sequence[_Pieces],
) -> _Pieces:
    """Merge lists of documents into one without repeats, with the highest frequency of each."""
    docs, place = np.unique(np.concatenate([docs for docs, _ in pieces]), return_inverse=True)
    tf = np.zeros(len(docs), np.uint8)
    np.maximum.at(tf, place, np.concatenate([tf for _, tf in pieces]))
    return docs, tf


class Statistics(NamedTuple):
    """Statistics of the documents that are scored together: their number, and their mean length in terms."""

    documents: int
    mean_length: float


class TermLists(NamedTuple):
    """The lists of some terms end to end: `rows` (p,), term frequencies `tf` (p,), and the length of each list."""

    rows: NDArray[np.intp]
    tf: NDArray[np.float32]
    counts: list[int]

    @classmethod
    def of(cls, lists: Sequence[Sequence[_Pieces]]) -> TermLists:
        """Join lists that come in pieces."""
        flat = [_NO_PIECE, *chain.from_iterable(lists)]
        rows = np.concatenate([docs for docs, _ in flat], dtype=np.intp)  # numpy indexes by these three times as fast
        tf = np.concatenate([tf for _, tf in flat], dtype=np.float32)
        return cls(rows, tf, [sum(len(docs) for docs, _ in pieces) for pieces in lists])

    def parted(self, count: int) -> Iterator[TermLists]:
        """Yield the lists, so many at a time."""
        if len(self.counts) <= count:
            yield self
            return
        stop = 0
        for first in range(0, len(self.counts), count):
            counts = self.counts[first : first + count]
            start, stop = stop, stop + sum(counts)
            yield TermLists(self.rows[start:stop], self.tf[start:stop], counts)

    def cut(self, values: NDArray[np.float32]) -> list[tuple[NDArray[np.intp], NDArray[np.float32]]]:
        """Return each list's rows with their part of `values` (p,)."""
        stops = list(accumulate(self.counts))
        return [
            (self.rows[stop - count : stop], values[stop - count : stop])
            for count, stop in zip(self.counts, stops, strict=True)
        ]


def compute_rarities(counts: Sequence[int], statistics: Statistics) -> NDArray[np.float32]:
    """Return ln((N + 1) / df) for these document frequencies, 0 for a term without documents."""
    more = statistics.documents + 1
    return np.array([math.log(more / df) if df else 0.0 for df in counts], np.float32)


def score_terms(
    tf: NDArray[np.float32], length: NDArray[np.float32], rarity: NDArray[np.float32], statistics: Statistics
) -> NDArray[np.float32]:
    """Score terms in documents that contain them: BM25+ (X-005); `rarity` is the term's.

    ln((N + 1) / df) · ((k1 + 1) tf / (k1 (1 − b + b · dl / avgdl) + tf) + δ). Its value for a document without the term
    is meaningless, so δ is added only where the term occurs: added to all it would lift every document alike (D-002).
    """
    norm = length * (K1 * B / statistics.mean_length) + K1 * (1 - B)
    gain = tf * (K1 + 1) / (tf + norm) + DELTA
    return (gain * rarity).astype(np.float32, copy=False)  # it is float32 already, which the stubs do not know


@dataclass(frozen=True, slots=True)
class InvertedLists:
    """Inverted lists in compressed rows: list i of `terms[i]` is `docs[offsets[i]:offsets[i + 1]]`, `tf` alike.

    `terms` (t,) uint64 ascending, `offsets` (t + 1,) int32, `docs` (p,) int32, `tf` (p,) uint8, cut at 255. A document
    occurs at most once in a list. Immutable: every operation returns a new run.
    """

    terms: NDArray[np.uint64]
    offsets: NDArray[np.int32]
    docs: NDArray[np.int32]
    tf: NDArray[np.uint8]

    @classmethod
    def empty(cls) -> InvertedLists:
        """Return a run without postings."""
        return cls(np.zeros(0, np.uint64), np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint8))

    @classmethod
    def build(cls, rows: Sequence[int], texts: Sequence[Sequence[str]]) -> InvertedLists:
        """Invert the terms of documents; `rows` are their numbers, all different."""
        numbers: dict[str, int] = {}
        flat = [numbers.setdefault(term, len(numbers)) for term in chain.from_iterable(texts)]
        if not flat:
            return cls.empty()
        hashes = hash_terms(numbers)
        rank = np.empty(len(hashes), np.int64)
        rank[np.argsort(hashes)] = np.arange(len(hashes))
        where = np.repeat(np.asarray(rows, np.int64), [len(text) for text in texts])
        keys, tf = np.unique(rank[flat] << 32 | where, return_counts=True)
        offsets = np.zeros(len(hashes) + 1, np.int32)
        np.cumsum(np.bincount(keys >> 32, minlength=len(hashes)), out=offsets[1:])
        docs = (keys & 0xFFFFFFFF).astype(np.int32)
        return cls(np.sort(hashes), offsets, docs, np.minimum(tf, _TF_MAX).astype(np.uint8))

    @property
    def nbytes(self) -> int:
        """Bytes used."""
        return self.terms.nbytes + self.offsets.nbytes + self.docs.nbytes + self.tf.nbytes

    def find(self, first: NDArray[np.uint64], last: NDArray[np.uint64]) -> list[tuple[int, int]]:
        """Return the start and end of the lists from each `first` to its `last` term; equal if there are none."""
        starts = self.offsets[np.searchsorted(self.terms, first)]
        stops = self.offsets[np.searchsorted(self.terms, last, side="right")]
        return list(zip(starts.tolist(), stops.tolist(), strict=True))

    def without(self, gone: NDArray[np.bool_]) -> InvertedLists:
        """Drop the postings of documents marked in `gone`, and the terms without postings."""
        stay = ~gone[self.docs]
        if stay.all():
            return self
        before = np.zeros(len(stay) + 1, np.int32)
        np.cumsum(stay, out=before[1:])
        offsets = before[self.offsets]
        alive = np.diff(offsets) > 0
        kept = np.concatenate([offsets[:-1][alive], offsets[-1:]])
        return InvertedLists(self.terms[alive], kept, self.docs[stay], self.tf[stay])

    def merged(self, other: InvertedLists) -> InvertedLists:
        """Return the postings of both, in linear time; within a list this run's come first."""
        if not len(other.docs):
            return self
        if not len(self.docs):
            return other
        both = np.sort(np.concatenate([self.terms, other.terms]))
        terms = both[np.append(True, both[1:] != both[:-1])]
        offsets = np.zeros(len(terms) + 1, np.int32)
        mine, theirs = np.searchsorted(terms, self.terms), np.searchsorted(terms, other.terms)
        counts = np.zeros(len(terms), np.int32)
        counts[mine] = np.diff(self.offsets)
        first = counts.copy()
        counts[theirs] += np.diff(other.offsets)
        np.cumsum(counts, out=offsets[1:])
        docs = np.empty(len(self.docs) + len(other.docs), np.int32)
        tf = np.empty(len(docs), np.uint8)
        for run, starts in ((self, offsets[mine]), (other, offsets[theirs] + first[theirs])):
            shift = np.repeat(starts - run.offsets[:-1], np.diff(run.offsets))
            place = shift + np.arange(len(run.docs), dtype=np.int32)
            docs[place] = run.docs
            tf[place] = run.tf
        return InvertedLists(terms, offsets, docs, tf)


@dataclass(frozen=True, slots=True)
class Postings:
    """A large base and a small tail of recent documents, so that adding a document does not copy everything."""

    base: InvertedLists
    tail: InvertedLists
    tail_rows: int

    @classmethod
    def empty(cls) -> Postings:
        """Return postings without documents."""
        return cls(InvertedLists.empty(), InvertedLists.empty(), 0)

    @property
    def nbytes(self) -> int:
        """Bytes used."""
        return self.base.nbytes + self.tail.nbytes

    def with_texts(self, rows: Sequence[int], texts: Sequence[Sequence[str]]) -> Postings:
        """Add documents that have no postings yet."""
        if not rows:
            return self
        tail = self.tail.merged(InvertedLists.build(rows, texts))
        count = self.tail_rows + len(rows)
        if count <= TAIL_ROWS:
            return Postings(self.base, tail, count)
        return Postings(self.base.merged(tail), InvertedLists.empty(), 0)

    def without(self, gone: NDArray[np.bool_]) -> Postings:
        """Drop the documents marked in `gone` (one flag per document)."""
        return Postings(self.base.without(gone), self.tail.without(gone), self.tail_rows)

    def compacted(self) -> Postings:
        """Return the same with everything in the base."""
        return Postings(self.base.merged(self.tail), InvertedLists.empty(), 0)

    def lists(self, terms: Sequence[str]) -> list[list[_Pieces]]:
        """Return for each distinct term its (documents, term frequencies), in up to two pieces.

        A term with alternatives matches where any of them does; one character of a script that is split into bigrams
        matches all terms that begin with it.
        """
        distinct = list(dict.fromkeys(terms))
        if not any(ALTERNATIVE in term or _is_prefix_term(term) for term in distinct):
            hashes = hash_terms(distinct)
            found: list[list[_Pieces]] = [[] for _ in distinct]
            for run in (self.base, self.tail):
                for pieces, (start, stop) in zip(found, run.find(hashes, hashes), strict=True):
                    if start < stop:
                        pieces.append((run.docs[start:stop], run.tf[start:stop]))
            return found
        groups = [term.split(ALTERNATIVE) for term in distinct]
        flat = [term for group in groups for term in group]
        first = hash_terms(flat)
        # The upper bound of the hashes with the same prefix: for a single character, that of all its pairs.
        single = np.array([_is_prefix_term(term) for term in flat], np.bool_)
        last = np.where(single, first | np.uint64(0xFFFFFFFF), first)
        found: list[list[_Pieces]] = [[] for _ in groups]
        many: list[bool] = (first != last).tolist()
        for run in (self.base, self.tail):
            spans = iter(list(zip(run.find(first, last), many, strict=True)))
            for pieces, group in zip(found, groups, strict=True):
                mine = [(span, joined) for span, joined in islice(spans, len(group)) if span[0] < span[1]]
                lists = [(run.docs[start:stop], run.tf[start:stop]) for (start, stop), _ in mine]
                if lists:
                    pieces.append(_merge_lists(lists) if len(lists) > 1 or mine[0][1] else lists[0])
        return found

    def holds(self, row: int, text: Sequence[str]) -> bool:
        """Return whether the document contains exactly the terms of `text`, given that their number is right."""
        numbers = {term: text.count(term) for term in text}
        hashes = hash_terms(numbers)
        held = np.zeros(len(hashes), np.int64)
        for run in (self.base, self.tail):
            for place, (start, stop) in enumerate(run.find(hashes, hashes)):
                held[place] += int(run.tf[start:stop][run.docs[start:stop] == row].sum())
        return held.tolist() == [min(number, _TF_MAX) for number in numbers.values()]
