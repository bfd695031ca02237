"""Whether a turn is worth a model's time. Much cheaper than asking. Pure.

It passes over only what can hold nothing: where the rules found a claim a model is always asked.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Final

from credenda import limits
from credenda.model.claim import Claim, Turn
from credenda.model.event import DENIED, QUARANTINED, Role
from credenda.write.extract.acts import Act, act_of, is_transient
from credenda.write.extract.clauses import straighten
from credenda.write.extract.prose import own_sentences
from credenda.write.extract.spoken import fluent, premise_of
from credenda.write.intake.secrets import looks_like_instruction

__all__ = ["Skip", "skip"]

_EMPTY_ACTS: Final = frozenset({Act.PASTED, Act.SARCASM, Act.RUNNING_TASK})
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_SELF: Final = re.compile(r"\b(?:i|i'm|i've|i'd|me|my|mine|we|we're|our|us)\b", re.IGNORECASE)
_WORDS_LEAST: Final = 2


class Skip(StrEnum):
    """Why no model is asked."""

    SPEAKER = "speaker"
    """An assistant's words are nobody's facts."""
    DOCUMENT = "document"
    """A document, or a text as long as one, is read by rules alone."""
    ORDERS = "orders"
    """It tries to give orders to a model that reads it."""
    EMPTY = "empty"
    """Nothing in it can be worth keeping."""


def skip(turn: Turn, readings: Sequence[Claim]) -> Skip | None:
    """Say why a model need not be asked about a turn of which the rules found `readings`; None where it should be."""
    event = turn.event
    if event.role is Role.ASSISTANT:
        return Skip.SPEAKER
    if event.role is Role.DOCUMENT or len(event.text) > limits.LLM_TEXT_CHARACTERS:
        return Skip.DOCUMENT
    if looks_like_instruction(event.text) or {QUARANTINED, DENIED} & set(event.flags):
        return Skip.ORDERS
    if readings:
        return None
    sentences = (event.text[start:stop] for start, stop in own_sentences(event.text))
    return None if any(_may_tell(fluent(straighten(sentence))) for sentence in sentences) else Skip.EMPTY


@cache
def _expressions() -> dict[str, re.Pattern[str]]:
    table = tomllib.loads((files("credenda.write") / "data" / "gate.toml").read_text("utf-8"))
    return {name: re.compile(text, re.IGNORECASE) for name, text in table.items()}


def _may_tell(sentence: str) -> bool:
    """Say whether a sentence may hold something worth keeping; in doubt it may."""
    if len(_WORD.findall(sentence)) < _WORDS_LEAST or act_of(sentence) in _EMPTY_ACTS:
        return False
    given = _expressions()
    if given["reaction"].match(sentence) or given["passing"].match(sentence) or is_transient(sentence):
        return False
    if sentence.endswith("?"):
        return premise_of(sentence) is not None or given["telling"].search(sentence) is not None
    if given["request"].match(sentence):
        return given["telling"].search(sentence) is not None
    return not (given["remark"].match(sentence) and _SELF.search(sentence) is None)
