"""Name what somebody likes by its topic, so that "what music do I like?" finds jazz. Pure.

The nouns of each topic are in `topics.txt` of the package of models, built by `benchmarks/build_topics.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Final

from credenda.model.claim import Claim

__all__ = ["find_topic", "name_topic"]

_END: Final = re.compile(
    r"[,;:(–—]| (?:and|or|of|with|in|from|by|for|at|on|to|as|like|such|that|which|who|when|while|about|than|over)\b"
)
"""Where the noun of a value ends."""
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")
_KINDS: Final = re.compile(
    r"(?:[\w-]+ )*"
    r"(?:kinds?|types?|sorts?|genres?|forms?|styles?|variet(?:y|ies)|range|mix|bits?|cups?|glass|slices?|pieces?) of ",
    re.IGNORECASE,
)
_PLURALS: Final = (("ies", "y"), ("es", ""), ("s", ""))


def name_topic(claim: Claim) -> Claim:
    """Return a liking under the topic of its value, if that is clear; any other claim as it is."""
    topic = find_topic(claim.value or "") if claim.attribute == "likes" else ""
    return replace(claim, attribute=topic) if topic else claim


def find_topic(value: str) -> str:
    """Return the topic of a noun phrase, "" if it is not clear: a title, or the words of an action.

    >>> find_topic("live music"), find_topic("a wide variety of sweets"), find_topic("growing tomatoes")
    ('music', 'food', '')
    """
    said = _END.split(_KINDS.sub("", value, count=1), maxsplit=1)[0]
    words = _WORD.findall(said)
    if not words or (len(words) > 1 and words[0].endswith("ing")):
        return ""
    noun, pair = words[-1].lower(), "_".join(words[-2:]).lower()
    titled = words[-1][0].isupper() and sum(word[0].isupper() for word in _WORD.findall(value)) > 1
    topic = "" if titled else _look_up(noun) or _look_up(pair)
    return "" if value.lower() in {topic, f"{topic}s"} else topic


def _look_up(noun: str) -> str:
    topics = _load_topics()
    singulars = (noun[: -len(end)] + other for end, other in _PLURALS if noun.endswith(end))
    return next((topics[one] for one in (noun, *singulars) if one in topics), "")


@cache
def _load_topics() -> Mapping[str, str]:
    """Load the topic of each noun; cached."""
    lines = resources.files("credenda_models").joinpath("topics.txt").read_text("utf-8").splitlines()
    parts = (line.partition(": ") for line in lines)
    return {noun: topic for topic, _, nouns in parts for noun in nouns.split()}
