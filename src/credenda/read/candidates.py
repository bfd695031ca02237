"""Data that the steps of a search exchange: candidates as arrays, and the few that are read as rows. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from credenda.model.event import Event
from credenda.model.memory import Memory
from credenda.model.query import Flag, HitKind

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Candidate documents by packed code, each with its raw features; all arrays have the shape (c,).

    `owners` are the event or memory of each document. `words` is BM25+ with the share of neighbouring turns,
    `own_words` without it; `coverage` the share of the question's idf in the text, in [0, 1]. `cosine` is NaN if no
    vector was compared; `meaning` adds the neighbours' share. `speaker_fit`, in [0, 1], is how well the named person's
    texts fit; `lead`, in [-1, 1], how much more of the question their best texts cover than anyone else's.
    `strange`: the question names only unknown names. `governs`, in [0, 1], is how well a standing instruction
    matches; `rarest` marks texts with the question's rarest word. `searched` is the number of documents searched;
    `complete`: no other document has any relevance.
    """

    codes: Integers
    owners: Integers
    words: Floats
    own_words: Floats
    coverage: Floats
    session: Floats
    in_session: Mask
    cosine: Floats
    meaning: Floats
    length: Floats
    by_named: Mask
    slot: Mask
    timely: Mask
    belief: Mask
    governs: Floats
    rarest: Mask
    speaker_fit: float
    lead: float
    searched: int
    complete: bool
    strange: bool = False
    talk: bool = False
    """Most of the messages are by persons other than a user and an assistant."""
    whole: bool = False
    """Every document is known to be the first passage, hence the only document of its event or memory."""

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self.codes)


class Signs(NamedTuple):
    """Features with the same scale for every question; `cosine` is None if no vector was compared."""

    words: float = 0.0
    coverage: float = 0.0
    cosine: float | None = None
    slot: bool = False
    timely: bool = False
    governs: bool = False
    rarest: bool = False
    verbatim: bool = False
    """The text holds the whole query."""

    def joined(self, other: Signs) -> Signs:
        """Return the maximum of each feature, for an event and the memory derived from it."""
        known = [cosine for cosine in (self.cosine, other.cosine) if cosine is not None]
        return Signs(
            max(self.words, other.words),
            max(self.coverage, other.coverage),
            max(known) if known else None,
            self.slot or other.slot,
            self.timely or other.timely,
            self.governs or other.governs,
            self.rarest or other.rarest,
            self.verbatim or other.verbatim,
        )


class Row(NamedTuple):
    """A candidate that was read; exactly one of `memory` and `event` is set, according to `kind`.

    `key` orders rows, highest first; `terms` are its summands by name. A tuple, because a search creates about a
    hundred rows and a frozen dataclass takes six times as long.
    """

    kind: HitKind
    id: str
    text: str
    key: float
    signs: Signs = Signs()
    terms: Mapping[str, float] = MappingProxyType({})
    memory: Memory | None = None
    event: Event | None = None
    passage: int = 0
    flags: frozenset[Flag] = frozenset()
