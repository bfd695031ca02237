"""Folding of invisible characters and of letters that look alike, for comparison with deleted text.

The same words can be written with a zero-width space inside, with Cyrillic letters among Latin ones, or in full width.
`fold_lookalikes` gives all these spellings one form. Text in another script keeps its own letters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

__all__ = ["fold_lookalikes"]

_SHAPES: Final = {
    "a": "\u0430\u0410\u03b1\u0391\u03ac\u0386\u0251\u1d00\u13aa",
    "b": "\u0412\u0392\u03b2\u0299",
    "c": "\u0441\u0421\u03f2\u03f9\u1d04\uabaf",
    "d": "\u0501\u1d05",
    "e": "\u0435\u0415\u0451\u0401\u03b5\u0395\u03ad\u0388\u1d07\u13ac",
    "g": "\u0261\u0581",
    "h": "\u04bb\u041d\u0397\u0570\u13bb",
    "i": "\u0456\u0406\u0457\u0407\u04c0\u0399\u03b9\u03af\u038a\u03ca\u0131\u0269\u026a",
    "j": "\u0458\u0408\u03f3\u0237\u1d0a",
    "k": "\u041a\u043a\u039a\u03ba\u1d0b\u13e6",
    "l": "\u04cf\u029f",
    "m": "\u041c\u039c\u1d0d\u13b7",
    "n": "\u03b7\u03ae\u039d\u0274\u0578",
    "o": "\u043e\u041e\u03bf\u039f\u03cc\u038c\u1d0f\u0585",
    "p": "\u0440\u0420\u03a1\u03c1\u1d18",
    "q": "\u051b",
    "r": "\u0280",
    "s": "\u0405\u0455\ua731\u13da",
    "t": "\u0422\u03a4\u03c4\u1d1b\u13a2",
    "u": "\u03c5\u03cd\u1d1c\u057d",
    "v": "\u0475\u0474\u03bd\u1d20",
    "w": "\u051d\u051c\u03c9\u1d21\u13b3",
    "x": "\u0445\u0425\u03c7\u03a7",
    "y": "\u0443\u0423\u04af\u04ae\u03a5\u03b3\u028f",
    "z": "\u0396\u1d22",
}
"""Letters of Cyrillic, Greek, Armenian and Cherokee, and small capitals, by the Latin letter that they look like.

Taken from the single-letter entries of Unicode's confusables (UTS 39) whose target is a Latin letter.
"""
_NEAR: Final = {
    "b": "\u0432\u044c",
    "h": "\u043d",
    "m": "\u043c",
    "n": "\u043f",
    "o": "\u03c3",
    "r": "\u0433",
    "t": "\u0442",
    "u": "\u0438",
    "w": "\u0461",
    "z": "\u03b6",
}
"""Letters that resemble a Latin letter less: they count only inside a word that has a Latin letter."""
_LATIN_OF: Final = str.maketrans({letter: latin for latin, letters in _SHAPES.items() for letter in letters})
_NEAR_LATIN: Final = str.maketrans({letter: latin for latin, letters in _NEAR.items() for letter in letters})
_WORD: Final = re.compile(r"[^\W_]+")
_UNSEEN: Final = frozenset({"Cf", "Cc", "Co", "Cn"})
"""Categories of characters that show nothing of their own: controls, private and unassigned ones."""
_MARKS: Final = frozenset({"Mn", "Me"})
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")
"""Letters and symbols without a shape."""
_CACHED: Final = 4_096


def fold_lookalikes(text: str) -> str:
    r"""Fold what only looks the same: remove unseen characters and accents, and write Latin look-alikes in Latin.

    A word is written in Latin if it has a Latin letter, or if every letter of it looks like a Latin one and other words
    of the text are Latin. A word with a letter of its own script stays as it is.

    >>> fold_lookalikes("pea\u200bnuts"), fold_lookalikes("\u0440\u0435anuts")
    ('peanuts', 'peanuts')
    """
    if text.isascii():
        return text
    plain = _remove_unseen(unicodedata.normalize("NFKC", text))
    latin = any(map(_is_latin, plain))
    return _WORD.sub(lambda found: _to_latin(found[0], latin=latin), plain)


def _remove_unseen(text: str) -> str:
    """Remove unseen characters, and marks on Latin, Greek and Cyrillic letters; other scripts keep their marks."""
    kept: list[str] = []
    for letter in unicodedata.normalize("NFD", text):
        kind = unicodedata.category(letter)
        if (kind in _MARKS and kept and not _is_variation(letter) and not _is_unmarked(kept[-1])) or not (
            letter in _FILLERS or kind in _MARKS or (kind in _UNSEEN and not letter.isspace())
        ):
            kept.append(letter)
    return unicodedata.normalize("NFC", "".join(kept))


def _is_variation(letter: str) -> bool:
    return "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef"


@lru_cache(maxsize=_CACHED)
def _is_unmarked(letter: str) -> bool:
    """Return whether marks after a character are left out: it is Latin, or no letter at all."""
    if not letter.isalpha():
        return unicodedata.category(letter) not in _MARKS
    return _is_latin(letter) or unicodedata.name(letter, "").startswith(("CYRILLIC", "GREEK"))


@lru_cache(maxsize=_CACHED)
def _to_latin(word: str, *, latin: bool) -> str:
    if word.isascii():
        return word
    written = word.translate(_LATIN_OF)
    if any(map(_is_latin, word)):
        return written.translate(_NEAR_LATIN)
    own = any(letter.isalpha() and not _is_latin(letter) for letter in written)
    return written if latin and not own else word


@lru_cache(maxsize=_CACHED)
def _is_latin(letter: str) -> bool:
    return letter.isalpha() and (letter.isascii() or unicodedata.name(letter, "").startswith("LATIN"))
