"""Translate German, French, Spanish and Portuguese sentences word by word, so that the English rules apply.

Names and unknown words stay unchanged. Each piece keeps its original, so that claims quote the original words. The
tables are data (`data/gloss_*.toml`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from math import fsum
from typing import Final, NamedTuple

from credenda.text.languages import DISTINCTIVE_WORDS, get_function_words
from credenda.write.extract.german import german
from credenda.write.extract.german_words import split_at_and
from credenda.write.extract.glossary import LANGUAGES, Item, english_words, folded, glossary, itemised, tells
from credenda.write.extract.lexicon import words_of
from credenda.write.extract.southern import southern
from credenda.write.extract.southern_clause import Said

__all__ = ["Gloss", "glossed", "is_plainly_english", "language_of"]

_CHARACTERS_MAX: Final = 300
_WORDS_MIN: Final = 2
_SIGN: Final = 0.4
_COMMON: Final = 0.9
"""Score of a word for a language if English has the word too."""
_ALIEN: Final = 1.5
"""Score of an accent against English, in words."""
_MARKS: Final = ',;:.!?-\u2013\u2014()"\u00ab\u00bb\u2026'
_QUIET: Final = "\u00bf\u00a1"
_SIGNS: Final = {
    "de": re.compile("[äöüß]", re.IGNORECASE),
    "fr": re.compile("[èêëîïûœ]|[cdjlmns]'", re.IGNORECASE),
    "es": re.compile("[ñ¿¡]", re.IGNORECASE),
    "pt": re.compile(r"[ãõ]|nh|lh|(?:^| )o ", re.IGNORECASE),
}
"""Letters that distinguish a language from its neighbours."""
_PLAINLY: Final = frozenset(
    "i i'm my the we our is are and of with they their she this that have were you your don't it's from by".split()  # noqa: SIM905
)
"""Words that identify most English text before any table is loaded."""
_UNITS: Final = frozenset({"day", "days", "week", "weeks", "month", "months", "year", "years", "hours", "hour"})
_ELISION: Final = re.compile("^(?:[cdjlmnst]|qu)'")
_ACCENTED: Final = re.compile("[äöüßàâçéèêëîïôùûœáíóúñãõ¿¡]", re.IGNORECASE)


class _Place(NamedTuple):
    """A span of the English text and its span of the original."""

    start: int
    stop: int
    first: int
    last: int


class Gloss(NamedTuple):
    """A translated sentence with the alignment to its original."""

    text: str
    source: str
    language: str
    places: tuple[_Place, ...]

    def said(self, english: str) -> str:
        """Return the original of a span of the English text; the span itself if it does not occur."""
        at = _find(self.text, english)
        if at < 0:
            return english
        inside = [one for one in self.places if one.start < at + len(english) and at < one.stop and one.first >= 0]
        if len(inside) > 1 and self.text[inside[0].start : inside[0].stop].lower() == "the":
            inside = inside[1:]
        if not inside:
            return english
        first, last = min(one.first for one in inside), max(one.last for one in inside)
        within = [one for one in self.places if one.first >= first and one.last <= last and one not in inside]
        if within:
            return " ".join(self.source[one.first : one.last] for one in inside)
        return self.source[first:last].strip(" ,.;:!?")

    def english(self, said: str) -> str:
        """Return the English for a span of the original; the span itself if it does not occur."""
        at = _find(self.source, said)
        if at < 0:
            return said
        inside = [one for one in self.places if one.first < at + len(said) and at < one.last]
        return " ".join(self.text[one.start : one.stop] for one in inside) or said


def _find(text: str, part: str) -> int:
    """Return where a part occurs in a text as whole words, else -1."""
    lower, wanted = text.lower(), part.lower()
    at = lower.find(wanted)
    while at >= 0:
        stop = at + len(wanted)
        if (at == 0 or not lower[at - 1].isalnum()) and (stop == len(lower) or not lower[stop].isalnum()):
            return at
        at = lower.find(wanted, at + 1)
    return -1


def is_plainly_english(text: str) -> bool:
    """Return whether a text has English words and no word of another language. Cheap.

    >>> is_plainly_english("I moved to Linz."), is_plainly_english("Ich bin in Linz.")
    (True, False)
    """
    if not text.isascii():
        return False
    words = text.lower().split()
    return not _PLAINLY.isdisjoint(words) and DISTINCTIVE_WORDS.isdisjoint(words)


@lru_cache(maxsize=256)
def language_of(sentence: str) -> str | None:
    """Return the language of a sentence, if it is one of the four; None for English and any other.

    >>> language_of("Toco cavaquinho no domingo."), language_of("We met in El Paso.") is None
    ('pt', True)
    """
    words = words_of(sentence)
    if sentence.isascii() and not _PLAINLY.isdisjoint(words) and DISTINCTIVE_WORDS.isdisjoint(words):
        return None
    telling = tells()
    if len(words) < _WORDS_MIN or telling.keys().isdisjoint(words):
        words = frozenset(_ELISION.sub("", one) for one in words)
        bare = [folded(one) for one in words if not one.isascii()]
        if len(words) < _WORDS_MIN or (telling.keys().isdisjoint(words) and telling.keys().isdisjoint(bare)):
            return None
    weights = [_weight(_ELISION.sub("", one)) for one in words]
    english = sum(one.english for one in weights)
    if any(one.english > 1 for one in weights) and sum(one.told for one in weights) < _WORDS_MIN:
        return None
    votes = {
        language: fsum(one.votes[at] for one in weights) + _SIGN * (_SIGNS[language].search(sentence) is not None)
        for at, language in enumerate(LANGUAGES)
    }
    best = max(LANGUAGES, key=votes.__getitem__)
    if votes[best] <= english - _ALIEN * (_ACCENTED.search(sentence) is not None) or _told_by_names(sentence, best):
        return None
    return best


def _told_by_names(sentence: str, language: str) -> bool:
    """Return whether only names indicate the language: "Boss: Lee" is not Spanish."""
    first, *others = sentence.split() or [""]
    telling = [one for one in others if language in tells().get(one.strip(_MARKS).lower(), ())]
    named = telling and all(one[0].isupper() for one in telling)
    return language != "de" and bool(named) and language not in tells().get(first.strip(_MARKS).lower(), ())


class _Weight(NamedTuple):
    """The score of a word for English and each of the four languages, and whether it alone decides."""

    english: float
    votes: tuple[float, ...]
    told: bool


@lru_cache(maxsize=4096)
def _weight(word: str) -> _Weight:
    own = tells().get(word) or tells().get(folded(word)) or frozenset[str]()
    english = 2.0 if word in _only_english() else float(word in english_words())
    telling = 1.5 if len(own) == 1 else 1.0
    votes = (telling if one in own else _COMMON * glossary(one).knows(word) for one in LANGUAGES)
    return _Weight(english, tuple(votes), bool(own))


@cache
def _only_english() -> frozenset[str]:
    """Return the English function words that none of the four languages has."""
    known = [glossary(language) for language in LANGUAGES]
    return get_function_words("en").difference(*(one.words for one in known), *(one.verbs for one in known)) | {
        "my",
        "i",
        "the",
    }


@lru_cache(maxsize=256)
def glossed(sentence: str) -> Gloss | None:
    """Translate a sentence with straight quotes and single spaces; None if it is English.

    >>> glossed("Ich bin nach Linz gezogen.").text, glossed("I moved to Linz.") is None
    ('I moved to Linz.', True)
    """
    if len(sentence) > _CHARACTERS_MAX:
        return None
    language = language_of(sentence)
    if language is None:
        return None
    known = glossary(language)
    out: list[Said] = []
    opened = ""
    items = itemised(sentence, known)
    _tell_how_long(items, language)
    for clause, mark in _clauses(items):
        for part in split_at_and(clause) if language == "de" else [clause]:
            _take_up(part, out)
            said = (
                german(part, known, told=opened, first=not out)
                if language == "de"
                else southern(part, language, told=_tells_of_somebody(out))
            )
            opened = next((one.text for one in said if one.tag == "subject"), opened)
            out += said
        if mark is not None:
            out.append(Said(mark.source, mark.start, mark.stop, "mark"))
    return _written(out, sentence, language)


def _tells_of_somebody(out: Sequence[Said]) -> bool:
    """Return whether a sentence begins with another subject than the speaker."""
    stop = next((at for at, one in enumerate(out) if one.tag == "verb"), 0)
    return (
        stop > 0
        and any(one.tag in {"noun", "kin", "x"} for one in out[:stop])
        and all(one.tag != "subject" and one.text != "if" for one in out[:stop])
    )


def _tell_how_long(items: Sequence[Item], language: str) -> None:
    """Return "three months ago" or "for three years" for a duration after "vor", "il y a", "hace", "há" and "seit"."""
    done = any(
        one.tense == "past" or (one.tense == "participle" and language != "pt")
        for item in items
        if item.verb
        for one in item.forms
    )
    for at, item in enumerate(items[:-2]):
        number, unit = items[at + 1], items[at + 2]
        told = item.source.lower()
        if unit.english not in _UNITS or not (number.tag in {"det", "number"} or number.english == "a"):
            continue
        if told in {"seit", "depuis", "desde hace", "desde há"}:
            item.english = "for"
        elif told in {"vor", "il y a", "hace", "há", "ha"}:
            ago = done or language in {"de", "fr"}
            item.english, item.tag, item.forms = "" if ago else "for", "prep", ()
            unit.english += " ago" * ago


def _take_up(part: list[Item], out: list[Said]) -> None:
    """Remove a pronoun that repeats a named object: "mon dessert préféré, c'est le flan"."""
    if not part or part[0].english not in {"it is", "it was"}:
        return
    before = out[:-1] if out and out[-1].text == "," else out
    clause = before[next((at + 1 for at in range(len(before) - 1, -1, -1) if before[at].tag == "mark"), 0) :]
    named = any(one.tag in {"noun", "kin", "x"} for one in clause)
    if named and all(one.tag not in {"verb", "say"} for one in clause) and clause[0].tag in {"det", "noun", "kin", "x"}:
        del out[len(before) :]
        part[0].english = part[0].english.removeprefix("it ")


def _clauses(items: Sequence[Item]) -> list[tuple[list[Item], Item | None]]:
    found: list[tuple[list[Item], Item | None]] = []
    clause: list[Item] = []
    for item in items:
        if item.tag == "mark" and item.source in _QUIET:
            continue
        if item.tag == "mark" and item.source in _MARKS:
            found.append((clause, item))
            clause = []
        else:
            clause.append(item)
    if clause:
        found.append((clause, None))
    return found


def _written(out: Sequence[Said], sentence: str, language: str) -> Gloss:
    text, places = "", list[_Place]()
    for before, one in pairwise([Said(""), *out]):
        if not one.text:
            continue
        shown = (
            one.text[:1].upper() + one.text[1:]
            if not text and one.text[:1].islower() and sentence[:1].isupper()
            else one.text
        )
        glued = one.tag == "mark" and one.text in ",;:.!?)\u2026"
        if text and not glued and not (before.tag == "mark" and before.text in '("'):
            text += " "
        places.append(_Place(len(text), len(text) + len(shown), one.start, one.stop))
        text += shown
    return Gloss(text, sentence, language, tuple(places))
