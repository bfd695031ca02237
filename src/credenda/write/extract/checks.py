"""What a value must look like for a pattern to hold: this is what keeps junk out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from credenda.write.extract.lexicon import Attribute, expression, lexicon, names
from credenda.write.extract.predicates import Predicate
from credenda.write.extract.subjects import Subject
from credenda.write.extract.values import Value

__all__ = ["Situation", "holds", "is_free", "is_role", "nominal"]

_SHORT: Final = 6
_TASTE: Final = 9
_PHRASE: Final = 14
_LONG: Final = 25
_NOUN_WORDS: Final = 4
_ROLE_LETTERS: Final = 5
_ASIDE_WORDS: Final = frozenset({"about", "as", "to", "that", "my", "your", "how", "this", "if", "not"})
_CONCRETE: Final = frozenset(
    {"phone", "car", "job_title", "desk", "school", "browser", "username", "dream", "shell", "repository"}
)
"""Things that also have states: "my phone is dead" gives no number."""
_NOMINAL: Final = {
    "deployment": "deployment",
    "deploy": "deployment",
    "release": "release",
    "ship": "release",
    "build": "build",
    "publication": "publication",
    "publish": "publication",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a check may look at beside the value."""

    subject: Subject
    predicate: Predicate
    attribute: Attribute
    dated_past: bool = False
    dated_ahead: bool = False
    bounded: bool = False
    left_before: bool = False
    short: bool = False


def _words(value: Value) -> int:
    return value.text.count(" ") + 1


def _is(shape: str, text: str) -> bool:
    """Say whether a text begins with, or for whole shapes is, a shape of `checks.toml`."""
    return expression("checks", shape).match(text) is not None


def _points(value: Value) -> bool:
    return expression("checks", "points").search(value.text) is not None


def is_free(value: Value) -> bool:
    """Say whether a value means something by itself and points nowhere."""
    return _free(value) and not _points(value)


def _free(value: Value) -> bool:
    return bool(value.text) and names().pointing.match(value.raw) is None


def _marked(value: Value) -> bool:
    """Say whether a value has a capital or a digit, as names and numbers do."""
    return any(letter.isdigit() or letter.isupper() for letter in value.text)


def _courtesy(name: str, value: Value) -> bool:
    return expression("acts", "pleasantry", name).match(value.raw) is not None


def is_role(text: str) -> bool:
    """Say whether a noun phrase names what someone does or is: "backend engineer", "nurse in Graz"."""
    head = expression("checks", "head_end").split(text, maxsplit=1)[0].strip().casefold()
    words = head.split(" ")
    last = words[-1].removesuffix(".")
    excluded = {head, last} & names().not_roles or not _ASIDE_WORDS.isdisjoint(words)
    if not head or excluded or len(words) > _SHORT:
        return False
    return last in names().roles or (len(last) >= _ROLE_LETTERS and last.endswith(names().role_suffixes))


def _is_known(value: Value) -> bool:
    return lexicon().category(value.text) is not None


def _is_capital(value: Value) -> bool:
    return _is("capital", value.raw) and _words(value) <= _SHORT and not _is_known(value)


def _is_employer(value: Value) -> bool:
    named = _is("capital", value.raw) or _is("article", value.raw)
    return named and _words(value) <= _SHORT and not _is("not_employer", value.raw)


def _is_name(value: Value) -> bool:
    return _is("name", value.text) and value.text.split()[0].strip(",").casefold() not in names().never_names


def _is_short(value: Value) -> bool:
    return _free(value) and _words(value) <= _SHORT


def _is_date(value: Value) -> bool:
    return expression("checks", "date_like").search(value.text) is not None and _words(value) <= _PHRASE


def _is_number(value: Value) -> bool:
    return any(letter.isdigit() for letter in value.text)


def _is_tool(value: Value) -> bool:
    return _is_known(value) or (_free(value) and _is("tool", value.text))


def _is_taste(value: Value) -> bool:
    if not is_free(value) or _words(value) > _TASTE:
        return False
    lasting = value.raw.lower().startswith("being ") or _courtesy("lasting", value)
    return lasting or not _courtesy("objects", value)


def _is_trait(value: Value) -> bool:
    return value.text.casefold() in names().traits


def _is_person(value: Value) -> bool:
    """Say whether a value is a person's name rather than a nation, a tool or a weekday."""
    return _is_name(value) and not _is_known(value) and not _is_trait(value)


def _is_opinion(value: Value) -> bool:
    return 1 < _words(value) <= _PHRASE and not _points(value)


def _is_possession(value: Value) -> bool:
    """Say whether something had is had for long: no headache, no question, no function."""
    return is_free(value) and _words(value) <= _SHORT and not expression("checks", "passing_goods").search(value.text)


def _is_deed(value: Value) -> bool:
    return 1 < _words(value) <= _TASTE and not _points(value)


def _is_choice(value: Value) -> bool:
    return is_free(value) and _words(value) <= _LONG


def _is_plan(value: Value) -> bool:
    return is_free(value) and " " in value.raw and _words(value) <= _PHRASE


