"""Roles that somebody takes to frame a request, and jobs that they say they really have. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from credenda.model.claim import SPEAKER, Fact, FactChange, FactStatus

_REQUEST: Final = (
    r"(?:(?:please|just|can|could|would|will) |what|how|why|when|where|which|who|i(?:'d| would) (?:really )?"
    r"(?:like|love|want|need|appreciate|prefer|rather)|i (?:want|need) (?:you|to (?:know|see|hear|understand)|more)|(?:"
    r"explain|tell|show|give|walk|describe|help|teach|talk|go (?:deeper|into)|assume|skip|use|keep|make|write)\b)"
)
_POSED: Final = re.compile(
    r"\b(?:(?:actually|really|honestly),? i(?:'m| am)|i(?:'m| am) (?:actually|really|secretly|basically|practically))"
    r" (?:an?|the|your) [\w -]+?,? so (?!(?:i|we|my|our|it|that|the)\b)[a-z]"
    r"|(?:^|[.!?;,] ?|\b(?:and|but|so) )(?:(?:speaking|talking|thinking) )?as an?(?: (?!(?:i|we)\b)[\w-]+){1,4}?,? "
    rf"{_REQUEST}"
    r"|\bi(?:'m| am) (?:basically|practically|virtually|pretty much) an? ",
    re.IGNORECASE,
)
"""A part that frames a request ("I'm actually a pilot, so show me the cockpit", "as a pilot, I'd like to see it"),
or a figure of speech."""
_MANNER: Final = (
    r"\b(?:in (?:[\w'-]+ ){0,2}(?:terms|language|words|jargon|speak)|(?:at|for|to) (?:my|that) level|accordingly"
    r"|(?:the|an?) (?:more |fully )?(?:technical|legal|medical|clinical|scientific|expert|professional|academic"
    r"|advanced|mathematical|business|financial|detailed) (?:version|explanation|take|angle|view|details?|answer)"
    r"|like (?:i'm|i am|im)\b|(?:with|using) [\w'-]+ (?:analog(?:y|ies)|examples?|metaphors?)"
    r"|from (?:an?|my|that) (?:[\w'-]+ )?(?:perspective|angle|point of view))"
)
_FRAMED: Final = re.compile(
    r"\W*(?:(?:by (?:trade|training)|myself|so|and|please|just|then|can|could|would|will|you|maybe|perhaps)\W+)*"
    r"(?:(?:pitch|explain|put|phrase|frame|word|describe|rephrase|reword|translate|tell|give|show|talk|walk|break|aim"
    r"|tailor|adapt|keep|make|use|speak|answer|teach|run)\b"
    rf"[^.!?]{{0,40}}?{_MANNER}"
    r"|(?:pitch|explain|phrase|frame|word|rephrase|reword|tailor|adapt) (?:it|this|that)(?: (?:to|for) me)?(?: \w+ly)?"
    r"\W*$)",
    re.IGNORECASE,
)
"""What stands behind a role for which an answer shall be worded: ", can you pitch it at my level?"."""
_ACTUALLY: Final = re.compile(r"\b(?:actually|in fact)\b(?:,? i\b|[^.!?,;]{0,60}$)", re.IGNORECASE)
_SINGLE: Final = frozenset({"job_title", "employer", "residence", "age", "diet"})


def is_posed(text: str) -> bool:
    """Return whether a part of a sentence frames a request, or is a figure of speech."""
    return _POSED.search(_straighten(text)) is not None


def is_framing(fact: Fact, message: str) -> bool:
    """Return whether the words behind a role ask for an answer worded for it; a new job asks so too."""
    told = fact.value.start >= 0 and fact.change is not FactChange.CHANGED
    return told and _FRAMED.match(_straighten(message), fact.value.stop) is not None


def read_actual(text: str, fact: Fact) -> Fact:
    """Let a value with "actually" correct the one before."""
    plain = fact.subject == SPEAKER and fact.status is FactStatus.NOW and fact.change is FactChange.NONE
    before = text[max(fact.quote.start, 0) : max(fact.value.start, 0)]
    told = plain and fact.attribute in _SINGLE and _ACTUALLY.search(before)
    return replace(fact, change=FactChange.CORRECTED) if told else fact


def _straighten(text: str) -> str:
    return text.replace("\u2019", "'")
