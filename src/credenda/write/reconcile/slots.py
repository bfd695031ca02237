"""The slot of a claim or memory, and whether two values in it agree or conflict. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from credenda.model.attributes import has_same_kind
from credenda.model.change import ContestCase
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import (
    ASSERTIVE_STANCES,
    Cardinality,
    Draft,
    Memory,
    MemoryType,
    Relation,
    Slot,
    Stance,
    Status,
    get_type_class,
)
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name, normalise_text, normalise_value

UNCERTAIN_STANCES: Final = frozenset({Stance.HYPOTHETICAL, Stance.ROLE_PLAY, Stance.SARCASTIC})
"""Stances that assert nothing; their confidence is at most 0.3 (R-040, R-042)."""

CURRENT_STATUSES: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED})
"""Statuses of current beliefs; an archived memory becomes active again when it is restated."""

CONFIDENCE_MARGIN: Final = 0.25
"""How much lower the confidence of a claim may be to still replace a belief (D-006).

An unhedged statement (0.9) and a hedged one (0.7) differ by less, so a hedged statement can replace. A hypothetical
(0.3) differs from a fact by twice as much.
"""

TRUST_MARGIN: Final = 0.25
"""How much lower the trust of a source may be to still replace a belief (D-006).

The user (1.0) and the next source (0.7) differ by more, so no other source overrules the user. Adjacent sources (0.7,
0.6, 0.5, 0.4) can replace each other.
"""

VISIBLE_CONFIDENCE: Final = 0.4
"""A search hides memories below this confidence (`min_confidence`), so a claim below it hides no visible belief."""

_ROUNDING: Final = 1e-9


def get_slot(said: Claim | Draft) -> Slot | None:
    """Return the normalised slot, or None if entity, attribute or value is missing (R-075, D-008).

    A narrative has no slot.
    """
    if said.type is MemoryType.NARRATIVE or not (said.entity and said.attribute and said.value):
        return None
    return Slot(
        speaker=normalise_name(said.speaker),
        entity=normalise_name(said.entity),
        attribute=normalise_attribute(said.attribute),
        scope=(normalise_name(said.scope) or None) if said.scope else None,
        type_class=get_type_class(said.type),
    )


def is_denial(said: Claim | Draft) -> bool:
    """Return whether the value is denied."""
    return said.stance is Stance.NEGATED


def has_same_meaning(one: Claim | Draft, other: Claim | Draft) -> bool:
    """Return whether both have the same value, stance and polarity."""
    alike = (
        is_denial(one) == is_denial(other)
        if {one.stance, other.stance} <= ASSERTIVE_STANCES
        else one.stance is other.stance
    )
    return alike and is_same_value(one.value, other.value)


def is_another_day(claim: Claim, memory: Memory) -> bool:
    """Return whether a plan is of other days than a plan of the same value: two appointments, and neither the other."""
    if memory.stance is not Stance.PLANNED or None in (claim.valid_until_us, memory.valid_until_us):
        return False
    first, second = sorted(
        ((claim.valid_from_us or 0, claim.valid_until_us or 0), (memory.valid_from_us or 0, memory.valid_until_us or 0))
    )
    return claim.stance is Stance.PLANNED and first[1] <= second[0]


def is_in_conflict(one: Claim | Draft, other: Claim | Draft) -> bool:
    """Return whether two assertive claims about one slot conflict.

    A value conflicts with its denial, and two values of one kind in a single-valued slot conflict; so does a sentence
    that was put there without a value, unless it has the words of the new one. If the two disagree about the
    cardinality, both stay (D-007).
    """
    if is_denial(one) or is_denial(other):
        return is_denial(one) != is_denial(other) and is_same_value(one.value, other.value)
    single = one.cardinality is Cardinality.SINGLE and other.cardinality is Cardinality.SINGLE
    if single and one.value and other.value is None:
        return f" {normalise_value(one.value)} " not in f" {normalise_value(other.text)} "
    if not single or is_same_value(one.value, other.value) or (isinstance(one, Claim) and is_shortened(one, other)):
        return False
    if is_part_of_day(one.value or "", other.value or ""):
        return is_fuller_day(one.value or "", other.value or "")
    return has_same_kind(one.value or "", other.value or "")


def is_shortened(claim: Claim, memory: Claim | Draft) -> bool:
    """Return whether a claim states the single value of a memory in fewer of its words: "Aalto" of "Aalto University".

    Words of change make it another value, and so do numbers.
    """
    if claim.move is not UpdateKind.STATE or claim.cardinality is not Cardinality.SINGLE:
        return False
    if memory.cardinality is not Cardinality.SINGLE or is_denial(claim) or is_denial(memory):
        return False
    if is_fuller_day(memory.value or "", claim.value or ""):
        return True
    short, whole = normalise_value(claim.value or ""), normalise_value(memory.value or "")
    return bool(short) and short != whole and f" {short} " in f" {whole} " and not re.search(r"\d", whole)


def find_weakness(claim: Claim, trust: float, memory: Memory) -> str | None:
    """Return why a claim cannot replace a memory, or None if it can (D-006)."""
    if trust < memory.trust - TRUST_MARGIN - _ROUNDING:
        return "its source is less trusted"
    if claim.confidence < memory.confidence - CONFIDENCE_MARGIN - _ROUNDING:
        return "its confidence is much lower"
    if claim.confidence < VISIBLE_CONFIDENCE <= memory.confidence:
        return "its confidence is too low"
    return None


def is_newly_visible(claim: Claim, memory: Memory) -> bool:
    """Return whether a claim is visible to search and the memory with the same value is not."""
    return memory.confidence < VISIBLE_CONFIDENCE <= claim.confidence


def display_value(said: Claim | Draft) -> str:
    """Return the value as shown to the user: the value itself, or "not …" for a denial or a dislike."""
    value = said.value or ""
    return f"not {value}" if is_denial(said) != (said.attribute == "dislikes") else value


# Comparison of values by their words, and the texts of reasons. Pure.


_QUOTED_CHARACTERS: Final = 60
"""Maximum length of a quoted value; a reason never quotes a whole text."""

_REVERSING: Final = frozenset(
    {"not", "no", "non", "anti", "never", "neither", "without", "except", "or", "but", "nor"}
    | {"than", "over", "instead", "rather", "almost", "nearly", "former", "formerly", "previously", "ex"}
)
"""Words that reverse the meaning of a value: "TypeScript over JavaScript" does not refine "JavaScript"."""


_COUNTS: Final = frozenset(
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "no"]
)
_WEEK: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS: Final = frozenset([*_WEEK, *(f"{day}s" for day in _WEEK)])
_NUMBER: Final = re.compile(
    r"\d{4}-\d\d-\d\d|[€$£]?\d[\d.,:]*(?:\s?(?:k|am|pm|%|€|euros?|dollars?))?(?!\w)"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    re.IGNORECASE,
)
_DOSE: Final = re.compile(
    r"\b(?:\d[\d.,]*|half|one|two|three|four|five|six)"
    r" ?(?:mg|mcg|\u00b5g|ug|g|ml|iu|units?|puffs?|tablets?|pills?|drops?|capsules?)\b"
)
_LISTED: Final = re.compile(r"[,&/+]| (?:and|or|with|without|not) ", re.IGNORECASE)
"""Signs of a value that names several things."""
_DIGITS: Final = re.compile(r"\d(?:[\d.,:]*\d)?")
_NAMING: Final = re.compile(r"\b(?:called|named|name)\b", re.IGNORECASE)


def quote_value(value: str) -> str:
    """Quote a value, shortened if it is long."""
    short = value if len(value) <= _QUOTED_CHARACTERS else value[: _QUOTED_CHARACTERS - 1].rstrip() + "…"
    return f"“{short}”"


def quote_parts(*parts: str | None) -> tuple[str, ...]:
    """Quote each non-empty part as the change log does."""
    return tuple(quote_value(part) for part in parts if part)


def describe_slot(entity: str, attribute: str) -> str:
    """Describe a slot for the user.

    >>> describe_slot("user", "meeting_time"), describe_slot("Anna", "residence")
    ('Meeting time', 'Anna’s residence')
    """
    name = attribute.replace("_", " ").strip()
    return f"{name[:1].upper()}{name[1:]}" if normalise_name(entity) == "user" else f"{entity}’s {name}"


def describe_claim(said: Claim | Draft) -> str:
    """Write a slot and its value as a text; "" without a value.

    >>> from credenda.model.memory import MemoryType
    >>> describe_claim(Draft(text="", type=MemoryType.FACT, entity="user", attribute="job_title", value="baker"))
    'Job title: baker'
    """
    if not said.value:
        return ""
    told = f"not {said.value}" if said.stance is Stance.NEGATED else said.value
    return f"{describe_slot(said.entity, said.attribute)}: {told}" if said.entity and said.attribute else told


def split_value(value: str) -> list[str]:
    """Return the normalised words of a value."""
    return normalise_value(value).split()


def explain_replacement(relation: Relation, new: str, old: str) -> str:
    """Explain a replacement in one sentence."""
    match relation:
        case Relation.CORRECTED:
            return f"{quote_value(new)} corrects {quote_value(old)}, which was wrong"
        case Relation.CHANGED:
            return f"{quote_value(new)} replaces {quote_value(old)}, which was true until then"
        case Relation.REFINED:
            return f"{quote_value(new)} is more specific than {quote_value(old)}"
        case Relation.MERGED | Relation.DUPLICATE:
            return f"{quote_value(new)} duplicates {quote_value(old)}"


_YEARLY_DAY: Final = re.compile(r"(?P<year>\d{4})(?:-(?P<day>\d\d-\d\d))?|--(?P<alone>\d\d-\d\d)")


def is_part_of_day(one: str, other: str) -> bool:
    """Return whether two values name parts of one day, as its year and its day of the year.

    >>> is_part_of_day("--07-19", "1992"), is_part_of_day("1992-07-19", "1992"), is_part_of_day("--07-19", "1992-07-20")
    (True, True, False)
    """
    found = [_YEARLY_DAY.fullmatch(value.strip()) for value in (one, other)]
    if None in found:
        return False
    parts = [(day["year"], day["day"] or day["alone"]) for day in found if day is not None]
    return all(None in pair or pair[0] == pair[1] for pair in zip(*parts, strict=True))


def is_fuller_day(new: str, old: str) -> bool:
    """Return whether a value is the day, with its year, of which another one names a part.

    >>> is_fuller_day("1992-07-19", "--07-19"), is_fuller_day("--07-19", "1992-07-19"), is_fuller_day("--07-19", "1992")
    (True, False, False)
    """
    return len(new.strip()) > len(old.strip()) and is_part_of_day(new, old) and not new.strip().startswith("--")


def is_refinement(new: str, old: str) -> bool:
    """Return whether one value is the other with words added, without a removed, moved, counted or reversing word.

    >>> is_refinement("the Waldorf school in Kiel", "school in Kiel")
    True
    >>> is_refinement("TypeScript over JavaScript", "JavaScript")
    False
    """
    if is_fuller_day(new, old):
        return True
    more, less = split_value(new), split_value(old)
    if not less or len(more) <= len(less):
        return False
    words = iter(more)
    in_order = all(word in words for word in less)
    added = Counter(more) - Counter(less)
    recounted = _has_digit(less) and _has_digit(list(added))
    return in_order and not recounted and _REVERSING.isdisjoint(added)


def is_named_kind(new: Claim, old: Memory) -> bool:
    """Return whether the old value named only the kind of the new one: "a dog", then "a dog named Pluto"."""
    return is_same_value(old.value, new.attribute) and is_same_value(new.prior, old.value)


def is_named_as_past(claim: Claim, value: str) -> bool:
    """Return whether a claim of change names a value as the old one: "moved from Monday to Friday", "not Monday"."""
    if claim.move not in {UpdateKind.CHANGE, UpdateKind.CORRECT} or not value:
        return False
    old = re.escape(normalise_value(value))
    return (
        re.search(
            rf"\b(?:from|instead of|rather than|not|no longer) (?:the |on |in |at )?{old}\b", normalise_text(claim.text)
        )
        is not None
    )


def is_renaming(claim: Claim, old: Memory) -> bool:
    """Return whether a correction renames the one named value of a slot: "sorry, my dog is called Max"."""
    values = (claim.value or "", old.value or "")
    capital = all(value[:1].isupper() for value in values)
    return capital and claim.prior is None and _NAMING.search(claim.text) is not None


def has_other_number(new: str, old: str) -> bool:
    """Return whether two values differ only in a number: "Python 3.9" and "Python 3.12", six and eight.

    >>> has_other_number("Python 3.12", "Python 3.9"), has_other_number("Python 3.12", "Ruby 3.9")
    (True, False)
    """
    more, less = _singularise(split_value(new)), _singularise(split_value(old))
    if len(more) != len(less) or len(more) < 2 or more == less:  # noqa: PLR2004 - a number and what is counted
        return False
    pairs = [(one, other) for one, other in zip(more, less, strict=True) if one != other]
    return all(is_number(one) and is_number(other) for one, other in pairs)


def is_name_in(name: str, value: str) -> bool:
    """Return whether words are the name in a value, beside which that has an amount, a brand or an adjective.

    >>> is_name_in("metformin", "metformin 500mg"), is_name_in("nuts", "tree nuts"), is_name_in("C", "vitamin C and D")
    (True, True, False)
    """
    words, whole = split_value(name), split_value(value)
    size = len(words)
    return bool(words) and size < len(whole) and words in (whole[:size], whole[-size:]) and not _LISTED.search(value)


def has_other_dose(new: str, old: str) -> bool:
    """Return whether two values are one substance in other amounts: "metformin 500 mg", "1000 mg of metformin".

    >>> has_other_dose("1000 mg of metformin", "metformin 500mg"), has_other_dose("20 mg of iron", "20 mg of zinc")
    (True, False)
    """
    amounts, names = zip(*(_split_dose(value) for value in (new, old)), strict=True)
    more, less = sorted(names, key=len, reverse=True)
    return all(amounts) and amounts[0] != amounts[1] and bool(less) and less <= more


def _split_dose(value: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the amounts of a value and its other words."""
    plain = normalise_value(value)
    amounts = frozenset(found[0].replace(" ", "") for found in _DOSE.finditer(plain))
    return amounts, frozenset(_DOSE.sub(" ", plain).split()) - {"of", "a", "day", "daily", "the", "now"}


