"""Classify the speech act of a sentence: statement, question, request, plan, joke or pretence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

from credenda.write.extract.lexicon import RECENT, expression, load_table, names, occurs
from credenda.write.extract.patterns import compile_macros

__all__ = ["Act", "act_of", "is_hedged", "is_joke_only", "is_question", "is_transient", "takes_back", "tells_nothing"]

_WORD: Final = re.compile(r"[a-z]+")
_SELF: Final = re.compile(r"\b(?:i|i'm|my|we|our)\b", re.IGNORECASE)
_REQUEST: Final = re.compile(r", (?:would|will|can|could|won't|will not) (?:you|ya|u)(?: please)?\?$", re.IGNORECASE)


class Act(StrEnum):
    """The speech act of a sentence; its clauses are parsed separately."""

    STATEMENT = "statement"
    PASTED = "pasted"
    RETRACTION = "retraction"
    JOKE = "joke"
    SARCASM = "sarcasm"
    HYPOTHETICAL = "hypothetical"
    ROLE_PLAY = "role_play"
    RUNNING_TASK = "running_task"
    MISHAP = "mishap"


@dataclass(frozen=True, slots=True)
class _Cue:
    """An act, the words and the texts of which one must occur, and its position in the table."""

    act: Act
    words: frozenset[str]
    has: tuple[str, ...]
    place: int


@cache
def _cues() -> tuple[_Cue, ...]:
    return tuple(
        _Cue(Act(entry["name"]), frozenset(entry["words"]), tuple(entry.get("has", ("",))), place)
        for place, entry in enumerate(load_table("acts")["act"])
    )


@cache
def _match(place: int) -> re.Pattern[str]:
    table = load_table("acts")
    return compile_macros("|".join(table["act"][place]["match"]), table["macros"])


@lru_cache(maxsize=RECENT)
def act_of(sentence: str) -> Act:
    """Classify one sentence, given with straight quotes and single spaces."""
    folded = sentence.lower()
    words = frozenset(_WORD.findall(folded))
    for cue in _cues():
        if not cue.words.isdisjoint(words) and occurs(cue.has, folded) and _match(cue.place).search(sentence):
            return cue.act
    return Act.STATEMENT


def is_joke_only(sentence: str) -> bool:
    """Return whether a sentence only marks the previous one as a joke."""
    return len(sentence) <= 40 and expression("acts", "joke_only", "match").match(sentence) is not None  # noqa: PLR2004


def takes_back(sentence: str) -> bool:
    """Return whether a sentence begins by marking the previous one as a joke: "lol no, I'm a nurse"."""
    return expression("acts", "takes_back", "match").match(sentence) is not None


@lru_cache(maxsize=RECENT)
def is_question(clause: str) -> bool:
    """Return whether a clause begins as a question or request."""
    return expression("acts", "question", "match").match(clause) is not None


def is_transient(sentence: str) -> bool:
    """Return whether a sentence is about the current hour or day."""
    expected = occurs(load_table("acts")["transient"]["has"], sentence.lower())
    return expected and expression("acts", "transient", "match").search(sentence) is not None


def is_hedged(sentence: str) -> bool:
    """Return whether the speaker is uncertain."""
    expected = occurs(load_table("acts")["hedge"]["has"], sentence.lower())
    return expected and expression("acts", "hedge", "match").search(sentence) is not None


def tells_nothing(sentence: str) -> bool:
    """Return whether a sentence is a simple question or a remark, which need no parsing. Cheap."""
    if sentence.endswith("?") and _REQUEST.search(sentence) and not _SELF.match(sentence):
        return True
    if sentence.endswith("?"):
        return not any(mark in sentence for mark in (",", ";", " - ", "\u2014", " so ", " and ", " but ", "! ", "... "))
    first = sentence.split(" ", 1)[0].rstrip(",.!").lower()
    return first in names().remarks and _SELF.search(sentence) is None
