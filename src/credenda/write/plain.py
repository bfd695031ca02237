"""Whether a text is so plain that no screen could find anything in it: one look instead of a hundred. Pure.

Every secret and every order has a word, a run of digits or a long word that nothing can be without. All of them are
looked for at once, as a tree of their letters, which takes a third of the time that each of them by itself takes. Most
of what is said is plain.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from string import digits
from typing import Final

from credenda.write.orders import first_words
from credenda.write.screen import CARD_DIGITS, LONG_WORD, ORDER_WORDS, SECRET_WORDS

__all__ = ["is_plain"]

_DIGITS: Final = digits.encode()
_ALL_DIGITS: Final = re.compile(r"\d")


def is_plain(text: str) -> bool:
    """Return whether neither `screen` nor `looks_like_instruction` nor `judge` has anything to say of a text.

    False may be wrong; True never is.

    >>> is_plain("The kettle is on."), is_plain("My password is hunter2.")
    (True, False)
    """
    lower = text.lower()
    if _hints().search(lower) or _has_long_word(text):
        return False
    if text.isascii():
        return len(text) - len(text.encode().translate(None, _DIGITS)) < CARD_DIGITS
    folded = text.casefold()  # one screen compares so, the others in lower case
    if folded != lower and (_hints().search(folded) or _has_long_word(folded)):
        return False
    return len(_ALL_DIGITS.findall(text)) < CARD_DIGITS


def _has_long_word(text: str) -> bool:
    return max(map(len, text.split()), default=0) >= LONG_WORD


@cache
def _hints() -> re.Pattern[str]:
    words = frozenset([*SECRET_WORDS, *ORDER_WORDS, *first_words()])
    return re.compile(_tree([word for word in words if not any(other in word for other in words - {word})]))


def _tree(words: Iterable[str]) -> str:
    """Write a pattern that matches any of some words, each of their common beginnings once.

    Each branch begins with a plain letter: only then does the matcher pass over all places where none can begin.
    """
    rest: defaultdict[str, list[str]] = defaultdict(list)
    for word in sorted(words):
        if not word:
            return ""
        rest[word[0]].append(word[1:])
    branches = [re.escape(letter) + _tree(endings) for letter, endings in rest.items()]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
