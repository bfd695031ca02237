"""Match the aliases of an entity in a question. Pure.

A memory with the attribute "known as" lists the aliases of its entity, for example "k8s" and "kube" for Kubernetes. A
question that contains an alias is about the entity, regardless of its other words and of how much of it the memory
covers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from credenda.model.memory import Memory
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.tokens import tokenize

__all__ = ["is_named", "is_near_spelling", "list_aliases"]

_KNOWN_AS: Final = "known_as"
_PART: Final = re.compile(r"[,;/|]")
_FUZZY_LETTERS: Final = 5
"""Shortest word for which one wrong, missing or extra letter counts as a typing error after `_SURE_LETTERS`."""
_SURE_LETTERS: Final = 2


def list_aliases(memory: Memory) -> list[str]:
    """Return the aliases in a memory of the attribute "known as"; empty for any other memory."""
    if memory.entity is None or memory.attribute is None or normalise_attribute(memory.attribute) != _KNOWN_AS:
        return []
    return [memory.entity, *(_PART.split(memory.value) if memory.value else ())]


def is_named(memory: Memory, question: str) -> bool:
    """Return whether the question contains an alias of the memory's entity."""
    names = list_aliases(memory)
    if not names:
        return False
    words = _split_words(question)
    return any(_is_mentioned(tuple(tokenize(normalise_name(name))), words) for name in names)


@lru_cache(maxsize=8)
def _split_words(question: str) -> tuple[str, ...]:
    return tuple(tokenize(question))


def _is_mentioned(name: tuple[str, ...], words: tuple[str, ...]) -> bool:
    if not name:
        return False
    places = range(len(words) - len(name) + 1)
    return any(all(map(is_near_spelling, name, words[at : at + len(name)])) for at in places)


def is_near_spelling(name: str, word: str) -> bool:
    """Return whether two words are equal except for one letter; short words must be equal.

    >>> is_near_spelling("redis", "reedis"), is_near_spelling("mongo", "mango"), is_near_spelling("pod", "pid")
    (True, False, False)
    """
    if name == word:
        return True
    short, long = sorted((name, word), key=len)
    if len(short) < _FUZZY_LETTERS - 1 or len(long) < _FUZZY_LETTERS or name[:_SURE_LETTERS] != word[:_SURE_LETTERS]:
        return False
    return len(long) - len(short) <= 1 and word in set(_find_slips(name, word))


def _find_slips(name: str, word: str) -> Iterator[str]:
    """Yield the variants of `name` with one typing error at the first letter where it differs from `word`."""
    at = next((at for at, (one, other) in enumerate(zip(name, word, strict=False)) if one != other), len(name))
    yield name[:at] + word[at : at + 1] + name[at + 1 :]
    yield name[:at] + name[at + 1 :]
    yield name[:at] + word[at : at + 1] + name[at:]
