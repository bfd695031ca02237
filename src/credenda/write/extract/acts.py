"""The speech act of a sentence, as far as it decides whether a claim may rest on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Final

from credenda.write.extract.lexicon import load_table

__all__ = ["Act", "act_of", "is_question"]

_MACRO: Final = re.compile(r"\{([A-Z]+)\}")


class Act(StrEnum):
    """The speech act of a sentence."""

    STATEMENT = "statement"
    PASTED = "pasted"
    RETRACTION = "retraction"
    SARCASM = "sarcasm"
    HYPOTHETICAL = "hypothetical"
    ROLE_PLAY = "role_play"


@cache
def _signs() -> Mapping[Act, re.Pattern[str]]:
    table = load_table("acts")

    def compile_signs(signs: list[str]) -> re.Pattern[str]:
        return re.compile(_MACRO.sub(lambda found: table["macros"][found[1]], "|".join(signs)), re.IGNORECASE)

    return {Act(name): compile_signs(signs) for name, signs in table["act"].items()}


@cache
def _question() -> re.Pattern[str]:
    return re.compile(load_table("acts")["question"], re.IGNORECASE)


def act_of(sentence: str) -> Act:
    """Classify one sentence, given with straight quotes and single spaces.

    >>> act_of("What if I lived in Bern?").value, act_of("I live in Bern.").value
    ('hypothetical', 'statement')
    """
    return next((act for act, signs in _signs().items() if signs.search(sentence)), Act.STATEMENT)


def is_question(clause: str) -> bool:
    """Return whether a clause begins as a question or request."""
    return _question().match(clause) is not None
