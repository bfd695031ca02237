"""Whether a question names what a memory is about. Pure.

A memory with the attribute "known as" tells the names of its entity: "k8s" and "kube" for Kubernetes. A text that names
one of them speaks of the entity, however much else it says; how much of it the memory covers tells nothing then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from credenda.model.memory import Memory
from credenda.text.normalize import attribute_key, name_key
from credenda.text.tokens import tokenize

__all__ = ["alike", "is_named", "names_of"]

_KNOWN_AS: Final = "known_as"
_PART: Final = re.compile(r"[,;/|]")
_FUZZY_LETTERS: Final = 5
"""Letters from which one wrong, missing or additional letter is a slip of the pen; the first two must be right."""
_SURE_LETTERS: Final = 2


def names_of(memory: Memory) -> list[str]:
    """Return the names that a memory of the attribute "known as" tells, none for any other memory."""
    if memory.entity is None or memory.attribute is None or attribute_key(memory.attribute) != _KNOWN_AS:
        return []
    return [memory.entity, *(_PART.split(memory.value) if memory.value else ())]


def is_named(memory: Memory, question: str) -> bool:
    """Say whether a question names the entity of a memory by any of the names that the memory tells."""
    names = names_of(memory)
    if not names:
        return False
    words = _words(question)
    return any(_stands_in(tuple(tokenize(name_key(name))), words) for name in names)


@lru_cache(maxsize=8)
def _words(question: str) -> tuple[str, ...]:
    return tuple(tokenize(question))


def _stands_in(name: tuple[str, ...], words: tuple[str, ...]) -> bool:
    if not name:
        return False
    places = range(len(words) - len(name) + 1)
    return any(all(map(alike, name, words[at : at + len(name)])) for at in places)


def alike(name: str, word: str) -> bool:
    """Say whether two words are the same but for one letter, in words long enough to tell.

    >>> alike("redis", "reedis"), alike("mongo", "mango"), alike("pod", "pid")
    (True, False, False)
    """
    if name == word:
        return True
    short, long = sorted((name, word), key=len)
    if len(short) < _FUZZY_LETTERS - 1 or len(long) < _FUZZY_LETTERS or name[:_SURE_LETTERS] != word[:_SURE_LETTERS]:
        return False
    return len(long) - len(short) <= 1 and word in set(_slips(name, word))


def _slips(name: str, word: str) -> Iterator[str]:
    """Yield what one slip makes of a name, as far as it leads to the word."""
    at = next((at for at, (one, other) in enumerate(zip(name, word, strict=False)) if one != other), len(name))
    yield name[:at] + word[at : at + 1] + name[at + 1 :]
    yield name[:at] + name[at + 1 :]
    yield name[:at] + word[at : at + 1] + name[at:]
