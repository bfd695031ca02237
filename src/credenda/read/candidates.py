"""Data that the steps of a search exchange: candidates as arrays, and the few that are read as rows. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credenda.model.event import Event
from credenda.model.memory import Memory
from credenda.model.query import Flag, HitKind
from credenda.read.weights import Calibration, Weights

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Candidate documents by packed code, each with its raw features; all arrays have the shape (c,).

    `owners` are the event or memory of each document. `words` is BM25+ with the share of neighbouring turns,
    `own_words` without it; `coverage` the share of the question's idf in the text, in [0, 1]. `cosine` is NaN if no
    vector was compared; `meaning` adds the neighbours' share; `claim` is how well a memory answers as a claim, NaN if
    not compared. `speaker_fit`, in [0, 1], is how well the named person's texts fit; `lead`, in [-1, 1], how much more
    of the question their best texts cover than anyone else's. `strange`: the question names only unknown names.
    `governs`, in [0, 1], is how well a standing instruction matches; `rarest` marks texts with the question's rarest
    word. `searched` is the number of documents searched; `complete`: no other document has any relevance.
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
    claim: Floats
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
    place: Floats | None = None
    """How far before the others those are that answer a question about the whole; None for any other question."""
    whole: bool = False
    """Every document is known to be the first passage, hence the only document of its event or memory."""

    def __len__(self) -> int:
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
    claim: float | None = None
    """How well a memory answers the question as a claim, in cosines; None if it was not compared."""

    def joined(self, other: Signs) -> Signs:
        """Return the maximum of each feature, for an event and the memory derived from it."""
        known = [cosine for cosine in (self.cosine, other.cosine) if cosine is not None]
        answers = [claim for claim in (self.claim, other.claim) if claim is not None]
        return Signs(
            max(self.words, other.words),
            max(self.coverage, other.coverage),
            max(known) if known else None,
            self.slot or other.slot,
            self.timely or other.timely,
            self.governs or other.governs,
            self.rarest or other.rarest,
            self.verbatim or other.verbatim,
            max(answers) if answers else None,
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


# Abstention: the probability that the store can answer a question, comparable between searches.


TOP: Final = 5
"""Number of best rows whose features decide about abstention; the calibration was fitted with the same number."""
_AROUND: Final = 30
"""Number of best candidates in the mean that the best texts are compared with."""
_CHANCE_SEEN: Final = 5_000
"""Store size, in documents, above which `expect_best_by_chance` stops growing."""
_FEW: Final = 2
"""Store size up to which a single text on a subject is expected."""
_MANY: Final = 500
"""Store size from which several texts on a subject are expected."""
_MOST: Final = (0.5, 0.4)
"""Upper bounds of `Rise`: a fact that was mentioned only once must remain answerable."""
_SCARCE: Final = 0.15
"""Share of the question's idf below which the words of a text indicate another subject."""
_HALF: Final = 0.5
_MOST_WORDS: Final = 0.75
"""Share of the question's idf from which a text counts as being about the subject, whatever its slot."""


class Rise(NamedTuple):
    """How far the best texts rise above the mean of the first thirty, in word coverage and in cosine."""

    above: float = 0.0
    nearer: float = 0.0


_LEVEL: Final = Rise()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSignals:
    """Features of the question and of the search that change how likely an answer is.

    `names_slot`: the question asks for a single value that has its own slot. `broad`: it asks for the course of events,
    which no single text covers. `strange`: no text contains any name that the question uses. `lead`, in [-1, 1],
    applies if one person is named: another person's text in the question's words is rarely the answer. `searched` is
    the number of documents searched.
    """

    names_slot: bool = False
    broad: bool = False
    strange: bool = False
    lead: float = 0.0
    rise: Rise = _LEVEL
    searched: int = 1


def has_compared_vectors(rows: Sequence[Row]) -> bool:
    """Return whether any of the best rows has a cosine; without one, only words can decide."""
    return any(row.signs.cosine is not None for row in rows[:TOP])


