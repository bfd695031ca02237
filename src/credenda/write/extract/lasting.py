"""Decide whether a sentence without a slot is worth a memory: it stands alone and says something that lasts. Pure.

Search finds every sentence in its event, so a memory without a slot must add a belief: a full statement that needs no
other sentence, and no mood, pleasantry, question, request, episode or running task.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from credenda.model.attributes import is_valid_value
from credenda.model.claim import UpdateKind
from credenda.write.extract.clauses import open_sentence, split_clauses
from credenda.write.extract.readings import Reading

__all__ = ["keep_lasting", "points_back", "stands_alone"]

_POINTING: Final = re.compile(
    r"\b(?:it|its|it's|this|these|those|they|they're|them|their|he|he's|she|she's|him|his|hers?|there|here|ones?|such"
    r"|so far|same|another|others?|else|too|also|either|both|former|latter"
    r"|that(?= (?:is|was|one|way|would|will)\b|[.,!]|$)|that's)\b",
    re.IGNORECASE,
)
_POINTING_BACK: Final = re.compile(
    r"\b(?:it|its|it's|this(?! (?:year|month|week|weekend|morning|afternoon|evening|summer|spring|fall|autumn|winter"
    r"|time|semester|[a-z]+day)\b)|these|those|they|they're|them|their|he|he's|she|she's|him|his|hers?|ones|such"
    r"|that(?= (?:is|was|one|way|would|will|has|had)\b|[.,!]|$)|that's|thats)\b",
    re.IGNORECASE,
)
"""Those that mean nothing without another sentence."""
_NAMING: Final = re.compile(r"\b(?i:my|our|the|an?) [a-z]|(?<=\s)[A-Z][a-z]")
"""What a later pronoun of the same sentence may refer to."""
_DUMMY: Final = re.compile(
    r"^(?:it|there)(?:'s| is| was| has been)\b(?! (?:my|our|his|her|their|an?|the)\b)", re.IGNORECASE
)
_ASKING: Final = re.compile(
    r"^(?:i|we) (?:\w+ly |just |still |often |always )*(?:wonder|wondered"
    r"|(?:am|are|was|were) (?:\w+ )?(?:wondering|curious|unsure)"
    r"|(?:would|'d) (?:\w+ )?(?:like|love) to (?:know|understand|find out|hear)"
    r"|(?:need|want|have|am trying|are trying|try|was trying) to (?:know|find out|figure out|understand|decide|see"
    r"|check)|(?:am|are) not (?:\w+ )?(?:sure|certain)|(?:do|did) not (?:\w+ )?(?:know|understand|remember)"
    r"|have no idea|can ?not (?:\w+ )?(?:remember|recall|find|figure out))(?: out| about)?"
    r" (?:(?:if|whether)(?! (?:i|we) should\b| to\b)|what|which|when|where|who|whose|why|how(?! to\b))\b",
    re.IGNORECASE,
)
"""A question inside a statement: "I wonder where my keys are"."""
_RULES: Final = ("instruction_", "procedure_", "decision_")
"""Patterns of what is to be done, which addresses somebody and lasts."""


def keep_lasting(readings: Iterable[Reading], sentence: str, owner: str | None, *, note: bool) -> list[Reading]:
    """Return the readings of a sentence that are worth a memory.

    Those with a slot are, and those that end or replace something. Another one is kept of a `note` alone, the user's
    whole message, if it stands alone; the sentences of a conversation are weighed as a whole by `noteworthy.py`. Of a
    sentence that ends in a question, only the statement counts.
    """
    stated = sentence
    if sentence.endswith("?"):
        stated = ", ".join(split_clauses(open_sentence(sentence).text)[:-1])

    def is_worth(reading: Reading) -> bool:
        named = reading.attribute is not None or reading.entity is not None
        placed = named and _has_valid_value(reading)
        if placed or reading.move is not UpdateKind.STATE or (owner == "user" and reading.pattern.startswith(_RULES)):
            return True
        return note and stands_alone(stated)

    return [one for one in readings if is_worth(one)]


def _has_valid_value(reading: Reading) -> bool:
    """Return whether reconciliation will admit the slot of a reading; otherwise only its sentence would stay."""
    return not (reading.attribute and reading.value) or is_valid_value(reading.attribute, reading.value)


def stands_alone(sentence: str) -> bool:
    """Return whether a note with expanded contractions is a statement that needs no other sentence.

    >>> stands_alone("The spare key is under the pot"), stands_alone("It is a drama series.")
    (True, False)
    """
    opened = open_sentence(sentence.strip()).text
    if not opened or sentence.rstrip().endswith(("?", ":")) or _ASKING.match(opened):
        return False
    return not _points(_POINTING, opened)


def points_back(sentence: str) -> bool:
    """Return whether a pronoun of a sentence means something of another sentence.

    >>> points_back("I love it"), points_back("I bought a desk and love it"), points_back("It's raining")
    (True, False, False)
    """
    return _points(_POINTING_BACK, sentence)


def _points(words: re.Pattern[str], sentence: str) -> bool:
    begin = _DUMMY.match(sentence)
    return any(
        _NAMING.search(sentence[: found.start()]) is None
        for found in words.finditer(sentence)
        if begin is None or found.start()
    )
