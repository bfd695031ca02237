"""Detect hypotheticals, wishes, counterfactuals and pretence; their confidence is at most 0.3.

Patterns parse single clauses, and may match an unreal one: "if I had a boat, my sister would sail it". This check runs
on every sentence with a reading, so that patterns need none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

from credenda.model.memory import MemoryType, Stance
from credenda.write.extract.acts import Act, act_of
from credenda.write.extract.clauses import split_clauses
from credenda.write.extract.lexicon import RECENT, expression, load_table, occurs, words_of
from credenda.write.extract.readings import Reading

__all__ = ["faint", "imagined_as", "stated_before"]

_CONFIDENCE: Final = 0.3
_TURN: Final = re.compile(
    r"[,;]? (?:but|yet|though|however|and|so),? (?=(?:what )?if\b|had\b|were\b|in an?\b|imagin|suppos)", re.IGNORECASE
)
"""Where a sentence begins to suppose after a statement."""
_ANY: Final = ("",)
_STANDING: Final = ("instruction_", "procedure_")
_JUDGED: Final = frozenset({"worthwhile", "as_said"})
_SUPPOSING: Final = ("what if", "imagine", "suppose")
_ADDRESSING: Final = frozenset({"you", "that", "it", "needed", "not", "possible", "anyone", "anything", "so"})


@cache
def _gate() -> frozenset[str]:
    return frozenset(load_table("imagined")["words"]["gate"])


@cache
def _phrases() -> tuple[str, ...]:
    return tuple(load_table("imagined")["words"]["phrases"])


def _is(name: str, text: str) -> bool:
    told = occurs(load_table("imagined")[name].get("has", _ANY), text.lower())
    return told and expression("imagined", name, "match").search(text) is not None


@lru_cache(maxsize=RECENT)
def imagined_as(text: str) -> Stance | None:
    """Return the unreal stance of a sentence or clause with expanded contractions; None if it is real."""
    if _gate().isdisjoint(words_of(text)) and not occurs(_phrases(), text.lower()):
        return None
    if _is("role", text):
        return Stance.ROLE_PLAY
    if _is("supposed", text) or _is("hoped", text) or (_is("unreal", text) and not _is("meant", text)):
        return Stance.HYPOTHETICAL
    return None


def stated_before(sentence: str) -> str:
    """Return the part of a sentence before its supposition; "" if it supposes from the start.

    >>> stated_before("I live in Rome, but if I won a million I would move")
    'I live in Rome'
    """
    pieces = [piece for part in _TURN.split(sentence) for piece in split_clauses(part)]
    first = next((at for at, piece in enumerate(pieces) if _supposes(piece.strip(" ,;"))), 0)
    return ", ".join(piece for piece in pieces[:first] if not piece.lower().startswith("if ")).rstrip(" ,;")


def _supposes(clause: str) -> bool:
    return act_of(clause) is Act.HYPOTHETICAL or imagined_as(clause) is not None


def faint(sentence: str, readings: Sequence[Reading]) -> Stance | None:
    """Return the stance to which readings must be lowered; None if they may stay.

    An instruction or procedure may be conditional: "if the build fails, clear the cache".
    """
    if not readings or all(one.confidence <= _CONFIDENCE for one in readings):
        return None
    standing = all(one.pattern.startswith(_STANDING) for one in readings)
    stance = imagined_as(sentence)
    if (
        stance is Stance.HYPOTHETICAL
        and standing
        and not sentence.lower().startswith(_SUPPOSING)
        and not _is("hoped", sentence)
    ):
        return None
    return stance or (Stance.HYPOTHETICAL if _hangs(sentence, readings) else None)


def _hangs(sentence: str, readings: Sequence[Reading]) -> bool:
    """Return whether a fact without a pattern depends on a condition: "we get a puppy if the landlord agrees"."""
    judged = all(one.pattern in _JUDGED and one.type in {MemoryType.FACT, MemoryType.DECISION} for one in readings)
    before, condition, after = f" {sentence.lower()}".partition(" if ")
    asks = before.endswith((" ask", "wonder", "know", "check", "see", "sure", "even", "as", "wondering"))
    return judged and bool(condition) and not asks and after.split(" ", 1)[0] not in _ADDRESSING
