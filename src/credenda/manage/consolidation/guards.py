"""Differences that keep two memories apart: numbers, dates, names, units, negation, value (D-016). Pure.

The same guards stand behind both judges: the rules ask them before they merge, and what a model proposes is held
against them afterwards. They only ever keep memories apart, so a word too many in a list costs a merge, never a fact.
"October 15th" and "October 16th" have a cosine of .975 (MiniLM) and are two facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final, NamedTuple

from credenda.manage.consolidation.absolute_dates import dated
from credenda.manage.consolidation.guard_words import number_words, words
from credenda.manage.consolidation.member import FIRM, MARK, Member
from credenda.model.memory import Cardinality, Memory, type_class
from credenda.text.dates import find_dates
from credenda.text.normalize import attribute_key, name_key, same_value, text_key, value_key
from credenda.text.tokens import fold, tokenize

__all__ = ["Traits", "differences", "kept_apart", "takes_the_place", "traits", "unsaid"]

_CACHED: Final = 4_096
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_NUMBER: Final = re.compile(r"(?<![^\W\d_])\d+(?:[.,:]\d+)*")
_GROUPED: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_AMOUNT_UNIT: Final = re.compile(r"\d[\s-]?([^\W\d_]+|%|\u00b0\s?[cf]?)", re.IGNORECASE)
_MONEY: Final = re.compile(r"[$\u20ac\u00a3\u00a5\u20b9]")
_FIRST_PERSON: Final = frozenset({"i", "i'm", "i'd", "i've", "i'll", "ok"})
_COMMON_ENDING: Final = re.compile(r"(?:ous|tion|ment|ness|ing|ly|i[sz]e|able)s?$")
_LONG: Final = 4
"""Letters from which a word may be a plural: "gas" is none."""
_PHRASE_WORDS: Final = 3
"""From so many words a value of a set is a way of saying rather than a name."""


_text_key: Final = lru_cache(maxsize=_CACHED)(text_key)
"""Each text of a group is compared with each other one."""


class Traits(NamedTuple):
    """What of a text must be the same in another that says the same."""

    numbers: frozenset[str]
    units: frozenset[str]
    days: frozenset[str]
    dates: frozenset[tuple[int | None, int | None]]
    names: frozenset[str]
    negations: int
    turning: frozenset[str]


@lru_cache(maxsize=_CACHED)
def traits(text: str, said_us: int) -> Traits:
    """Read the traits of a text that was said at a moment: from then on "tomorrow" counts.

    >>> sorted(traits("Anna pays 300 euros on Friday", 0).names), sorted(traits("Anna pays 300 euros", 0).units)
    (['anna'], ['euro'])
    """
    plain = text.replace("\u2019", "'")
    spoken = [fold(word) for word in _WORD.findall(plain)]
    bare = [word.replace("'", "") for word in spoken]
    singular = [word.removesuffix("s") if len(word) >= _LONG else word for word in bare]
    days = {_short_days().get(word, word) for word in (*bare, *singular)} & (_named_days() | words("relative"))
    known = number_words()
    numbers = {_plain_number(found) for found in _NUMBER.findall(plain)} | {
        known[word] for word in bare if word in known
    }
    turning = {word for word in bare if word in words("turning")}
    turning |= {"seldom" for word in bare if word in words("seldom")}
    denied = [word for word in spoken if word.endswith("n't") or word.replace("'", "") in words("negations")]
    return Traits(
        numbers=frozenset(numbers),
        units=frozenset(_units(plain, singular)),
        days=frozenset(days),
        dates=frozenset((span.from_us, span.until_us) for span in find_dates(plain, said_us)),
        names=frozenset(_names(plain)),
        negations=len(denied) + len(words("dislikes").intersection(bare)),
        turning=frozenset(turning - {"if"} if "if possible" in plain.casefold() else turning),
    )


@cache
def _short_days() -> dict[str, str]:
    short = {day[:3]: day for day in words("days")}
    return short | {"tues": "tuesday", "thur": "thursday", "thurs": "thursday"}


@cache
def _named_days() -> frozenset[str]:
    return words("days") | words("months")


def _plain_number(text: str) -> str:
    return _GROUPED.sub("", text).rstrip(".,:")


def _units(text: str, singular: Iterable[str]) -> set[str]:
    beside = {fold(unit).removesuffix("s") for unit in _AMOUNT_UNIT.findall(text)}
    found = {unit for unit in beside if unit in words("units")}
    found |= {word for word in singular if word in words("alone")}
    return found | set(_MONEY.findall(text))


def _names(text: str) -> Iterable[str]:
    """Find words that are written as names: capitals inside a sentence, or at its begin where no common word stands."""
    begins = {0} | {found.end() for found in re.finditer(r"[.!?:;]\s+|\n\s*|[\"\u201c(\[]", text)}
    for found in _WORD.finditer(text):
        word = found[0].removesuffix("'s")
        small = fold(word)
        if not word[0].isupper() or small in _FIRST_PERSON or small.removesuffix("s") in _named_days():
            continue
        if found.start() in begins and (small in words("openers") or _COMMON_ENDING.search(small[-5:])):
            continue
        yield small


def differences(one: Member, other: Member) -> str | None:
    """Say in what two memories differ that keeps them apart, in a word; None where nothing does.

    Their words may differ. It does not say that they mean the same: that is for a judge. Words that are equal but for
    capitals name the same.
    """
    first, second = one.memory, other.memory
    frame = _frame_apart(first, second)
    if frame is not None:
        return frame
    mine, theirs = traits(first.text, one.said_us), traits(second.text, other.said_us)
    if _text_key(first.text) == _text_key(second.text):
        theirs = theirs._replace(names=mine.names)
    return _traits_apart(mine, theirs) or _values_apart(first, second)


def _frame_apart(first: Memory, second: Memory) -> str | None:
    """Compare what stands around the words."""
    meant = first.stance is second.stance and first.stance in FIRM
    alike = {
        "speaker": name_key(first.speaker) == name_key(second.speaker),
        "stance": meant,
        "type": type_class(first.type) is type_class(second.type),
        "entity": name_key(first.entity or "user") == name_key(second.entity or "user"),
        "scope": name_key(first.scope or "") == name_key(second.scope or ""),
        "topic": not (first.topic and second.topic) or first.topic == second.topic,
        "time": (first.valid_until_us, first.expires_us) == (second.valid_until_us, second.expires_us),
        "metadata": all(
            first.metadata[name] == second.metadata[name]
            for name in first.metadata.keys() & second.metadata.keys()
            if name != MARK
        ),
    }
    return next((name for name, same in alike.items() if not same), None)


def _traits_apart(mine: Traits, theirs: Traits) -> str | None:
    if mine.numbers != theirs.numbers:
        return "number"
    if mine.days != theirs.days or mine.dates != theirs.dates:
        return "date"
    if mine.units != theirs.units:
        return "unit"
    if mine.names != theirs.names:
        return "name"
    if mine.negations != theirs.negations:
        return "negation"
    return "turn" if mine.turning != theirs.turning else None


def _values_apart(first: Memory, second: Memory) -> str | None:
    """Compare values: those of one name exactly; where a value of a set is a phrase, its wording may differ."""
    if not (first.value and second.value) or same_value(first.value, second.value):
        return None
    single = Cardinality.SINGLE in (first.cardinality, second.cardinality)
    phrases = min(len(value_key(one.value or "").split()) for one in (first, second)) >= _PHRASE_WORDS
    return None if phrases and not single else "value"


def kept_apart(one: Member, other: Member) -> bool:
    """Say whether two memories must not be called the same without a model: only equal words or values may."""
    first, second = one.memory, other.memory
    if first.attribute and second.attribute:
        slot = attribute_key(first.attribute) == attribute_key(second.attribute)
        equal = slot and same_value(first.value, second.value)
    else:
        equal = _text_key(first.text) == _text_key(second.text)
    return not equal or differences(one, other) is not None


def unsaid(text: str, said_us: int, sources: Iterable[Member], *, both: bool = False) -> str | None:
    """Say what a text holds that none of its sources does, or leaves out that they have; None where it is sound.

    `said_us` is the moment from which its words for days count. With `both` it tells of a change, and may say
    "previously" and "no longer" where its sources do not.
    """
    given = list(sources)
    mine = traits(text, said_us)
    theirs = [traits(dated(one.memory.text, one.said_us), one.said_us) for one in given]
    for name in ("numbers", "days", "units", "names", "turning"):
        written: frozenset[str] = getattr(mine, name)
        allowed = frozenset[str]().union(*(getattr(one, name) for one in theirs))
        if written != allowed and not (both and name == "turning"):
            return name.removesuffix("s")
    if not both and mine.negations != max((one.negations for one in theirs), default=0):
        return "negation"
    known = {word for one in given for word in tokenize(one.memory.text)}
    new = set(tokenize(text)) - known
    return "words" if len(new) * 2 > len(known) else None


def takes_the_place(newer: Member, older: Member, *, correction: bool) -> bool:
    """Say whether a memory may end another one: it is younger, about the same, and says so or speaks of its slot."""
    first, second = newer.memory, older.memory
    if older.memory.pinned or newer.since_us < older.since_us:
        return False
    frame = _frame_apart(first, second)
    if frame not in {None, "time", "metadata", "topic"}:
        return False
    if first.attribute and second.attribute and Cardinality.SINGLE in (first.cardinality, second.cardinality):
        return attribute_key(first.attribute) == attribute_key(second.attribute)
    shared = set(tokenize(first.text)) & set(tokenize(second.text))
    spoken = {fold(word) for word in _WORD.findall(first.text.replace("\u2019", "'"))}
    return bool(shared) and not spoken.isdisjoint(words("corrections" if correction else "changes"))
