"""Questions that look answerable and are not, made from ones that are: the rarest thing asked for becomes another.

Pure. A question's rarest word is replaced by one of the same form from other questions: by one that no text holds
(`unsaid`), or by one that is rare there and in no session with what is left of the question (`other_scopes`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from credenda.text.tokens import tokenize

__all__ = ["Word", "list_words", "make_near_misses"]

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z-]+")
_ENDINGS: Final = ("ing", "ed", "s")
_ENDED: Final = 5
"""Letters from which an ending tells the form of a word."""
_RARE: Final = 2
"""Sessions that may hold what is asked for elsewhere: a word in more of them is no thing of its own."""
_LEAST: Final = 2
"""Terms of a question from which there is something left when one is replaced."""


class Word(NamedTuple):
    """A word inside a question that is one of its terms."""

    text: str
    term: str
    start: int
    stop: int

    @property
    def form(self) -> tuple[bool, str]:
        """Whether it has a capital, and how it ends."""
        low = self.text.lower()
        ending = next((one for one in _ENDINGS if len(low) >= _ENDED and low.endswith(one)), "")
        return self.text[0].isupper(), ending


def list_words(question: str, subject: Sequence[str]) -> list[Word]:
    """Return the words of a question, all but its first, that are each one term of its subject.

    >>> [word.text for word in words_of("Which boat did Ana's uncle paint?", ["boat", "uncl", "paint"])]
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
    """Return the near misses of a question by kind, at most one of each; none where nothing fits.

    `stock` are words of many questions, `sessions` says which sessions hold a term, and `pick` draws one of so many.
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