def _is_participle(text: str) -> bool:
    """Say whether a value begins with what is done or being done: "handled in …", "killing me"."""
    form = lexicon().forms.get(text.split(" ", 1)[0])
    return form is not None and not form.kinds.isdisjoint({"participle", "gerund"})


def _is_weighty(value: Value) -> bool:
    """Say whether a value of an unknown slot looks like a name, a number or a thing rather than a mood."""
    return _marked(value) or _is_known(value) or (_is("article", value.raw) and _words(value) <= _SHORT)


def _used(value: Value, situation: Situation) -> bool:
    """Accept a tool; anything else only where it is said as a habit."""
    habit = situation.predicate.tense == "simple" or "always" in situation.predicate.cues
    return _is_tool(value) or (habit and _is_short(value) and not value.raw.lower().startswith("the "))


def _own(value: Value, situation: Situation) -> bool:
    """Accept "my X is Y" where X is a slot of the person and Y more than a mood."""
    noun, attribute = situation.subject.noun.casefold(), situation.attribute
    passing = "degree" in situation.predicate.cues or noun in names().skip_nouns or _is_participle(value.raw)
    if passing or "," in noun or noun.count(" ") >= _NOUN_WORDS or not _free(value) or _words(value) > _PHRASE:
        return False
    if names().skip_values.match(value.raw):
        return attribute.name in {"goal", "dream"} and value.raw.startswith("to ")
    plain = attribute.known and attribute.name not in _CONCRETE
    role = attribute.name == "job_title" and is_role(value.text)
    return plain or role or noun.startswith(("favourite", "favorite", "preferred")) or _is_weighty(value)


def _the(value: Value, situation: Situation) -> bool:
    """Accept "the X of Y is Z" for slots that things have, and "the X is Z" for few."""
    subject, attribute = situation.subject, situation.attribute
    noun = subject.noun.casefold()
    listed = noun.rpartition(" ")[2] in names().the_nouns
    mood = "degree" in situation.predicate.cues or names().skip_values.match(value.raw) is not None
    if mood or not _is_short(value):
        return False
    if subject.entity:
        return (attribute.known or listed or subject.entity[0].isupper()) and (_marked(value) or attribute.known)
    if listed and " " in noun:
        return _marked(value)
    return attribute.known and (_marked(value) or lexicon().category(value.text) == attribute.name)


def _happening(value: Value, situation: Situation) -> bool:
    rest = value.text.partition(" ")[2]
    vague = names().vague_happenings.match(value.text) or names().pointing.fullmatch(rest)
    told = situation.dated_past and not situation.predicate.negated
    return told and 1 < _words(value) <= _LONG and not vague


def _habit(value: Value, situation: Situation) -> bool:
    """Accept a habit: "always", "never", "usually", or one that is given up."""
    predicate = situation.predicate
    lasting = predicate.ended or not predicate.cues.isdisjoint({"always", "never", "usually"})
    return lasting and predicate.tense == "simple" and predicate.verb not in names().mental and _is_opinion(value)


def _located(value: Value, situation: Situation) -> bool:
    listed = situation.subject.noun.casefold().rpartition(" ")[2] in names().the_nouns
    return not _is_date(value) and (_is_capital(value) or (listed and _words(value) <= _SHORT))


def _our_role(_: Value, situation: Situation) -> bool:
    return not situation.attribute.known and is_role(situation.attribute.name.replace("_", " "))


def _kin_name(value: Value, situation: Situation) -> bool:
    return names().kin_noun(situation.subject.noun.split(" ")[-1]) is not None and _is_person(value)


def _married(_: Value, situation: Situation) -> bool:
    return any(word in situation.predicate.text for word in ("married", "engaged", "marry"))


def _job_noun(value: Value, situation: Situation) -> bool:
    return situation.attribute.name in {"job_title", "employer"} and _is_capital(value)


def _placed_deep(value: Value, words: int) -> bool:
    """Say whether a value stands by itself, is not too long, and speaks of no task, error or talk."""
    return is_free(value) and 1 < _words(value) <= words and not expression("checks", "of_the_talk").search(value.text)


def _routine(value: Value, situation: Situation) -> bool:
    """Accept what one regularly does, in a verb that is not about the moment; a denial of it too."""
    predicate = situation.predicate
    regular = expression("checks", "regular").search(predicate.said) is not None
    lacking = predicate.verb == "have" and predicate.negated
    vague = predicate.verb in names().passing and not (regular or lacking)
    talk = predicate.verb == "is" or predicate.verb in names().talk
    loose = predicate.tense != "simple" or not predicate.cues.isdisjoint({"can", "degree"})
    if vague or talk or loose:
        return False
    return _placed_deep(value, _PHRASE)


def _person_routine(value: Value, situation: Situation) -> bool:
    """Accept what a person regularly does, in verbs of doing."""
    verb = situation.predicate.verb
    talk = verb in names().talk or verb in names().mental or verb in names().passing
    return situation.subject.who == "person" and not talk and _placed_deep(value, _TASTE)


