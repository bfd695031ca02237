"""Sentence templates for common statements, plans and wishes in German, French, Spanish and Portuguese."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from credenda.model.claim import UpdateKind
from credenda.model.memory import Cardinality, MemoryType, Stance
from credenda.write.extract.acts import Act, act_of, is_question
from credenda.write.extract.gloss import Gloss
from credenda.write.extract.imagined import imagined_as
from credenda.write.extract.lexicon import expression, lexicon, load_table, names, occurs
from credenda.write.extract.patterns import compile_macros
from credenda.write.extract.readings import Reading
from credenda.write.extract.values import is_rewording

__all__ = ["read_foreign", "told_back"]

_ALSO: Final = re.compile(r"^(?:auch|aussi|también|também) ", re.IGNORECASE)
_UNMEANT: Final = {Act.HYPOTHETICAL: Stance.HYPOTHETICAL, Act.ROLE_PLAY: Stance.ROLE_PLAY}
_HALF: Final = 0.5
_PLAIN: Final = frozenset({MemoryType.FACT, MemoryType.PREFERENCE})
_PHRASE: Final = 3
"""Number of blanks from which the whole original sentence replaces an unglossed part."""
_PERSONS_SLOTS: Final = ("employer", "residence", "job_title")


@dataclass(frozen=True, slots=True)
class _Shape:
    match: re.Pattern[str]
    attribute: str
    type: MemoryType
    move: UpdateKind
    stance: Stance
    many: bool


@cache
def _starts() -> frozenset[str]:
    return frozenset(load_table("foreign")["starts"])


@cache
def _shapes() -> tuple[_Shape, ...]:
    table = load_table("foreign")
    return tuple(
        _Shape(
            compile_macros(entry["match"], table["macros"]),
            entry["attribute"],
            MemoryType(entry.get("type", "fact")),
            UpdateKind(entry.get("move", "state")),
            Stance(entry.get("stance", "asserted")),
            entry.get("many", False),
        )
        for entry in table["sentence"]
    )


@cache
def _considered() -> tuple[_Shape, ...]:
    """Return the templates of considered actions; these are never facts, whatever their translation."""
    return tuple(shape for shape in _shapes() if shape.stance is Stance.CONSIDERED)


@cache
def _now() -> re.Pattern[str]:
    return expression("foreign", "now")


def _reading(shape: _Shape, found: re.Match[str], owner: str, *, changed: bool) -> Reading:
    groups = found.groupdict()
    value = next((text for name, text in groups.items() if name.startswith("value") and text), "").strip()
    who = next((text for name, text in groups.items() if name.startswith("who") and text), "")
    prior = next((text for name, text in groups.items() if name.startswith("prior") and text), None)
    somebody = _of_somebody(who.lower(), found[0]) if shape.attribute == "{who}" else None
    of_a_thing = shape.attribute == "date"
    attribute = lexicon().attribute(somebody or shape.attribute.format(who=who.lower()))
    many = shape.many or shape.attribute in {"prefers", "trait"} or attribute.cardinality is Cardinality.SET
    return Reading(
        type=shape.type,
        entity=who if of_a_thing else owner if somebody is None else f"{owner}'s {who.lower()}",
        attribute=attribute.name,
        value=_ALSO.sub("", value),
        prior=prior,
        cardinality=Cardinality.SET if many else Cardinality.SINGLE,
        move=UpdateKind.CHANGE if changed and shape.move is UpdateKind.STATE else shape.move,
        stance=shape.stance,
        confidence=0.8 if shape.stance is Stance.ASSERTED else 0.4,
        importance=max(attribute.importance, 0.8 if shape.type is MemoryType.PREFERENCE else 0.0),
        durable=True,
        pattern="foreign",
    )


def _of_somebody(who: str, sentence: str) -> str | None:
    """Return the slot of a relative that a sentence fills; None for a name or a thing."""
    if not expression("foreign", "persons", "kin").match(who) or expression("foreign", "persons", "named").search(
        sentence
    ):
        return None
    slots = (name for name in _PERSONS_SLOTS if expression("foreign", "persons", name).search(sentence))
    return next(slots, "says")


def read_foreign(sentence: str, owner: str) -> list[Reading]:
    """Parse a whole sentence in one of the four languages; [] if no template matches.

    "Jetzt", "maintenant", "ahora" and "agora" mark a change anywhere in the sentence.
    """
    said, corrects = _without_opening(sentence)
    plain = said.strip()
    if occurs(load_table("foreign")["now_has"], sentence.lower()):
        plain = _now().sub("", said).strip()
    if plain.split(" ", 1)[0].lower() not in _starts():
        return _verbatim(said)
    for shape in _shapes():
        found = shape.match.match(plain)
        if found is not None:
            reading = _reading(shape, found, owner, changed=plain != said.strip())
            return [replace(reading, move=UpdateKind.CORRECT) if corrects else reading]
    return _verbatim(said)


def _without_opening(sentence: str) -> tuple[str, bool]:
    """Strip an opening that marks a repetition, an addition or a correction; also return whether it was there."""
    said = expression("foreign", "before", "told").sub("", sentence, count=1)
    said = expression("foreign", "before", "more").sub("", said, count=1)
    right = expression("foreign", "before", "wrong").sub("", said, count=1)
    return right, right != said


def _verbatim(sentence: str) -> list[Reading]:
    """Keep a sentence about the speaker in another language verbatim, without a slot."""
    table = load_table("foreign")["verbatim"]
    first = sentence.split(" ", 1)[0].lower().strip(",.!")
    known = first in table["starts"] and " " in sentence
    if not (known or sentence.startswith(tuple(table["wide"]))) or expression("foreign", "verbatim", "passing").search(
        sentence
    ):
        return []
    return [Reading(type=MemoryType.FACT, confidence=0.5, importance=0.4, durable=True, pattern="verbatim")]


def told_back(gloss: Gloss, readings: Sequence[Reading], owner: str | None) -> list[Reading]:
    """Return the readings of a translated sentence in its own words, with those of its own templates.

    A sentence that its own words mark as a supposition keeps a low confidence.
    """
    act = act_of(gloss.source)
    stance = _UNMEANT.get(act) or (imagined_as(gloss.source) if readings else None)
    if stance is not None and owner is not None:
        return [Reading(type=MemoryType.FACT, stance=stance, confidence=0.3, importance=0.3)]
    told = [_in_own_words(one, gloss, owner) for one in readings if _is_named(one, gloss)]
    if owner is None or act is not Act.STATEMENT or (not readings and _asks(gloss)):
        return told
    if told and any(shape.match.match(gloss.source) for shape in _considered()):
        return read_foreign(gloss.source, owner)
    if any(one.attribute or one.confidence < _HALF or one.type not in _PLAIN for one in told):
        return told
    found = read_foreign(gloss.source, owner)
    return told if told and all(one.attribute is None for one in found) else found


def _is_named(reading: Reading, gloss: Gloss) -> bool:
    """Return whether a sentence names the value of a slot: nobody is employed by "an einem Roman"."""
    unnamed = load_table("foreign")["unnamed"].get(reading.attribute or "")
    said = _own(reading.value, gloss)
    if said is None:
        return True
    some = unnamed and re.search(rf"\b{unnamed} {re.escape(said)}\b", gloss.source, re.IGNORECASE)
    return not (some or is_rewording(said))


def _asks(gloss: Gloss) -> bool:
    return gloss.source.endswith("?") or is_question(gloss.text) or act_of(gloss.text) is not Act.STATEMENT


def _in_own_words(reading: Reading, gloss: Gloss, owner: str | None) -> Reading:
    return replace(
        reading,
        value=_own(reading.value, gloss),
        prior=_own(reading.prior, gloss),
        entity=reading.entity
        if reading.entity in {None, owner} or _is_somebody(reading.entity or "")
        else _own(reading.entity, gloss),
    )


def _is_somebody(entity: str) -> bool:
    return "'s " in entity or names().kin_noun(entity) is not None


def _own(english: str | None, gloss: Gloss) -> str | None:
    if english is None:
        return None
    said = gloss.said(english)
    lost = said == english and english.count(" ") >= _PHRASE and english not in gloss.source
    return gloss.source.strip(" .!") if lost else said
