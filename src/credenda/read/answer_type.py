"""Answer types: a question for a time expects a text with a time, one for a number a text with a number. Pure.

"When did Ana start to paint?" is answered by "I took it up last May", not by other texts about her painting. The check
needs the text, so it runs only on rows that were read.
"""

from __future__ import annotations

from typing import Final

from credenda.read.plan import Ask
from credenda.read.weights import Relevance, load_questions

__all__ = ["is_typed_question", "score_answer_type"]

_READ: Final = 1_000
"""Characters of a text that are searched: a longer text almost always contains a number."""


def is_typed_question(ask: Ask) -> bool:
    """Return whether answers to this kind of question can be recognised by a pattern."""
    return ask.value in load_questions().answers


def score_answer_type(text: str, ask: Ask, tuned: Relevance) -> float:
    """Return the bonus for a text that contains the expected type of answer; 0 for other questions.

    >>> from credenda.read.weights import load_weights
    >>> tuned = load_weights().relevance
    >>> (score_answer_type("I took it up last May.", Ask.WHEN, tuned)
    ... > score_answer_type("I love to paint.", Ask.WHEN, tuned))
    True
    """
    pattern = load_questions().answers.get(ask)
    if pattern is None or pattern.search(text[:_READ].lower()) is None:
        return 0.0
    return tuned.when if ask is Ask.WHEN else tuned.count
