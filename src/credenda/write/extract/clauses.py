"""Straighten a sentence, expand its contractions, and split it into clauses."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["open_contractions", "split_clauses", "straighten"]

_CLAUSES_MAX: Final = 8
_QUOTES: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "})
_EMOJI: Final = re.compile(
    " ?(?:[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff]"
    "[\ufe0e\ufe0f\u200d\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*)+"
)
"""Emoji with their variation and joining characters; they mark tone, and belong to no name."""
_BULLET: Final = re.compile(r"^(?:[-*\u2022+]|\d{1,3}[.)]|#{1,6})\s+|^[^\w\"'(>]+")
_MARKUP: Final = re.compile(r"\*\*|__|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|`")
_CONTRACTIONS: Final = [
    (re.compile(form, re.IGNORECASE), full)
    for form, full in (
        (r"\bcan't\b", "cannot"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"'m\b", " am"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"\blet's\b", "let us"),
        (r"\b(here|that|it|there|what|who|where|how|he|she)'s\b", r"\1 is"),
    )
]
_SUBJECT: Final = (
    r"(?:(?:i|we|he|she|they|it|you|my|our|his|her|their|your|the|what|how|why|can|could|would|will|should|do|does|is|are"
    r"|please)\b(?!')|(?:i|we|he|she|they|it|you|that|what)'|(?-i:[A-Z][\w-]+(?: [A-Z][\w-]+)? [a-z]))"
)
_JOINT: Final = re.compile(
    rf"(?:\s*[,;:]|\s+[-–—]{{1,3}}|\s*—)\s*(?:(?:and|but|so|then|while|though|or|because|yet|also)\s+){{0,3}}(?={_SUBJECT})"
    rf"|\s+(?:and|but|so|while|because)\s+(?:(?:also|now|then)\s+){{0,2}}(?={_SUBJECT})",
    re.IGNORECASE,
)
_WITH_ME: Final = re.compile(r"(?i:my|our) (?:[\w-]+ ){0,2}[\w-]+|[A-Z][\w-]+")
"""A person whom "and I" joins to the speaker."""


def straighten(sentence: str) -> str:
    """Normalise quotes and spaces of a sentence; remove list markers, emphasis marks and emoji."""
    worded = sentence if sentence.isascii() else _EMOJI.sub("", sentence.translate(_QUOTES))
    plain = " ".join(worded.split())
    if "*" in plain or "`" in plain or "__" in plain:
        plain = _MARKUP.sub("", plain)
    return _BULLET.sub("", plain)


def open_contractions(text: str) -> str:
    """Expand "I'm", "don't" and "we've".

    >>> open_contractions("I'm sure we don't")
    'I am sure we do not'
    """
    if "'" in text:
        for form, full in _CONTRACTIONS:
            text = form.sub(full, text)
    return text


def split_clauses(sentence: str) -> list[str]:
    """Split a sentence where a new subject, a question or a request begins.

    >>> split_clauses("I live in Rome and my brother lives in Oslo"), split_clauses("My wife and I live in Rome")
    (['I live in Rome', 'my brother lives in Oslo'], ['My wife and I live in Rome'])
    """
    clauses: list[str] = []
    start = 0
    for joint in _JOINT.finditer(sentence):
        if len(clauses) < _CLAUSES_MAX and not _WITH_ME.fullmatch(sentence, start, joint.start()):
            clauses.append(sentence[start : joint.start()])
            start = joint.end()
    return [clause for clause in (*clauses, sentence[start:]) if clause]
