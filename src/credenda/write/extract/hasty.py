"""Normalise informal, dictated or learner English, if no pattern matched the sentence.

"Now my husband he work in Graz" becomes "Now my husband works in Graz"; "switched to monzo in march" gets capitals. The
steps build on one another, and each result is parsed again until a pattern matches. Evidence quotes the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from credenda.write.extract.lexicon import is_common, load_table
from credenda.write.extract.patterns import compile_macros
from credenda.write.extract.readings import Reading

__all__ = ["half_read", "tidied"]

_WORD: Final = re.compile(r"[\w'-]+|:")
_NAMED: Final = re.compile(
    r"(?P<before>\b(?:to|in|at|with|for|from|joined|near|using|called|by|than|on) )"
    r"(?P<name>[a-z][a-z]{2,}(?: [a-z]{3,})?)\b"
)
"""Words that may precede a name."""
_RUN_ON: Final = re.compile(
    r"\w (?:i|we) (?:am|are|do|have|go|live|work|use|play|take|drink|eat|drive|run|train|only|now)\b", re.IGNORECASE
)
"""The words after a value at which a run-on sentence continues."""
_CHARACTERS_MAX: Final = 160
"""Longer sentences are not typed in haste."""


class _Rewrite(NamedTuple):
    words: frozenset[str]
    match: re.Pattern[str]
    target: str


@cache
def _rewrites() -> tuple[_Rewrite, ...]:
    table = load_table("hasty")
    return tuple(
        _Rewrite(frozenset(one["words"]), compile_macros(one["match"], table["macros"]), one["to"])
        for one in table["rewrite"]
    )


def half_read(sentence: str, readings: list[Reading]) -> bool:
    """Return whether an informal sentence was parsed as a mere event, or its value runs into the next sentence."""
    if any(_RUN_ON.search(one.value or "") for one in readings):
        return True
    return sentence.islower() and all(one.attribute == "event" for one in readings)


def tidied(sentence: str) -> Iterator[str]:
    """Yield normalised forms of a sentence, each with one more step; nothing if no step applies.

    >>> list(tidied("now my husband he work in the bank"))[-1]
    'now my husband works in the bank'
    >>> list(tidied("i moved to york in may"))
    ['i moved to York in may']
    """
    if len(sentence) > _CHARACTERS_MAX:
        return
    words = frozenset(_WORD.findall(sentence.lower()))
    said = sentence.rstrip(" .!")
    if said.replace("I", "i").islower():
        named = _NAMED.sub(_capital, said)
        if named != said:
            said = named
            yield said
    for rewrite in _rewrites():
        if words.isdisjoint(rewrite.words):
            continue
        made = rewrite.match.sub(rewrite.target, said)
        if made != said:
            said = made
            yield said


def _capital(found: re.Match[str]) -> str:
    first, *others = found["name"].split(" ")
    if is_common(first):
        return found[0]
    more = [one.capitalize() if not is_common(one) else one for one in others]
    return found["before"] + " ".join([first.capitalize(), *more])
