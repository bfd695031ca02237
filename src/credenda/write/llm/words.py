"""Check whether the model's words occur in the message. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from credenda.model.claim import Span
from credenda.text.normalize import normalise_value
from credenda.text.sentences import split_sentences

__all__ = ["locate", "numbers", "says", "widen_to_sentences"]

_TOKEN: Final = re.compile(r"\w+(?:[.,:]\d+)*", re.UNICODE)
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_GAP: Final = r"[^\w]{1,8}?"
_QUOTE_TOKENS: Final = 120
_SMALL: Final = frozenset("a an the my our your to of in on at for with and or is are am be".split())  # noqa: SIM905


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(normalise_value(text))


def says(text: str, value: str) -> bool:
    """Return whether a text contains a value: its whole words in order, with only small words between them.

    >>> says("I moved to the New York office", "new york")
    True
    >>> says("I earn 15000 a year", "15")
    False
    """
    wanted = [token for token in _tokens(value) if token not in _SMALL] or _tokens(value)
    held = [token for token in _tokens(text) if token not in _SMALL or token in wanted]
    width = len(wanted)
    return bool(width) and any(held[at : at + width] == wanted for at in range(len(held) - width + 1))


def numbers(text: str) -> set[str]:
    """Return the numbers of a text as written, without grouping signs."""
    return {found.replace(",", "") for found in _NUMBER.findall(text)}


def locate(text: str, quote: str, event_id: str) -> Span | None:
    """Find the words of a text that a quote repeats; None if it does not occur.

    Case, spaces and punctuation may differ.
    """
    words = re.findall(r"\w+", quote)[:_QUOTE_TOKENS]
    if not words:
        return None
    pattern = rf"(?<!\w){_GAP.join(map(re.escape, words))}(?!\w)"
    found = re.search(pattern, text, re.IGNORECASE)
    return None if found is None else Span(event_id, found.start(), found.end())


def widen_to_sentences(text: str, span: Span) -> Span:
    """Return the whole sentences that a span touches."""
    touched = [one for one in split_sentences(text) if one.start < span.stop and span.start < one.stop]
    return replace(span, start=min(span.start, touched[0].start), stop=max(span.stop, touched[-1].stop))
