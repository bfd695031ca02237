"""What words say about values: whether one value only tells more than another, and reasons for people. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from credenda.model.claim import Claim
from credenda.model.memory import Memory, Relation
from credenda.text.normalize import name_key, same_value, text_key, value_key

__all__ = [
    "about",
    "because",
    "counted_anew",
    "differ_in_one",
    "frame_of",
    "is_number",
    "names_kind",
    "names_one",
    "number_in",
    "quoted",
    "recounted",
    "refines",
    "value_words",
]

_QUOTED_CHARACTERS: Final = 60
"""A reason names a value; it never carries a whole text."""

_TURNING: Final = frozenset(
    {"not", "no", "non", "anti", "never", "neither", "without", "except", "or", "but", "nor"}
    | {"than", "over", "instead", "rather", "almost", "nearly", "former", "formerly", "previously", "ex"}
)
"""Words that turn a value into another one: "TypeScript over JavaScript" tells no more about "JavaScript"."""


_COUNTS: Final = frozenset(
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "no"]
)
_WEEK: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS: Final = frozenset([*_WEEK, *(f"{day}s" for day in _WEEK)])
_NUMBER: Final = re.compile(
    r"\d{4}-\d\d-\d\d|[€$£]?\d[\d.,:]*(?:\s?(?:k|am|pm|%|€|euros?|dollars?))?(?!\w)"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    re.IGNORECASE,
)
_DIGITS: Final = re.compile(r"\d(?:[\d.,:]*\d)?")
_SMALL: Final = frozenset({"a", "an", "and", "at", "by", "for", "in", "my", "of", "on", "our", "the", "to", "with"})
_CHANGING: Final = re.compile(r"\b(?:now|these days|nowadays|instead|currently|recently|lately|actually)\b")
_NAMING: Final = re.compile(r"\b(?:called|named|name)\b", re.IGNORECASE)


def quoted(value: str) -> str:
    """Put a value in quotation marks, shortened where it is long."""
    short = value if len(value) <= _QUOTED_CHARACTERS else value[: _QUOTED_CHARACTERS - 1].rstrip() + "…"
    return f"“{short}”"


def quotations(*parts: str | None) -> tuple[str, ...]:
    """Give each part that there is as the change log quotes it."""
    return tuple(quoted(part) for part in parts if part)


def about(entity: str, attribute: str) -> str:
    """Name what a slot is about, for people.

    >>> about("user", "meeting_time"), about("Anna", "residence")
    ('Meeting time', 'Anna’s residence')
    """
    name = attribute.replace("_", " ").strip()
    return f"{name[:1].upper()}{name[1:]}" if name_key(entity) == "user" else f"{entity}’s {name}"


def value_words(value: str) -> list[str]:
    """Give the words of a value in normal form."""
    return value_key(value).split()


def because(relation: Relation, new: str, old: str) -> str:
    """Say in a sentence why one value took another's place."""
    match relation:
        case Relation.CORRECTED:
            return f"{quoted(new)} corrects {quoted(old)}: that was never right"
        case Relation.CHANGED:
            return f"{quoted(new)} replaces {quoted(old)}: that was true until then"
        case Relation.REFINED:
            return f"{quoted(new)} says more exactly what {quoted(old)} said"
        case Relation.MERGED | Relation.DUPLICATE:
            return f"{quoted(new)} already says {quoted(old)}"


def refines(new: str, old: str) -> bool:
    """Say whether one value is the other with words added: nothing left out, moved, counted anew or turned round.

    >>> refines("the Waldorf school in Kiel", "school in Kiel")
    True
    >>> refines("TypeScript over JavaScript", "JavaScript")
    False
    """
    more, less = value_words(new), value_words(old)
    if not less or len(more) <= len(less):
        return False
    words = iter(more)
    in_order = all(word in words for word in less)
    added = Counter(more) - Counter(less)
    recounted = _has_digit(less) and _has_digit(list(added))
    return in_order and not recounted and _TURNING.isdisjoint(added)


def names_kind(new: Claim, old: Memory) -> bool:
    """Say whether the old value named only the kind of the new one: "a dog", then "a dog named Pluto"."""
    return same_value(old.value, new.attribute) and same_value(new.prior, old.value)


def names_one(claim: Claim, old: Memory) -> bool:
    """Say whether a correction gives the one named thing of a slot its right name: "sorry, my dog is called Max"."""
    values = (claim.value or "", old.value or "")
    capital = all(value[:1].isupper() for value in values)
    return capital and claim.prior is None and _NAMING.search(claim.text) is not None


def recounted(new: str, old: str) -> bool:
    """Say whether two values are the same words with another number: "Python 3.9" and "Python 3.12", six and eight.

    >>> recounted("Python 3.12", "Python 3.9"), recounted("Python 3.12", "Ruby 3.9")
    (True, False)
    """
    more, less = _singular(value_words(new)), _singular(value_words(old))
    if len(more) != len(less) or len(more) < 2 or more == less:  # noqa: PLR2004 - a number and what is counted
        return False
    pairs = [(one, other) for one, other in zip(more, less, strict=True) if one != other]
    return all(is_number(one) and is_number(other) for one, other in pairs)


def _singular(words: list[str]) -> list[str]:
    return [word.removesuffix("s") if word[:1].isalpha() and word not in _DAYS else word for word in words]


def frame_of(text: str, value: str | None) -> str:
    """Give a sentence without its value and without words of change: what was said alike twice.

    >>> frame_of("I write in Kotlin these days.", "Kotlin") == frame_of("I write in Java.", "Java")
    True
    """
    key, inner = text_key(text), text_key(value or "")
    return " ".join(_CHANGING.sub("", key.replace(inner, "…", 1) if inner else key).split())


def differ_in_one(one: str, other: str) -> bool:
    """Say whether two values differ in one place: what lies between their first and last difference shares no word.

    >>> differ_in_one("cook for Ana on Mondays", "cook for Ana on Fridays")
    True
    >>> differ_in_one("pay 12 euros for Netflix", "pay 11 euros for Spotify")
    False
    """
    left, right = value_words(one), value_words(other)
    while left and right and left[0] == right[0]:
        left, right = left[1:], right[1:]
    while left and right and left[-1] == right[-1]:
        left, right = left[:-1], right[:-1]
    return set(left).isdisjoint(set(right) - _SMALL)


def number_in(value: str) -> re.Match[str] | None:
    """Find the one number, day or hour of a value; None where there is none, or more than one."""
    found = list(_NUMBER.finditer(value))
    return found[0] if len(found) == 1 else None


def counted_anew(value: str, number: str) -> str:
    """Put another number into a value: "300 euros" with "400" is "400 euros"; a number with its unit stands alone.

    >>> counted_anew("300 euros", "400"), counted_anew("30 people", "40 guests"), counted_anew("at 10", "11")
    ('400 euros', '40 guests', 'at 11')
    """
    found = number_in(value)
    if found is None or " " in number:
        return number
    digits = _DIGITS.search(found[0])
    if digits is None or not _DIGITS.fullmatch(number):
        return number
    start = found.start() + digits.start()
    return f"{value[:start]}{number}{value[start + len(digits[0]) :]}"


def is_number(word: str) -> bool:
    """Say whether a word in lower case is a number, a version or a day."""
    return word[0].isdigit() or word.removeprefix("v")[:1].isdigit() or word in _COUNTS or word in _DAYS


def _has_digit(words: list[str]) -> bool:
    return any(character.isdigit() for word in words for character in word)
