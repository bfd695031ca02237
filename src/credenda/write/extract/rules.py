"""The default extractor: rules over sentences, deterministic and offline.

A sentence is first heard as a speech act, then read clause by clause: openings, subject, predicate, pattern. What no
pattern knows gives no claim; the words stay searchable as an event.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from credenda import limits
from credenda.model.claim import Claim, Move, Span, Turn
from credenda.model.event import Event, Role
from credenda.model.memory import Cardinality, Memory, MemoryType, Stance
from credenda.text.normal import same_value
from credenda.text.sentences import TextSpan
from credenda.write.extract.acts import Act, act_of, is_hedged, is_joke_only, is_question, is_transient
from credenda.write.extract.clauses import Clause, open_contractions, open_sentence, read_clause, split_clauses, straighten
from credenda.write.extract.instructions import read_directive
from credenda.write.extract.predicates import Predicate, read_predicate
from credenda.write.extract.prose import own_sentences
from credenda.write.extract.readings import Moment, Reading, clause_dates, read
from credenda.write.extract.subjects import Subject, find_subject
from credenda.write.extract.values import corrected_value, leading_scope

__all__ = ["RULES_VERSION", "RulesExtractor"]

RULES_VERSION: Final = "rules-1"
"""Names these rules in evidence and for re-extraction; it moves when the same words may give other claims."""

CONFIDENCE_MAX: Final = {
    Stance.HYPOTHETICAL: 0.3,
    Stance.ROLE_PLAY: 0.3,
    Stance.SARCASTIC: 0.3,
    Stance.CONSIDERED: 0.5,
    Stance.PLANNED: 0.5,
    Stance.REPORTED: 0.6,
}
"""What a stance may at most be believed, whatever a pattern says (R-040, D-005)."""

_UNCERTAIN: Final = {Act.HYPOTHETICAL: Stance.HYPOTHETICAL, Act.ROLE_PLAY: Stance.ROLE_PLAY, Act.JOKE: Stance.SARCASTIC}
_SKIPPED: Final = frozenset({Act.PASTED, Act.SARCASM, Act.RUNNING_TASK})
_SHORT_WORDS: Final = 6
_LEAVING: Final = re.compile(r"\b(?:jobs?|left|quit|hired|position|employer|company|resigned|laid off)\b", re.IGNORECASE)
_PASSING: Final = 0.3
_WORK_VERBS: Final = frozenset(
    "run deploy release ship build test merge review commit push tag back restart start stop check host store migrate publish".split()
)


@dataclass(slots=True, kw_only=True)
class _Listener:
    """What is remembered while one event is read."""

    event: Event
    speaker: str
    owner: str | None
    claims: list[Claim] = field(default_factory=list[Claim])
    last_person: str | None = None
    last_start: int = 0
    known: tuple[Memory, ...] = ()


def _claim(listener: _Listener, span: TextSpan, reading: Reading) -> Claim:
    event = listener.event
    text = event.text[span.start : span.stop][: limits.MEMORY_TEXT_CHARACTERS]
    confidence = min(reading.confidence, CONFIDENCE_MAX.get(reading.stance, 1.0))
    return Claim(
        text=text,
        type=reading.type,
        span=Span(event.id, span.start, span.start + len(text)),
        speaker=listener.speaker,
        entity=reading.entity,
        attribute=reading.attribute,
        value=reading.value,
        prior=reading.prior,
        scope=reading.scope,
        cardinality=reading.cardinality,
        stance=reading.stance,
        move=reading.move,
        confidence=confidence,
        importance=reading.importance,
        valid_from_us=reading.since_us,
        valid_until_us=reading.until_us,
        topic=event.topic,
        tags=event.tags,
    )


def _uncertain(stance: Stance) -> Reading:
    """A claim without a slot, so that pretence can never touch what is held true."""
    return Reading(type=MemoryType.FACT, stance=stance, confidence=0.3, importance=_PASSING)


def _clause_readings(listener: _Listener, clause: Clause, *, left: bool, short: bool) -> tuple[list[Reading], Subject | None]:
    """Read one clause: its leading date and scope, its subject, its predicate, then the patterns."""
    text, anchor = clause.text, listener.event.occurred_us
    moment = clause_dates(text, anchor, "past")
    if moment.spans and moment.spans[0].start == 0:
        text = text[moment.spans[0].stop :].lstrip(" ,")
    scope, text = leading_scope(text)
    if is_question(text):
        return [], None
    named = _renamed(listener, clause, text)
    if named is not None:
        return [named], None
    subject = _subject(listener, clause, text)
    predicate = None if subject is None else read_predicate(subject.rest, third=subject.who != "me")
    if subject is None or predicate is None or predicate.tense == "skip":
        return [], subject
    if moment.spans and predicate.tense not in {"past", "perfect", "former"}:
        moment = clause_dates(clause.text, anchor, "future")
    clause = replace(clause, text=text, scope=scope or clause.scope)
    readings = read(clause, subject, predicate, moment, listener.owner or "", left=left, short=short)
    if not readings and not moment.spans:
        readings = _group_habit(subject, predicate)
    return readings, subject


def _renamed(listener: _Listener, clause: Clause, text: str) -> Reading | None:
    """Read "it's Split, not Zagreb": the slot is that of a memory or claim with the value Zagreb, if there is one."""
    found = corrected_value(text, corrects=clause.move is Move.CORRECT)
    if found is None:
        return None
    value, prior = found
    for one in (*reversed(listener.claims), *listener.known):
        if same_value(one.value, prior):
            return Reading(
                type=one.type, entity=one.entity, attribute=one.attribute, value=value, prior=prior, scope=one.scope,
                cardinality=one.cardinality, move=Move.CORRECT, confidence=0.85, importance=0.8, durable=True,
            )  # fmt: skip
    return Reading(type=MemoryType.FACT, value=value, prior=prior, move=Move.CORRECT, importance=0.6, durable=True)


def _group_habit(subject: Subject, predicate: Predicate) -> list[Reading]:
    """Read "we always …" and "we never …" as a procedure where nothing more special fits."""
    lasting = not predicate.cues.isdisjoint({"always", "never"}) and predicate.tense == "simple"
    if not (subject.group and subject.entity == "user" and lasting) or predicate.verb not in _WORK_VERBS:
        return []
    return [Reading(type=MemoryType.PROCEDURE, confidence=0.75, importance=0.65, durable=True, pattern="group_habit")]


def _subject(listener: _Listener, clause: Clause, text: str) -> Subject | None:
    reporter = None
    if clause.reporter is not None:
        reporter = find_subject(f"{clause.reporter} is", listener.owner, listener.last_person)
        entity = reporter.entity if reporter and reporter.who in {"person", "name"} else None
        return find_subject(text, listener.owner, entity or listener.last_person)
    return find_subject(text, listener.owner, listener.last_person)


def _merge(readings: list[Reading]) -> list[Reading]:
    """Join "I left Acme, I'm at Globex now" into one reading with its prior value."""
    kept: list[Reading] = []
    for one in readings:
        before = kept[-1] if kept else None
        if before is not None and _replaced(before, one):
            move = Move.CORRECT if before.stance is Stance.NEGATED else Move.CHANGE
            kept[-1] = replace(one, prior=before.value, move=move)
        else:
            kept.append(one)
    return kept


def _replaced(before: Reading, one: Reading) -> bool:
    gone = before.move is Move.END or before.stance is Stance.NEGATED
    same = before.attribute is not None and (before.entity, before.attribute) == (one.entity, one.attribute)
    single = one.cardinality is Cardinality.SINGLE and one.stance is Stance.ASSERTED
    return gone and same and single and one.move is not Move.END


def _statement(listener: _Listener, sentence: str) -> list[Reading]:
    """Read the clauses of a sentence that states something."""
    opened = open_sentence(sentence)
    pieces = split_clauses(opened.text)
    asks = sentence.rstrip("\"') ").endswith("?")
    short = len(pieces) == 1 and sentence.count(" ") < _SHORT_WORDS
    readings: list[Reading] = []
    opening = opened.move
    for number, piece in enumerate(pieces):
        clause = read_clause(piece)
        if clause is None or (asks and number == len(pieces) - 1) or is_question(clause.text):
            continue
        opening = clause.move if clause.move is not Move.STATE else opening
        if clause.move is not opening or clause.hedged is not opened.hedged:
            clause = replace(clause, move=opening, hedged=clause.hedged or opened.hedged)
        left = number > 0 and _LEAVING.search(" ".join(pieces[:number])) is not None
        found, subject = _clause_readings(listener, clause, left=left, short=short)
        if found and is_hedged(clause.text):
            found = [replace(one, confidence=min(one.confidence, 0.5)) for one in found]
        readings.extend(found)
        if subject is not None and subject.who in {"person", "name"}:
            listener.last_person = subject.entity
    return _merge(readings)


def _directive(sentence: str, *, to_assistant: bool) -> Reading | None:
    clause = read_clause(sentence)
    if clause is None:
        clause = Clause(text=sentence.strip(" .!"))
    return read_directive(clause, to_assistant=to_assistant)


def _assertions(listener: _Listener, sentence: str) -> list[Reading]:
    if listener.owner is not None and not sentence.endswith("?"):
        directive = _directive(sentence, to_assistant=listener.owner == "user")
        if directive is not None:
            return [directive]
    readings = _statement(listener, sentence)
    if readings and is_transient(sentence):
        readings = [one for one in readings if one.durable or one.move is not Move.STATE]
    return readings


def _hear(listener: _Listener, span: TextSpan) -> Iterator[Reading]:
    """Yield the readings of one sentence, by what it does."""
    sentence = straighten(listener.event.text[span.start : span.stop])
    act = act_of(sentence)
    if act in _SKIPPED or not sentence:
        return
    if act is Act.RETRACTION:
        yield Reading(type=MemoryType.FACT, move=Move.RETRACT, confidence=0.8, importance=_PASSING)
    elif act is Act.JOKE and is_joke_only(sentence):
        _take_back(listener)
    elif act in _UNCERTAIN:
        if act is Act.HYPOTHETICAL:
            yield from _before_supposing(listener, sentence)
        if listener.owner is not None:
            yield _uncertain(_UNCERTAIN[act])
    else:
        yield from _assertions(listener, open_contractions(sentence))


def _before_supposing(listener: _Listener, sentence: str) -> list[Reading]:
    """Read what is stated before a supposition: "I live in Rome, but what if I lived in Bern?"."""
    pieces = split_clauses(open_contractions(sentence))
    first = next((at for at, piece in enumerate(pieces) if act_of(piece) is Act.HYPOTHETICAL), 0)
    return _statement(listener, ", ".join(pieces[:first])) if first else []


def _take_back(listener: _Listener) -> None:
    """Cap what the sentence before a lone "just kidding" said."""
    listener.claims = [
        replace(one, stance=Stance.SARCASTIC, confidence=min(one.confidence, 0.3), entity=None, attribute=None, value=None)
        if one.span.start >= listener.last_start
        else one
        for one in listener.claims
    ]


def _who(event: Event) -> tuple[str, str | None]:
    """Say who speaks, and which entity "I" is (None in a document)."""
    if event.role is Role.USER:
        return "user", "user"
    if event.role is Role.DOCUMENT:
        return event.speaker, None
    return event.speaker, event.speaker


class RulesExtractor:
    """Reads claims with rules alone. Stateless, so one instance serves all threads."""

    version: Final = RULES_VERSION

    def extract(self, turn: Turn) -> list[Claim]:
        """Return at most five claims in the order of their spans; an assistant's words give none."""
        event = turn.event
        if event.role is Role.ASSISTANT:
            return []
        speaker, owner = _who(event)
        listener = _Listener(event=event, speaker=speaker, owner=owner, known=turn.known)
        for span in own_sentences(event.text):
            found = [_claim(listener, span, reading) for reading in _hear(listener, span)]
            if found:
                listener.last_start = span.start
            listener.claims.extend(found)
            if len(listener.claims) >= limits.CLAIMS_PER_TURN:
                break
        return listener.claims[: limits.CLAIMS_PER_TURN]
