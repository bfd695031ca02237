"""Match a clause against the patterns, and derive stance, validity, type and importance of its readings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final

from credenda.model.attributes import AttributeSchema, get_attribute
from credenda.model.claim import UpdateKind
from credenda.model.memory import Cardinality, MemoryType, Stance
from credenda.text.normalize import normalise_attribute
from credenda.write.extract.acts import is_transient
from credenda.write.extract.checks import Situation
from credenda.write.extract.clauses import Clause
from credenda.write.extract.general import holds, may_hold
from credenda.write.extract.lexicon import RECENT, expression, lexicon, names
from credenda.write.extract.moments import Moment, day_end, iso_day, without_open_dates
from credenda.write.extract.patterns import Pattern, patterns_for
from credenda.write.extract.predicates import Predicate
from credenda.write.extract.slots import attribute_of, entity_of, holder_of
from credenda.write.extract.subjects import Subject
from credenda.write.extract.tenses import FORMER, PAST, PERHAPS, TENSES, may_fit
from credenda.write.extract.values import (
    Value,
    clean_value,
    day_first,
    only_day,
    split_list,
    take_company,
    take_days,
    take_purpose,
    take_rather,
    take_scope,
    until_day,
)

__all__ = ["Frame", "Reading", "read"]

_DATED: Final = frozenset({"date", "recurring", "appointment"})
_TIMELESS: Final = frozenset({"birthday", "anniversary", "age"})
_PLACES: Final = frozenset(
    ["residence", "employer", "job_title", "origin", "school", "work_field", "birthplace", "grew_up_in"]
)
_FORMER_IMPORTANCE: Final = 0.4
_HEDGED: Final = 0.5
_STRONG: Final = 0.8
_OF_TODAY: Final = frozenset({"age", "employment_status"})
"""Attributes that a future statement cannot fill."""
_NO_SLOT: Final = AttributeSchema(name="")
_RENAMING: Final = frozenset({"thing_called", "thing_renamed"})
_OF_DENIALS: Final = frozenset({"negated", "cannot", "unwanted"})
"""Checks of patterns whose attribute implies the denial: "I don't do meetings" avoids them."""
_WISHES: Final = frozenset({Stance.PLANNED, Stance.CONSIDERED})
_UNDECIDED: Final = frozenset({"decide", "choose", "know", "rule", "settle"})
"""Verbs whose denial leaves a decision open: "I can't decide between Bonn and Cologne"."""
_WISHED: Final = {"dream": Stance.CONSIDERED}
"""Verbs of wishes, which are not yet facts."""
_OTHERS: Final = frozenset({"person", "name"})
"""Attributes that are facts, not preferences, for another person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The content of one clause. `durable`: it stays valid although its sentence is about today."""

    type: MemoryType
    entity: str | None = None
    attribute: str | None = None
    value: str | None = None
    prior: str | None = None
    scope: str | None = None
    cardinality: Cardinality = Cardinality.SINGLE
    stance: Stance = Stance.ASSERTED
    move: UpdateKind = UpdateKind.STATE
    confidence: float = 0.8
    importance: float = 0.6
    since_us: int | None = None
    until_us: int | None = None
    durable: bool = False
    pattern: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A parsed clause with its context: the entity of "I", a job just left, and whether it is short."""

    clause: Clause
    subject: Subject
    predicate: Predicate
    moment: Moment
    owner: str
    left: bool = False
    short: bool = False

    @property
    def changed(self) -> bool:
        """Whether the words state a change or a correction."""
        return self.clause.move is not UpdateKind.STATE or not self.predicate.cues.isdisjoint({"now", "changed"})

    def situation(self) -> Situation:
        """Return the data for checks, without the attribute."""
        return Situation(
            subject=self.subject,
            predicate=self.predicate,
            attribute=_NO_SLOT,
            dated_past=self.moment.past is not None,
            dated_ahead=self.moment.ahead,
            bounded=self.moment.until is not None,
            left_before=self.left,
            short=self.short,
            scoped=self.clause.scope is not None,
            lower=self.clause.text.replace("I ", "i ").islower(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """A matching pattern. `former`: the sentence states a past value."""

    pattern: Pattern
    found: re.Match[str]
    former: bool


def _still_holds(frame: Frame) -> bool:
    """Return whether a perfect tense states the present: "I have lived here for ten years"."""
    return frame.moment.since is not None or _lasts(frame.predicate.text)


@lru_cache(maxsize=RECENT)
def _lasts(text: str) -> bool:
    return expression("checks", "lasting").search(text) is not None


def _tense_fits(pattern: Pattern, frame: Frame) -> bool:
    tense = frame.predicate.tense
    if tense in TENSES[pattern.tense]:
        return True
    if tense not in PERHAPS.get(pattern.tense, ()):
        return False
    match pattern.tense:
        case "maybe":
            return frame.clause.hedged
        case "future" | "scheduled":
            return frame.moment.ahead
        case _:
            return _still_holds(frame)


def _is_bygone(frame: Frame) -> bool:
    """Return whether a clause tells of a time of life that is over: "we moved to Leeds when I was ten"."""
    return expression("checks", "bygone").search(frame.clause.text) is not None


@cache
def _in_tense(who: str, verb: str, tense: str) -> tuple[Pattern, ...]:
    return tuple(pattern for pattern in patterns_for(who, verb) if may_fit(pattern, tense))


def _candidates(subject: Subject, predicate: Predicate) -> tuple[Pattern, ...]:
    """Return the patterns to try; a capitalised name may be a person, unless it is a known tool."""
    verb = "might" if predicate.tense == "modal" else predicate.verb
    found = _in_tense(subject.who, verb, predicate.tense)
    if subject.who == "name" and predicate.tense != "modal" and lexicon().category(subject.entity) is None:
        return found + _in_tense("person", verb, predicate.tense)
    return found


def _fits(frame: Frame) -> Iterator[_Fit]:
    """Yield the patterns that match by words and tense, in order."""
    predicate = frame.predicate
    text = without_open_dates(predicate.text, frame.moment)
    can = "can" in predicate.cues
    for pattern in _candidates(frame.subject, predicate):
        nobodys = pattern.swap and not frame.owner
        refused = predicate.negated and pattern.stance in _WISHES and predicate.verb not in _UNDECIDED
        if nobodys or refused or (can and not pattern.can):
            continue
        now = _tense_fits(pattern, frame)
        if not now and (pattern.former is None or predicate.tense not in FORMER):
            continue
        shown = predicate.said if pattern.check in {"happening", "ended_only"} else text
        found = pattern.match.fullmatch(f"might {shown}" if predicate.tense == "modal" else shown)
        if found is None:
            continue
        over = predicate.tense == "past" and get_attribute(pattern.attribute or "").hurts and _is_bygone(frame)
        if over and pattern.former is None:
            return
        yield _Fit(pattern=pattern, found=found, former=over or not now)


def read(frame: Frame) -> list[Reading]:
    """Parse a clause by the first matching pattern; [] without one."""
    holder = holder_of(frame.subject)
    frame = frame if holder is frame.subject else replace(frame, subject=holder)
    around: Situation | None = None
    for fit in _fits(frame):
        around = around or frame.situation()
        if not may_hold(fit.pattern.check, around):
            continue
        readings = _readings(fit, frame, around)
        if readings:
            return readings
    return []


def _readings(fit: _Fit, frame: Frame, around: Situation) -> list[Reading]:
    value = _value_of(fit, frame)
    changed = frame.changed or value.move is UpdateKind.CHANGE
    listed = fit.pattern.name == "own_is" and frame.predicate.said.startswith("are ") and not changed
    apart = fit.pattern.attribute == "allergy"
    texts = split_list(value.text, apart=apart) if fit.pattern.split or listed else [value.text]
    readings: list[Reading] = []
    for text in texts:
        item = value if text == value.text else replace(value, text=text, raw=text)
        attribute = attribute_of(fit.pattern, fit.found, frame.subject, item, changed=changed)
        if listed and len(texts) > 1:
            attribute = replace(attribute, cardinality=Cardinality.SET)
        if holds(fit.pattern.check, value if listed else item, around._replace(attribute=attribute)):
            readings.append(_reading(fit, frame, attribute, item))
    if readings:
        readings.extend(_second_slots(fit.found, readings[0], frame.moment))
    return readings


def _value_of(fit: _Fit, frame: Frame) -> Value:
    """Clean the value of a match as its pattern requires."""
    pattern, subject, literals = fit.pattern, frame.subject, list(frame.moment.literals)
    if pattern.check != "happening":
        literals.extend(frame.moment.undated)
    if pattern.swap:
        return Value(text=subject.noun or subject.entity, raw=subject.noun or subject.entity)
    value = clean_value(fit.found["value"] or "", literals, dated=pattern.check in _DATED)
    if frame.predicate.negated:
        take_rather(value)
    _narrow(pattern, value, literals)
    if pattern.value is not None:
        value.text = pattern.value
    groups = fit.found.groupdict()
    changes = frame.changed or value.move is UpdateKind.CHANGE
    if pattern.name == "has_named":
        value.prior = names().kin_noun(groups.get("kind") or "")
    if changes and pattern.name in _RENAMING and subject.who == "name":
        value.prior = subject.entity
    prior = groups.get("prior") or (groups.get("contrast") if changes else None)
    if prior:
        replaced = clean_value(prior, literals)
        if pattern.scope:
            take_scope(replaced)
        value.prior, value.scope = replaced.text, value.scope or replaced.scope
    return value


def _narrow(pattern: Pattern, value: Value, literals: list[str]) -> None:
    """Remove the part of a value that its pattern excludes."""
    if pattern.check in _DATED:
        only_day(value, literals)
        take_days(value)
    elif pattern.check == "happening":
        until_day(value, literals)
    elif pattern.scope:
        _narrow_preference(pattern, value)
    if pattern.purpose or pattern.attribute == "residence":
        take_purpose(value)
    if pattern.name in {"eats", "drinks"}:
        value.text = expression("checks", "day_time").sub("", value.text)
    if pattern.attribute.removeprefix("former_") in _PLACES:
        take_company(value)


def _narrow_preference(pattern: Pattern, value: Value) -> None:
    if pattern.attribute in {"{head}", "likes"}:
        value.text = day_first(value.text)
    take_scope(value)


def _reading(fit: _Fit, frame: Frame, attribute: AttributeSchema, value: Value) -> Reading:
    pattern = fit.pattern
    name = (pattern.former or attribute.name) if fit.former else attribute.name
    move, stance = UpdateKind.STATE if fit.former else _move(pattern, frame, value), _stance(pattern, frame, value)
    since, until = _validity(pattern, attribute, value, frame, move=move)
    dated = attribute.dated or pattern.check in {"date", "appointment"}
    scope = value.scope or frame.clause.scope
    shown = iso_day(value.text, frame.moment.anchor_us, attribute.name) if dated else value.text
    return Reading(
        type=_type(pattern, attribute, frame),
        entity=entity_of(pattern, fit.found, frame.subject, attribute, owner=frame.owner) if name else None,
        attribute=name or None,
        value=shown.removeprefix("to ") if name or move is UpdateKind.END else None,
        prior=value.prior if name or move is UpdateKind.END else None,
        scope=None if scope is not None and normalise_attribute(scope) == name else scope,
        cardinality=Cardinality.SET if fit.former else attribute.cardinality,
        stance=_WISHED.get(attribute.name, stance) if stance is Stance.ASSERTED else stance,
        move=move,
        confidence=min(pattern.confidence, _HEDGED) if frame.clause.hedged else pattern.confidence,
        importance=_FORMER_IMPORTANCE if fit.former else _importance(pattern, attribute, frame, move=move),
        since_us=since,
        until_us=until,
        durable=(attribute.known or pattern.check == "trait")
        and pattern.check != "used"
        and not _is_of_today(fit, frame),
        pattern=pattern.name,
    )


def _is_of_today(fit: _Fit, frame: Frame) -> bool:
    """Return whether a role is one of a day: "I'm the designated driver tonight"."""
    return fit.pattern.name == "is_role" and is_transient(frame.clause.text)


def _move(pattern: Pattern, frame: Frame, value: Value) -> UpdateKind:
    predicate, said = frame.predicate, {frame.clause.move, value.move}
    if predicate.ended:
        return UpdateKind.END
    if pattern.move is not UpdateKind.STATE:
        return pattern.move
    if pattern.check == "happening" or pattern.stance is not Stance.ASSERTED:
        replaces = pattern.stance in _WISHES and expression("checks", "in_place").search(frame.clause.text)
        return UpdateKind.CHANGE if replaces else UpdateKind.STATE
    if UpdateKind.CORRECT in said or "actually" in predicate.cues:
        return UpdateKind.CORRECT
    began = frame.moment.since if frame.moment.since is not None else frame.moment.lasting
    lasting = predicate.tense in {"perfect", "progressive", "simple"} and began is not None
    return UpdateKind.CHANGE if lasting or frame.changed or UpdateKind.CHANGE in said else UpdateKind.STATE


def _stance(pattern: Pattern, frame: Frame, value: Value) -> Stance:
    if pattern.stance is not Stance.ASSERTED:
        return pattern.stance
    ahead = frame.predicate.tense == "future" or (frame.moment.ahead and frame.predicate.tense not in PAST)
    if ahead and pattern.attribute in _OF_TODAY:
        return Stance.PLANNED
    if frame.predicate.negated and value.prior is None and pattern.check not in _OF_DENIALS:
        return Stance.NEGATED
    return Stance.REPORTED if frame.clause.report else Stance.ASSERTED


def _validity(
    pattern: Pattern, attribute: AttributeSchema, value: Value, frame: Frame, *, move: UpdateKind
) -> tuple[int | None, int | None]:
    """Derive the start and end of a reading."""
    moment = frame.moment
    if attribute.name in _TIMELESS or pattern.type is MemoryType.DECISION:
        return None, None
    if pattern.check in {"date", "appointment"}:
        return None, day_end(value.text, moment.anchor_us)
    if pattern.tense == "scheduled":
        return moment.coming, None
    if pattern.check == "happening" or move is UpdateKind.CHANGE or pattern.tense == "past":
        return moment.since or moment.lasting or moment.past, None
    if frame.predicate.ended:
        return moment.since or moment.past, moment.until
    return moment.since or moment.lasting, moment.until


def _type(pattern: Pattern, attribute: AttributeSchema, frame: Frame) -> MemoryType:
    """Choose fact or preference: tools of a group, tools in use, and likes of others are facts."""
    if pattern.name == "uses":
        habit = not (frame.subject.group or frame.subject.who in _OTHERS) and frame.predicate.tense == "simple"
        return MemoryType.PREFERENCE if habit else MemoryType.FACT
    if pattern.type is MemoryType.PREFERENCE and frame.subject.who in _OTHERS and not pattern.swap:
        return MemoryType.FACT
    return attribute.type if pattern.name.startswith("own") else pattern.type


def _importance(pattern: Pattern, attribute: AttributeSchema, frame: Frame, *, move: UpdateKind) -> float:
    """Compute importance from pattern and attribute; "always", "never" and corrections get the top band (R-054)."""
    value = max(pattern.importance, attribute.importance if attribute.known else 0.0)
    strong = pattern.type is MemoryType.PREFERENCE and frame.predicate.cues & {"always", "never"}
    return max(value, _STRONG) if strong or move is UpdateKind.CORRECT else value


def _second_slots(found: re.Match[str], first: Reading, moment: Moment) -> Iterator[Reading]:
    """Parse the second slot of some sentences: "works as a nurse at X"; a past one fills no present slot."""
    if (first.attribute or "").startswith("former_"):
        return
    for name, text in found.groupdict().items():
        if name.startswith("x_") and text and first.stance is not Stance.NEGATED:
            value = clean_value(text, list(moment.literals))
            take_company(value)
            if value.text:
                yield replace(
                    first,
                    attribute=name.removeprefix("x_"),
                    value=value.text,
                    prior=None,
                    cardinality=Cardinality.SINGLE,
                )