def _singularise(words: list[str]) -> list[str]:
    return [word.removesuffix("s") if word[:1].isalpha() and word not in _DAYS else word for word in words]


def find_number(value: str) -> re.Match[str] | None:
    """Find the only number, day or hour of a value; None if there is none, or more than one."""
    found = list(_NUMBER.finditer(value))
    return found[0] if len(found) == 1 else None


def replace_number(value: str, number: str) -> str:
    """Replace the number of a value: "300 euros" with "400" is "400 euros"; another unit replaces the whole value.

    >>> replace_number("300 euros", "400"), replace_number("30 people", "40 guests"), replace_number("at 10", "11")
    ('400 euros', '40 guests', 'at 11')
    >>> replace_number("20 mg of lisinopril", "40 mg")
    '40 mg of lisinopril'
    """
    found = find_number(value)
    if found is None:
        return number
    number, _, unit = number.partition(" ")
    if unit and not re.match(rf"\s?{re.escape(unit)}\b", value[found.end() :]):
        return f"{number} {unit}"
    digits = _DIGITS.search(found[0])
    if digits is None or not _DIGITS.fullmatch(number):
        return number
    start = found.start() + digits.start()
    return f"{value[:start]}{number}{value[start + len(digits[0]) :]}"


def is_number(word: str) -> bool:
    """Return whether a lower-case word is a number, a version or a day."""
    return word[0].isdigit() or word.removeprefix("v")[:1].isdigit() or word in _COUNTS or word in _DAYS


