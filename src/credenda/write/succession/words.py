"""Tokenise a sentence into words with roles and replaceable spans. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from credenda.text.stopwords import STOP_WORDS
from credenda.write.extract.clauses import open_contractions, straighten
from credenda.write.extract.lexicon import lexicon, names
from credenda.write.succession.table import table, term

__all__ = ["Cell", "Phrase", "Word", "alike", "cells", "matters", "only_cell", "phrase", "plainly"]

_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_MONTHS: Final = r"(?:january|february|april|june|july|august|september|october|november|december)"
_DAY: Final = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?"
    r"|montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?)"
)
_UNIT: Final = (
    r"(?:%|percent|k|kg|kilos?|g|mg|ml|l|km|miles?|m|cm|euros?|eur|dollars?|usd|pounds?|bucks|gb|mb|tb|"
    r"seconds?|secs?|s|minutes?|mins?|hours?|hrs?|people|persons?|cups?|ms)"
)
_TOKEN: Final = re.compile(
    rf"""(?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    |(?P<url>https?://\S+)
    |(?P<time>\d{{1,2}}(?::\d\d)?\s?(?:am|pm|a\.m\.|p\.m\.|o'clock|uhr)(?!\w)|\d{{1,2}}:\d\d
        |(?:midnight|noon|midday)\b)
    |(?P<day>\d{{4}}-\d\d-\d\d
        |\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?!\w)(?:\s\d{{4}})?
        |{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?!\w)(?:,?\s\d{{4}})?
        |{_DAY}\b|{_MONTHS}\b|\b(?:in|by|until|since)\s(?:march|may)\b|(?-i:March\b|May\b(?!\s[a-z])))
    |(?P<phone>\+?\d[\d()/-]*(?:[\s/-]\d{{2,}})+)
    |(?P<number>[€$£]?\d(?:[\d.,]*\d)?(?:\s?{_UNIT}(?!\w)|[€$£])?)
    |(?P<word>[^\W\d_](?:[\w+\#]|[.'&-](?=\w))*)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DIGITS: Final = re.compile(r"[\d.,\s]+")
_HARD: Final = frozenset({"email", "url", "day", "time", "phone"})
_WHEN: Final = frozenset({"day", "time"})
_JOINING: Final = frozenset({"at", "on", "of", "the", "a", "an", "de", "la", "le", "du", "and", "in", "um"})
_SUBJECTS: Final = frozenset({"i", "we", "you", "they", "he", "she", "to", "not", "would_rather", "do", "does", "will"})
_MARK: Final = re.compile(r"[,;:.!?()\u2014-]")
_JOINED_MAX: Final = 2
_COUNTS: Final = frozenset({"kind:number", "kind:frequency"})
_SOFT: Final = frozenset({"name", "name?", "word"})
_THIRD: Final = frozenset({"expires", "ends", "closes", "opens", "leaves", "arrives", "happens", "lasts"})
_TITLES: Final = frozenset({" dr.", " mr.", " ms.", "mrs.", "prof.", " st."})
_PAST: Final = frozenset({"past", "participle"})


@dataclass(frozen=True, slots=True)
class Word:
    """A word or amount with its position: its stem or topic, its kind, and whether it is a content word.

    `kind` is a hard kind ("day", "email", "number:mg", "kind:seat"), "name", "name?" at the head of a sentence, or
    "word".
    """

    text: str
    start: int
    stop: int
    term: str
    kind: str
    content: bool
    light: bool
    verb: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """Adjacent words that name one thing, with the most specific of their kinds."""

    words: tuple[Word, ...]
    kind: str
    text: str

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of its words."""
        return frozenset(one.kind for one in self.words)

    @property
    def terms(self) -> frozenset[str]:
        """The stems of its words."""
        return frozenset(one.term for one in self.words)

    @property
    def start(self) -> int:
        """Its start in the sentence."""
        return self.words[0].start

    @property
    def stop(self) -> int:
        """Its end in the sentence."""
        return self.words[-1].stop


@dataclass(frozen=True, slots=True)
class Phrase:
    """A tokenised sentence with contractions expanded.

    `content` are the content words, `terms` their stems and `about` their topics; `kin` are the stems of its words for
    relatives; `small`: it has no capitals, so that names cannot be recognised.
    """

    text: str
    lower: str
    words: tuple[Word, ...]
    content: tuple[Word, ...]
    terms: frozenset[str]
    about: frozenset[str]
    kin: frozenset[str]
    small: bool


def matters(words: Iterable[Word]) -> frozenset[str]:
    """Return the topics of some words: their stems, and the topic that an address or a seat implies."""
    alone, found = table().alone, set[str]()
    for one in words:
        found.add(one.term)
        if one.kind == "email":
            found.add("#email")
        elif one.kind[:5] == "kind:" and one.kind[5:] in alone:
            found.add(f"#{one.kind[5:]}")
    return frozenset(found)


def plainly(text: str) -> str:
    """Expand the contractions of a sentence."""
    return open_contractions(straighten(text))


@lru_cache(maxsize=1_024)
def phrase(text: str) -> Phrase:
    """Tokenise a sentence."""
    plain = plainly(text)
    small = plain.replace("I ", "i ").islower()
    read = [_word(found, plain, small=small) for found in _TOKEN.finditer(plain)]
    words = tuple(_as_verb(one, before) for one, before in zip(read, [None, *read], strict=False))
    content = tuple(one for one in words if one.content)
    terms = frozenset(one.term for one in content)
    kin = frozenset(one.term for one in words if one.kind == "kind:kin")
    return Phrase(plain, plain.lower(), words, content, terms, matters(content), kin, small)


def _word(found: re.Match[str], text: str, *, small: bool) -> Word:
    shown, group = found[0], found.lastgroup or "word"
    lower = shown.lower()
    if group == "word":
        return _read_word(found, text, lower, small=small)
    kind = group
    if group == "number":
        kind = f"number:{term(_DIGITS.sub('', lower)) if not _DIGITS.fullmatch(lower) else ''}"
    same = lower.removesuffix("s") if group == "day" else lower
    return Word(shown, found.start(), found.end(), same, kind, content=True, light=False)


def _read_word(found: re.Match[str], text: str, lower: str, *, small: bool) -> Word:
    entry, start = _entry(lower), found.start()
    before = text[:start].rstrip()
    first = not before or (before[-1] in ".!?" and before[-4:].lower() not in _TITLES)
    kind = _kind(found[0], entry, first=first, small=small)
    return Word(
        found[0],
        start,
        found.end(),
        entry.term,
        kind,
        content=kind == "kind:number" or entry.telling,
        light=entry.light,
    )


class _Entry(NamedTuple):
    """The properties of a lower-case word that do not depend on its position."""

    term: str
    known: str | None
    kin: bool
    verb: bool
    telling: bool
    light: bool


@lru_cache(maxsize=4_096)
def _entry(lower: str) -> _Entry:
    words, stem, bare = table(), term(lower), lower.removesuffix("'s")
    form = lexicon().forms.get(bare)
    light = stem in words.light or bare in words.light
    return _Entry(
        term=words.topics.get(stem, stem),
        known=words.kinds.get(bare) or lexicon().category(bare) or words.kinds.get(bare.removesuffix("s")),
        kin=names().kin_noun(bare) is not None,
        verb=form is not None,
        telling=not (light or bare in STOP_WORDS or bare in words.filler),
        light=light or (form is not None and bool(form.kinds & _PAST)),
    )


def _as_verb(one: Word, before: Word | None) -> Word:
    """Mark verbs: a verb form after "I", "to", "not" or another verb."""
    lower = one.text.lower()
    if before is None or not one.content or lower not in lexicon().forms:
        return one
    if before.content and not before.verb and "third" in lexicon().forms[lower].kinds and one.kind == "word":
        return replace(one, verb=lower in _THIRD)
    led = lower.endswith("ing") if before.term == "be" else before.light
    return replace(one, verb=True) if led or before.text.lower() in _SUBJECTS else one


def _kind(shown: str, entry: _Entry, *, first: bool, small: bool) -> str:
    if entry.known is not None and not (entry.known == "language" and shown[:1].islower()):
        return f"kind:{entry.known}"
    capital = shown[:1].isupper()
    if entry.known is None and entry.kin and (first or not capital):
        return "kind:kin"
    if not capital or small or (first and entry.verb):
        return "word"
    return "name?" if first else "name"


def cells(said: Phrase, words: Iterable[Word]) -> list[Cell]:
    """Join adjacent words into spans; small words between them join, punctuation does not."""
    found: list[list[Word]] = []
    for one in words:
        if found and _joined(said, found[-1][-1], one):
            found[-1].append(one)
        else:
            found.append([one])
    return [_cell(said, group) for group in found]


def only_cell(said: Phrase, words: Sequence[Word]) -> Cell | None:
    """Return the span that some words form together; None if they form none, or more than one."""
    return _cell(said, words) if words and all(_joined(said, *pair) for pair in pairwise(words)) else None


def _cell(said: Phrase, group: Sequence[Word]) -> Cell:
    return Cell(tuple(group), _kind_of(group), said.text[group[0].start : group[-1].stop])


def _joined(said: Phrase, last: Word, following: Word) -> bool:
    between = said.lower[last.stop : following.start]
    if _MARK.search(between):
        return False
    parts = between.split()
    if not parts:
        acting = last.kind == "word" and following.kind == "name" and last.text.lower() in lexicon().forms
        return not acting and (_HARD.isdisjoint({last.kind, following.kind}) or last.kind == following.kind)
    timed = (
        last.kind in _WHEN
        and following.kind in _WHEN | {"number:"}
        and len(parts) <= _JOINED_MAX
        and _JOINING.issuperset(parts)
    )
    return timed or parts == ["of"]


def _kind_of(group: Sequence[Word]) -> str:
    kinds = [one.kind for one in group]
    telling = next((one for one in kinds if one in _HARD or one.startswith(("number:", "kind:"))), None)
    if telling is not None:
        return "name" if "name" in kinds and telling.startswith("number:") else telling
    if "name" in kinds or (kinds[0] == "name?" and len(kinds) > 1):
        return "name"
    return kinds[0] if len(kinds) == 1 else "word"


def alike(one: Cell, other: Cell, *, small: bool) -> bool:
    """Return whether two spans could answer the same question; `small`: names cannot be recognised.

    >>> said = phrase("The call is at 3 pm, on Monday, in Rome.")
    >>> three, monday, rome = cells(said, [one for one in said.words if one.content])
    >>> alike(three, monday, small=False), alike(three, rome, small=False)
    (False, False)
    """
    kinds = {one.kind, other.kind}
    if len(kinds) == 1 or not _WHEN.isdisjoint(one.kinds & other.kinds) or kinds <= _COUNTS:
        return True
    numbers = {kind for kind in kinds if kind.startswith("number:")}
    rest = kinds - numbers
    if numbers:
        return rest <= _COUNTS | {"time"} and ("number:" in numbers or (rest <= _COUNTS and bool(rest)))
    soft = kinds & _SOFT
    if len(soft) == len(kinds):
        return small or "name?" in soft
    named = bool(soft & {"name", "name?"}) or (small and bool(soft))
    return named and next(iter(kinds - soft)).removeprefix("kind:") in table().named_kinds
