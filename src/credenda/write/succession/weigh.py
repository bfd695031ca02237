"""Which memory a sentence most likely takes the place of, by the weights of its signs. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from credenda.model.memory import Memory, Stance
from credenda.write.slots import FIRM
from credenda.write.succession.likely import Said, signs_between
from credenda.write.succession.old import Match, old_of
from credenda.write.succession.weights import weights

__all__ = ["likeliest", "may_take"]

_MARGIN: Final = 0.7
"""Logits by which the best memory must lead: the odds are two to one."""
_NAMED: Final = 3
"""Signs that the log names."""


def may_take(said: Said) -> bool:
    """Say cheaply whether the sentence's own words leave room for a change at all."""
    known = weights()
    if not said.cues or "?" in said.phrase.text or len(said.tokens) > 26:
        return False
    return known.logit(said.plain) + known.logit(set(said.others(frozenset()))) >= known.least


def likeliest(said: Said, memories: Iterable[Memory], given: Sequence[Memory]) -> Match | None:
    """Find the one memory that the sentence takes the place of; None where none is likely, or two are.

    `given` are the memories that the sentence gave by its own readings.
    """
    known = weights()
    judged: list[tuple[float, Memory, frozenset[str]]] = []
    for one in memories:
        if one.stance in FIRM or one.stance is Stance.PLANNED:
            signs = signs_between(said, old_of(one), known.rarity, given)
            judged.append((known.logit(signs), one, signs))
    judged.sort(key=lambda found: (-found[0], found[1].id))
    if not judged or judged[0][0] < known.threshold:
        return None
    logit, memory, signs = judged[0]
    if any(other > logit - _MARGIN and one.text != memory.text for other, one, _ in judged[1:]):
        return None
    return Match(memory=memory, score=logit, rule="weighed", shared=known.telling(signs, _NAMED))