def _has_digit(words: list[str]) -> bool:
    return any(character.isdigit() for word in words for character in word)


# Inputs of reconciliation: the rows that a claim may affect, and the context of its statement. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRows:
    """The memories and contests that one claim may affect, read in the transaction that applies the decision.

    `current`: active, challenged and archived memories of the claim's (entity, attribute) pair in any scope, class or
    speaker, and those with the claim's normalised text.
    `past`: superseded memories of that pair whose `valid_until` lies at most 180 days before the time of the claim; for
    a retraction, those that `previous` superseded.
    `contests`: open and resolved contests of that pair.
    `candidates`: quarantined memories of that pair or with that text.
    `elsewhere`: for a value that is said to be back, the active memories of the claim's entity with it in any slot.
    `said_us`: for such a value, when the speaker first named it, whether or not a belief was made of that.
    `previous`: for a retraction, the memories of the speaker's previous statement in this session, newest first.
    """

    current: tuple[Memory, ...] = ()
    past: tuple[Memory, ...] = ()
    contests: tuple[ContestCase, ...] = ()
    previous: tuple[Memory, ...] = ()
    candidates: tuple[Memory, ...] = ()
    elsewhere: tuple[Memory, ...] = ()
    said_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementContext:
    """The context of a statement: time, session, trust. Times are microseconds UTC; trust lies in [0, 1]."""

    occurred_us: int
    now_us: int
    trust: float
    session: str
    topic: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    expires_us: int | None = None
