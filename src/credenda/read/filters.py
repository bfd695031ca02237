"""The conditions of a search, checked against one row. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from credenda.model.event import CODE, Event, get_project, is_bound_to_project
from credenda.model.memory import Layer, Memory
from credenda.model.query import Query
from credenda.text.tokens import RUNS

_TYPES_OF_MODE: Final = {
    "facts_only": frozenset({"fact"}),
    "facts_plus_rules": frozenset({"fact", "procedure"}),
    "full_context": frozenset({"fact", "procedure", "narrative"}),
    "codebase": frozenset({"fact", "procedure", "narrative"}),
}
"""Memory types in engram's sense that each mode recalls (E-008…E-010)."""


def may_return_memories(query: Query) -> bool:
    """Return whether memories may be among the hits."""
    return "memory" in query.kinds


def may_return_events(query: Query) -> bool:
    """Return whether raw events may be among the hits; not if a mode or condition applies only to memories."""
    narrowed = query.types is not None or query.layers is not None or query.mode != "full_context"
    return "event" in query.kinds and not narrowed


def is_matching_memory(memory: Memory, query: Query) -> bool:
    """Return whether a memory meets every condition of the query except visibility."""
    return (
        may_return_memories(query)
        and (query.types is None or memory.type in query.types)
        and (query.layers is None or memory.layer in query.layers)
        and (query.asks_code or memory.layer is not Layer.CODEBASE)
        and (query.mode != "codebase" or memory.layer is Layer.CODEBASE)
        and memory.memory_type in _TYPES_OF_MODE[query.mode]
        and _is_matching(query, memory.topic, memory.tags, memory.metadata)
        and (query.session is None or memory.source_session == query.session)
        and (query.exclude_session is None or memory.source_session != query.exclude_session)
        and is_memory_of_project(memory, query.project)
    )


def is_matching_event(event: Event, query: Query) -> bool:
    """Return whether an event meets every condition of the query except visibility."""
    return (
        may_return_events(query)
        and CODE not in event.flags
        and _is_matching(query, event.topic, event.tags, event.metadata)
        and (query.session is None or event.session == query.session)
        and (query.exclude_session is None or event.session != query.exclude_session)
        and _is_of_project(event.metadata, query.project)
    )


def is_memory_of_project(memory: Memory, project: str | None) -> bool:
    """Return whether a memory holds in a project: told there or in none, or a fact of the user's own.

    None stands for every project.
    """
    if _is_of_project(memory.metadata, project):
        return True
    return not is_bound_to_project(memory.entity, memory.type, memory.text)


def _is_of_project(metadata: Mapping[str, object], project: str | None) -> bool:
    return project is None or get_project(metadata) in {None, project}


def _is_matching(query: Query, topic: str | None, tags: Collection[str], metadata: Mapping[str, object]) -> bool:
    return (
        (query.topic is None or query.topic == topic)
        and (query.tags is None or query.tags <= set(tags))
        and (query.metadata is None or query.metadata.items() <= metadata.items())
    )


# Find the query verbatim in a text, whatever its case, punctuation and spacing. Pure.


_WORD: Final = re.compile(r"\w+")
_RUN: Final = re.compile(f"[{RUNS}]")
_WORDS_MIN: Final = 2


def _fold(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def fold_query(query: str) -> str:
    """Return the words of a query as one folded text; "" for a single word, which is no quotation.

    >>> fold_query("I'm  from Linz!")
    ' i m from linz '
    >>> fold_query("Linz")
    ''
    """
    folded = _fold(query)
    if _RUN.search(folded):
        return folded
    return f" {folded} " if folded.count(" ") + 1 >= _WORDS_MIN else ""


def has_query(text: str, folded: str) -> bool:
    """Return whether a text holds a query that `fold_query` folded, at word boundaries.

    >>> has_query("Well, I’m from Linz, you know.", fold_query("i'm from linz"))
    True
    >>> has_query("I'm from Linzer Land.", fold_query("i'm from linz"))
    False
    """
    if not folded or max(folded.split(), key=len) not in text.casefold():  # much cheaper than folding every text
        return False
    return folded in f" {_fold(text)} "
