"""Whether a memory near another in the embedding space may repeat it, or exactly repeats it. Pure.

Similarity only nominates: "my rate is 40" and "my rate is 45" are as similar as two memories can be. Memories that
differ in a number, name, negation, value, scope, stance or speaker are never repetitions. A repetition confirms the
other memory only if the two differ in filler words, case and punctuation alone.
"""

from __future__ import annotations

import re
from typing import Final

from credenda.model.memory import Memory, get_type_class
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name, normalise_text

_NUMBER: Final = re.compile(r"\d[\d.,:/%-]*")
_NAME: Final = re.compile(r"(?<![.!?:]\s)(?<!^)\b[^\W\d_a-z]\w+")
_NEGATION: Final = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|nicht|kein\w*|nie|ohne|jamais|sans|sin|nunca)\b"
    r"|n['\u2019]t\b"
)
_FILLING: Final = frozenset(
    [
        *("a", "also", "actually", "an", "and", "anyway", "honestly", "i", "it", "just", "me", "my", "our"),
        *("please", "really", "so", "still", "that", "the", "then", "there", "this", "to", "too", "user"),
        *("very", "way", "well"),
    ]
)
"""Words that do not affect the meaning; words of tense, place and direction do."""


def may_repeat(one: Memory, other: Memory) -> bool:
    """Return whether no rule distinguishes two memories, so that they may have the same meaning."""
    return _is_same_slot(one, other) and _get_signature(one.text) == _get_signature(other.text)


def is_exact_repeat(one: Memory, other: Memory) -> bool:
    """Return whether two memories differ only in filler words, case and punctuation."""
    return may_repeat(one, other) and _strip_fillers(one.text) == _strip_fillers(other.text)


def _is_same_slot(one: Memory, other: Memory) -> bool:
    """Compare speaker, slot, scope and stance; a slot that only one memory has is no difference."""
    if (one.speaker, one.stance, get_type_class(one.type)) != (other.speaker, other.stance, get_type_class(other.type)):
        return False
    if normalise_name(one.scope or "") != normalise_name(other.scope or "") or (one.topic or "") != (other.topic or ""):
        return False
    if one.entity and other.entity and normalise_name(one.entity) != normalise_name(other.entity):
        return False
    if one.attribute and other.attribute:
        alike = normalise_attribute(one.attribute) == normalise_attribute(other.attribute)
        return alike and is_same_value(one.value, other.value)
    return True


def _get_signature(text: str) -> tuple[frozenset[str], frozenset[str], int]:
    """Return the numbers and names of a text, and its number of negations."""
    numbers = frozenset(found.rstrip(".,:/-") for found in _NUMBER.findall(text))
    names = frozenset(found.casefold() for found in _NAME.findall(text))
    return numbers, names, len(_NEGATION.findall(text.casefold()))


def _strip_fillers(text: str) -> tuple[str, ...]:
    return tuple(word for word in normalise_text(text).split() if word not in _FILLING)
