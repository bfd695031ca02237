"""From a matched clause to readings: entity, attribute, value, and how they are meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from credenda.clock import DAY_US, to_datetime
from credenda.model.claim import Move
from credenda.model.memory import Cardinality, MemoryType, Stance
from credenda.text.dates import DateSpan, Lean, find_dates
from credenda.write.extract.checks import Situation, holds, nominal
from credenda.write.extract.clauses import Clause
from credenda.write.extract.lexicon import Attribute, lexicon, names
from credenda.write.extract.patterns import Pattern, patterns_for
from credenda.write.extract.predicates import Predicate
from credenda.write.extract.subjects import Subject
from credenda.write.extract.values import Value, clean_value, day_first, split_list, only_day, take_company, take_purpose, take_rather, take_scope, until_day

__all__ = ["Moment", "Reading", "clause_dates", "read"]

_PAST: Final = frozenset({"past", "perfect"})
_TENSES: Final = {
    "present": frozenset({"simple", "progressive"}),
    "simple": frozenset({"simple"}),
    "progressive": frozenset({"progressive"}),
    "past": _PAST,
    "coming": frozenset({"simple", "progressive", "perfect"}),
    "future": frozenset({"future"}),
    "wish": frozenset({"wish"}),
    "maybe": frozenset({"maybe"}),
    "former": frozenset({"former"}),
    "any": frozenset({"simple", "progressive", "past", "perfect", "future"}),
}
_SHORT_WORDS: Final = 6
_LASTING: Final = re.compile(r"\b(?:for (?:over |about |almost |nearly |more than )?(?:\d+|an?|two|three|four|five|six|seven|eight|nine|ten|many|several|a few|the last|the past|\w+)(?: \w+)? (?:years?|months?|weeks?|days?|decades?)|all my life|ages|always)\b", re.IGNORECASE)  # fmt: skip
_OF: Final = re.compile(r"^(?P<noun>.+?) (?:of|for) (?:the |my |our )?(?P<entity>.+)$", re.IGNORECASE)
_RECURS: Final = re.compile(r"days\b|\b(?:every|each|daily|weekly|monthly|weekdays?|weekends?)\b", re.IGNORECASE)
_ING: Final = re.compile(r"^(?:to )(?=\w)")
_PLACES: Final = frozenset({"residence", "former_residence", "employer", "former_employer", "job_title", "former_job_title", "origin", "school", "work_field", "birthplace", "grew_up_in"})  # fmt: skip
_PLURAL_HEAD: Final = re.compile(r"^(?:[\w'-]+ ){1,4}(?P<head>[a-z]{3,}s)$")
_DAY_TIME: Final = re.compile(r"\s+(?:(?:in|for) the (?:morning|afternoon|evening)|at night|before bed|(?:for|at|with|after) (?:breakfast|lunch|dinner))s?$", re.IGNORECASE)  # fmt: skip
_VAGUE_HEADS: Final = frozenset({"things", "ones", "ways", "times", "days", "years", "others", "us", "this", "class"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The dates of a clause: their spans, their words, and the anchor they were read from."""

    anchor_us: int
    spans: tuple[DateSpan, ...] = ()
    literals: tuple[str, ...] = ()

    @property
    def since(self) -> int | None:
        """When it began, by "since …" or "from … to …"."""
        return next((one.from_us for one, text in self._pairs() if _opens(one, text)), None)

    @property
    def until(self) -> int | None:
        """When it ends, by "until …" or "from … to …"."""
        return next((one.until_us for one, text in self._pairs() if _closes(one, text)), None)

    @property
    def past(self) -> int | None:
        """The first named day that is not ahead."""
        found = (one.from_us for one in self.spans if one.from_us is not None and one.from_us <= self.anchor_us)
        return next(found, None)

    @property
    def ahead(self) -> bool:
        """Whether a named day lies ahead."""
        return any(one.until_us is not None and one.until_us > self.anchor_us + DAY_US for one in self.spans)

    def _pairs(self) -> Iterator[tuple[DateSpan, str]]:
        return zip(self.spans, (text.lower() for text in self.literals), strict=True)


def _opens(span: DateSpan, text: str) -> bool:
    return span.from_us is not None and (span.until_us is None or text.startswith(("from", "between", "starting")))


