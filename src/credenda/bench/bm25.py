"""A plain BM25 over turns, the baseline of every retrieval benchmark.

Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), k₁ = 1.2, b = 0.75, with the non-negative idf.
It uses only the words of each turn: no speaker, date, neighbour or session. Its terms come from the product's own
tokenizer, so that only the ranking differs.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Final

from credenda.text.tokens import extract_query_terms, tokenize

__all__ = ["PlainBm25"]

_K1: Final = 1.2
_B: Final = 0.75


class PlainBm25:
    """Ranks the texts of one conversation."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Index texts by their ids."""
        self._postings: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        self._lengths: dict[str, int] = {}
        for name, text in texts.items():
            terms = tokenize(text)
            self._lengths[name] = len(terms)
            for term, count in Counter(terms).items():
                self._postings[term].append((name, count))
        self._mean = max(1.0, sum(self._lengths.values()) / max(1, len(self._lengths)))

    def rank(self, question: str, limit: int) -> list[str]:
        """Return the ids of the best texts, best first; ties keep the order of the texts."""
        scores = self.score(question)
        order = {name: place for place, name in enumerate(self._lengths)}
        return sorted(scores, key=lambda name: (-scores[name], order[name]))[:limit]

    def score(self, question: str) -> dict[str, float]:
        """Return the score of each text that has a term of the question."""
        scores: defaultdict[str, float] = defaultdict(float)
        for term in extract_query_terms(question):
            found = self._postings.get(term, [])
            idf = math.log(1 + (len(self._lengths) - len(found) + 0.5) / (len(found) + 0.5))
            for name, count in found:
                norm = _K1 * (1 - _B + _B * self._lengths[name] / self._mean)
                scores[name] += idf * count * (_K1 + 1) / (count + norm)
        return scores
