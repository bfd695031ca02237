"""Cut a long sentence to the clause that holds a value. Pure."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["cut_to_clause"]

_WORDS_MAX: Final = 30
"""A sentence of more words is cut."""
_BORDER: Final = re.compile(r"(?:[,;:.!?]|\s[-\u2013\u2014])\s+")
_SUBJECT: Final = re.compile(r"\b(?:i|i['\u2019]\w+|my|we|we['\u2019]\w+|our|he|she|they|it)\b", re.IGNORECASE)
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
