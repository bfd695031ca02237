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

__all__ = [
    "NORMALISER",
    "is_same_value",
    "normalise_attribute",
    "normalise_money",
    "normalise_name",
    "normalise_text",
    "normalise_value",
]

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
_CURRENCIES: Final = {
    **dict.fromkeys(("us$", "$", "usd", "dollars", "dollar", "bucks", "buck"), "usd"),
    **dict.fromkeys(("€", "eur", "euros", "euro"), "eur"),
    **dict.fromkeys(("£", "gbp", "pounds", "pound", "quid"), "gbp"),
}
_FACTORS: Final = {"k": 3, "thousand": 3, "tausend": 3, "m": 6, "million": 6, "millionen": 6, "bn": 9, "billion": 9}
_NUMBER: Final = (
    r"(?P<{0}>[1-9]\d{{0,2}}(?:[., ']\d{{3}})+(?:[.,]\d{{1,2}})?|\d{{1,15}}(?:[.,]\d{{1,2}})?)(?![.,]?\d)"
    r"(?: ?(?P<{0}_scale>thousand|tausend|million|millionen|billion|bn|k|m)\b)?"
)
_UNIT: Final = "|".join(map(re.escape, _CURRENCIES))
_MONEY: Final = re.compile(
    rf"(?<!\w)(?P<unit>{_UNIT}) ?{_NUMBER.format('after')}"
    rf"|(?<![\w.,]){_NUMBER.format('before')} ?(?P<unit2>{_UNIT})(?!\w)"
)
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


@lru_cache(maxsize=_CACHED)
def normalise_money(value: str) -> str | None:
    """Normalise a value with each amount of money in digits and its currency; None for a value without one.

    >>> normalise_money("$18,000 for everything"), normalise_money("18k dollars for everything"), normalise_money("18k")
    ('18000 usd for everything', '18000 usd for everything', None)
    """
    told, amounts = _MONEY.subn(_spell_money, _fold(value))
    return normalise_value(told) if amounts else None


def _spell_money(found: re.Match[str]) -> str:
    number, scale = found["after"] or found["before"], found["after_scale"] or found["before_scale"]
    digits, mark, cents = re.sub(r"[., '](?=\d{3})", "", number).replace(",", ".").partition(".")
    amount = Decimal(f"{digits}{mark}{cents}").scaleb(_FACTORS.get(scale or "", 0)).normalize()
    return f"{amount:f} {_CURRENCIES[found['unit'] or found['unit2']]}"


def is_same_value(one: str | None, other: str | None) -> bool:
    """Return whether two values are the same in normal form; an unknown value equals nothing (D-008).

    Amounts of money with a currency are compared by number and currency.

    >>> is_same_value("40k", "40,000"), is_same_value("2 million", "2000000"), is_same_value("40k", "41k")
    (True, True, False)
    >>> is_same_value("$18,000", "18000 dollars"), is_same_value("$18,000", "€18,000")
    (True, False)
    """
    if one is None or other is None:
        return False
    first, second = normalise_value(one), normalise_value(other)
    if _DIGIT.search(first) is None or _DIGIT.search(second) is None:
        return first == second
    money, others = normalise_money(one), normalise_money(other)
    if money is not None and others is not None:
        return money == others
    return first == second or _spell_amounts(first) == _spell_amounts(second)
