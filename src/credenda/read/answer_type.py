"""Whether a text looks like an answer: a question for a time wants a time, one for a number a number. Pure.

"When did Ana start to paint?" is answered by "I took it up last May", not by what else she says about painting. This
is a sign of the text alone, so it is asked only of the rows that were read.
"""

from __future__ import annotations

from typing import Final

from credenda.read.plan import Ask
from credenda.read.weights import Relevance, questions

__all__ = ["answers_kind", "asks_kind"]

_READ: Final = 1_000
"""Characters of a text that are looked at: a longer one holds some number anyway, which says nothing."""


def asks_kind(ask: Ask) -> bool:
    """Say whether answers to such a question are known by their looks."""
    return ask.value in questions().answers


def answers_kind(text: str, ask: Ask, tuned: Relevance) -> float:
    """Return what a text gains for holding what such a question asks for; 0 for other questions.

    >>> from credenda.read.weights import weights
    >>> tuned = weights().relevance
    >>> answers_kind("I took it up last May.", Ask.WHEN, tuned) > answers_kind("I love to paint.", Ask.WHEN, tuned)
    True
    """
    pattern = questions().answers.get(ask)
    if pattern is None or pattern.search(text[:_READ].lower()) is None:
        return 0.0
    return tuned.when if ask is Ask.WHEN else tuned.count
