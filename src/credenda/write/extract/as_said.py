"""Statements that no pattern knows, kept in their own words: without a slot, and no surer than one half.

A sentence about oneself, one's own or one's work that means something by itself and will hold tomorrow is worth
keeping though nobody can say which slot it fills. It can replace nothing, and is found by its words alone. So it is with
a wish: it is kept as a plan.
"""

from __future__ import annotations

from typing import Final

from credenda.model.memory import Cardinality, MemoryType, Stance
from credenda.write.extract.acts import is_hedged, is_question, is_transient
from credenda.write.extract.clauses import Clause, open_sentence, read_clause, split_clauses
from credenda.write.extract.lexicon import expression, lexicon, names
from credenda.write.extract.predicates import Predicate, read_predicate
from credenda.write.extract.readings import Reading
from credenda.write.extract.subjects import Subject, find_subject

__all__ = ["keep_as_said"]

_WORDS_MIN: Final = 4
_WORDS_MAX: Final = 32
_CLAUSES_MAX: Final = 3
_CONFIDENCE: Final = 0.5
_FAINT: Final = 0.4
_STATING: Final = frozenset({"simple", "progressive", "past", "perfect", "former"})
_THINGS: Final = frozenset({"the", "name", "plural", "best"})
_KINDS: Final = ("decision", "procedure", "preference")
_MOMENTARY: Final = frozenset({"find", "need", "open", "see", "come", "go", "turn", "keep", "seem", "feel"})


def keep_as_said(sentence: str, owner: str) -> list[Reading]:
    """Keep a statement or a wish as it was said; [] where it asks, remarks, is of the moment, or is not sure."""
    count = sentence.count(" ") + 1
    if not _WORDS_MIN <= count <= _WORDS_MAX or sentence.endswith(("?", ":")) or '"' in sentence:
        return []
    opened = open_sentence(sentence)
    if expression("as_said", "talk").search(opened.text):
        return []
    if (wish := _wish(opened.text, owner)) is not None:
        return [wish]
    if opened.hedged or is_hedged(sentence) or is_transient(sentence):
        return []
    if expression("as_said", "decision").search(opened.text):
        return [_reading(opened)]
    for piece in split_clauses(opened.text)[:_CLAUSES_MAX]:
        clause = read_clause(piece)
        if clause is not None and not is_question(clause.text) and _states(clause.text, owner):
            return [_reading(opened._replace(report=clause.report))]
    return []


def _wish(text: str, owner: str) -> Reading | None:
    found = expression("as_said", "wishes").match(text)
    if found is None or expression("as_said", "wishes_not").match(found["value"]):
        return None
    if expression("as_said", "passing").search(text):
        return None
    return Reading(
        type=MemoryType.FACT,
        entity=owner,
        attribute="considering",
        value=found["value"].strip(),
        cardinality=Cardinality.SET,
        stance=Stance.CONSIDERED,
        confidence=_FAINT,
        importance=_FAINT,
        pattern="as_said",
    )


def _states(text: str, owner: str) -> bool:
    """Say whether a clause states something that lasts of oneself, of one's own, or of things of the work."""
    if expression("as_said", "passing").search(text):
        return False
    subject = find_subject(text, owner, None)
    predicate = read_predicate(subject.rest) if subject is not None else None
    if subject is None or predicate is None or predicate.tense not in _STATING:
        return False
    noun = (subject.noun or subject.entity).casefold()
    vague = noun in names().skip_nouns or expression("checks", "of_the_talk").search(noun)
    if vague or subject.who == "gerund" or "degree" in predicate.cues or " " not in predicate.text:
        return False
    marked = expression("as_said", "lasting").search(text) is not None
    if subject.who in _THINGS and _begins_with_a_doing(noun):
        return False
    return (
        _is(subject, predicate, marked=marked) if predicate.verb == "is" else _does(subject, predicate, marked=marked)
    )


def _begins_with_a_doing(noun: str) -> bool:
    """Say whether what looks like a subject is an order or a verb without one: "Check out my painting"."""
    first = noun.partition(" ")[0]
    return first in lexicon().forms or first in lexicon().adverbs


def _is(subject: Subject, predicate: Predicate, *, marked: bool) -> bool:
    if subject.who == "me":
        return marked and expression("as_said", "being").match(predicate.text) is not None
    return expression("as_said", "done_to").match(predicate.text) is not None


def _does(subject: Subject, predicate: Predicate, *, marked: bool) -> bool:
    verb = predicate.verb
    vague = verb in names().talk or verb in _MOMENTARY
    if vague or (subject.who != "me" and predicate.tense == "progressive"):
        return False
    return marked and (subject.who not in _THINGS or predicate.tense == "simple")


def _reading(opened: Clause) -> Reading:
    return Reading(
        type=_kind(opened.text),
        stance=Stance.REPORTED if opened.report else Stance.ASSERTED,
        confidence=_CONFIDENCE,
        importance=_FAINT,
        move=opened.move,
        pattern="as_said",
    )


def _kind(text: str) -> MemoryType:
    for name in _KINDS:
        if expression("as_said", name).search(text):
            return MemoryType(name)
    return MemoryType.FACT
