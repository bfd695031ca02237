"""Compare sentences and memories of other languages in English words, and report matches in their own. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from credenda.model.memory import Memory
from credenda.text.languages import get_function_words
from credenda.write.extract.clauses import straighten
from credenda.write.extract.gloss import glossed, is_plainly_english
from credenda.write.extract.glossary import folded
from credenda.write.extract.lexicon import words_of
from credenda.write.succession.old import Match

__all__ = ["as_compared", "in_english", "in_own_words", "looked_for"]

_LETTERS_MIN: Final = 2


def in_english(sentence: str) -> str:
    """Translate a sentence word by word; return it unchanged for an unknown language."""
    gloss = glossed(sentence)
    return sentence if gloss is None else gloss.text


def looked_for(text: str) -> list[str]:
    """Return the search words of a sentence in another language; none for English.

    >>> looked_for("Ich wohne jetzt in Linz."), looked_for("I live in Linz now.")
    (['linz', 'wohne'], [])
    """
    gloss = None if is_plainly_english(text) else glossed(straighten(text))
    if gloss is None:
        return []
    silent = get_function_words(gloss.language)
    return sorted(one for one in words_of(gloss.source) if len(one) > _LETTERS_MIN and folded(one) not in silent)


def as_compared(memory: Memory) -> Memory:
    """Return a memory with its text and value in English."""
    gloss = None if is_plainly_english(memory.text) else glossed(straighten(memory.text))
    if gloss is None:
        return memory
    value = None if memory.value is None else gloss.english(memory.value)
    return replace(memory, text=gloss.text, value=value)


def in_own_words(match: Match, memory: Memory, sentence: str) -> Match:
    """Return a match with the stored memory, and its spans in the original words."""
    old, new = glossed(straighten(memory.text)), glossed(sentence)
    cell, into = match.cell, match.into
    return replace(
        match,
        memory=memory,
        cell=cell if cell is None or old is None else old.said(cell),
        into=into if into is None or new is None else new.said(into),
    )
