"""The subject of a question: the user as a whole, a group of things such as the family, or any other words. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from credenda.read.weights import Questions
from credenda.text.tokens import ALTERNATIVE

__all__ = ["Subject", "read_subject", "widen_terms"]


class Subject(NamedTuple):
    """The words that a question asks about; `is_user`: it asks for all that is known about the user."""

    words: str
    is_user: bool = False


def read_subject(text: str, lexicon: Questions) -> Subject:
    """Read the subject of a question: "what do you know about X" asks about X, and its other words are no part of it.

    >>> from credenda.read.weights import load_questions
    >>> read_subject("What do you know about my sister?", load_questions())
    Subject(words='my sister', is_user=False)
    >>> read_subject("Who am I?", load_questions()).is_user, read_subject("Who is Mia?", load_questions()).words
    (True, 'Who is Mia?')
    """
    plain = text.replace("\u2019", "'").strip().rstrip("?!. ")
    if lexicon.user.fullmatch(plain):
        return Subject(plain, is_user=True)
    found = lexicon.about.fullmatch(plain)
    return Subject(text) if found is None else Subject(found["about"])


def widen_terms(terms: Iterable[str], lexicon: Questions) -> tuple[str, ...]:
    """Let a term that names a group match its members too: "family" also finds "sister".

    >>> from credenda.read.weights import load_questions
    >>> [term.split("|")[:3] for term in widen_terms(["pet", "linz"], load_questions())]
    [['pet', 'dog', 'cat'], ['linz']]
    """
    return tuple(ALTERNATIVE.join((term, *lexicon.groups.get(term.partition(ALTERNATIVE)[0], ()))) for term in terms)
