"""Rule: a sentence repeats a verbatim memory and adds an hour. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from credenda.model.memory import Memory
from credenda.text.normalize import normalise_text
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, get_slot, is_denial
from credenda.write.succession.old import Match

__all__ = ["closer", "may_be_closer"]

_HOUR: Final = re.compile(
    r"^(?P<said>.{8,160}?),? (?P<hour>(?:at|um|à|a las|às) \d{1,2}(?:[:h.]\d\d)?(?: ?[ap]m| uhr)?)[.!]*$", re.IGNORECASE
)
_SCORE: Final = 4.0


def may_be_closer(sentence: str) -> bool:
    """Return whether a sentence ends with an hour. Cheap."""
    return _HOUR.match(sentence) is not None


def closer(sentence: str, memories: Iterable[Memory]) -> list[Match]:
    """Find the one memory without a slot that a sentence repeats with an hour added; none if two match."""
    found = _HOUR.match(sentence)
    if found is None:
        return []
    same = [
        one
        for one in memories
        if get_slot(one) is None
        and one.stance in ASSERTIVE_STANCES
        and not is_denial(one)
        and normalise_text(one.text) == normalise_text(found["said"])
    ]
    return [
        Match(memory=one, score=_SCORE, rule="closer", shared=(found["hour"],), into=found["hour"])
        for one in same
        if len(same) == 1
    ]
