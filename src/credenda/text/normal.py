"""Normal forms: what makes two names, values or texts the same.

These decide identity (slots, confirmation, tombstones), so a change here needs a new NORMALISER version; tombstones
remember the version they were made with and old versions stay available.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

__all__ = ["NORMALISER", "attribute_key", "name_key", "same_value", "text_key", "value_key"]

NORMALISER: Final = 1
_SPACE: Final = re.compile(r"\s+")
_EDGE: Final = re.compile(r"^[\W_]+|[\W_]+$")
_ARTICLE: Final = re.compile(r"^(?:the|a|an|my|our)\s+")
_NOT_WORD: Final = re.compile(r"[^\w]+")
_PUNCTUATION: Final = re.compile(r"[^\w\s.+#%/@:-]|[.:-](?=\s|$)")
_CACHED: Final = 4_096
"""Normal forms of names and values that are remembered: a decision compares the same hundred again and again."""
_QUOTES: Final = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"}
)


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    return _SPACE.sub(" ", plain).strip()


@lru_cache(maxsize=_CACHED)
def name_key(name: str) -> str:
    """Give the normal form of an entity or scope: case, width, spaces and outer punctuation folded.

    >>> name_key("  The ACME  Project. ")
    'acme project'
    """
    return _ARTICLE.sub("", _EDGE.sub("", _fold(name)))


@lru_cache(maxsize=_CACHED)
def attribute_key(name: str) -> str:
    """Give the normal form of an attribute, in snake case.

    >>> attribute_key("Favourite colour")
    'favourite_colour'
    """
    return _NOT_WORD.sub("_", _fold(name)).strip("_")


@lru_cache(maxsize=_CACHED)
def value_key(value: str) -> str:
    """Give the normal form of a value: case, articles and punctuation folded, digits and signs kept.

    >>> value_key("The  Morning!")
    'morning'
    """
    return _ARTICLE.sub("", _SPACE.sub(" ", _PUNCTUATION.sub(" ", _fold(value))).strip())


def text_key(text: str) -> str:
    """Give the normal form of a sentence: lower case, single spaces, no punctuation (S-061).

    >>> text_key("I live in Linz.") == text_key("i  live in LINZ")
    True
    """
    return _SPACE.sub(" ", _PUNCTUATION.sub(" ", _fold(text))).strip()


def same_value(one: str | None, other: str | None) -> bool:
    """Say whether two values are the same in normal form; an unknown value equals nothing (D-008)."""
    return one is not None and other is not None and value_key(one) == value_key(other)
