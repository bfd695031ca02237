"""Whether memory holds an answer at all: one probability for a search, which means the same for every search. Pure.

P = logistic(base + coverage · c + cosine · m + rarest · r + lead · l + size · √(2 ln n) + …), fitted on questions that
memory can and cannot answer: `data/weights.toml` has the numbers, `benchmarks/fit_weights.py` makes them. √(2 ln n) is
how far the best of n unrelated texts rises above their mean, in standard deviations: what is near in a store of ten
sentences is chance in one of ten thousand.

What was said is mostly spoken of more than once. A question in the words of a text that does not answer it finds that
text and little beside it, so the signs `above` and `nearer` count how far the best texts rise above the mean of the
first thirty, in words and in nearness: as far as the store is large enough to expect more than one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from credenda.read.candidates import Candidates, Floats, Integers, Mask, Row
from credenda.read.weights import Calibration, Weights

__all__ = [
    "TOP",
    "Asking",
    "Rise",
    "answerability",
    "any_compared",
    "best_by_chance",
    "held_lead",
    "lead_of",
    "most_relevant",
    "rise_of",
]

TOP: Final = 5
"""Best rows whose signs tell whether the search found an answer; the calibration was fitted on as many."""
_AROUND: Final = 30
"""Best candidates whose mean is what the best texts rise above."""
_CHANCE_SEEN: Final = 5_000
"""Documents from which more of them are not taken to raise the best by chance."""
_FEW: Final = 2
"""Documents up to which nobody expects more than one text on a matter."""
_MANY: Final = 500
"""Documents from which more than one is expected."""
_MOST: Final = (0.5, 0.4)
"""How far the best may rise above the rest before it counts no more: what was said once must not be refused for it."""
_SCARCE: Final = 0.15
"""Share of the question's idf below which a text speaks of something else, for all that its words can tell."""
_HALF: Final = 0.5
_MOST_WORDS: Final = 0.75
"""Share of the question's idf from which a text speaks of the thing asked for, whatever its slot."""


class Rise(NamedTuple):
    """How far the best texts rise above the first thirty: in the share of the question's words, and in cosine."""

    above: float = 0.0
    nearer: float = 0.0


_LEVEL: Final = Rise()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What the question itself says about how likely an answer is, and how much was searched for one.

    `names_slot`: it asks for one thing that has a slot of its own. `broad`: it asks for the course of a matter, which
    no single text covers. `strange`: all that it names is in no text. `lead`, in [-1, 1], counts where one person is
    named: what somebody else said in the question's words is rarely the answer. `searched` counts documents.
    """

    names_slot: bool = False
    broad: bool = False
    strange: bool = False
    lead: float = 0.0
    rise: Rise = _LEVEL
    searched: int = 1


def any_compared(rows: Sequence[Row]) -> bool:
    """Say whether vectors speak for or against the best rows; where none has one yet, only words can judge."""
    return any(row.signs.cosine is not None for row in rows[:TOP])


def best_by_chance(searched: int) -> float:
    """Return how far the best of so many unrelated texts is expected above their mean, in standard deviations.

    Beyond `_CHANCE_SEEN` it stands still: what chance adds was measured on stores of up to some 1,700 texts, and to go
    on from there refused one answerable question in twelve of a store of 100,000 (docs/decisions/0055).

    >>> round(best_by_chance(1_000), 2), round(best_by_chance(1_000_000), 2)
    (3.72, 4.13)
    """
    return math.sqrt(2.0 * math.log(min(max(searched, 1), _CHANCE_SEEN)))


def held_lead(lead: float) -> float:
    """Bound how much it counts that another person said it: a slip of the name must not refuse a question."""
    return max(lead, -0.5)


def lead_of(coverage: Floats, by_named: Mask, by_partner: Mask) -> float:
    """Say how much more of the question the named person's five best texts cover than their partners', in [-1, 1].

    >>> named = np.array([True, True, False, False])
    >>> lead_of(np.array([1.0, 1.0, 0.5, 1.0], np.float32), named, np.array([False, False, True, False]))
    0.3
    """
    theirs, others = (np.sort(part)[-TOP:].sum() for part in (coverage[by_named], coverage[by_partner]))
    return round(float(theirs - others) / TOP, 6)


def rise_of(found: Candidates, best: Integers) -> Rise:
    """Say how far the first five of the best candidates, most relevant first, rise above the first thirty.

    Documents that are no candidates count as 0 there. Weighed by how much more than one text on a matter is to be
    expected: 0 for two documents, 1 from five hundred.
    """
    expected = _more_expected(found.searched)
    if not expected or not len(best):
        return _LEVEL
    around = best[:_AROUND]
    signs = found.coverage[around], np.fmax(found.cosine[around], np.float32(0))  # 0 for NaN
    count = min(_AROUND, found.searched)
    above, nearer = (
        expected * min(float(one[:TOP].max() - one.sum() / count), most) for one, most in zip(signs, _MOST, strict=True)
    )
    return Rise(above, nearer)


def _more_expected(searched: int) -> float:
    """Say how far more than one text on a matter is to be expected, in [0, 1], rising with the logarithm."""
    return min(math.log(max(searched, _FEW) / _FEW) / math.log(_MANY / _FEW), 1.0)


def most_relevant(read: Sequence[Row]) -> list[Row]:
    """Return the rows whose relevance is highest, of rows whose key is nothing else, best first.

    What a row is worth by itself orders hits, and says nothing on whether they answer.
    """
    return sorted(read, key=lambda row: -row.key)[:TOP]


def answerability(
    rows: Sequence[Row], relevant: Sequence[Row], engine: Calibration, tuned: Weights, *, asking: Asking
) -> float:
    """Return the probability that memory holds an answer, from the signs of the best rows; 0 where there are none.

    `rows` are those to show, in their order, `relevant` those of the highest relevance among all that were read.
    A slot that holds something answers a question about it. One that holds nothing speaks against an answer, unless one
    text has most of the question's words: to "what is my blood type" a text about another type is no answer.
    """
    best = [row.signs for row in rows[:TOP]]
    if not best:
        return 0.0
    told = [row.signs for row in relevant] or best
    near = max((signs.cosine for signs in told if signs.cosine is not None), default=0.0)
    coverage = max(signs.coverage for signs in told)
    logit = engine.base + engine.coverage * coverage + engine.cosine * near + engine.lead * held_lead(asking.lead)
    logit += engine.size * best_by_chance(asking.searched)
    logit += engine.above * asking.rise.above + engine.nearer * asking.rise.nearer
    rarest = any(signs.rarest for signs in told)
    if not asking.broad and not any(one.timely or one.governs or one.slot for one in best):
        if coverage < _SCARCE:
            logit += engine.scarce
        if coverage < _HALF and not rarest:
            logit += tuned.scant_logit * (1.0 - _more_expected(asking.searched))
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
    return 1.0 / (1.0 + math.exp(-logit))