def _standing(value: Value, situation: Situation) -> bool:
    """Accept what one is for good: a kind of person, no mood and nothing said of the moment."""
    moods = expression("checks", "mood").search(value.text)
    return moods is None and "degree" not in situation.predicate.cues and is_free(value) and _words(value) <= _SHORT


def _technical(value: Value, situation: Situation) -> bool:
    """Accept what is set about a thing of the work: a number, a name, a span of time; nothing about code at hand."""
    noun = situation.subject.noun.casefold() or situation.subject.entity.casefold()
    if expression("checks", "of_the_talk").search(noun) or noun in names().skip_nouns or not _is_short_phrase(value):
        return False
    return _marked(value) or _is_known(value) or expression("checks", "measured").search(value.text) is not None


def _is_short_phrase(value: Value) -> bool:
    return is_free(value) and _words(value) <= _TASTE


def _placed(value: Value, situation: Situation) -> bool:
    """Accept where a thing of one's own is; moods are no places."""
    noun = situation.subject.noun.casefold()
    own = situation.subject.who == "own" or " " in noun
    vague = noun in names().skip_nouns or expression("checks", "of_the_talk").search(noun) or names().kin_noun(noun)
    figure = expression("checks", "no_place").search(value.text)
    return own and not vague and figure is None and is_free(value) and _words(value) <= _SHORT


def _quantity(value: Value, situation: Situation) -> bool:
    noun = situation.subject.noun.casefold()
    talk = expression("checks", "of_the_talk").search(noun) or noun in names().skip_nouns
    return not talk and _words(value) <= _TASTE


def _let_go(value: Value, _: Situation) -> bool:
    return is_free(value) and _words(value) <= _NOUN_WORDS


_BY_VALUE: Final[Mapping[str, Callable[[Value], bool]]] = {
    "": lambda value: _free(value) and _words(value) <= _PHRASE,
    "role": lambda value: is_role(value.text),
    "capital": _is_capital,
    "place": _is_capital,
    "org": _is_employer,
    "name": _is_name,
    "kin": lambda value: names().kin_noun(value.text.split(" ")[0]) is not None,
    "short": _is_short,
    "date": _is_date,
    "recurring": _is_date,
    "number": _is_number,
    "tool": _is_tool,
    "thing_used": _is_tool,
    "known": _is_known,
    "taste": _is_taste,
    "trait": _is_trait,
    "spoken": lambda value: lexicon().category(value.text) == "spoken_language",
    "food": lambda value: lexicon().category(value.text) == "food",
    "drink": lambda value: lexicon().category(value.text) == "drink",
    "opinion": _is_opinion,
    "possession": _is_possession,
    "does": _is_deed,
    "choice": _is_choice,
    "plan": _is_plan,
}
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
    "job_noun": _job_noun,
    "introduction": lambda value, situation: situation.short and _is_person(value),
    "appointment": lambda value, situation: not situation.dated_past and _is_date(value),
    "dated_plan": lambda value, situation: situation.dated_ahead and _is_plan(value),
    "negated": lambda value, situation: situation.predicate.negated and _free(value),
    "refused": lambda value, situation: situation.predicate.negated and _is_choice(value),
    "after_leaving": lambda value, situation: situation.left_before and _is_capital(value),
    "bounded": lambda _, situation: situation.bounded,
    "nominal": lambda _, situation: nominal(situation.subject.noun) is not None,
    "person_does": lambda value, situation: situation.subject.who == "person" and _is_deed(value),
    "unwanted": lambda value, situation: situation.predicate.negated and _is_taste(value),
    "always": lambda value, _: bool(value.text),
    "free": lambda value, _: is_free(value),
    "let_go": _let_go,
    "gone": lambda value, situation: situation.predicate.ended and _let_go(value, situation),
    "died": lambda _, situation: situation.subject.who == "name" or situation.subject.noun != "",
    "after_changing_school": lambda value, situation: situation.left_before and _is_capital(value),
    "standing": _standing,
    "for_me": lambda _, situation: "me" in situation.predicate.text.split(),
    "cannot": lambda value, situation: (
        situation.predicate.negated and "can" in situation.predicate.cues and _free(value)
    ),
    "routine": _routine,
    "person_routine": _person_routine,
    "technical": _technical,
    "placed": _placed,
    "quantity": _quantity,
    "wished": lambda value, _: _is("article", value.raw) or _words(value) > 1,
    "perhaps": lambda value, situation: situation.predicate.verb not in names().passing and is_free(value),
    "maybe": lambda value, situation: situation.predicate.verb not in names().mental and _is_deed(value),
}


def nominal(word: str) -> str | None:
    """Give the name of what is done, from its verb or its plural: "deploy" and "deployments" are a deployment."""
    return _NOMINAL.get(word.casefold().split(" ")[-1].removesuffix("s"))


def holds(check: str, value: Value, situation: Situation) -> bool:
    """Say whether a value passes a named check of the pattern files."""
    by_value = _BY_VALUE.get(check)
    return by_value(value) if by_value is not None else _BY_SITUATION[check](value, situation)
