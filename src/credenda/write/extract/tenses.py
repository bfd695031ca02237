"""The tenses that the patterns name, and the tenses of predicates that each of them matches."""

from __future__ import annotations

from typing import Final

from credenda.write.extract.patterns import Pattern

__all__ = ["FORMER", "PAST", "PERHAPS", "TENSES", "may_fit"]

PAST: Final = frozenset({"past", "perfect"})
TENSES: Final = {
    "present": frozenset({"simple", "progressive"}),
    "simple": frozenset({"simple"}),
    "progressive": frozenset({"progressive"}),
    "past": PAST,
    "perfect": frozenset({"perfect"}),
    "scheduled": frozenset({"future"}),
    "coming": frozenset({"simple", "progressive", "perfect"}),
    "future": frozenset({"future"}),
    "modal": frozenset({"modal"}),
    "wish": frozenset({"wish"}),
    "perhaps": frozenset({"maybe"}),
    "maybe": frozenset[str](),
    "former": frozenset({"former"}),
    "decided": frozenset({"progressive", "future", "past"}),
    "lasting": frozenset({"simple", "progressive", "perfect", "future"}),  # a state that was need not last
    "any": frozenset({"simple", "progressive", "past", "perfect", "future"}),
}
FORMER: Final = frozenset({*PAST, "former"})
PERHAPS: Final = {
    "maybe": frozenset({"future", "maybe"}),
    "present": frozenset({"perfect", "progressive"}),
    "simple": frozenset({"perfect", "progressive"}),
    "future": frozenset({"progressive"}),
    "scheduled": frozenset({"simple", "progressive"}),
}
"""Tenses that match only with another cue: uncertainty, a start, or a future day."""


def may_fit(pattern: Pattern, tense: str) -> bool:
    """Return whether a tense can match a pattern at all."""
    told = tense in TENSES[pattern.tense] or (pattern.former is not None and tense in FORMER)
    return told or tense in PERHAPS.get(pattern.tense, ())
