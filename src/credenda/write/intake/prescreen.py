"""Cheap pre-check that skips the secret and injection screens when none of their patterns can match. Pure.

Every pattern requires a hint word, a run of digits or a long word. One combined trie pattern finds all hints in a third
of the time of separate look-ups. Most texts have no hint.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from string import digits
from typing import Final

from credenda.write.intake.injection import collect_hint_words
from credenda.write.intake.secrets import CARD_DIGITS, LONG_WORD, ORDER_WORDS, SECRET_WORDS

__all__ = ["is_surely_clean"]

_DIGITS: Final = digits.encode()
_ALL_DIGITS: Final = re.compile(r"\d")


def is_surely_clean(text: str) -> bool:
    """Return whether neither `screen`, `looks_like_instruction` nor `judge` can match a text.

    False may be wrong; True never is.

    >>> is_plain("The kettle is on."), is_plain("My password is hunter2.")
    (True, False)
    """
    lower = text.lower()
    if _compile_hints().search(lower) or _has_long_word(text):
        return False
    if text.isascii():
        return len(text) - len(text.encode().translate(None, _DIGITS)) < CARD_DIGITS
    folded = text.casefold()  # one screen compares case-folded text, the others lower-case text
    if folded != lower and (_compile_hints().search(folded) or _has_long_word(folded)):
        return False
    return len(_ALL_DIGITS.findall(text)) < CARD_DIGITS


def _has_long_word(text: str) -> bool:
    return max(map(len, text.split()), default=0) >= LONG_WORD


@cache
def _compile_hints() -> re.Pattern[str]:
    words = frozenset([*SECRET_WORDS, *ORDER_WORDS, *collect_hint_words()])
    return re.compile(
        _build_trie_pattern([word for word in words if not any(other in word for other in words - {word})])
    )


def _build_trie_pattern(words: Iterable[str]) -> str:
    """Build a pattern that matches any of some words and shares their common prefixes.

    Each branch begins with a literal letter, so that the regex engine skips places where no branch can begin.
    """
    rest: defaultdict[str, list[str]] = defaultdict(list)
    for word in sorted(words):
        if not word:
            return ""
        rest[word[0]].append(word[1:])
    branches = [re.escape(letter) + _build_trie_pattern(endings) for letter, endings in rest.items()]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
