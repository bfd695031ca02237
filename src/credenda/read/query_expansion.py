"""Query expansion: search again with rare words from the first hits (pseudo-relevance feedback).

"Where did Ana move after she left the hospital?" finds the turn about leaving; the rare words of that turn find the
rest. There is one round with few words from few hits, and only if the first hits cover little of the question. It
reorders the candidates after the first hits and never moves the first hits. A local form of relevance feedback
(Lavrenko and Croft, "Relevance-based language models", SIGIR 2001).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from credenda import limits
from credenda.index.resident import ResidentIndex
from credenda.read.candidates import Candidates, Floats, Integers
from credenda.read.plan import Plan
from credenda.read.weights import Relevance
from credenda.text.tokens import ALTERNATIVE, tokenize

__all__ = ["SEEDS", "choose_expansion_terms", "is_worth_expanding", "rescore_others"]

SEEDS: Final = 4
"""Number of first hits whose words expand the query."""
_READ: Final = 400
"""Characters of each hit that are used."""
_TERMS: Final = 8
"""Maximum number of expansion words."""
_LOOKED_UP: Final = 64
_RANK_SHARE: Final = 0.8
"""Weight of a word relative to a word of the previous hit."""
_COMMON_PART: Final = 0.1
"""Maximum share of texts that contain an expansion word; a word in a single text finds only that text."""
_LETTERS: Final = 3


def is_worth_expanding(found: Candidates, best: Integers, tuned: Relevance) -> bool:
    """Return whether to expand: only words were searched, and the best hits cover little of the question.

    In a small store every text is a candidate and words are rare by chance, so expansion does not help.
    """
    seeds = best[:SEEDS]
    if found.searched <= limits.CANDIDATES or len(best) <= SEEDS or not np.isnan(found.cosine).all():
        return False
    return bool(found.coverage[seeds].max(initial=0.0) < tuned.hop_coverage)


def choose_expansion_terms(index: ResidentIndex, made: Plan, texts: Sequence[str]) -> dict[str, float]:
    """Return the expansion words, best first, with weights in (0, 1]: rare words that the question does not contain."""
    asked = {part for term in made.terms for part in term.split(ALTERNATIVE)}
    asked.update(part for name in index.speaker_names for part in tokenize(name))
    heard: dict[str, float] = {}
    for rank, text in enumerate(texts[:SEEDS]):
        for term in set(tokenize(text[:_READ])) - asked:
            if len(term) >= _LETTERS:
                heard[term] = heard.get(term, 0.0) + _RANK_SHARE**rank
    terms = sorted(heard, key=lambda term: (-heard[term], term))[:_LOOKED_UP]
    counts = index.counts(terms)
    most = _COMMON_PART * len(index)
    worth = {
        term: heard[term] * math.log((len(index) + 1) / count)
        for term, count in zip(terms, counts, strict=True)
        if 1 < count <= most
    }
    best = sorted(worth, key=lambda term: (-worth[term], term))[:_TERMS]
    return {term: worth[term] / worth[best[0]] for term in best}


def rescore_others(
    index: ResidentIndex, found: Candidates, terms: Mapping[str, float], relevance: Floats, *, tuned: Relevance
) -> Floats:
    """Return the relevance of candidates after expansion, lowered by their distance to the best expansion score.

    Measured in standard deviations of the word scores of the first search. The caller keeps the first hits in place.
    """
    scores = np.zeros(len(index), np.float32)
    names = list(terms)
    for name, (rows, gained) in zip(names, index.each_term(names), strict=True):
        scores[rows] += gained * np.float32(terms[name])
    spread = index.spread(scores, back=tuned.back, ahead=tuned.words_ahead)[index.rows_of(found.codes)]
    unit = float(found.words.std())
    if not unit:
        return relevance
    return relevance + (spread - spread.max(initial=0.0)) * np.float32(tuned.hop * tuned.words / unit)
