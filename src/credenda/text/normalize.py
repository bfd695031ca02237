"""Normal forms of names, values and texts; equal forms mean the same.

They decide identity (slots, confirmation, tombstones), so a change here needs a new NORMALISER version. Tombstones
store the version that made them, and old versions stay available.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import Final

__all__ = ["NORMALISER", "is_same_value", "normalise_attribute", "normalise_name", "normalise_text", "normalise_value"]

NORMALISER: Final = 1
_SPACE: Final = re.compile(r"\s+")
_EDGE: Final = re.compile(r"^[\W_]+|[\W_]+$")
_ARTICLE: Final = re.compile(r"^(?:the|a|an|my|our)\s+")
_NOT_WORD: Final = re.compile(r"[^\w]+")
_PUNCTUATION: Final = re.compile(r"[^\w\s.+#%/@:-]|[.:-](?=\s|$)")
_CACHED: Final = 4_096
"""Number of cached normal forms: a decision compares the same hundred repeatedly."""
_DIGIT: Final = re.compile(r"\d")
_RELEASE: Final = re.compile(r"\bv(?=\d+[ .]\d)")
_GROUPED: Final = re.compile(r"(?<![\w.])\d{1,3}(?: \d{3}){1,5}(?![\w.])")
_SCALES: Final = {"k": 1_000, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SCALED: Final = re.compile(r"(?<![\w.])(\d{1,12}(?:\.\d{1,6})?) ?(k|thousand|million|billion)\b")
_QUOTES: Final = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"}
)


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    return _SPACE.sub(" ", plain).strip()


@lru_cache(maxsize=_CACHED)
def normalise_name(name: str) -> str:
    """Normalise an entity or scope: fold case, width, spaces and outer punctuation.

    >>> normalise_name("  The ACME  Project. ")
    'acme project'
    """
    return _ARTICLE.sub("", _EDGE.sub("", _fold(name)))


@lru_cache(maxsize=_CACHED)
def normalise_attribute(name: str) -> str:
    """Normalise an attribute to snake case.

    >>> normalise_attribute("Favourite colour")
    'favourite_colour'
    """
    return _NOT_WORD.sub("_", _fold(name)).strip("_")


@lru_cache(maxsize=_CACHED)
def normalise_value(value: str) -> str:
    """Normalise a value: fold case, articles and punctuation, keep digits and signs.

    >>> normalise_value("The  Morning!")
    'morning'
    """
    return _ARTICLE.sub("", _SPACE.sub(" ", _PUNCTUATION.sub(" ", _fold(value))).strip())


def normalise_text(text: str) -> str:
    """Normalise a sentence: lower case, single spaces, no punctuation (S-061).

    >>> normalise_text("I live in Linz.") == normalise_text("i  live in LINZ")
    True
    """
    return _SPACE.sub(" ", _PUNCTUATION.sub(" ", _fold(text))).strip()


@lru_cache(maxsize=_CACHED)
def _spell_amounts(key: str) -> str:
    """Write the numbers of a normal form in digits: "40k" and "40 000" are 40000, "v5.3" is 5.3."""
    written = _GROUPED.sub(lambda found: found[0].replace(" ", ""), _RELEASE.sub("", key))
    return _SCALED.sub(_to_digits, written)


def _to_digits(found: re.Match[str]) -> str:
    amount = Decimal(found[1]) * _SCALES[found[2]]
    return str(int(amount)) if amount == int(amount) else found[0]


def is_same_value(one: str | None, other: str | None) -> bool:
    """Return whether two values are the same in normal form; an unknown value equals nothing (D-008).

    >>> is_same_value("40k", "40,000"), is_same_value("2 million", "2000000"), is_same_value("40k", "41k")
    (True, True, False)
    """
    if one is None or other is None:
        return False
    first, second = normalise_value(one), normalise_value(other)
    if first == second:
        return True
    return (
        _DIGIT.search(first) is not None
        and _DIGIT.search(second) is not None
        and _spell_amounts(first) == _spell_amounts(second)
    )
