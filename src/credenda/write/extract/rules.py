"""The default extractor: deterministic rules over sentences, offline.

Each sentence is classified by speech act, then parsed clause by clause: openings, subject, predicate, pattern. A
sentence without a match gives no claim; its text stays searchable as an event.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from credenda.model.claim import Claim, Turn, UpdateKind
from credenda.model.event import OWN_SOURCES, Event, Role, Source
from credenda.model.memory import MemoryType, Stance
from credenda.text.sentences import TextSpan, split_sentences
from credenda.write.extract.acts import (
    Act,
    act_of,
    is_hedged,
    is_joke_only,
    is_question,
    is_transient,
    takes_back,
    tells_nothing,
)
from credenda.write.extract.amounts import amount_of
from credenda.write.extract.as_said import keep_as_said
from credenda.write.extract.checks import is_hollow
from credenda.write.extract.clauses import (
    Clause,
    open_contractions,
    open_sentence,
    read_clause,
    split_clauses,
    straighten,
)
from credenda.write.extract.exchanges import exchanged, in_its_slot, parted_of, renamed
from credenda.write.extract.foreign import read_foreign, told_back
from credenda.write.extract.gloss import glossed
from credenda.write.extract.hasty import half_read, tidied
from credenda.write.extract.imagined import faint, stated_before
from credenda.write.extract.instructions import read_directive
from credenda.write.extract.joining import added, is_change, merged, softened, with_prior
from credenda.write.extract.labels import labelled
from credenda.write.extract.lasting import keep_lasting
from credenda.write.extract.lexicon import expression, names
from credenda.write.extract.listener import Listener, claim_of
from credenda.write.extract.moments import clause_dates, lasting_since, past_dates
from credenda.write.extract.predicates import read_predicate
from credenda.write.extract.prose import NOTE_CHARACTERS, cut_question, is_alone, is_own_item, own_sentences
from credenda.write.extract.readings import Frame, Reading, read
from credenda.write.extract.restate import restated
from credenda.write.extract.shared_subjects import carry_subjects, detach_participles
from credenda.write.extract.spoken import fluent, premise_of, take_up
from credenda.write.extract.subjects import Subject, find_subject
from credenda.write.extract.third_person import as_own_words, is_among_persons, is_note, who_speaks
from credenda.write.extract.values import leading_scope
from credenda.write.extract.voices import Voice, is_playing, split_voices
from credenda.write.extract.worthwhile import doubted, keep_worthwhile
from credenda.write.intake.validate import AS_TYPE

__all__ = ["RULES_VERSION", "RulesExtractor"]

RULES_VERSION: Final = "rules-18"
"""The extractor version in evidence; it changes when the same text may give other claims."""

_UNCERTAIN: Final = {Act.HYPOTHETICAL: Stance.HYPOTHETICAL, Act.ROLE_PLAY: Stance.ROLE_PLAY, Act.JOKE: Stance.SARCASTIC}
_STANCES: Final = {Voice.ROLE_PLAY: Stance.ROLE_PLAY, Voice.TASK: Stance.HYPOTHETICAL}
_SKIPPED: Final = frozenset({Act.PASTED, Act.SARCASM, Act.RUNNING_TASK, Act.MISHAP})
_SHORT_WORDS: Final = 6
_TALK_CHARACTERS: Final = 400
"""Longer sentences are mostly texts, not facts about the speaker."""
_SELF: Final = re.compile(r"\b(?:i|i'm|my|we|our)\b", re.IGNORECASE)
_DELIGHT: Final = re.compile(r"\b(?:love|adore|enjoy|thrilled|delighted|favou?rite|can not wait)\b", re.IGNORECASE)
"""A sarcastic follow-up sentence: "Oh great, another Monday. I just love Mondays."."""
_PASSING: Final = 0.3
_BEGINNING: Final = ("since ", "as of ", "from ", "starting ")
_ADDRESSING: Final = (
    *("please ", "always ", "never ", "do not ", "keep your", "from now on"),
    *("call me ", "everyone calls me ", "people call me ", "my friends call me ", "friends call me "),
)
_RULED: Final = re.compile(r"(?:decision|decided|agreed|settled|resolved): (?=(?:i|we)\b)", re.IGNORECASE)
"""The label of a decision that a sentence of its own tells."""
_INTRODUCED: Final = re.compile(r"(?i:i am|i'm) [A-Z]\w+(?: [A-Z]\w+[.!]?|, i am (?:an?|\d\d?,) .+)")
"""A sentence that begins with its speaker's first and last name, or with a name and what they are."""


