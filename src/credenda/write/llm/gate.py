"""Decide whether a turn needs a language model. Pure, and much cheaper than a call. Pure.

It skips only turns that cannot hold a fact; a turn in which the reader found one always goes to the model.
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
from credenda.write.extract.clauses import Act, act_of, straighten
from credenda.write.extract.prose import own_sentences
from credenda.write.intake.secrets import is_instruction_like

_EMPTY_ACTS: Final = frozenset({Act.PASTED, Act.SARCASM})
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_SELF: Final = re.compile(r"\b(?:i|i'm|i've|i'd|me|my|mine|we|we're|our|us)\b", re.IGNORECASE)
_WORDS_LEAST: Final = 2
_SHORT_MESSAGE: Final = 160
"""A longer message always goes to the model: among its sentences one often states something."""
_SHORT_SENTENCE: Final = 40
"""A longer sentence says more than that its speaker is tired or back."""


class Skip(StrEnum):
    """Why a turn is skipped."""

    SPEAKER = "speaker"
    """The assistant's text states no facts."""
    DOCUMENT = "document"
    """Documents and very long texts are read by the reader alone."""
    ORDERS = "orders"
    """The text looks like prompt injection."""
    EMPTY = "empty"
    """The text cannot hold a fact."""


def skip(turn: Turn, readings: Sequence[Claim]) -> Skip | None:
    """Return why a turn needs no model, given the reader's claims in `readings`; None if it needs one."""
    event = turn.event
    if event.role is Role.ASSISTANT:
        return Skip.SPEAKER
    if event.role is Role.DOCUMENT or len(event.text) > limits.LLM_TEXT_CHARACTERS:
        return Skip.DOCUMENT
    if is_instruction_like(event.text) or {QUARANTINED, DENIED} & set(event.flags):
        return Skip.ORDERS
    if readings or len(event.text) > _SHORT_MESSAGE:
        return None
    sentences = (event.text[start:stop] for start, stop in own_sentences(event.text))
    return None if any(_may_tell(straighten(sentence)) for sentence in sentences) else Skip.EMPTY


@cache
def _expressions() -> dict[str, re.Pattern[str]]:
    table = tomllib.loads((files("credenda.write") / "data" / "gate.toml").read_text("utf-8"))
    return {name: re.compile(text, re.IGNORECASE) for name, text in table.items()}


def _may_tell(sentence: str) -> bool:
    """Return whether a sentence may hold a fact; in doubt True."""
    if len(_WORD.findall(sentence)) < _WORDS_LEAST or act_of(sentence) in _EMPTY_ACTS:
        return False
    given = _expressions()
    short = len(sentence) <= _SHORT_SENTENCE
    if given["reaction"].match(sentence) or (short and given["passing"].match(sentence)):
        return False
    if sentence.endswith("?") or given["request"].match(sentence):
        return given["telling"].search(sentence) is not None
    return not (given["remark"].match(sentence) and _SELF.search(sentence) is None)
