"""Short ways to make documents and deltas, and a plain model of what an index must answer."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from credenda.index.quantize import encode
from credenda.index.resident import ResidentIndex
from credenda.storage.store import (
    Delta,
    Document,
    DocumentState,
    IndexPosition,
    Reader,
    TenantRecord,
    Vector,
    pack_code,
    unpack_code,
)
from credenda.text.tokens import extract_document_terms

MODEL = "toy-70"
DIMS = 70
WORDS = ("tea", "green", "coffee", "linz", "graz", "train", "late", "dog", "walks", "piano", "東京都", "with", "c++")


def event(
    number: int, text: str, *, session: str = "s", part: int = 0, speaker: str = "Ana", state: str = "current"
) -> Document:
    return Document(
        code=pack_code(number, part, memory=False),
        text=text,
        session=session,
        speaker=speaker,
        occurred_us=number * 1_000,
        state=DocumentState(state),
    )


def memory(number: int, text: str, *, state: str = "current") -> Document:
    return Document(
        code=pack_code(number, memory=True),
        text=text,
        session="",
        speaker="user",
        occurred_us=number * 1_000,
        state=DocumentState(state),
    )


def vector(code: int, values: Sequence[float] | NDArray[np.floating] | None = None, bits: int = 16) -> Vector:
    """Store a vector of a document; without values, one that depends on the code alone."""
    row = np.random.default_rng(code).standard_normal(DIMS) if values is None else np.asarray(values)
    return Vector(
        code=code,
        model_id=MODEL,
        dims=len(row),
        bits=bits,
        scale=1.0,
        data=encode(row.astype(np.float32), bits),
    )


def folded(*documents: Document, vectors: Sequence[Vector] = ()) -> ResidentIndex:
    index = ResidentIndex(model_id=MODEL)
    index.fold(Delta(heads=IndexPosition(1, 1, 1), documents=documents, vectors=tuple(vectors)))
    return index


def by_code(index: ResidentIndex, scores: NDArray[np.float32]) -> dict[int, float]:
    return {int(code): float(score) for code, score in zip(index.codes, scores, strict=True)}


def bm25_plus(texts: dict[int, Sequence[str]], terms: Sequence[str]) -> dict[int, float]:
    """Score by the formula of X-005 as it stands in the paper, one document and one term at a time."""
    k1, b, delta = 1.2, 0.75, 1.0
    count = len(texts)
    mean = max(1.0, sum(map(len, texts.values())) / max(1, count))
    counts = {name: Counter(text) for name, text in texts.items()}
    scores = dict.fromkeys(texts, 0.0)
    for term in dict.fromkeys(terms):
        df = sum(term in held for held in counts.values())
        for name, held in counts.items():
            if held[term]:
                tf = min(255, held[term])
                saturated = (k1 + 1) * tf / (k1 * (1 - b + b * len(texts[name]) / mean) + tf)
                scores[name] += math.log((count + 1) / df) * (saturated + delta)
    return scores


def live(documents: Sequence[Document]) -> list[Document]:
    return [document for document in documents if document.state is not DocumentState.GONE]


def lexical_oracle(documents: Sequence[Document], terms: Sequence[str]) -> dict[int, float]:
    found = bm25_plus({document.code: extract_document_terms(document.text) for document in live(documents)}, terms)
    return {document.code: found.get(document.code, 0.0) for document in documents}


def session_oracle(documents: Sequence[Document], terms: Sequence[str]) -> dict[int, float]:
    texts: dict[int, list[str]] = {}
    names = list(dict.fromkeys(document.session for document in live(documents) if document.session))
    for document in live(documents):
        if document.session:
            texts.setdefault(names.index(document.session), []).extend(extract_document_terms(document.text))
    found = bm25_plus(dict(texts), terms)
    return {
        document.code: found[names.index(document.session)] if document.session in names else 0.0
        for document in documents
    }


def spread_oracle(
    documents: Sequence[Document],
    scores: dict[int, float],
    back: float = 0.5,
    ahead: float = 0.3,
    *,
    second: Mapping[int, float] | None = None,
) -> dict[int, float]:
    """Walk each session turn by turn; `second` is the share that a document gets of the turn before the previous."""
    out = dict(scores)
    for session in {document.session for document in documents} - {""}:
        turns: dict[int, list[int]] = {}
        for document in sorted(live(documents), key=lambda document: document.code):
            if document.session == session:
                turns.setdefault(unpack_code(document.code)[1], []).append(document.code)
        order = list(turns.values())
        best = [max(scores[code] for code in turn) for turn in order]
        for at, turn in enumerate(order):
            gain = back * best[at - 1] if at else 0.0
            gain += ahead * best[at + 1] if at + 1 < len(order) else 0.0
            for code in turn:
                out[code] += gain + (best[at - 2] * second.get(code, 0.0) if second and at > 1 else 0.0)
    return out


class FakeStore:
    """A tenant's documents in memory, read in steps as a store's `delta` gives them."""

    def __init__(self, documents: Sequence[Document] = (), vectors: Sequence[Vector] = ()) -> None:
        self.documents = list(documents)
        self.vectors = list(vectors)
        self.blobs: dict[str, tuple[bytes, ...]] = {}
        self.deltas = 0
        self.vectors_read = 0
        self.step = 5
        self.tenant = TenantRecord(user_id="ana", number=1, tag="abcde1", key=bytes(32))
        self.generation = 0
        self.views = 0

    def reader(self) -> Reader:
        return cast("Reader", self)

    @property
    def duties(self) -> FakeStore:
        return self

    @property
    def heads(self) -> IndexPosition:
        """Say how far documents and vectors go, of whatever model."""
        return IndexPosition(len(self.documents), 0, len(self.vectors))

    @property
    def taken(self) -> tuple[float, float]:
        """Every view is later than the last one."""
        self.views += 1
        return 2.0 * self.views, 2.0 * self.views + 1

    def lineage(self, heads: IndexPosition) -> bytes:
        """Tell apart stores by the documents up to a position; words that are redacted count all the same."""
        last = self.documents[heads.event - 1].code if 0 < heads.event <= len(self.documents) else -heads.event
        return repr((self.generation, heads.event, last)).encode()

    def delta(self, heads: IndexPosition, model_id: str | None, limit: int = 10_000) -> Delta:
        """Count documents as events: their place in the list is the head."""
        self.deltas += 1
        upto = heads.event + min(limit, self.step)
        mine = [one for one in self.vectors if one.model_id == model_id]
        return Delta(
            heads=IndexPosition(min(upto, len(self.documents)), 0, len(mine)),
            documents=tuple(self.documents[heads.event : upto]),
            vectors=tuple(mine[heads.vector :]),
        )

    def vector_data(self, codes: Sequence[int], model_id: str) -> list[tuple[int, int, bytes]]:
        """Return what is stored, in the order of the codes asked for, and count it."""
        stored = {one.code: one for one in self.vectors if one.model_id == model_id}
        found = [(code, stored[code].bits, stored[code].data) for code in codes if code in stored]
        self.vectors_read += len(found)
        return found

    def snapshot(self, name: str) -> tuple[bytes, ...]:
        return self.blobs.get(name, ())


def _code(document: Document) -> int:
    return document.code


def _drawn_event(*, number: int, part: int, text: str, loose: int, state: DocumentState) -> Document:
    return event(number, text, part=part, session=f"s{number % 3}" if loose else "", state=state)


def _drawn_memory(number: int, text: str, state: DocumentState) -> Document:
    return memory(number, text, state=state)


def documents_strategy(most: int = 30) -> st.SearchStrategy[list[Document]]:
    """Draw distinct documents: turns of three sessions and of none, some long, memories, and all states."""
    numbers, states = st.integers(1, 20), st.sampled_from(list(DocumentState))
    texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
    parts, loose = st.sampled_from([0, 0, 0, 1, 2]), st.integers(0, 5)
    events = st.builds(_drawn_event, number=numbers, part=parts, text=texts, loose=loose, state=states)
    memories = st.builds(_drawn_memory, numbers, texts, states)
    return st.lists(st.one_of(events, memories), max_size=most, unique_by=_code)


def inflated(blobs: Iterable[bytes]) -> bytes:
    """Return the bytes of an image with what it deflates written out behind them."""
    image = b"".join(blobs)
    return image + zlib.decompress(image[image.index(b"\x78\x01", 16) :])
