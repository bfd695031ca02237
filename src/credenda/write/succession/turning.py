"""Parse the change and ending cues of a sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from credenda.model.memory import Memory
from credenda.write.reconcile.slots import ASSERTIVE_STANCES
from credenda.write.succession.table import states_in, table, term
from credenda.write.succession.words import Phrase, Word, matters, phrase, plainly

__all__ = ["Turning", "turning", "turns"]

_WORDS_MAX: Final = 30
"""Longer sentences have more than one topic."""
_VETOES: Final = ("beside", "unsure", "reported")
_STRONG: Final = frozenset({"now", "turned", "instead", "contrast", "left", "down_to", "gone", "went"})
_FAIR: Final = frozenset({"newly", "became"})
_ARTICLES: Final = frozenset({"the", "a", "an"})
"""Words before a relative or a profession that make it nobody's in particular."""
_HE: Final = re.compile(r"(?:^|[,;] ?(?:and |but |so )?)(?:he|she)\b")
_ME: Final = re.compile(r"\b(?:took|put|moved|switched|taken|got|has) me\b")
_PLAIN: Final = frozenset({"word", "name?"})
_Spans = list[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turning:
    """A sentence with change or ending cues.

    `cues` are its cues by name, `words` its other content words; `denied` are named as no longer so; `given` are the
    memories of its own claims. `stems` and `about` belong to its words; `of_other` and `on_me` tell whether "he" or
    "she" acted, or somebody acted on "me".
    """

    said: Phrase
    cues: frozenset[str]
    ends: bool
    words: tuple[Word, ...]
    stems: frozenset[str]
    about: frozenset[str]
    terms: frozenset[str]
    kin: frozenset[str]
    denied: frozenset[str]
    passing: bool
    scopes: frozenset[str]
    of_other: bool
    on_me: bool
    given: tuple[Memory, ...]

    @property
    def strength(self) -> float:
        """How clearly the sentence states a change, in (0, 1]."""
        if self.ends or self.cues & _STRONG:
            return 1.0
        return 0.6 if self.cues & _FAIR else 0.2

    @property
    def search_words(self) -> list[str]:
        """The search words of its topic: its own, and others for the same topic or state."""
        words = table()
        found = [one.text.removesuffix("'s") for one in self.said.words if one.content or one.light]
        for matter in sorted(matters(self.said.words)):
            found += words.matters.get(matter, ())
        for family in states_in(self.said.lower):
            found += words.looked_for[family]
        return list(dict.fromkeys(found))


def turning(sentence: str, given: Sequence[Memory] = ()) -> Turning | None:
    """Parse the change cues of a sentence; None without one, and for questions, suppositions and additions.

    >>> turning("My gym day is Thursday now.").cues
    frozenset({'now'})
    >>> turning("I might move to Rome.") is None
    True
    """
    heard = _heard(sentence)
    if heard is None or any(one.stance not in ASSERTIVE_STANCES for one in given):
        return None
    said, (signs, ended) = phrase(sentence), heard
    if not said.words or len(said.words) > _WORDS_MAX:
        return None
    denied = signs.get("contrast", [])
    marks = [*ended, *(span for spans in signs.values() for span in spans)]
    kept = tuple(
        one for one in said.content if not _inside(one, denied) and not (one.kind in _PLAIN and _inside(one, marks))
    )
    return Turning(
        said=said,
        cues=frozenset(signs),
        ends=bool(ended),
        words=kept,
        stems=frozenset(one.term for one in kept),
        about=matters(kept),
        terms=said.terms,
        kin=frozenset(
            one.term
            for before, one in zip([None, *said.words], said.words, strict=False)
            if one.kind == "kind:kin" and (before is None or before.text.lower() not in _ARTICLES)
        ),
        denied=frozenset(one.term for one in said.content if _inside(one, denied)),
        passing="released" not in signs and table().veto["passing"].search(said.lower) is not None,
        scopes=frozenset(term(word) for one in given if one.scope for word in one.scope.lower().split()),
        of_other=_HE.search(said.lower) is not None,
        on_me=_ME.search(said.lower) is not None,
        given=tuple(given),
    )


def turns(sentence: str) -> bool:
    """Return whether a sentence has a change or ending cue."""
    return _heard(sentence) is not None


@lru_cache(maxsize=64)
def _heard(sentence: str) -> tuple[dict[str, _Spans], _Spans] | None:
    """Find the change cues by name, and the ending cues; None without any, or if counter-signs occur."""
    words, plain = table(), plainly(sentence)
    lower = plain.lower()
    if lower.endswith("?"):
        return None
    if any(words.veto[name].search(lower) for name in _VETOES):
        return None
    signs = _signs(plain, lower)
    ended = [found.span() for found in words.end.finditer(lower)]
    return (signs, ended) if signs or ended else None


def _signs(plain: str, lower: str) -> dict[str, _Spans]:
    """Find the change cues by name; a capital "New" belongs to a name."""
    found: dict[str, _Spans] = {}
    for name, sign in table().change.items():
        spans = [one.span() for one in sign.finditer(lower)]
        if name == "newly":
            spans = [one for one in spans if " New" not in plain[slice(*one)]]
        if spans:
            found[name] = spans
    return found


def _inside(word: Word, spans: _Spans) -> bool:
    return any(start <= word.start < stop for start, stop in spans)