def _uncertain(stance: Stance) -> Reading:
    """Return a claim without a slot, so that pretence never affects a belief."""
    return Reading(type=MemoryType.FACT, stance=stance, confidence=0.3, importance=_PASSING)


def _frame(listener: Listener, clause: Clause, *, left: bool, short: bool) -> Frame | None:
    """Parse a clause: its leading date and scope, its subject, its predicate; None if it states nothing."""
    anchor, text = listener.event.occurred_us, clause.text
    moment = past_dates(text, anchor)
    if moment.spans and moment.spans[0].start == 0:
        text = text[moment.spans[0].stop :].lstrip(" ,")
    scope, text = leading_scope(text)
    if text.split(" ", 1)[0].lower() in names().leading:
        text = expression("tails", "leading_phrase").sub("", text)
    subject = None if is_question(text) else _subject(listener, clause, text)
    predicate = (
        None if subject is None else read_predicate(subject.rest, doing=subject.who == "me" and not subject.group)
    )
    if subject is None or predicate is None or predicate.tense == "skip":
        return None
    if moment.since is not None and predicate.tense == "simple" and clause.text.lower().startswith(_BEGINNING):
        clause = clause._replace(move=UpdateKind.CHANGE if clause.move is UpdateKind.STATE else clause.move)
    if (moment.spans or moment.undated) and predicate.tense not in {"past", "perfect", "former"}:
        moment = clause_dates(clause.text, anchor, "future")
    if " for " in clause.text and (predicate.tense == "perfect" or " been " in clause.text):
        moment = replace(moment, lasting=lasting_since(clause.text, anchor))
    return Frame(
        clause=clause._replace(text=text, scope=scope or clause.scope),
        subject=subject,
        predicate=predicate,
        moment=moment,
        owner=listener.owner or "",
        left=left,
        short=short,
    )


def _clause_readings(listener: Listener, clause: Clause, *, left: bool, short: bool) -> list[Reading]:
    """Parse one clause, and record the person that it is about."""
    named = renamed(clause, (*reversed(listener.claims), *listener.known)) or parted_of(clause.text, listener.owner)
    if named is None and listener.owner is not None:
        named = amount_of(clause.text, listener.owner, corrects=clause.move is UpdateKind.CORRECT)
    if named is not None:
        return [named]
    frame = _frame(listener, clause, left=left, short=short)
    if frame is None:
        return []
    if frame.subject.who in {"person", "name"}:
        listener.last_person = frame.subject.entity
    readings = read(frame)
    if readings and (clause.hedged or is_hedged(clause.text)):
        return [softened(one, frame) for one in readings]
    return [added(one, frame) for one in readings]


def _subject(listener: Listener, clause: Clause, text: str) -> Subject | None:
    """Find the subject; in "my sister said she works at Bosch", "she" is the sister."""
    person = listener.last_person
    if clause.reporter is not None:
        reporter = find_subject(f"{clause.reporter} is", listener.owner, person)
        if reporter is not None and reporter.who in {"person", "name"}:
            person = reporter.entity
    return find_subject(text, listener.owner, person)


def _statement(listener: Listener, sentence: str) -> list[Reading]:
    """Parse the clauses of a statement, without its questions."""
    opened = open_sentence(sentence)
    anchor_us = listener.event.occurred_us
    pieces = detach_participles(
        carry_subjects(split_clauses(opened.text)), lambda said: clause_dates(said, anchor_us, "future").ahead
    )
    last = len(pieces) - 1 if sentence.rstrip("\"') ").endswith("?") else len(pieces)
    short = len(pieces) == 1 and sentence.count(" ") < _SHORT_WORDS
    readings, opening = list[Reading](), opened.move
    for number, piece in enumerate(pieces[:last]):
        clause = read_clause(piece)
        directive = _aside_directive(listener, clause) if number else None
        if directive is not None:
            readings.append(directive)
            continue
        if clause is None or is_question(clause.text):
            continue
        before = " ".join(pieces[:number])
        said = take_up(clause.text, before)
        if listener.owner is not None and said != sentence:
            said = restated(said)
        opening = clause.move if clause.move is not UpdateKind.STATE else opening
        clause = clause._replace(text=said, move=opening, hedged=clause.hedged or opened.hedged)
        left = number > 0 and expression("checks", "leaving").search(before) is not None
        named = not number and any(_INTRODUCED.fullmatch(one.strip()) for one in (piece, opened.text))
        readings.extend(_clause_readings(listener, clause, left=left, short=short or named))
    return _exchange(listener, opened.text, merged(readings))


def _exchange(listener: Listener, sentence: str, readings: list[Reading]) -> list[Reading]:
    """Prefer a swap of the whole sentence to clauses without a replaced value."""
    found = None if listener.owner is None else exchanged(sentence)
    if found is None:
        return readings
    if any(is_change(one) for one in readings):
        return [with_prior(one, found) for one in readings]
    return [in_its_slot(found, (*reversed(listener.claims), *listener.known))]


