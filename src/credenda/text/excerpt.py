"""Cut a long text to the part that matters: the clause with a value, or the words that a query asks for. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from credenda.text.fence import estimate_tokens
from credenda.text.tokens import tokenize

_WORDS_MAX: Final = 30
"""A sentence of more words is cut."""
_BORDER: Final = re.compile(r"(?:[,;:.!?]|\s[-\u2013\u2014])\s+")
_SUBJECT: Final = re.compile(r"\b(?:i|i['\u2019]\w+|my|we|we['\u2019]\w+|our|he|she|they|it)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\S{1,40}\s*")
_BACK: Final = 2
"""Clauses before the value, at most, that are kept to show whose it is."""


def cut_to_clause(text: str, value: str | None) -> str:
    """Return the clause of a long sentence that holds a value, with its subject; any other text is unchanged.

    >>> text = "I'm setting up my app, but it fails, I use Flask 2.3 for it, can you help me " + "now " * 20
    >>> cut_to_clause(text, "Flask 2.3"), cut_to_clause("I use Flask 2.3, can you help?", "Flask 2.3")
    ('… I use Flask 2.3 for it …', 'I use Flask 2.3, can you help?')
    """
    at = text.casefold().find(value.casefold()) if value else -1
    if at < 0 or value is None or len(text.split()) <= _WORDS_MAX or len(text.casefold()) != len(text):
        return text
    starts = [0, *(found.end() for found in _BORDER.finditer(text))]
    stops = [*(found.start() for found in _BORDER.finditer(text)), len(text)]
    first = max(n for n, start in enumerate(starts) if start <= at)
    last = min(n for n, stop in enumerate(stops) if stop >= at + len(value))
    for _ in range(_BACK):
        if first and not _SUBJECT.search(text[starts[first] : stops[first]]):
            first -= 1
    before, after = "\u2026 " if first else "", " \u2026" if last < len(stops) - 1 else ""
    return f"{before}{text[starts[first] : stops[last]].strip()}{after}"


def cut_around(text: str, terms: Collection[str], tokens: int) -> str:
    """Return the part of a text with the most of these terms, as `tokenize` gives them, in at most `tokens` tokens.

    The part begins with a clause, the first of equally good ones; "…" marks what is left out. Tokens are those of
    `estimate_tokens`.

    >>> text = "We talked for a while, the weather was fine, and then Mia told me that she moved to Graz."
    >>> cut_around(text, {"mia", "move"}, 12), cut_around(text, {"sun"}, 10)
    ('… and then Mia told me that she moved to …', 'We talked for a while, the …')
    """
    if estimate_tokens(text) <= tokens:
        return text
    starts = [0, *(found.end() for found in _BORDER.finditer(text))]
    parts = [_cut_after(text, start, tokens) for start in starts]
    return max(parts, key=lambda part: len(frozenset(terms).intersection(tokenize(part))))


def _cut_after(text: str, start: int, tokens: int) -> str:
    """Return the words from a place on that fit, with marks of what is left out."""
    before = "… " if start else ""
    left = tokens - estimate_tokens(before)
    if estimate_tokens(text[start:]) <= left:
        return f"{before}{text[start:]}"
    stop = start
    left -= 1
    for word in _WORD.finditer(text, start):
        left -= estimate_tokens(word[0])
        if left < 0:
            break
        stop = word.end()
    return f"{before}{text[start:stop].rstrip()} …"
