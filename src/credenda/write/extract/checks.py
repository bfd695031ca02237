"""Checks of the form of a value; they reject wrong matches of patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from credenda.model.attributes import AttributeSchema
from credenda.write.extract.lexicon import lexicon, names
from credenda.write.extract.predicates import Predicate
from credenda.write.extract.shapes import (
    BY_VALUE,
    LONG_WORDS,
    NOUN_WORDS,
    PHRASE_WORDS,
    SHORT_WORDS,
    is_capital,
    is_choice,
    is_date,
    is_deed,
    is_marked,
    is_meant,
    is_name,
    is_number,
    is_opinion,
    is_participle,
    is_person,
    is_plan,
    is_role,
    is_shape,
    is_short,
    is_taste,
    is_tool,
    is_trait,
    is_weighty,
    word_count,
)
from credenda.write.extract.subjects import Subject
from credenda.write.extract.values import Value

__all__ = ["Situation", "holds", "is_hollow", "nominal"]

_CONCRETE: Final = frozenset({"phone", "car", "job_title", "desk", "school", "browser", "dream", "shell", "repository"})
"""Things that also have states: "my phone is dead" gives no number."""
_SETTINGS: Final = frozenset({"port", "timeout", "limit", "quota", "threshold", "fee", "price", "version", "target"})
_NOMINAL: Final = {
    "deployment": "deployment",
    "deploy": "deployment",
    "release": "release",
    "ship": "release",
    "build": "build",
    "publication": "publication",
    "publish": "publication",
}


class Situation(NamedTuple):
    """The data beside the value that a check may use."""

    subject: Subject
    predicate: Predicate
    attribute: AttributeSchema
    dated_past: bool = False
    dated_ahead: bool = False
    bounded: bool = False
    left_before: bool = False
    short: bool = False
    lower: bool = False
    scoped: bool = False


def _used(value: Value, situation: Situation) -> bool:
    """Accept a tool; any other value only as a habit."""
    habit = situation.predicate.tense == "simple" or "always" in situation.predicate.cues
    return is_tool(value) or (habit and is_short(value) and not value.raw.lower().startswith("the "))


def _own(value: Value, situation: Situation) -> bool:
    """Accept "my X is Y" if X is a slot of a person and Y more than a mood."""
    noun, attribute = situation.subject.noun.casefold(), situation.attribute
    passing = "degree" in situation.predicate.cues or noun in names().skip_nouns or is_participle(value.raw)
    if (
        passing
        or "," in noun
        or noun.count(" ") >= NOUN_WORDS
        or not is_meant(value)
        or word_count(value) > PHRASE_WORDS
    ):
        return False
    if not attribute.known and is_shape("article", value.raw) and is_role(value.text):
        return False  # "my better half is a nurse" is of somebody else
    if attribute.name == "age" and value.raw.startswith(("my ", "the ", "a ", "an ")):
        return False
    if names().skip_values.match(value.raw):
        return attribute.name in {"goal", "dream"} and value.raw.startswith("to ")
    plain = (attribute.known and attribute.name not in _CONCRETE) or is_shape("valued_noun", noun)
    role = attribute.name == "job_title" and is_role(value.text)
    return (
        plain or role or noun.startswith(("favourite", "favorite", "preferred", "fav ", "fave ")) or is_weighty(value)
    )


def _the(value: Value, situation: Situation) -> bool:
    """Accept "the X of Y is Z" for slots of things, and "the X is Z" for a few of them."""
    subject, attribute = situation.subject, situation.attribute
    noun = subject.noun.casefold()
    listed = noun.rpartition(" ")[2] in names().the_nouns
    mood = "degree" in situation.predicate.cues or names().skip_values.match(value.raw) is not None
    if mood or not is_short(value):
        return False
    if subject.entity and is_shape("quality_noun", noun):
        return is_meant(value)
    if subject.entity:
        return (attribute.known or listed or subject.entity[0].isupper()) and (is_marked(value) or attribute.known)
    moved = not situation.predicate.cues.isdisjoint({"now", "changed"})
    told = moved and is_number(value) and not is_shape("of_the_talk", noun)
    if told or (listed and (" " in noun or noun in _SETTINGS)):
        return is_marked(value)
    return attribute.known and (is_marked(value) or lexicon().category(value.text) == attribute.name)


def _happening(value: Value, situation: Situation) -> bool:
    rest = value.text.partition(" ")[2]
    vague = names().vague_happenings.match(value.text) or names().pointing.fullmatch(rest)
    told = situation.dated_past and not situation.predicate.negated
    return told and 1 < word_count(value) <= LONG_WORDS and not vague


def _habit(value: Value, situation: Situation) -> bool:
    """Accept a habit: "always", "never", "usually", or one that has ended."""
    predicate = situation.predicate
    lasting = predicate.ended or not predicate.cues.isdisjoint({"always", "never", "usually"})
    return lasting and predicate.tense == "simple" and predicate.verb not in names().mental and is_opinion(value)


def _located(value: Value, situation: Situation) -> bool:
    listed = situation.subject.noun.casefold().rpartition(" ")[2] in names().the_nouns
    return not is_date(value) and (is_capital(value) or (listed and word_count(value) <= SHORT_WORDS))


def _our_role(_: Value, situation: Situation) -> bool:
    return not situation.attribute.known and is_role(situation.attribute.name.replace("_", " "))


def _kin_name(value: Value, situation: Situation) -> bool:
    noun = situation.subject.noun
    kin = names().kin_noun(noun) or names().kin_noun(noun.split(" ")[-1])
    called = " called " in f"{situation.predicate.text} " or " named " in f"{situation.predicate.text} "
    return kin is not None and (is_person(value) or (called and is_name(value) and not is_trait(value)))


def _of_kin(_: Value, situation: Situation) -> bool:
    return names().kin_noun(situation.subject.noun.split(" ")[-1]) is not None


def _married(_: Value, situation: Situation) -> bool:
    return any(word in situation.predicate.text for word in ("married", "engaged", "marry"))


def _job_noun(value: Value, situation: Situation) -> bool:
    return situation.attribute.name in {"job_title", "employer"} and is_capital(value)


_BY_SITUATION: Final[Mapping[str, Callable[[Value, Situation], bool]]] = {
    "used": _used,
    "own": _own,
    "the": _the,
    "happening": _happening,
    "habit": _habit,
    "located": _located,
    "our_role": _our_role,
    "kin_name": _kin_name,
    "married": _married,
    "of_kin": _of_kin,
    "of_one": lambda _, situation: not situation.subject.group,
    "job_noun": _job_noun,
    "introduction": lambda value, situation: situation.short and is_person(value),
    "appointment": lambda value, situation: not situation.dated_past and is_date(value),
    "dated_plan": lambda value, situation: situation.dated_ahead and is_plan(value),
    "undone": lambda value, situation: situation.predicate.negated and is_meant(value),
    "negated": lambda value, situation: situation.predicate.negated and is_meant(value),
    "refused": lambda value, situation: situation.predicate.negated and is_choice(value),
    "after_leaving": lambda value, situation: situation.left_before and is_capital(value),
    "bounded": lambda _, situation: situation.bounded or " until " in situation.predicate.text,
    "nominal": lambda _, situation: nominal(situation.subject.noun) is not None,
    "person_does": lambda value, situation: situation.subject.who == "person" and is_deed(value),
    **dict.fromkeys(
        ("unwanted", "not_wanted"), lambda value, situation: situation.predicate.negated and is_taste(value)
    ),
    "maybe": lambda value, situation: situation.predicate.verb not in names().mental and is_deed(value),
}


def nominal(word: str) -> str | None:
    """Return the noun of an activity, from its verb or its plural: "deploy" and "deployments" are a deployment."""
    return _NOMINAL.get(word.casefold().split(" ")[-1].removesuffix("s"))


def holds(check: str, value: Value, situation: Situation) -> bool:
    """Return whether a value passes a named check of the pattern files."""
    by_value = BY_VALUE.get(check)
    return by_value(value) if by_value is not None else _BY_SITUATION[check](value, situation)


_CONNECTIVES: Final = frozenset(
    {
        *("though", "although", "however", "but", "and", "or", "so", "because"),
        *("since", "unless", "until", "while", "whereas", "if", "then", "than"),
        *("thus", "hence", "therefore", "still", "yet", "too", "also", "either"),
        *("neither", "nor", "anyway", "anyhow", "besides", "instead", "otherwise", "meanwhile"),
        *("moreover", "furthermore", "nevertheless", "nonetheless", "regardless", "again", "maybe", "perhaps"),
        *("indeed", "actually", "really", "honestly", "basically", "apparently"),
    }
)
"""Conjunctions and adverbs that join sentences: a closed class, of which no word is anybody's anything."""
_ANOTHER: Final = re.compile(
    r"(?:(?:a|an|the|some|quite)\s+)*(?:different|another|other)\s+(?P<noun>[\w'-]+)", re.IGNORECASE
)
_JUDGED: Final = frozenset({"right", "wrong", "well", "badly", "wisely", "correctly", "poorly", "the right one"})
"""Words that say how somebody chose, and not which: "I finally picked right"."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_OF_ANY_KIND: Final = frozenset({"one", "ones", "thing", "things"})


def is_hollow(value: str | None, attribute: str | None) -> bool:
    """Say whether a value names nothing, so that nobody could answer with it.

    >>> is_hollow("though", None), is_hollow("different provider", "provider"), is_hollow("another one", "dentist")
    (True, True, True)
    >>> is_hollow("Then", "favourite_song") or is_hollow("different shifts", "work_schedule")
    False
    """
    if value is None:
        return False
    words = _WORD.findall(value)
    if words and value.islower() and all(word in _CONNECTIVES for word in words):
        return True
    if attribute == "decision" and value.casefold().strip(" .,!") in _JUDGED:
        return True
    found = _ANOTHER.fullmatch(value.strip().rstrip(".,!"))
    if found is None:
        return False
    noun = found["noun"].casefold()
    return noun in _OF_ANY_KIND or noun in (attribute or "").casefold().split("_")