def _notice_person(listener: Listener, sentence: str) -> None:
    """Record the person of a question: "a gift for my wife? She's into pottery"."""
    found = expression("checks", "own_person").search(sentence)
    subject = None if found is None else find_subject(f"my {found['noun']} is", listener.owner, None)
    if subject is not None and subject.who == "person":
        listener.last_person = subject.entity


def _aside_directive(listener: Listener, clause: Clause | None) -> Reading | None:
    """Parse an instruction later in the same sentence: "…, and please never use emojis"."""
    if clause is None or not listener.assisted or not clause.text.lower().startswith(_ADDRESSING):
        return None
    return read_directive(clause, to_assistant=True)


def _directive(sentence: str, *, to_assistant: bool, own: bool = True) -> Reading | None:
    clause = read_clause(sentence) or Clause(text=sentence.strip(" .!"))
    return read_directive(clause, to_assistant=to_assistant, own=own)


def _assertions(listener: Listener, sentence: str) -> list[Reading]:
    if tells_nothing(sentence):
        _notice_person(listener, sentence)
        return []
    if listener.owner is not None and not sentence.endswith("?"):
        ruling = _RULED.match(sentence)
        told = [] if ruling is None else _statement(listener, sentence[ruling.end() :])
        if any(one.attribute is not None and one.type is MemoryType.DECISION for one in told):
            return told
        own = listener.event.source in OWN_SOURCES
        directive = _directive(sentence, to_assistant=listener.assisted, own=own)
        if directive is not None:
            return [directive]
    premise = premise_of(sentence) if sentence.endswith("?") else None
    readings = _statement(listener, sentence if premise is None else premise)
    if not readings and listener.owner is not None:
        readings = read_foreign(sentence, listener.owner) or _tidied(listener, sentence) or _as_said(listener, sentence)
    elif listener.owner is not None and half_read(sentence, readings):
        readings = _tidied(listener, sentence) or readings
    if readings and is_transient(sentence):
        readings = [one for one in readings if one.durable or one.move is not UpdateKind.STATE]
    return readings


def _tidied(listener: Listener, sentence: str) -> list[Reading]:
    """Parse the normalised forms of an unmatched sentence, until one gives a reading."""
    found = (_statement(listener, restated(said)) for said in tidied(sentence))
    whole = [readings for readings in found if readings and not half_read(sentence, readings)]
    return whole[0] if whole else []


def _noted(listener: Listener, plain: str) -> list[Reading]:
    """Parse a labelled note that got no slot."""
    if listener.owner is None or not is_alone(listener.event.text):
        return []
    found = labelled(plain, listener.owner)
    return [] if found is None else [found]


def _as_said(listener: Listener, sentence: str) -> list[Reading]:
    text = listener.event.text
    if len(text) > _TALK_CHARACTERS:
        return []
    told = sentence
    if sentence.endswith("?"):
        told = ", ".join(split_clauses(open_sentence(sentence).text)[:-1])
    alone = is_alone(text) and "\n" not in text.strip()
    owner = listener.owner or ""
    found = keep_as_said(told, owner, alone=alone)
    asked = any(flag.startswith(AS_TYPE) for flag in listener.event.flags)  # the text is stored verbatim with that type
    if found or asked or not told or (told is not sentence and is_question(told)):
        return found
    return keep_worthwhile(sentence, owner, alone=alone)


def _hear(listener: Listener, span: TextSpan) -> Iterator[Reading]:
    """Yield the readings of one sentence, by its speech act."""
    sentence = fluent(straighten(listener.event.text[span.start : span.stop]))
    listed = is_own_item(listener.event.text, span.start)
    if listener.noted or listed:
        sentence = as_own_words(sentence, noted=listed or listener.event.source is Source.INGEST)
    gloss = glossed(sentence)
    if gloss is None:
        yield from _heard(listener, sentence)
    else:
        yield from told_back(gloss, list(_heard(listener, gloss.text)), listener.owner)


