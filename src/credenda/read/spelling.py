"""Terms of recent texts that a misspelt question may mean, for the near misses of a search without vectors."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from credenda import limits
from credenda.read.plan import Plan, is_near_spelling
from credenda.storage.store import EventFilter, Reader
from credenda.text.tokens import tokenize

_LETTERS_LEAST: Final = 4
"""Shortest term that may be misspelt."""


def correct_spelling(made: Plan, reader: Reader) -> Plan | None:
    """Return the plan with the terms of recent texts that differ from its own by one letter; None without any."""
    asked = [term for term in made.terms if len(term) >= _LETTERS_LEAST]
    if not asked:
        return None
    recent = reader.find_events(EventFilter(newest_first=True, limit=limits.SPELLING_EVENTS))
    known = dict.fromkeys(term for event in recent for term in tokenize(event.text))
    meant = tuple(term for term in known if any(is_near_spelling(one, term) for one in asked))
    return replace(made, terms=meant, subject=meant) if meant else None
