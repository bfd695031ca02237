"""Make unanswerable questions that look answerable, by replacing the rarest word of answerable ones. Pure.

The replacement has the same form and comes from other questions: a word that no text contains (`unsaid`), or one that
is rare there and in no session with the rest of the question (`other_scopes`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from credenda.text.tokens import tokenize

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z-]+")
_ENDINGS: Final = ("ing", "ed", "s")
_ENDED: Final = 5
"""Length from which a word's ending counts as its form."""
_RARE: Final = 2
"""Most sessions with a replacement word: a word in more sessions is not specific."""
_LEAST: Final = 2
"""The minimum number of terms of a question."""


class Word(NamedTuple):
    """A word inside a question that is one of its terms."""

    text: str
    term: str
    start: int
    stop: int

    @property
    def form(self) -> tuple[bool, str]:
        """Return whether it has a capital, and its ending."""
        low = self.text.lower()
        ending = next((one for one in _ENDINGS if len(low) >= _ENDED and low.endswith(one)), "")
        return self.text[0].isupper(), ending


def list_words(question: str, subject: Sequence[str]) -> list[Word]:
    """Return the words of a question, all but its first, that are each one term of its subject.

    >>> [word.text for word in list_words("Which boat did Ana's uncle paint?", ["boat", "uncl", "paint"])]
    ['boat', 'uncle', 'paint']
    """
    found: list[Word] = []
    for match in list(_WORD.finditer(question))[1:]:
        terms = tokenize(match[0])
        if len(terms) == 1 and terms[0] in subject:
            found.append(Word(match[0], terms[0], match.start(), match.end()))
    return found


def make_near_misses(
    question: str,
    subject: Sequence[str],
    *,
    stock: Iterable[Word],
    sessions: Callable[[str], frozenset[int]],
    pick: Callable[[int], int],
) -> dict[str, str]:
    """Return the near misses of a question by kind, at most one of each.

    `stock` are words of many questions, `sessions` returns the sessions that contain a term, and `pick` draws an index.
    """
    words = list_words(question, subject)
    if not words or len(subject) < _LEAST:
        return {}
    rarest = min(words, key=lambda word: len(sessions(word.term)))
    left = min((term for term in subject if term != rarest.term), key=lambda term: len(sessions(term)))
    fitting = sorted({one.text: one for one in stock if one.form == rarest.form and one.term != rarest.term}.items())
    kinds: dict[str, list[str]] = {"unsaid": [], "elsewhere": []}
    for text, one in fitting:
        held = sessions(one.term)
        if not held:
            kinds["unsaid"].append(text)
        elif len(held) <= _RARE and held.isdisjoint(sessions(left)):
            kinds["elsewhere"].append(text)
    before, after = question[: rarest.start], question[rarest.stop :]
    return {kind: before + texts[pick(len(texts))] + after for kind, texts in kinds.items() if texts}