def _heard(listener: Listener, sentence: str) -> Iterator[Reading]:
    act, plain = act_of(sentence), open_contractions(sentence)
    ironic, listener.ironic = listener.ironic, act is Act.SARCASM
    if act in _SKIPPED or not sentence:
        return
    if ironic and _DELIGHT.search(plain):
        yield _uncertain(Stance.SARCASTIC)
    elif act is Act.RETRACTION:
        yield Reading(type=MemoryType.FACT, move=UpdateKind.RETRACT, confidence=0.8, importance=_PASSING)
    elif act is Act.JOKE and is_joke_only(sentence):
        _take_back(listener)
    elif act in _UNCERTAIN:
        if act is Act.JOKE and takes_back(sentence):
            _take_back(listener)
        if act is Act.HYPOTHETICAL:
            yield from _statement(listener, stated_before(plain))
        if listener.owner is not None and (act is not Act.JOKE or _SELF.search(plain)):
            yield _uncertain(_UNCERTAIN[act])
    else:
        yield from _stated(listener, plain)


def _stated(listener: Listener, plain: str) -> Iterator[Reading]:
    """Yield the readings of a statement; pretence, supposition and doubt lower their confidence."""
    said = plain if listener.owner is None else restated(plain)
    found = _assertions(listener, said)
    if plain.lower().startswith(("if ", "given ")) and expression("as_said", "chosen").match(plain):
        found = [replace(one, type=MemoryType.PREFERENCE) if one.type is MemoryType.FACT else one for one in found]
    if all(one.attribute is None for one in found):
        found = _noted(listener, plain) or (found if found or said is plain else _as_said(listener, plain))
    stance = faint(plain, found)
    if stance is not None:
        yield from [*_statement(listener, stated_before(plain)), _uncertain(stance)]
    else:
        doubt = doubted(plain, found, alone=len(listener.event.text) <= NOTE_CHARACTERS)
        note = listener.owner == "user" and is_alone(listener.event.text)
        yield from keep_lasting(found, plain, listener.owner, note=note) if doubt is None else [_uncertain(doubt)]


def _take_back(listener: Listener) -> None:
    """Lower the stance of the sentence before a separate "just kidding"."""
    listener.claims = [
        replace(
            one, stance=Stance.SARCASTIC, confidence=min(one.confidence, 0.3), entity=None, attribute=None, value=None
        )
        if one.span.start >= listener.last_start
        else one
        for one in listener.claims
    ]


def _is_named(entity: str | None) -> bool:
    """Return whether an entity could be one: of "34, living in Berlin" the age is no name."""
    return entity is None or any(map(str.isalpha, entity))


def _played(listener: Listener, *, playing: bool) -> list[Claim]:
    """Keep nothing of a role play, or of the material of a task, but its existence, at low confidence."""
    text = listener.event.text
    other = [one for one in split_voices(text, playing=playing) if one.voice in _STANCES]
    for span in split_sentences(text) if other else ():
        voice = next((one.voice for one in other if one.start <= span.start and span.stop <= one.stop), None)
        sentence = text[span.start : span.stop]
        if voice is not None and _SELF.search(sentence):
            stance = _UNCERTAIN.get(act_of(straighten(sentence)), _STANCES[voice])
            return [claim_of(listener, span, _uncertain(stance))]
    return []


_WARMING: Final = (
    "I live in Rome and my sister works at Acme, not at Initech.",
    "Please always answer in French, for Python I use Black.",
    "What if I were a doctor since last Friday?",
    "I prefer morning meetings on 3 March 2024 at work.",
)
_SILENCE: Final = Event(text="", role=Role.USER, speaker="user", occurred_us=0, id="e0", recorded_us=0)


class RulesExtractor:
    """Extracts claims by rules alone. Stateless, so one instance serves all threads."""

    version: Final = RULES_VERSION

    @staticmethod
    def warm() -> None:
        """Load the tables and compile the expressions (0.1 s), so that no caller waits for it later."""
        for sentence in _WARMING:
            act_of(sentence)
            _statement(Listener(event=_SILENCE, speaker="user", owner="user", assisted=True), sentence)
            _directive(sentence, to_assistant=True)
            read_foreign(sentence, "user")

    def extract(self, turn: Turn) -> list[Claim]:
        """Return the claims in the order of their spans; the assistant's text gives none."""
        event = turn.event
        if event.role is Role.ASSISTANT:
            return []
        speaker, owner = who_speaks(event)
        playing = is_playing(turn)
        listener = Listener(
            event=event,
            speaker=speaker,
            owner=owner,
            known=turn.known,
            noted=is_note(event),
            assisted=owner == "user" and not is_among_persons(turn),
        )
        for span in own_sentences(event.text, playing=playing):
            stated = cut_question(event.text, span)
            heard = (claim_of(listener, stated, reading) for reading in _hear(listener, span))
            found = [
                claim for claim in heard if not is_hollow(claim.value, claim.attribute) and _is_named(claim.entity)
            ]
            if found:
                listener.last_start = span.start
            listener.claims.extend(found)
        listener.claims.extend(_played(listener, playing=playing))
        return sorted(listener.claims, key=lambda one: one.span.start)
