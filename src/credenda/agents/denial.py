"""Find a recalled memory that the next words of the user deny."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from credenda.errors import CredendaError
from credenda.model.memory import Memory, Status
from credenda.text.tokens import tokenize

if TYPE_CHECKING:
    from credenda.client import Credenda


_DENIAL: Final = re.compile(
    r"\b(?:(?:that|this|it)(?:\s+is|['\u2019]s)?\s+(?:not|n['\u2019]t)\s+(?:true|right|correct|so|the case)"
    r"|(?:that|this|it)\s+isn['\u2019]t\s+(?:true|right|correct|so|the case)"
    r"|(?:that|this|it)(?:\s+is|['\u2019]s|\s+was)\s+(?:wrong|incorrect|false|outdated|out of date|no longer true)"
    r"|(?:you(?:\s+are|['\u2019]re)|your (?:memory|memories|notes?) (?:is|are))\s+(?:wrong|mistaken|outdated)"
    r"|not (?:true|the case)(?:\s+any\s?more)?|no longer (?:true|the case)"
    r"|i never (?:said|told you) (?:that|so)|where did you get that)\b",
    re.IGNORECASE,
)
"""Words that deny what was just said."""
_NO: Final = re.compile(r"^\s*(?:no|nope|wrong|incorrect)\b[\s,.!:;\u2013-]", re.IGNORECASE)
_NEGATED: Final = re.compile(r"\b(?:not|never|no longer|\w+n['\u2019]t)\b", re.IGNORECASE)
_CHARACTERS: Final = 500
"""Longest message whose bare denial is taken to be about a single memory that was shown."""


def find_denied(text: str, shown: Sequence[Memory]) -> list[Memory]:
    """Return the memories, of those that were shown with the words before, that a message denies.

    A denial needs words of denial, and either the value or most words of the memory; a bare denial denies a memory only
    if it was shown alone. Anything else denies nothing: a wrong memory is challenged, never ended, by this.
    """
    current = [memory for memory in shown if memory.status is Status.ACTIVE]
    opening = text[:_CHARACTERS]
    negated = _NO.match(opening) is not None and _NEGATED.search(opening) is not None
    if not current or not (_DENIAL.search(opening) or negated):
        return []
    words = frozenset(tokenize(opening))
    named = [memory for memory in current if _is_named(memory, words)]
    if named:
        return named[:1] if len(named) == 1 else []
    bare = len(shown) == 1 and len(text) <= _CHARACTERS and _DENIAL.search(opening) is not None
    return current if bare else []


def _is_named(memory: Memory, words: frozenset[str]) -> bool:
    """Return whether words name the value of a memory, or more than half of what it says."""
    value = frozenset(tokenize(memory.value or ""))
    told = frozenset(tokenize(memory.text))
    return (bool(value) and value <= words) or (bool(told) and 2 * len(told & words) > len(told))


# Challenge a memory that was recalled and that the next words of the user deny.


_REASON: Final = "the user denied it after it was recalled"


def challenge_denied(memory: Credenda, text: str, shown: Sequence[str]) -> list[str]:
    """Challenge a memory that was shown with the words before and that these words deny; return its id.

    Nothing is ended by it: the memory is marked as in doubt, and counts as of no use to that prompt.
    """
    held: list[Memory] = []
    for name in shown:
        with suppress(CredendaError):  # an event, or a memory that is gone
            held.append(memory.get(name))
    found: list[str] = []
    for one in find_denied(text, held):
        with suppress(CredendaError):
            memory.manage.set_status(one.id, "challenged", _REASON)
            memory.feedback(one.id, useful=False)
            found.append(one.id)
    return found
