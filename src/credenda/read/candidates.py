"""What passes from step to step of a search: candidates as arrays, then the few that are read, as rows. Pure."""

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

__all__ = ["Candidates", "Floats", "Integers", "Mask", "Row", "Signs"]

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What may answer: documents by packed code, and the raw signs of relevance of each, all (c,).

    `owners` tells which event or memory a document belongs to. `words` is BM25+ with the share of the neighbouring
    turns, `own_words` without; `coverage` the share of the question's idf that the text holds, in [0, 1]. `cosine` is
    NaN where no vector was compared; `meaning` adds the neighbours' share. `speaker_fit`, in [0, 1], says how well the
    named person's words fit; `lead`, in [-1, 1], how much more of the question their best texts cover than anyone
    else's; `strange` that the question names only what nobody ever spoke of; `governs`, in [0, 1], how far a standing
    instruction applies; `rarest` marks what holds the question's rarest word; `searched` is how many documents were
    looked at; `complete` that no other document has any sign of relevance.
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
    by_role: Mask
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
    whole: bool = False
    """Known to hold first passages alone: each is then the only one of its event or memory."""

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self.codes)


class Signs(NamedTuple):
    """Signs that mean the same for every question; `cosine` is None where no vector was compared."""

    words: float = 0.0
    coverage: float = 0.0
    cosine: float | None = None
    slot: bool = False
    timely: bool = False
    governs: bool = False
    rarest: bool = False

    def joined(self, other: Signs) -> Signs:
        """Return the best of both, for an event and the memory made from it."""
        known = [cosine for cosine in (self.cosine, other.cosine) if cosine is not None]
        return Signs(
            max(self.words, other.words),
            max(self.coverage, other.coverage),
            max(known) if known else None,
            self.slot or other.slot,
            self.timely or other.timely,
            self.governs or other.governs,
            self.rarest or other.rarest,
        )


class Row(NamedTuple):
    """A candidate that was read: exactly one of `memory` and `event` is set, as `kind` says.

    `key` orders rows, highest first; `terms` are its summands by name. (A tuple, because a search makes a hundred of
    them and a frozen dataclass takes six times as long.)
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
