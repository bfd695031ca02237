"""Repeat a shared subject: "my sister got married and lives in Bonn" states two facts about her.

Works on the clauses of a sentence, and keeps their words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from credenda.write.extract.lexicon import lexicon, load_table
from credenda.write.extract.predicates import read_predicate
from credenda.write.extract.subjects import find_subject

__all__ = ["carry_subjects", "detach_participles"]

_OF_ONESELF: Final = frozenset({"past", "base"})
_OF_ANOTHER: Final = frozenset({"past", "third"})
_SELF: Final = frozenset({"i", "we"})
_OPEN: Final = re.compile(
    r"\b(?:will|would|shall|should|can|could|may|might|must|let|lets|make|makes|made|help|helps|helped)\b"
    r"|\bto (?!work\b|school\b|town\b|bed\b|study\b|(?:the|an?|my|our|his|her|their)\b|(?-i:[A-Z]))",
    re.IGNORECASE,
)
"""Verbs before a base form: "I want to move to Spain" · "work in a bar"."""

_TRAILING: Final = re.compile(
    r"^(?P<main>[^,]+), (?:and |but |so |now |then |soon )*(?P<doing>[a-z]+ing (?!and\b|or\b)[^,]+)$"
)
"""A clause and the participle after it: "I quit Nordlicht, starting at DeepL in May"."""
_BE: Final = {"i": "am", "we": "are", "they": "are", "you": "are"}
_DONE: Final = frozenset({"past", "perfect"})


@cache
def _subject() -> re.Pattern[str]:
    return re.compile(load_table("spoken")["expressions"]["subject"], re.IGNORECASE)


def carry_subjects(pieces: list[str]) -> list[str]:
    """Repeat the subject before a clause that begins with a verb; rejoin a continued infinitive.

    >>> carry_subjects(["I sold the Golf", "bought a Mazda"])
    ['I sold the Golf', 'I bought a Mazda']
    >>> carry_subjects(["My sister got married", "lives in Bonn"])
    ['My sister got married', 'My sister lives in Bonn']
    >>> carry_subjects(["I told her to go", "work in a bar"])
    ['I told her to go and work in a bar']
    """
    carried: list[str] = []
    for piece in pieces:
        kinds = _verb_kinds(piece)
        subject = _subject_of(carried[-1]) if carried and kinds else ""
        folded = subject.lower()
        if subject and "gerund" in kinds and _is_doing(carried[-1], subject):
            carried.append(f"{subject} {_BE.get(folded, 'is')} {piece}")
        elif subject and not kinds.isdisjoint(_OF_ONESELF if folded in _SELF else _OF_ANOTHER):
            if "past" not in kinds and folded in _SELF and _OPEN.search(carried[-1]):
                carried[-1] = f"{carried[-1]} and {piece}"
            else:
                carried.append(f"{subject} {piece}")
        else:
            carried.append(piece)
    return carried


def detach_participles(pieces: list[str], is_ahead: Callable[[str], bool]) -> list[str]:
    """Make a clause of a participle that follows what is done, if it names a coming day; else leave it out.

    >>> detach_participles(["I quit Nordlicht, starting at DeepL in May"], lambda text: "May" in text)
    ['I quit Nordlicht', 'I am starting at DeepL in May']
    >>> detach_participles(["I left Acme, selling my shares"], lambda text: "May" in text)
    ['I left Acme']
    >>> detach_participles(["I tried running, swimming in lakes"], lambda text: True)
    ['I tried running, swimming in lakes']
    """
    found: list[str] = []
    for piece in pieces:
        parts = _TRAILING.match(piece)
        if parts is None or not _trails(parts["main"], parts["doing"]):
            found.append(piece)
            continue
        found.append(parts["main"])
        if is_ahead(parts["doing"]):
            subject = _subject_of(parts["main"])
            found.append(f"{subject} {_BE.get(subject.lower(), 'is')} {parts['doing']}")
    return found


def _trails(main: str, doing: str) -> bool:
    """Return whether a participle is no item of a list: the clause before it tells of something done, without one."""
    form = lexicon().forms.get(doing.partition(" ")[0])
    subject = _subject_of(main)
    if form is None or "gerund" not in form.kinds or not subject:
        return False
    predicate = read_predicate(tuple(main[len(subject) :].split()))
    done = predicate is not None and (predicate.tense in _DONE or predicate.ended)
    return done and not any(word.endswith("ing") for word in main.split())


def _is_doing(piece: str, subject: str) -> bool:
    predicate = read_predicate(tuple(piece[len(subject) :].split()))
    return predicate is not None and predicate.tense == "progressive"


def _verb_kinds(piece: str) -> frozenset[str]:
    """Return the possible forms of a clause's first word; none if it is no verb."""
    first = piece.removeprefix("now ").partition(" ")[0].lower()
    form = lexicon().forms.get(first)
    kinds = frozenset[str]() if form is None else frozenset(form.kinds)
    return kinds | {"third"} if form is not None and form.base == "be" and first == "is" else kinds


def _subject_of(piece: str) -> str:
    """Return the words of a clause's subject; "" for an unknown one."""
    own = _subject().match(piece)
    if own is not None:
        return own["subject"]
    found = find_subject(piece, "user", None)
    words = piece.split(" ")
    if found is None or tuple(words[-len(found.rest) :]) != found.rest:
        return ""
    return " ".join(words[: -len(found.rest)])
