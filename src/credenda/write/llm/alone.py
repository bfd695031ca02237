"""Decide whether a sentence without a slot says something by itself. Pure."""

from __future__ import annotations

import re
from typing import Final

from credenda.write.extract.clauses import open_contractions

__all__ = ["stands_alone"]

_OPENING: Final = re.compile(
    r"^(?:(?:well|oh|so|and|but|yes|yeah|no|ok|okay|also|now|anyway|btw|by the way|actually|honestly)\b[,.!]? )+",
    re.IGNORECASE,
)
_POINTING: Final = re.compile(
    r"\b(?:it|its|this|these|those|they|them|their|he|she|him|his|hers?|there|here|ones?|such|so far|same|another"
    r"|others?|else|too|also|either|both|former|latter|that(?= (?:is|was|one|way|would|will)\b|[.,!]|$))\b",
    re.IGNORECASE,
)
_NAMING: Final = re.compile(r"\b(?i:my|our|the|an?) [a-z]|(?<=\s)[A-Z][a-z]")
"""What a later pronoun of the same sentence may refer to."""
_WONDERING: Final = re.compile(
    r"^(?:i|we) (?:\w+ )?(?:wonder|(?:am|are|was|were) (?:\w+ )?(?:wondering|curious|unsure|not sure)"
    r"|(?:want|need|would (?:like|love)|am trying) to (?:know|find out|figure out|understand|see|check)"
    r"|(?:do|did) not (?:\w+ )?(?:know|understand|remember)|have no idea)(?: out| about)?"
    r" (?:if|whether|what|which|when|where|who|whose|why|how)\b",
    re.IGNORECASE,
)
"""A question inside a statement: "I wonder where my keys are"."""


def stands_alone(sentence: str) -> bool:
    """Return whether a sentence is a statement that needs no other sentence.

    >>> stands_alone("The spare key is under the pot"), stands_alone("It is a drama series.")
    (True, False)
    """
    plain = _OPENING.sub("", open_contractions(sentence.strip()))
    if not plain or plain.endswith(("?", ":")) or _WONDERING.match(plain):
        return False
    return all(_NAMING.search(plain[: found.start()]) for found in _POINTING.finditer(plain))