def expect_best_by_chance(searched: int) -> float:
    """Return the expected best of `searched` unrelated texts above their mean, in standard deviations.

    Constant beyond `_CHANCE_SEEN`: the effect was measured on stores of up to about 1,700 texts, and extrapolating it
    refused one in twelve answerable questions in a store of 100,000 (docs/decisions/0055).

    >>> round(expect_best_by_chance(1_000), 2), round(expect_best_by_chance(1_000_000), 2)
    (3.72, 4.13)
    """
    return math.sqrt(2.0 * math.log(min(max(searched, 1), _CHANCE_SEEN)))


def bound_lead(lead: float) -> float:
    """Limit the penalty for a text by another speaker, so that a wrong name does not refuse the question."""
    return max(lead, -0.5)


def measure_lead(coverage: Floats, by_named: Mask, by_partner: Mask) -> float:
    """Return how much more of the question the named person's best texts cover than their partners', in [-1, 1].

    >>> named = np.array([True, True, False, False])
    >>> measure_lead(np.array([1.0, 1.0, 0.5, 1.0], np.float32), named, np.array([False, False, True, False]))
    0.3
    """
    theirs, others = (np.sort(part)[-TOP:].sum() for part in (coverage[by_named], coverage[by_partner]))
    return round(float(theirs - others) / TOP, 6)


def measure_rise(found: Candidates, best: Integers) -> Rise:
    """Return how far the best five of `best` (most relevant first) rise above the mean of the first thirty.

    Missing candidates count as 0 in the mean. The result is weighted by `_expect_more`: 0 for two documents, 1 from
    five hundred.
    """
    expected = _expect_more(found.searched)
    if not expected or not len(best):
        return _LEVEL
    around = best[:_AROUND]
    signs = found.coverage[around], np.fmax(found.cosine[around], np.float32(0))  # 0 for NaN
    count = min(_AROUND, found.searched)
    above, nearer = (
        expected * min(float(one[:TOP].max() - one.sum() / count), most) for one, most in zip(signs, _MOST, strict=True)
    )
    return Rise(above, nearer)


def _expect_more(searched: int) -> float:
    """Return how strongly several texts on a subject are expected, in [0, 1], logarithmic in the store size."""
    return min(math.log(max(searched, _FEW) / _FEW) / math.log(_MANY / _FEW), 1.0)


def pick_most_relevant(read: Sequence[Row]) -> list[Row]:
    """Return the most relevant rows, best first, of rows whose key is still the relevance alone.

    Importance, retention and recency order hits but do not indicate whether they answer the question.
    """
    return sorted(read, key=lambda row: -row.key)[:TOP]


def estimate_answerability(
    rows: Sequence[Row], relevant: Sequence[Row], engine: Calibration, tuned: Weights, *, asking: QuestionSignals
) -> float:
    """Return the probability that the store holds an answer, from the features of the best rows; 0 without rows.

    `rows` are the rows to show, in order; `relevant` the most relevant of all rows read. A slot with a value answers a
    question about it. An empty slot counts against an answer unless a text contains most of the question's words: a
    text about another type does not answer "what is my blood type".
    """
    best = [row.signs for row in rows[:TOP]]
    if not best:
        return 0.0
    told = [row.signs for row in relevant] or best
    near = max((signs.cosine for signs in told if signs.cosine is not None), default=0.0)
    coverage = max(signs.coverage for signs in told)
    logit = engine.base + engine.coverage * coverage + engine.cosine * near + engine.lead * bound_lead(asking.lead)
    logit += engine.size * expect_best_by_chance(asking.searched)
    logit += engine.above * asking.rise.above + engine.nearer * asking.rise.nearer
    rarest = any(signs.rarest for signs in told)
    if not asking.broad and not any(one.timely or one.governs or one.slot for one in best):
        if coverage < _SCARCE:
            logit += engine.scarce
        if coverage < _HALF and not rarest:
            logit += tuned.scant_logit * (1.0 - _expect_more(asking.searched))
    if rarest:
        logit += engine.rarest
    if asking.broad:
        logit += engine.broad
    if any(signs.slot for signs in best):
        logit += tuned.slot_logit
    elif asking.strange:
        logit += engine.strange
    elif asking.names_slot and coverage < _MOST_WORDS:
        logit += tuned.missing_logit
    base, slope = tuned.curve
    return 1.0 / (1.0 + math.exp(-(base + slope * logit)))
