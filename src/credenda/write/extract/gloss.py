"""German, French, Spanish and Portuguese sentences in the words of English, so that they are read as English is.

Names and words that are not known stay as they are. Each piece knows what it stands for, so that what was read is told
in the words that were said. The tables are data (`data/gloss_*.toml`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from credenda.write.extract.german import german, split_at_and
from credenda.write.extract.glossary import LANGUAGES, Item, english_words, folded, glossary, itemised, tells
from credenda.write.extract.lexicon import words_of
from credenda.write.extract.southern import Said, southern

__all__ = ["Gloss", "glossed", "language_of"]

_CHARACTERS_MAX: Final = 300
_WORDS_MIN: Final = 2
_ALIEN: Final = 1.5
"""How much an accent speaks against English, in words."""
_MARKS: Final = ",;:.!?-\u2013\u2014()\"\u00ab\u00bb\u2026"
_QUIET: Final = "\u00bf\u00a1"
_SIGNS: Final = {
    "de": re.compile("[äöüß]", re.IGNORECASE),
    "fr": re.compile("[èêëîïûœ]|[cdjlmns]'", re.IGNORECASE),
    "es": re.compile("[ñ¿¡]", re.IGNORECASE),
    "pt": re.compile(r"[ãõ]|nh|lh|(?:^| )o ", re.IGNORECASE),
}
"""Letters that tell one language from its neighbours where its words do not."""
_ACCENTED: Final = re.compile("[äöüßàâçéèêëîïôùûœáíóúñãõ¿¡]", re.IGNORECASE)


class _Place(NamedTuple):
    """A stretch of the English text and the stretch of the sentence that it stands for."""

    start: int
    stop: int
    first: int
    last: int


class Gloss(NamedTuple):
    """A sentence in English words, and which of them stands for what."""

    text: str
    source: str
    language: str
    places: tuple[_Place, ...]

    def said(self, english: str) -> str:
        """Give what was said for a stretch of the English text; itself where it does not occur there."""
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
        """Give the English for a stretch of the sentence; itself where it does not occur there."""
        at = _find(self.source, said)
        if at < 0:
            return said
        inside = [one for one in self.places if one.first < at + len(said) and at < one.last]
        return " ".join(self.text[one.start : one.stop] for one in inside) or said


def _find(text: str, part: str) -> int:
    """Give where a part stands in a text as whole words, -1 where it does not."""
    lower, wanted = text.lower(), part.lower()
    at = lower.find(wanted)
    while at >= 0:
        stop = at + len(wanted)
        if (at == 0 or not lower[at - 1].isalnum()) and (stop == len(lower) or not lower[stop].isalnum()):
            return at
        at = lower.find(wanted, at + 1)
    return -1


@lru_cache(maxsize=256)
def language_of(sentence: str) -> str | None:
    """Name which of the four languages a sentence is in; None for English and any other.

    >>> language_of("Toco cavaquinho no domingo."), language_of("We met in El Paso.") is None
    ('pt', True)
    """
    words = [one.rpartition("'")[2] if "'" in one else one for one in words_of(sentence)]
    telling = tells()
    if len(words) < _WORDS_MIN or telling.keys().isdisjoint(words) and telling.keys().isdisjoint(map(folded, words)):
        return None
    english = sum(one in english_words() for one in words)
    votes = {language: 0.4 * (sign.search(sentence) is not None) for language, sign in _SIGNS.items()}
    for word in words:
        own = telling.get(word) or telling.get(folded(word)) or ()
        for language in LANGUAGES:
            votes[language] += (0.5 * (len(own) == 1) + 1 if language in own else 0.9 * glossary(language).knows(word))
    best = max(LANGUAGES, key=votes.__getitem__)
    return best if votes[best] > english - _ALIEN * (_ACCENTED.search(sentence) is not None) else None


@lru_cache(maxsize=256)
def glossed(sentence: str) -> Gloss | None:
    """Say a sentence in English words, given with straight quotes and single spaces; None where it is English already.

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
    for clause, mark in _clauses(itemised(sentence, known)):
        for part in split_at_and(clause) if language == "de" else [clause]:
            _take_up(part, out)
            said = german(part, known, opened=opened) if language == "de" else southern(part, language)
            opened = next((one.text for one in said if one.tag == "subject"), opened)
            out += said
        if mark is not None:
            out.append(Said(mark.source, mark.start, mark.stop, "mark"))
    return _written(out, sentence, language)


def _take_up(part: list[Item], out: list[Said]) -> None:
    """Leave out what takes a thing up that was just named: "mon dessert préféré, c'est le flan"."""
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
        shown = one.text[:1].upper() + one.text[1:] if not text and one.text[:1].islower() and sentence[:1].isupper() else one.text
        glued = one.tag == "mark" and one.text in ",;:.!?)\u2026"
        if text and not glued and not (before.tag == "mark" and before.text in "(\""):
            text += " "
        places.append(_Place(len(text), len(text) + len(shown), one.start, one.stop))
        text += shown
    return Gloss(text, sentence, language, tuple(places))
