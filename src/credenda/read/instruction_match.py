"""Match standing instructions with a question. Pure.

"Always give dates in full when I ask about deadlines" shares no word with "When is the paper due?", and dozens of other
texts rank above it. But a user has few instructions, so each search scores all of them and picks the best match instead
of relying on retrieval.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from credenda.text.tokens import tokenize

_OCCASION: Final = re.compile(
    r"\b(?:when(?:ever)?|if|every time|each time|any time|anytime) (?:i|we|you) (?:am |are )?"
    r"(?:ask|asking|talk|talking|write|writing|request|mention|discuss|need|want|bring up|inquire|answer|explain"
    r"|show)\b(?: you)?(?: for| about| on| to| with| into)?\s*(?P<what>[^,.;]+)",
    re.IGNORECASE,
)
_EMPTY: Final = frozenset(tokenize("detail details question questions anything something topic information issue"))
_NEAR: Final = (0.1, 0.5)
"""Cosines at which an instruction begins to match and at which it fully matches: MiniLM on instructions of BEAM."""
_CLOSE: Final = 0.8
"""Share of the best match from which another instruction matches as well."""
_LEAST: Final = 0.2


def extract_trigger(instruction: str) -> str:
    """Return the part of an instruction that says when it applies; the whole text if it does not say.

    >>> extract_trigger("Always give dates in full when I ask about deadlines.")
    'deadlines'
    >>> extract_trigger("Never use emojis.")
    'Never use emojis.'
    """
    found = _OCCASION.search(instruction)
    return found["what"].strip() if found else instruction


def extract_trigger_terms(instruction: str) -> frozenset[str]:
    """Return the trigger words of an instruction as stems, comparable with the terms of a question.

    >>> sorted(extract_trigger_terms("Always give dates in full when I ask about deadlines of papers."))
    ['deadlin', 'paper']
    """
    return frozenset(tokenize(extract_trigger(instruction))) - _EMPTY


def is_for_other_questions(instruction: str, terms: Collection[str]) -> bool:
    """Return whether an instruction names when it applies, and a question with these terms shares no word with that.

    >>> is_for_other_questions("Give full dates when I ask about deadlines.", ["databas"])
    True
    >>> is_for_other_questions("Answer in German.", ["databas"])
    False
    """
    named = _OCCASION.search(instruction) is not None
    return named and bool(terms) and extract_trigger_terms(instruction).isdisjoint(terms)


def score_instructions(
    terms: Collection[str], occasions: Sequence[Collection[str]], cosines: Sequence[float | None]
) -> list[float]:
    """Return for each instruction how well its trigger matches a question with these terms, in [0, 1].

    Most match 0. The match is the number of shared words divided by the length of the shorter side, plus the scaled
    cosine if vectors were compared.

    >>> instructions = "Give full dates when I ask about deadlines.", "Use Celsius."
    >>> score_instructions(["paper", "deadlin"], [extract_trigger_terms(one) for one in instructions], [None, None])
    [1.0, 0.0]
    """
    fits = [_fit(set(terms), words, near) for words, near in zip(occasions, cosines, strict=True)]
    best = max(fits, default=0.0)
    return [min(fit, 1.0) if fit >= max(_LEAST, _CLOSE * best) else 0.0 for fit in fits]


def _fit(terms: set[str], words: Collection[str], cosine: float | None) -> float:
    shared = len(terms.intersection(words)) / min(len(words), len(terms)) if words and terms else 0.0
    low, high = _NEAR
    near = 0.0 if cosine is None else min(max((cosine - low) / (high - low), 0.0), 1.0)
    return shared + near
