"""The schema of attributes: what each holds, and which values are valid in it. The rows are in `attributes.toml`. Pure.

A value that is not valid makes no claim about its slot. An attribute without a row is an open one of its own name.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final

from credenda.model.memory import Cardinality, MemoryType
from credenda.text.normalize import normalise_attribute

TASTES: Final = frozenset({"food", "drink", "music", "film", "show", "book", "game", "sport", "art", "interest"})
"""Attributes of what somebody likes, each a kind of things; a preference under one of them is a liking."""
_IMPORTANCE: Final = 0.6
_PRONOUNS: Final = "pronouns"
_CACHED: Final = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeSchema:
    """An attribute: the nouns that name it, the kind of its values, and how they change.

    `known`: it has a row of its own. The columns are described in `attributes.toml`.
    """

    name: str
    words: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    kind: str = "text"
    type: MemoryType = MemoryType.FACT
    cardinality: Cardinality = Cardinality.SINGLE
    importance: float = _IMPORTANCE
    dated: bool = False
    hurts: bool = False
    by_birth: bool = False
    fixed: bool = False
    ends: bool = True
    person: bool = False
    episodic: bool = False
    known: bool = True


@cache
def load_attributes() -> Mapping[str, AttributeSchema]:
    """Load the attributes with a row, by name; cached."""
    table = _load_table()
    return {name: _make_attribute(name, row) for name, row in table.items() if name not in {"sets", "asked"}}


@cache
def load_asked() -> Mapping[str, tuple[str, ...]]:
    """Load the phrases by which a question asks for each attribute: its name, its nouns and further words; cached."""
    rows = {one.name: (*one.words, *one.same, *one.asked) for one in load_attributes().values()}
    rows |= {name: tuple(phrases) for name, phrases in _load_table()["asked"].items()}
    return {name: (name.replace("_", " "), *phrases) for name, phrases in rows.items()}


def answer_same_question(one: str, other: str) -> bool:
    """Return whether one question asks for either of two attributes, whose values may so take each other's place.

    >>> answer_same_question("home", "residence"), answer_same_question("residence", "employer")
    (True, False)
    """
    asked = load_asked()
    return not {*asked.get(normalise_attribute(one), ())}.isdisjoint(asked.get(normalise_attribute(other), ()))


@lru_cache(maxsize=_CACHED)
def get_attribute(name: str) -> AttributeSchema:
    """Return the attribute of a name; an open one holds a single value, unless its last word is listed as a set.

    >>> get_attribute("allergy").cardinality, get_attribute("parking spot").cardinality, get_attribute("plan").known
    (<Cardinality.SET: 'set'>, <Cardinality.SINGLE: 'single'>, True)
    """
    key = normalise_attribute(name)
    found = load_attributes().get(key)
    if found is not None:
        return found
    many = key in _load_sets()
    return AttributeSchema(name=key, cardinality=Cardinality.SET if many else Cardinality.SINGLE, known=False)


def find_exact_attribute(name: str) -> str:
    """Return the attribute that a name given by a program means exactly; any other name is an open attribute.

    >>> find_exact_attribute("Date of birth"), find_exact_attribute("schedule"), find_exact_attribute("field_of_study")
    ('birthday', 'schedule', 'field_of_study')
    """
    key = normalise_attribute(name)
    plain = key.removeprefix("new_").removeprefix("current_")
    return next(
        (found for one in (key, plain) if (found := one if one in load_attributes() else _load_exact_names().get(one))),
        key,
    )


def is_valid_value(attribute: str, value: str) -> bool:
    """Return whether a value is one that its attribute can have.

    >>> is_valid_value("allergy", "penicillin"), is_valid_value("allergy", "Please let us know")
    (True, False)
    >>> is_valid_value("residence", "Stratford-upon-Avon"), is_valid_value("residence", "get away from the city")
    (True, False)
    >>> is_valid_value("residence", "my own head"), is_valid_value("residence", "Nags Head")
    (False, True)
    >>> is_valid_value("employer", "home"), is_valid_value("age", "34 years"), is_valid_value("birthday", "fine")
    (False, True, False)
    >>> is_valid_value("pronouns", "they/them"), is_valid_value("likes", "them")
    (True, False)
    """
    schema, plain = get_attribute(attribute), unicodedata.normalize("NFKC", value).strip()
    if not plain or _BREAKS.search(plain) is not None or len(plain.split()) > _WORDS_MAX:
        return False
    if schema.kind != _PRONOUNS and _EMPTY.issuperset(_WORD.findall(plain.casefold())):
        return not schema.known and NOTHING.fullmatch(plain) is not None
    return _VALIDATORS[schema.kind](plain) and not (schema.hurts and _has_several_scripts(plain))


def has_same_kind(one: str, other: str) -> bool:
    """Return whether two values could answer the same question: an amount or time never replaces words.

    >>> has_same_kind("900 euros", "850"), has_same_kind("900 euros", "too high"), has_same_kind("Monday", "3 May")
    (True, False, True)
    """
    head, its = one.casefold().split()[-1:], other.casefold().split()[-1:]
    return is_measure(one) == is_measure(other) or head == its


def is_measure(value: str) -> bool:
    """Return whether a value begins with an amount, a number or a time."""
    return _MEASURE.match(value.strip()) is not None


@cache
def _load_table() -> dict[str, Any]:
    return tomllib.loads(resources.files("credenda.model").joinpath("attributes.toml").read_text("utf-8"))


@cache
def _load_exact_names() -> Mapping[str, str]:
    return {normalise_attribute(name): schema.name for schema in load_attributes().values() for name in schema.same}


@cache
def _load_sets() -> frozenset[str]:
    return frozenset(_load_table()["sets"])


def _make_attribute(name: str, row: Mapping[str, Any]) -> AttributeSchema:
    columns: dict[str, Any] = {
        **row,
        "name": name,
        "words": tuple(row.get("words", ())),
        "same": tuple(row.get("same", ())),
        "asked": tuple(row.get("asked", ())),
    }
    columns["type"] = MemoryType(row.get("type", MemoryType.FACT))
    columns["cardinality"] = Cardinality(row.get("cardinality", Cardinality.SINGLE))
    return AttributeSchema(**columns)


# Validators, one a kind. Each gets a value without outer spaces.

_WORD: Final = re.compile(r"[\w'’-]+")
_WORDS_MAX: Final = 20
_NAME_WORDS: Final = 4
_PLACE_WORDS: Final = 6
_THING_WORDS: Final = 5
_ROLE_WORDS: Final = 12
_EATING: Final = re.compile(
    r"^(?:can['\u2019]?t|cannot|do(?:es)?(?:n['\u2019]t| not)|never|only|avoids?|eats?) (?:(?:have|eat|drink) )?(?=\w)",
    re.IGNORECASE,
)
"""Beginning of a diet that is told as a habit: "can't have dairy"."""
_REGIME: Final = re.compile(
    r"(?<=\w),? (?:(?:when|as|if) needed|(?:\d+|one|two|three|four|half an?|once|twice|every|each|daily|nightly|in the"
    r"|at|before|after|with|for)\b)(?: [\w.,-]+){0,8}$",
    re.IGNORECASE,
)
"""How a medicine is taken, after its name: "Foster, two puffs in the morning"."""
_STATE_WORDS: Final = 8
_DAY_WORDS: Final = 10
_AGE_MAX: Final = 130

_BREAKS: Final = re.compile(
    r"[?\n]|(?<!\d)[.!…][\"'”’)]*\s+(?=[A-Z\u00c0-\u00de])(?<!\b[A-Z][a-z]\. )(?<!\bMrs\. )(?<!\bProf\. )"
    r"(?<!\bRev\. )(?<!\bCapt\. )(?<!\bIng\. )(?<!\bMag\. )"
)
"""A question or another sentence inside a value."""
_EMPTY: Final = frozenset(
    "i me my mine you your yours he him his she her hers it its we us our ours they them their theirs this that these"  # noqa: SIM905
    " those there here who what which one ones a an the and or but so very too also just really not yes some any none"
    " something anything everything nothing somebody someone anybody anyone everybody everyone nobody either".split()
)
"""Pronouns and small words, which name nothing by themselves."""
NOTHING: Final = re.compile(r"(?:none|nothing|nobody|no one)(?: left| now| any ?more| for now)*", re.IGNORECASE)
"""A value of an open attribute that says that there is nothing of the kind."""
_CLAUSE: Final = re.compile(
    r"\b(?:i|i'm|i’m|you|we|he|she|they|it|it's|it’s|who|whom|which|that|where|when|while|because|since|although|though"
    r"|if|unless|until|please|am|is|are|was|were|be|been|being|has|have|had|do|does|did|will|would|can|could|should"
    r"|shall|may|might|must|let|know|not|n't|only|but|so|just|also|really|very|away|please)\b",
    re.IGNORECASE,
)
"""Words of a clause, which no name of a thing, place or person contains."""
_LEADING: Final = re.compile(
    r"^(?:away|back|from|with|without|for|to|by|because|and|or|as|about|into|during|after|before|get|getting|go|going"
    r"|doing|having|being|making|trying|working|looking|feeling|how|why)\b",
    re.IGNORECASE,
)
_GENERIC_PLACES: Final = frozenset(
    "city town village country countryside area place neighbourhood neighborhood suburb suburbs street road house flat"  # noqa: SIM905
    " apartment dorm room home here there somewhere anywhere nowhere out alone together away abroad world moment past"
    " present future peace fear denial hope bubble dream hell heaven luxury poverty harmony comfort chaos".split()
)
_INNER_PLACES: Final = frozenset(
    "head mind heart soul thoughts dreams memories imagination world bubble denial past future moment skin body".split()  # noqa: SIM905
)
"""Last words of places of a figure of speech, in small letters: "my head", "my own little world"."""
_GENERIC_EMPLOYERS: Final = frozenset(
    "home work night nights day days week weeks weekend weekends times time least once all now times house office least"  # noqa: SIM905
    " place morning mornings evening evenings it hours end job jobs company firm employer".split()
)
_NO_NAMES: Final = frozenset(
    "fine good great okay ok sorry sure happy sad tired busy ready glad back home well here there new old nice just"  # noqa: SIM905
    " late early sick ill doing going trying looking working thinking feeling single married kids children something"
    " down up off out on in at from with for the a an my your not no yes also very really so too".split()
)
_DETERMINER: Final = re.compile(r"^(?:the|an?|my|our|some|this|that)\s+", re.IGNORECASE)
_SMALL_IN_NAMES: Final = frozenset("de da do dos das del della di la le el al bin ibn van von der den ter y e".split())  # noqa: SIM905
_NUMBER_WORDS: Final = (
    r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|half|dozen)"
)
_AGE: Final = re.compile(
    r"(?:(?:about|around|almost|nearly) )?"
    rf"(?P<number>\d{{1,3}}|{_NUMBER_WORDS}(?:[- ]{_NUMBER_WORDS})?)(?:[ -].{{0,24}})?",
    re.IGNORECASE,
)
_QUANTITY: Final = re.compile(rf"\d|\b{_NUMBER_WORDS}\b", re.IGNORECASE)
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_AMOUNT_WORDS: Final = frozenset(
    "mg mcg \u00b5g \u03bcg ug g kg ml l cl iu unit units puff puffs tablet tablets pill pills drop drops capsule"  # noqa: SIM905
    " capsules dose doses spoon spoons x a an per of day days daily week weekly night nightly morning evening times"
    " every each in the at once twice now again only about up down to more less half".split()
)
"""Words of an amount, which name no substance by themselves."""
_PRONOUN_LIST: Final = re.compile(r"[^\W\d]+(?:\s*(?:/|,|\band\b|\bor\b)\s*[^\W\d]+){0,3}(?: pronouns)?")
_EMAIL: Final = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
_DAY: Final = re.compile(
    r"(?<!\d)\d{4}-\d\d(?:-\d\d)?(?!\d)|--\d\d-\d\d|\b\d{1,2}[:.h]\d\d\b|\b\d{1,2}[./]\d{1,2}\b|\b\d{1,2}(?:st|nd|rd|th)?\b(?![-/\w])"
    r"|\b(?:19|20)\d\d\b|\b\d{1,2} ?(?:am|pm|uhr|h)\b|\d{1,2}\s*(?:o'clock|\.)"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:today|tonight|tomorrow|yesterday|noon|midnight|midday)\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\b"
    r"|\b(?:day|week|weekend|month|year|quarter|term|semester|spring|summer|autumn|fall|winter|morning|afternoon|evening"
    r"|night|easter|christmas|hours?|minutes?)s?\b"
    rf"|\b{_NUMBER_WORDS}\b"
    r"|tag\b|\bmorgen|\bheute|woche|monat|jahr|\bmittwoch|\bsonnabend|januar|februar|märz|\bmai\b|juni|juli|oktober|dezember"
    r"|\blundi|\bmardi|\bmercredi|\bjeudi|\bvendredi|\bsamedi|\bdimanche|\bdemain|semaine|\bmois\b|janvier|février|\bmars\b"
    r"|avril|\bjuin|juillet|août|septembre|octobre|décembre|\blunes|\bmartes|\bmiércoles|\bjueves|\bviernes|\bsábado"
    r"|\bdomingo|\bmañana|semana|\bmes\b|enero|febrero|marzo|abril|mayo|junio|julio|septiembre|octubre|noviembre|diciembre"
    r"|\bsegunda|\bterça|\bquarta|\bquinta|\bsexta|\bamanhã|\bmês\b|janeiro|fevereiro|março|\bmaio\b|junho|julho|setembro"
    r"|outubro|novembro|dezembro",
    re.IGNORECASE,
)
_DAYS: Final = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:early )?(?:mornings?|evenings?)", re.IGNORECASE
)
"""Times that people only joke to be allergic to."""
_MEASURE: Final = re.compile(
    r"(?:(?:at|on|in|from|about|around|every|um|à|a las|às|am|il|le|el) )?(?:(?:the|next|this|early|late) ){0,2}"
    r"(?:[€$£~+-]?\d[\d.,:/-]*(?:\s?(?:k|m|bn|kg|g|mg|ml|l|cm|km|mm|h|am|pm|st|nd|rd|th|uhr|ms|s|gb|mb|tb|%|€|\$|£))?(?![\w-])"
    r"|--\d\d|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december)\b|(?:noon|midnight|midday|mornings?|afternoons?|evenings?|nights?|days?|today|tonight|tomorrow)\b"
    rf"|{_NUMBER_WORDS}\b)",
    re.IGNORECASE,
)
"""An amount, a number or a time at the start of a value."""
_PLACE_TAIL: Final = re.compile(r",\s+(?!(?:the\s+)?[A-Z\u00c0-\u00de])")
"""A comma before a word without a capital: "Los Angeles, born"."""


_HOURS: Final = re.compile(r"^(?:morning|afternoon|evening|night|day)s? (?=[a-z])", re.IGNORECASE)
"""When the work of a role is done: "night nurse"."""


def _is_text(_: str) -> bool:
    return True


def _is_named(value: str, words_max: int) -> bool:
    """Return whether a value is short and holds no clause."""
    return len(value.split()) <= words_max and _CLAUSE.search(value) is None and _LEADING.match(value) is None


def _is_person(value: str) -> bool:
    words = [word.strip("\"'“”()") for word in value.split()]
    if len(words) > _NAME_WORDS or "," in value or any(character.isdigit() for character in value):
        return False
    if len(words) == 1:
        return words[0].casefold() not in _NO_NAMES
    free = [word for word in words if word.casefold() not in _SMALL_IN_NAMES]
    return _CLAUSE.search(value) is None and not _NO_NAMES & {word.casefold() for word in free}


def _is_place(value: str) -> bool:
    bare = _DETERMINER.sub("", value).casefold()
    inside = bare.rpartition(" ")[2] in _INNER_PLACES and value.rpartition(" ")[2].islower()
    named = _is_named(value, _PLACE_WORDS) and bare not in _GENERIC_PLACES and not inside
    return named and _PLACE_TAIL.search(value) is None


def _is_organisation(value: str) -> bool:
    bare = _DETERMINER.sub("", value).casefold()
    return _is_named(value, _PLACE_WORDS) and bare not in _GENERIC_EMPLOYERS and bare not in _NO_NAMES


def _is_role(value: str) -> bool:
    return _is_named(value, _ROLE_WORDS) and not is_measure(_HOURS.sub("", value))


def _is_substance(value: str) -> bool:
    return _is_named(value, _THING_WORDS) and _DAYS.fullmatch(value) is None and not _is_bare_amount(value)


def _is_bare_amount(value: str) -> bool:
    """Return whether a value is a number or a dose and names nothing: "1000", "40 mg", "two tablets a day"."""
    return _AMOUNT_WORDS.issuperset(_LETTERS.findall(_QUANTITY.sub(" ", value.casefold())))


def _is_age(value: str) -> bool:
    found = _AGE.fullmatch(value)
    return found is not None and not (found["number"].isdigit() and int(found["number"]) > _AGE_MAX)


def _is_day(value: str) -> bool:
    return len(value.split()) <= _DAY_WORDS and _DAY.search(value) is not None


def _is_number(value: str) -> bool:
    return any(character.isdigit() for character in value)


_VALIDATORS: Final[Mapping[str, Callable[[str], bool]]] = {
    "text": _is_text,
    "person": _is_person,
    "place": _is_place,
    "address": lambda value: _CLAUSE.search(value) is None,
    "organisation": _is_organisation,
    "role": _is_role,
    "substance": _is_substance,
    "medicine": lambda value: _is_substance(_REGIME.sub("", value)),
    "condition": lambda value: (
        len(value.split()) <= _STATE_WORDS and _CLAUSE.search(value) is None and not _is_bare_amount(value)
    ),
    "diet": lambda value: _is_substance(_EATING.sub("", value)),
    "age": _is_age,
    "day": _is_day,
    "amount": lambda value: _QUANTITY.search(value) is not None,
    "number": _is_number,
    "email": lambda value: _EMAIL.fullmatch(value) is not None,
    _PRONOUNS: lambda value: _PRONOUN_LIST.fullmatch(value.casefold()) is not None,
}


def _has_several_scripts(value: str) -> bool:
    """Return whether the letters of a value come from more than one script: "Graz Пожалуйста"."""
    scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in value if letter.isalpha()}
    return len(scripts - {"CJK", "HIRAGANA", "KATAKANA", "HANGUL"}) > 1 or (
        "LATIN" in scripts and not scripts.isdisjoint({"CJK", "HIRAGANA", "KATAKANA", "HANGUL"})
    )
