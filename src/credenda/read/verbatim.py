"""Find the query verbatim in a text, whatever its case, punctuation and spacing. Pure."""

from __future__ import annotations

import re
from typing import Final

from credenda.text.tokens import RUNS

__all__ = ["fold_query", "has_query"]

_WORD: Final = re.compile(r"\w+")
_RUN: Final = re.compile(f"[{RUNS}]")
_WORDS_MIN: Final = 2


def _fold(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def fold_query(query: str) -> str:
    """Return the words of a query as one folded text; "" for a single word, which is no quotation.

    >>> fold_query("I'm  from Linz!")
    ' i m from linz '
    >>> fold_query("Linz")
    ''
    """
    folded = _fold(query)
    if _RUN.search(folded):
        return folded
    return f" {folded} " if folded.count(" ") + 1 >= _WORDS_MIN else ""


def has_query(text: str, folded: str) -> bool:
    """Return whether a text holds a query that `fold_query` folded, at word boundaries.

    >>> has_query("Well, I’m from Linz, you know.", fold_query("i'm from linz"))
    True
    >>> has_query("I'm from Linzer Land.", fold_query("i'm from linz"))
    False
    """
    if not folded or max(folded.split(), key=len) not in text.casefold():  # much cheaper than folding every text
        return False
    return folded in f" {_fold(text)} "