def _closes(span: DateSpan, text: str) -> bool:
    if text.startswith("by "):
        return False
    return span.until_us is not None and (span.from_us is None or text.startswith(("from", "between")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one clause says, before it becomes a claim."""

    type: MemoryType
    entity: str | None = None
    attribute: str | None = None
    value: str | None = None
    prior: str | None = None
    scope: str | None = None
    cardinality: Cardinality = Cardinality.SINGLE
    stance: Stance = Stance.ASSERTED
    move: Move = Move.STATE
    confidence: float = 0.8
    importance: float = 0.6
    since_us: int | None = None
    until_us: int | None = None
    durable: bool = False
    pattern: str = ""


def clause_dates(text: str, anchor_us: int, lean: Lean | None) -> Moment:
    """Find the dates of a clause, with their words."""
    spans = find_dates(text, anchor_us, lean)
    return Moment(anchor_us=anchor_us, spans=tuple(spans), literals=tuple(text[one.start : one.stop] for one in spans))


def _tense_fits(pattern: Pattern, predicate: Predicate, moment: Moment, *, hedged: bool) -> str | None:
    """Say how a pattern reads this tense: "now", "former", or None."""
    tense = predicate.tense
    if tense in {"future", "maybe"} and pattern.tense == "maybe":
        return "now" if hedged else None
    if tense == "perfect" and pattern.tense in {"present", "simple"} and (moment.since is not None or _LASTING.search(predicate.text)):
        return "now"
    if pattern.tense == "present" and pattern.former and tense in {*_PAST, "former"}:
        return "former"
    if pattern.tense == "future" and tense == "progressive" and moment.ahead:
        return "now"
    if pattern.tense == "any" and tense == "modal":
        return "now" if pattern.name == "might" else None
    return "now" if tense in _TENSES[pattern.tense] else None


def _plain_dates(text: str, moment: Moment) -> str:
    """Take the open-ended dates ("since 2015", "until June") out of a predicate."""
    for span, literal in zip(moment.spans, moment.literals, strict=True):
        if span.from_us is None or span.until_us is None or literal.lower().startswith(("from", "between")):
            text = text.replace(literal, "")
    return " ".join(text.split())


def _fill(template: str, found: re.Match[str], subject: Subject, value: Value) -> str:
    """Put groups of the match into an attribute or entity name."""
    if "{" not in template:
        return template
    groups = {name: text or "" for name, text in found.groupdict().items()}
    kind = groups.get("kind", "")
    groups["kind"] = names().kin_noun(kind) or kind
    kin = names().kin_noun(subject.noun.split(" ")[-1])
    return template.format(**groups, noun=subject.noun, head=_head(value), kin=kin)


def _head(value: Value) -> str:
    """Name the slot of a preference without a category: the plural it ends in, or "prefers"."""
    found = _PLURAL_HEAD.match(value.text)
    if value.text.split(" ", 1)[0].endswith("ing"):
        return "prefers"
    return found["head"] if found and found["head"] not in _VAGUE_HEADS else "prefers"


def _attribute(pattern: Pattern, found: re.Match[str], subject: Subject, value: Value) -> Attribute:
    """Decide which attribute a value belongs to."""
    words = lexicon()
    if pattern.check == "role" and value.text.casefold().split(" ")[-1] in names().family:
        return Attribute(name="family_status", importance=0.6)
    if pattern.check == "trait":
        return words.attribute(names().traits.get(value.text.casefold(), "trait"))
    if pattern.category and (category := words.category(value.text)) is not None:
        prefix = "" if category in words.settings else pattern.prefix
        attribute = words.attribute(f"{prefix}{category}")
        many = words.cardinality(category) if not prefix else Cardinality.SINGLE
        return replace(attribute, cardinality=many)
    name = _fill(pattern.attribute, found, subject, value)
    if not name:
        return Attribute(name="")
    attribute = words.attribute(name)
    if name == "date" and subject.noun and words.attribute(subject.noun).dated:
        return words.attribute(subject.noun)
    if name.casefold() in words.kin:
        return attribute
    many = pattern.many
    if pattern.attribute == "{head}":
        many = name == "prefers"
    return replace(attribute, cardinality=Cardinality.SET if many else attribute.cardinality)


def _iso(text: str, moment: Moment, attribute: Attribute) -> str:
    """Write a day as ISO; a birthday without a year as --MM-DD; anything else as said."""
    spans = find_dates(text, moment.anchor_us, "past" if attribute.name == "birthday" else "future")
    if len(spans) != 1 or spans[0].from_us is None or spans[0].until_us is None:
        return text
    rest = (text[: spans[0].start] + text[spans[0].stop :]).strip(" ,")
    if rest or spans[0].until_us - spans[0].from_us != DAY_US:
        return text
    literal = text[spans[0].start : spans[0].stop]
    if "day" in literal.lower() and not any(letter.isdigit() for letter in literal):
        return text if attribute.name == "date" else to_datetime(spans[0].from_us).date().isoformat()
    day = to_datetime(spans[0].from_us).date()
    if attribute.name in {"birthday", "anniversary"} and str(day.year) not in literal:
        return f"--{day:%m-%d}"
    return day.isoformat()


def _move(pattern: Pattern, predicate: Predicate, clause: Clause, value: Value) -> Move:
    if predicate.ended:
        return Move.END
    if pattern.move is not Move.STATE:
        return pattern.move
    if pattern.check == "happening" or pattern.stance is not Stance.ASSERTED:
        return Move.STATE
    if Move.CORRECT in {clause.move, value.move} or "actually" in predicate.cues:
        return Move.CORRECT
    if Move.CHANGE in {clause.move, value.move} or not predicate.cues.isdisjoint({"now", "changed"}):
        return Move.CHANGE
    return Move.STATE


def _stance(pattern: Pattern, predicate: Predicate, clause: Clause, value: Value) -> Stance:
    if pattern.stance is not Stance.ASSERTED:
        return pattern.stance
    if predicate.negated and value.prior is None and pattern.check != "negated":
        return Stance.NEGATED
    return Stance.REPORTED if clause.report else Stance.ASSERTED


def _value_of(pattern: Pattern, found: re.Match[str], moment: Moment, subject: Subject, *, changed: bool, negated: bool) -> Value:
    if pattern.swap:
        return Value(text=subject.noun or subject.entity, raw=subject.noun or subject.entity)
    dated = pattern.check in {"date", "recurring", "appointment"}
    value = clean_value(found["value"], list(moment.literals), dated=dated)
    if negated:
        take_rather(value)
    if dated or pattern.check == "appointment":
        only_day(value, list(moment.literals))
    if pattern.check == "happening":
        until_day(value, list(moment.literals))
    if pattern.purpose:
        take_purpose(value)
    if pattern.name in {"eats", "drinks"}:
        value.text = _DAY_TIME.sub("", value.text)
    if pattern.attribute == "{head}" or pattern.attribute == "likes":
        value.text = day_first(value.text)
    if pattern.scope and not dated:
        take_scope(value)
    if pattern.attribute in _PLACES:
        take_company(value)
    if pattern.value is not None:
        value.text = pattern.value
    groups = found.groupdict()
    prior = groups.get("prior") or (groups.get("contrast") if value.move is Move.CHANGE or changed else None)
    if prior:
        value.prior = clean_value(prior, list(moment.literals)).text
    return value


def _entity(pattern: Pattern, found: re.Match[str], subject: Subject, attribute: Attribute, owner: str) -> str:
    """Decide whose slot it is: the subject's, a named thing's, or the owner's where the noun names the slot."""
    if pattern.entity:
        filled = _fill(pattern.entity, found, subject, Value(text=""))
        return nominal(filled) or filled
    if pattern.check == "nominal":
        return nominal(subject.noun) or subject.noun
    if pattern.check == "kin_name":
        return subject.entity.rpartition("'s ")[0] or owner
    if subject.who in {"me", "person"}:
        return subject.entity
    if subject.who == "name" and not pattern.swap:
        return subject.entity
    if pattern.swap or subject.who == "best":
        return owner
    if "{noun}" in pattern.attribute or (attribute.dated and attribute.name != "date"):
        return subject.entity or owner
    return subject.noun if not subject.entity or subject.who == "own" else f"{subject.entity} {subject.noun}"


def _subject_slot(subject: Subject) -> Subject:
    """Read "my deadline for the thesis" as the deadline of the thesis."""
    if subject.who in {"own", "the"} and (found := _OF.match(subject.noun)) and not names().kin_noun(found["entity"]):
        return subject._replace(noun=found["noun"], entity=found["entity"])
    return subject


def _end_of_day(text: str, anchor_us: int) -> int | None:
    """Give the end of the one day that a scheduled value names; None for what recurs or is no day."""
    if _RECURS.search(text):
        return None
    spans = find_dates(f"on {text}", anchor_us, "future")
    days = [one.until_us for one in spans if one.from_us is not None and one.until_us is not None]
    return days[0] if len(spans) == 1 and days else None


def _dates(pattern: Pattern, attribute: Attribute, value: Value, moment: Moment, move: Move) -> tuple[int | None, int | None]:
    """Decide since when and until when a reading holds."""
    if attribute.name in {"birthday", "anniversary", "age"} or pattern.type is MemoryType.DECISION:
        return None, None
    if pattern.check in {"date", "appointment"}:
        return None, _end_of_day(value.text, moment.anchor_us)
    if pattern.check == "happening" or move is Move.CHANGE or pattern.tense == "past":
        return moment.since or moment.past, None
    return moment.since, moment.until


def _candidates(subject: Subject, predicate: Predicate) -> tuple[Pattern, ...]:
    """Give the patterns to try; a capitalised name may be a person unless it is a known tool."""
    if predicate.tense == "modal":
        return patterns_for(subject.who, "might")[:1]
    found = patterns_for(subject.who, predicate.verb)
    if subject.who == "name" and lexicon().category(subject.entity) is None:
        return found + patterns_for("person", predicate.verb)
    return found


def read(
    clause: Clause, subject: Subject, predicate: Predicate, moment: Moment, owner: str, *, left: bool, short: bool
) -> list[Reading]:
    """Read a clause by the first pattern that fits; [] where none does."""
    subject = _subject_slot(subject)
    text = _plain_dates(predicate.text, moment)
    for pattern in _candidates(subject, predicate):
        as_what = _tense_fits(pattern, predicate, moment, hedged=clause.hedged)
        if as_what is None or ("can" in predicate.cues and not pattern.can):
            continue
        shown = predicate.said if pattern.check == "happening" else text
        shown = f"might {shown}" if predicate.tense == "modal" else shown
        found = pattern.match.fullmatch(shown)
        if found is None:
            continue
        situation = Situation(
            subject=subject, predicate=predicate, attribute=Attribute(name=""), dated_past=moment.past is not None,
            dated_ahead=moment.ahead, bounded=moment.until is not None, left_before=left, short=short,
        )  # fmt: skip
        readings = _readings(pattern, found, clause, situation, moment, owner, as_what)
        if readings:
            return readings
    return []


def _readings(
    pattern: Pattern, found: re.Match[str], clause: Clause, situation: Situation, moment: Moment, owner: str, as_what: str
) -> list[Reading]:
    changed = clause.move is not Move.STATE or not situation.predicate.cues.isdisjoint({"now", "changed"})
    value = _value_of(pattern, found, moment, situation.subject, changed=changed, negated=situation.predicate.negated)
    texts = split_list(value.text) if pattern.split else [value.text]
    readings: list[Reading] = []
    for text in texts:
        item = replace(value, text=text, raw=value.raw if len(texts) == 1 else text)
        attribute = _attribute(pattern, found, situation.subject, item)
        if not holds(pattern.check, item, replace(situation, attribute=attribute)):
            continue
        readings.append(_reading(pattern, found, clause, situation, moment, owner, attribute, item, as_what))
    if readings:
        readings.extend(_extra(found, readings[0], moment))
    return readings


def _reading(
    pattern: Pattern, found: re.Match[str], clause: Clause, situation: Situation, moment: Moment, owner: str,
    attribute: Attribute, value: Value, as_what: str,
) -> Reading:  # fmt: skip
    predicate, subject = situation.predicate, situation.subject
    former, dated = as_what == "former", pattern.check in {"date", "appointment"}
    name = (pattern.former or attribute.name) if former else attribute.name
    move = Move.STATE if former else _move(pattern, predicate, clause, value)
    since, until = _dates(pattern, attribute, value, moment, move)
    shown = _iso(value.text, moment, attribute) if attribute.dated or dated else value.text
    kind = _type(pattern, attribute, predicate, subject)
    return Reading(
        type=kind,
        entity=_entity(pattern, found, subject, attribute, owner) if name else None,
        attribute=name or None,
        value=_ING.sub("", shown) if name else None,
        prior=value.prior,
        scope=value.scope or clause.scope,
        cardinality=Cardinality.SET if former else attribute.cardinality,
        stance=_stance(pattern, predicate, clause, value),
        move=move,
        confidence=_confidence(pattern, clause),
        importance=0.4 if former else _importance(pattern, attribute, predicate, move),
        since_us=since,
        until_us=until,
        durable=attribute.known and pattern.check != "used",
        pattern=pattern.name,
    )


def _type(pattern: Pattern, attribute: Attribute, predicate: Predicate, subject: Subject) -> MemoryType:
    """Settle fact or preference: what a group uses, or what one happens to be using, is a fact."""
    if pattern.name == "uses":
        return MemoryType.FACT if subject.group or predicate.tense != "simple" else MemoryType.PREFERENCE
    if pattern.type is MemoryType.FACT and attribute.type is MemoryType.PREFERENCE and pattern.name.startswith("own"):
        return MemoryType.PREFERENCE
    return pattern.type


def _confidence(pattern: Pattern, clause: Clause) -> float:
    return min(pattern.confidence, 0.5) if clause.hedged else pattern.confidence


def _importance(pattern: Pattern, attribute: Attribute, predicate: Predicate, move: Move) -> float:
    value = max(pattern.importance, attribute.importance if attribute.known else 0.0)
    if pattern.type is MemoryType.PREFERENCE and predicate.cues & {"always", "never"}:
        value = max(value, 0.8)
    return max(value, 0.8) if move is Move.CORRECT else value


def _extra(found: re.Match[str], first: Reading, moment: Moment) -> Iterator[Reading]:
    """Read the second slot that some sentences fill: "works as a nurse at X"."""
    for name, text in found.groupdict().items():
        if name.startswith("x_") and text:
            value = clean_value(text, list(moment.literals))
            take_company(value)
            if value.text and first.stance is not Stance.NEGATED:
                yield replace(first, attribute=name.removeprefix("x_"), value=value.text, prior=None, cardinality=Cardinality.SINGLE)
