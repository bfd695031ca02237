"""Emotional valence of a text, by a small lexicon (E-027); it never decides truth.

Pleasant words count up, unpleasant ones down, by 1 to 3. A negation in the two words before reverses a word at half
strength, an intensifier adds half. The sum s becomes s / √(s² + 4), in (−1, 1): the form is that of VADER (Hutto and
Gilbert 2014) with a smaller constant, because a memory is one sentence.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, cast

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][a-z]+)?")
_LONGER: Final = 4
"""Letters that a form may have beyond its stem."""
_SHORT: Final = 5
"""Stems up to this length are whole words, with only these forms ("like", not "likely")."""
_FORMS: Final = frozenset({"", "s", "es", "ed", "ing", "ness"})
_ALPHA: Final = 4.0
_BEFORE: Final = 2
_TURNED: Final = -0.5
_STRENGTHENED: Final = 1.5
_WEAKENED: Final = 0.5
_PLACES: Final = 4


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """Stems by their first two letters, phrases of several words, and the modifiers of the next word."""

    stems: Mapping[str, tuple[tuple[str, float], ...]]
    phrases: tuple[tuple[str, float], ...]
    negation: frozenset[str]
    stronger: frozenset[str]
    weaker: frozenset[str]


@cache
def _load_lexicon() -> _Lexicon:
    read = tomllib.loads((files("credenda.text") / "data" / "valence.toml").read_text("utf-8"))
    stems: dict[str, list[tuple[str, float]]] = {}
    phrases: list[tuple[str, float]] = []
    for table, sign in (("pleasant", 1.0), ("unpleasant", -1.0)):
        for strength, words in cast("Mapping[str, list[str]]", read[table]).items():
            for word in words:
                if " " in word:
                    phrases.append((word, sign * float(strength)))
                else:
                    stems.setdefault(word[:2], []).append((word, sign * float(strength)))
    shift = cast("Mapping[str, list[str]]", read["shift"])
    return _Lexicon(
        stems={start: tuple(sorted(found, key=lambda one: -len(one[0]))) for start, found in stems.items()},
        phrases=tuple(phrases),
        negation=frozenset(shift["negation"]),
        stronger=frozenset(shift["stronger"]),
        weaker=frozenset(shift["weaker"]),
    )


def score_valence(text: str) -> float:
    """Return the valence of a text, from −1 (unpleasant) to 1 (pleasant); 0 without emotional words.

    >>> (score_valence("We got married and I was so happy!") > 0.5 > -0.5
    ... > score_valence("My dog died, I am devastated."))
    True
    >>> score_valence("The meeting is at nine.")
    0.0
    """
    lexicon = _load_lexicon()
    lowered = text.casefold()
    total = sum(weight for phrase, weight in lexicon.phrases if phrase in lowered)
    words = _WORD.findall(lowered)
    for place, word in enumerate(words):
        weight = _find_weight(lexicon, word)
        if weight:
            total += weight * _compute_modifier(lexicon, words[max(0, place - _BEFORE) : place])
    return round(total / math.sqrt(total * total + _ALPHA), _PLACES) if total else 0.0


def _find_weight(lexicon: _Lexicon, word: str) -> float:
    for stem, weight in lexicon.stems.get(word[:2], ()):
        if word.startswith(stem) and _is_form(stem, word[len(stem) :]):
            return weight
    return 0.0


def _is_form(stem: str, rest: str) -> bool:
    if len(stem) > _SHORT:
        return len(rest) <= _LONGER
    return rest in _FORMS or (rest == "d" and stem.endswith("e"))


def _compute_modifier(lexicon: _Lexicon, before: list[str]) -> float:
    """Return the factor that the words before a word apply to it."""
    bend = 1.0
    for word in before:
        if word in lexicon.negation or word.endswith(("n't", "n’t")):
            bend *= _TURNED
        elif word in lexicon.stronger:
            bend *= _STRENGTHENED
        elif word in lexicon.weaker:
            bend *= _WEAKENED
    return bend
