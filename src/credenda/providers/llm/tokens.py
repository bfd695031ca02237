"""Estimates of the tokens of a question before the call; every model has its own vocabulary."""

from __future__ import annotations

import json
import re
from typing import Final

from credenda.providers.llm.protocol import Question

__all__ = ["estimate_question_tokens", "estimate_text_tokens"]

_PIECE: Final = re.compile(r"[^\W_]+|[^\w\s]|_|\n")
_LETTERS: Final = 5
"""Most English words of up to six letters are one token, longer ones two."""
_FRAME_TOKENS: Final = 40
"""Tokens that the wire formats add around a question."""


def estimate_text_tokens(text: str) -> int:
    """Estimate how many tokens a model reads in a text, erring on the high side.

    >>> estimate_text_tokens("I live in Linz.")
    5
    """
    return sum(-(-len(piece) // _LETTERS) for piece in _PIECE.findall(text))


def estimate_question_tokens(question: Question) -> int:
    """Estimate the input tokens of a question: instructions, prompt, earlier answers and the schema."""
    texts = [question.instructions, question.prompt, json.dumps(question.schema)]
    texts += [text for pair in question.earlier for text in pair]
    return sum(map(estimate_text_tokens, texts)) + _FRAME_TOKENS
