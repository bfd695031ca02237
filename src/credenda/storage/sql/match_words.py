"""The words under which documents are indexed, and whether a document holds a word, as the full-text index says."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from credenda.model.memory import Memory
from credenda.text.documents import compose_event_text, compose_memory_text
from credenda.text.tokens import fold, is_run, segment_document, segment_query, tokenize

__all__ = [
    "MemoryWords",
    "analyse_term",
    "compile_term",
    "compose_event_words",
    "compose_memory_words",
    "split_words",
    "to_match_query",
]

# Letters and digits, except New Tai Lue and Vedic marks, which FTS5 treats as spaces.
_WORDS: Final = re.compile(r"[^\W_\u19b0-\u19c9\u1cf2\u1cf3]+")


def compose_event_words(role: str, speaker: str, occurred_us: int, text: str) -> str:
    """Return the text under which the full-text index stores an event's passage."""
    return segment_document(fold(compose_event_text(speaker=speaker, role=role, occurred_us=occurred_us, text=text)))


def compose_memory_words(text: str, entity: str | None, attribute: str | None, value: str | None) -> str:
    """Return the text under which the full-text index stores a memory."""
    return segment_document(fold(compose_memory_text(text, entity=entity, attribute=attribute, value=value)))


class MemoryWords:
    """The words of memories, each split once."""

    def __init__(self) -> None:
        """Start empty."""
        self._held: dict[str, tuple[Memory, frozenset[str]]] = {}

    def of(self, memory: Memory) -> frozenset[str]:
        """Return the words of a memory and their stems."""
        held = self._held.get(memory.id)
        if held is None or held[0] is not memory:
            body = compose_memory_words(memory.text, memory.entity, memory.attribute, memory.value)
            held = self._held[memory.id] = (memory, split_words(body))
        return held[1]


def split_words(body: str) -> frozenset[str]:
    """Return the words of a body of text and their stems."""
    return frozenset(_WORDS.findall(body)) | frozenset(tokenize(body))


def _split_term(term: str) -> list[str]:
    return _WORDS.findall(segment_query(fold(term)))


def analyse_term(term: str) -> list[tuple[str, frozenset[str], bool]]:
    """Return each word of a term with its stems, and whether a document needs only a word that begins with it.

    A document holds the term if it holds, for each of its words, the word or all of its stems.
    """
    return [(word, frozenset(tokenize(word)), _is_prefix(word)) for word in _split_term(term)]


def compile_term(term: str) -> Callable[[frozenset[str]], bool]:
    """Compile a test whether a body with some words matches a term, as `to_match_query` asks the full-text index."""
    words = analyse_term(term)

    def matches(held: frozenset[str]) -> bool:
        return all(
            any(one.startswith(word) for one in held) if prefix else word in held or (bool(stems) and stems <= held)
            for word, stems, prefix in words
        )

    return matches


def to_match_query(term: str) -> str:
    """Build a full-text query for a term; "" for a term without letters or digits.

    The index stores no positions, so that a term of several words ("node.js") asks for each of them. A single character
    of a script that is indexed as bigrams asks for all bigrams that begin with it.
    """
    return " AND ".join(f'{{body}} : "{word}"{" *" if _is_prefix(word) else ""}' for word in _split_term(term))


def _is_prefix(word: str) -> bool:
    return len(word) == 1 and is_run(word)
