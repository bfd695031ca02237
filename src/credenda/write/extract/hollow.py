"""Values that name nothing: a bare connective, or only that something is another one of its kind. Pure."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_hollow"]

_CONNECTIVES: Final = frozenset(
    {
        *("though", "although", "however", "but", "and", "or", "so", "because"),
        *("since", "unless", "until", "while", "whereas", "if", "then", "than"),
        *("thus", "hence", "therefore", "still", "yet", "too", "also", "either"),
        *("neither", "nor", "anyway", "anyhow", "besides", "instead", "otherwise", "meanwhile"),
        *("moreover", "furthermore", "nevertheless", "nonetheless", "regardless", "again", "maybe", "perhaps"),
        *("indeed", "actually", "really", "honestly", "basically", "apparently"),
    }
)
"""Conjunctions and adverbs that join sentences: a closed class, of which no word is anybody's anything."""
_ANOTHER: Final = re.compile(
    r"(?:(?:a|an|the|some|quite)\s+)*(?:different|another|other)\s+(?P<noun>[\w'-]+)", re.IGNORECASE
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_OF_ANY_KIND: Final = frozenset({"one", "ones", "thing", "things"})


def is_hollow(value: str | None, attribute: str | None) -> bool:
    """Say whether a value names nothing, so that nobody could answer with it.

    >>> is_hollow("though", None), is_hollow("different provider", "provider"), is_hollow("another one", "dentist")
    (True, True, True)
    >>> is_hollow("Then", "favourite_song") or is_hollow("different shifts", "work_schedule")
    False
    """
    if value is None:
        return False
    words = _WORD.findall(value)
    if words and value.islower() and all(word in _CONNECTIVES for word in words):
        return True
    found = _ANOTHER.fullmatch(value.strip().rstrip(".,!"))
    if found is None:
        return False
    noun = found["noun"].casefold()
    return noun in _OF_ANY_KIND or noun in (attribute or "").casefold().split("_")
