"""Guards of the broad patterns: accept or reject a sentence that matches no specific pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from credenda.write.extract import checks
from credenda.write.extract.checks import Situation
from credenda.write.extract.lexicon import expression, is_common, lexicon, names
from credenda.write.extract.shapes import (
    NOUN_WORDS,
    PHRASE_WORDS,
    SHORT_WORDS,
    TASTE_WORDS,
    is_capital,
    is_date,
    is_free,
    is_known,
    is_marked,
    is_meant,
    is_participle,
    is_plan,
    is_shape,
    is_short,
    points_away,
    word_count,
)
from credenda.write.extract.values import Value

__all__ = ["holds", "may_hold"]

_RECENT: Final = frozenset(
    {"wake", "try", "see", "hear", "spend", "chat", "catch", "post", "share", "upload", "attach"}
)
_ACHIEVING: Final = frozenset(
    {"have", "get", "become", "lose", "give", "find", "make", "switch", "move", "take", "start"}
)
_IS_NUMBER: Final = re.compile(
    r"(?:is|turn) (?:only |just |already |now )?\d{1,2}(?: now| today| yesterday| (?:last|this|next) \w+)?"
)
_AMOUNTS: Final = frozenset(
    ["size", "number", "count", "age", "amount", "total", "score", "capacity", "limit", "length", "width", "weight"]
)
_TEXTS: Final = frozenset(
    "title heading headings sentence sentences word words chapter poem stories lyrics song letters names".split()  # noqa: SIM905
)
_OWNING: Final = frozenset({"own", "maintain", "lead", "manage", "handle", "approve", "review", "use", "run", "prefer"})


def _placed_deep(value: Value, words: int) -> bool:
    """Return whether a value is self-contained and short, and about no task, error or conversation."""
    return (
        is_free(value) and 1 < word_count(value) <= words and not expression("checks", "of_the_talk").search(value.text)
    )


def _routine(value: Value, situation: Situation) -> bool:
    """Accept a routine, also a denied one, unless its verb is transient."""
    predicate = situation.predicate
    regular = situation.scoped or expression("checks", "regular").search(predicate.said) is not None
    lacking = predicate.verb == "have" and predicate.negated
    vague = predicate.verb in names().passing and not (regular or lacking)
    talk = predicate.verb == "is" or predicate.verb in names().talk
    loose = predicate.tense != "simple" or not predicate.cues.isdisjoint({"can", "degree"})
    if vague or talk or loose:
        return False
    return _placed_deep(value, PHRASE_WORDS)


def _standing(value: Value, situation: Situation) -> bool:
    """Accept a lasting trait: a kind of person, no mood or momentary state."""
    moods = expression("checks", "mood").search(value.text)
    return (
        moods is None
        and "degree" not in situation.predicate.cues
        and is_free(value)
        and word_count(value) <= SHORT_WORDS
    )


def _technical(value: Value, situation: Situation) -> bool:
    """Accept a setting of the work: a number, a name, a duration; nothing about the code in the conversation."""
    if '"' in situation.predicate.text:
        return False
    if situation.subject.who == "plural" and not expression("checks", "real_plural").match(situation.subject.entity):
        return False
    noun = situation.subject.noun.casefold() or situation.subject.entity.casefold()
    if expression("checks", "of_the_talk").search(noun) or noun in names().skip_nouns or not _is_short_phrase(value):
        return False
    return is_marked(value) or is_known(value) or expression("checks", "measured").search(value.text) is not None


def _is_short_phrase(value: Value) -> bool:
    return is_free(value) and word_count(value) <= TASTE_WORDS


def _placed(value: Value, situation: Situation) -> bool:
    """Accept the place of a possession; a mood is no place."""
    noun = situation.subject.noun.casefold()
    own = situation.subject.who == "own" or " " in noun
    vague = noun in names().skip_nouns or expression("checks", "of_the_talk").search(noun) or names().kin_noun(noun)
    figure = expression("checks", "no_place").search(value.text)
    return own and not vague and figure is None and is_free(value) and word_count(value) <= SHORT_WORDS


def _quantity(value: Value, situation: Situation) -> bool:
    noun = situation.subject.noun.casefold()
    talk = expression("checks", "of_the_talk").search(noun) or noun in names().skip_nouns
    return not talk and word_count(value) <= TASTE_WORDS


def _able(value: Value, situation: Situation) -> bool:
    """Accept an ability of the speaker alone; "we can play together" is a proposal."""
    return "can" in situation.predicate.cues and not situation.subject.group and is_free(value)


def _code_language(value: Value, situation: Situation) -> bool:
    """Accept the language of a made thing; "my favourite language is …" has its own pattern."""
    noun = situation.subject.noun.casefold()
    taste = situation.attribute.name in noun or "language" in noun or noun.startswith(("favo", "preferred"))
    somebody = names().kin_noun(noun) is not None and " in " not in situation.predicate.text
    return not (taste or somebody) and lexicon().category(value.text) in {"language", "framework"}


def _hedged_plan(value: Value, situation: Situation) -> bool:
    predicate = situation.predicate
    return "perhaps" in predicate.cues and predicate.verb not in names().talk and is_plan(value)


def _effect(value: Value, situation: Situation) -> bool:
    subject = situation.subject.entity.casefold()
    talk = expression("checks", "of_the_talk").search(subject) or expression("checks", "figure").search(value.text)
    if talk or not names().pronouns.isdisjoint(subject.split()) or word_count(value) > TASTE_WORDS:
        return False
    return expression("checks", "real_plural").match(subject) is not None


def _told(value: Value, situation: Situation) -> bool:
    """Accept a self-contained past action; nothing about the conversation or the moment."""
    predicate = situation.predicate
    verb = predicate.verb
    passing = verb in names().talk or verb in names().mental or verb in names().passing or verb in _RECENT
    vague = names().vague_happenings.match(predicate.said) or expression("checks", "definite").search(value.text)
    return not passing and not vague and "degree" not in predicate.cues and _placed_deep(value, PHRASE_WORDS)


def _person_told(value: Value, situation: Situation) -> bool:
    predicate = situation.predicate
    verb = predicate.verb
    passing = verb in names().talk or (verb in names().mental and verb not in _ACHIEVING) or verb in _RECENT
    person = situation.subject.who == "person" and "degree" not in predicate.cues
    return person and not passing and is_free(value) and word_count(value) <= PHRASE_WORDS


def _own_told(value: Value, situation: Situation) -> bool:
    """Accept an action of a possession; nothing about its momentary state."""
    noun, verb = situation.subject.noun.casefold(), situation.predicate.verb
    talk = expression("checks", "of_the_talk").search(noun) or noun in names().skip_nouns
    passing = verb == "is" or verb in names().talk or verb in names().mental
    return not talk and not passing and noun.count(" ") < NOUN_WORDS and _placed_value(value)


def _placed_value(value: Value) -> bool:
    return is_free(value) and word_count(value) <= TASTE_WORDS and not expression("checks", "figure").search(value.text)


def _technical_told(value: Value, situation: Situation) -> bool:
    """Accept an action of a work or household thing that a second word identifies: "the payments team"."""
    subject = situation.subject
    name = subject.noun or subject.entity
    verb = situation.predicate.verb
    listed = name.casefold().rpartition(" ")[2] in names().the_nouns or names().kin_noun(name.rpartition(" ")[2])
    named = subject.who == "name" and verb in _OWNING
    passing = verb == "is" or verb in names().talk or verb in names().mental
    quoted = '"' in situation.predicate.text
    talk = quoted or expression("checks", "of_the_talk").search(name) or name.casefold() in names().skip_nouns
    return not talk and not passing and bool(" " in name or listed or named) and _placed_value(value)


def _identified(value: Value, situation: Situation) -> bool:
    """Accept an address, a path or a code of a work thing; "height-adjustable" is none."""
    noun = situation.subject.noun.casefold()
    return (
        not is_shape("quality", value.raw)
        and not expression("checks", "of_the_talk").search(noun)
        and noun not in names().skip_nouns
    )


def _counts(value: Value, situation: Situation) -> bool:
    """Return whether a bare number is a count, not an hour: "the size of our team is six"."""
    return situation.subject.noun.casefold() in _AMOUNTS and value.text.replace(" ", "").isalnum()


def _is_age_of_person(value: Value, situation: Situation) -> bool:
    """Return whether a bare number is the age of a person with a name, and not the hour of a meeting."""
    name = situation.subject.entity
    told = situation.subject.who == "name" and _IS_NUMBER.fullmatch(situation.predicate.text) is not None
    return told and value.text.isdigit() and name.isalpha() and not is_common(name.lower())


def _is_of_the_work(situation: Situation) -> bool:
    """Return whether a subject identifies a thing, and not the conversation."""
    noun = (situation.subject.noun or situation.subject.entity).casefold()
    plural = situation.subject.who != "plural" or expression("checks", "real_plural").match(situation.subject.entity)
    text = _TEXTS.isdisjoint(noun.split(" "))
    return (
        bool(plural)
        and text
        and expression("checks", "of_the_talk").search(noun) is None
        and noun not in names().skip_nouns
    )


def _let_go(value: Value, _: Situation) -> bool:
    return is_free(value) and word_count(value) <= NOUN_WORDS


_GENERAL: Final[Mapping[str, Callable[[Value, Situation], bool]]] = {
    "hedged_plan": _hedged_plan,
    "number_word": lambda value, _: is_marked(value) or expression("checks", "measured").search(value.text) is not None,
    "lacks": lambda value, situation: situation.predicate.negated and checks.holds("possession", value, situation),
    "able": _able,
    "unable": lambda value, situation: (
        "can" in situation.predicate.cues and situation.predicate.negated and _placed_deep(value, PHRASE_WORDS)
    ),
    "home": lambda value, situation: situation.subject.noun.casefold() == "home" and is_capital(value),
    "code_language": _code_language,
    "dated_ahead": lambda value, situation: (
        situation.subject.who == "person" and situation.dated_ahead and is_plan(value)
    ),
    "effect": _effect,
    "told": _told,
    "person_told": _person_told,
    "own_told": _own_told,
    "own_has": lambda value, situation: (
        situation.subject.noun.casefold() not in names().skip_nouns and checks.holds("possession", value, situation)
    ),
    "technical_told": _technical_told,
    "always": lambda value, _: bool(value.text),
    "only": lambda value, situation: (
        "only" in situation.predicate.cues and not situation.predicate.negated and _placed_deep(value, TASTE_WORDS)
    ),
    "intended": lambda value, situation: not situation.predicate.negated and is_meant(value) and not points_away(value),
    "group": lambda value, situation: situation.subject.group and _placed_deep(value, TASTE_WORDS),
    "known_now": lambda value, situation: is_known(value) and not situation.dated_ahead,
    "date": lambda value, situation: (
        is_date(value) and not _counts(value, situation) and not _is_age_of_person(value, situation)
    ),
    "age_of_a_person": _is_age_of_person,
    "identifier": _identified,
    "until": lambda _, situation: situation.bounded and situation.subject.noun.casefold() not in names().skip_nouns,
    "bare_role": lambda value, _: (
        value.text.rpartition(" ")[2] in names().roles and value.text not in names().not_roles
    ),
    "naming": lambda value, situation: is_short(value) and is_free(value) and _is_of_the_work(situation),
    "free": lambda value, _: is_free(value),
    "ended_only": lambda value, situation: situation.predicate.ended and bool(value.text),
    "let_go": _let_go,
    "gone": lambda value, situation: situation.predicate.ended and _let_go(value, situation),
    "died": lambda _, situation: situation.subject.who == "name" or situation.subject.noun != "",
    "standing": _standing,
    "cannot": lambda value, situation: (
        situation.predicate.negated and "can" in situation.predicate.cues and is_meant(value)
    ),
    "routine": _routine,
    "technical": _technical,
    "placed": _placed,
    "quantity": _quantity,
    "wished": lambda value, _: is_shape("article", value.raw) or word_count(value) > 1,
    "perhaps": lambda value, situation: (
        is_free(value) and (situation.predicate.verb not in names().passing or situation.predicate.verb in _ACHIEVING)
    ),
}


def _is_ended(situation: Situation) -> bool:
    return situation.predicate.ended


def _is_of_a_person(situation: Situation) -> bool:
    return situation.subject.who == "person"


def _is_habitual(situation: Situation) -> bool:
    predicate = situation.predicate
    return predicate.ended or not predicate.cues.isdisjoint({"always", "never", "usually"})


def _is_regular(situation: Situation) -> bool:
    predicate = situation.predicate
    return predicate.tense == "simple" and predicate.verb != "is" and predicate.verb not in names().talk


def _is_told(situation: Situation) -> bool:
    verb = situation.predicate.verb
    return verb not in names().talk and verb not in names().mental


_EXPECTED: Final[Mapping[str, Callable[[Situation], bool]]] = {
    "ended_only": _is_ended,
    "gone": _is_ended,
    "person_told": _is_of_a_person,
    "happening": lambda situation: situation.dated_past,
    "only": lambda situation: "only" in situation.predicate.cues,
    "routine": _is_regular,
    "told": _is_told,
    "habit": _is_habitual,
}
"""The conditions of a check apart from the value."""


def may_hold(check: str, situation: Situation) -> bool:
    """Return whether a check can accept any value. Cheap."""
    expected = _EXPECTED.get(check)
    return expected is None or expected(situation)


def _plain_name(value: Value) -> bool:
    """Return whether a word of an uncapitalised sentence may be a name: no known thing, verb or common noun."""
    words = value.raw.split(" ")
    plain = len(words) <= 2 and all(word.isalpha() for word in words)  # noqa: PLR2004 - a name and a surname
    everyday = expression("checks", "everyday").search(value.text) or is_known(value) or is_participle(value.text)
    everyday = everyday or is_shape("not_employer", value.raw)
    return plain and value.raw == value.text and not everyday and is_free(value) and words[0] not in names().never_names


def holds(check: str, value: Value, situation: Situation) -> bool:
    """Return whether a value passes a named check of the pattern files."""
    if situation.lower and check in {"place", "org", "name", "capital"} and _plain_name(value):
        return True
    general = _GENERAL.get(check)
    return checks.holds(check, value, situation) if general is None else general(value, situation)
