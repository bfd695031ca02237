"""How a sentence is meant: statement, question, request, plan, joke or pretence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from credenda.write.extract.lexicon import expression, load_table
from credenda.write.extract.patterns import compile_macros

__all__ = ["Act", "act_of", "is_hedged", "is_joke_only", "is_question", "is_transient"]

_WORD: Final = re.compile(r"[a-z]+")


class Act(StrEnum):
    """What a sentence does; what else it says is read clause by clause."""

    STATEMENT = "statement"
    PASTED = "pasted"
    RETRACTION = "retraction"
    JOKE = "joke"
    SARCASM = "sarcasm"
    HYPOTHETICAL = "hypothetical"
    ROLE_PLAY = "role_play"
    RUNNING_TASK = "running_task"


@dataclass(frozen=True, slots=True)
class _Cue:
    act: Act
    words: frozenset[str]
    match: re.Pattern[str]


@cache
def _cues() -> tuple[_Cue, ...]:
    table = load_table("acts")
    return tuple(
        _Cue(Act(entry["name"]), frozenset(entry["words"]), compile_macros("|".join(entry["match"]), table["macros"]))
        for entry in table["act"]
    )


def act_of(sentence: str) -> Act:
    """Classify one sentence, given with straight quotes and single spaces."""
    words = set(_WORD.findall(sentence.lower()))
    for cue in _cues():
        if not cue.words.isdisjoint(words) and cue.match.search(sentence):
            return cue.act
    return Act.STATEMENT


def is_joke_only(sentence: str) -> bool:
    """Say whether a sentence only takes the one before it back as a joke."""
    return len(sentence) <= 40 and expression("acts", "joke_only", "match").match(sentence) is not None  # noqa: PLR2004


def is_question(clause: str) -> bool:
    """Say whether a clause asks or requests, by how it begins."""
    return expression("acts", "question", "match").match(clause) is not None


def is_transient(sentence: str) -> bool:
    """Say whether a sentence is about this hour or day."""
    return expression("acts", "transient", "match").search(sentence) is not None


def is_hedged(sentence: str) -> bool:
    """Say whether the speaker is unsure."""
    return expression("acts", "hedge", "match").search(sentence) is not None
