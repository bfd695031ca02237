"""What a value must look like for a pattern to hold: this is what keeps junk out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from credenda.write.extract.lexicon import Attribute, lexicon, load_table, names
from credenda.write.extract.predicates import Predicate
from credenda.write.extract.subjects import Subject
from credenda.write.extract.values import Value

__all__ = ["Situation", "holds", "is_free", "is_role", "nominal"]

_SHORT: Final = 6
_TASTE: Final = 9
_LONG: Final = 25
_PHRASE: Final = 14
_ROLE_WORDS: Final = 6
_CAPITAL: Final = re.compile(r"^(?:(?:the|an?) )?[A-Z\d]")
_TOOL: Final = re.compile(r"^[A-Z][\w.+#-]*(?: [\w.+#-]+){0,2}$|^[\w.-]+\.(?:js|io|py|net)$|^[a-z]+-[a-z-]+$")
_NAME: Final = re.compile(r"^[A-Z][\w'-]+(?:(?: |, | and |, and | & )[A-Z][\w'-]+){0,4}$")
_ASIDE_WORDS: Final = frozenset({"about", "as", "to", "that", "my", "your", "how", "this", "if", "not"})
_POINTS: Final = re.compile(r"\b(?:this|that|it|them|these|those|your)\b", re.IGNORECASE)
_ARTICLE: Final = re.compile(r"^(?:an?|the|my|our|\d+) ", re.IGNORECASE)
_DATE_LIKE: Final = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? ?\d|\d ?(?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|\b(?:tomorrow|tonight|noon|midnight|weekends?|(?:next|this) (?:week|month|year|spring|summer|autumn|fall|winter|quarter))\b|\d{4}-\d\d|\b\d{1,2}(?::\d\d)? ?(?:am|pm|o'clock|h\b|utc)|\b\d{1,2}:\d\d\b|\b(?:19|20)\d\d\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b|\b(?:at|by|around) (?:\d|noon|nine|ten|eight|eleven|seven)|\bQ[1-4]\b|\bevery \w+|^\d{1,2}(?::\d\d)?$|\b(?:daily|weekly|monthly|biweekly|fortnightly|quarterly)\b|\b(?:end|start|beginning) of\b",
    re.IGNORECASE,
)
_HEAD_END: Final = re.compile(r"\s(?:in|of|for|with|at|from|who|that|on|by|to|and|specialising|specializing|working)\s|,")
_NOT_ORG: Final = re.compile(r"^(?:home|myself|it|this|that|the moment|least|night|nights|weekends|a (?:while|living)|my own)\b", re.IGNORECASE)


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


def is_free(value: Value) -> bool:
    """Say whether a value means something by itself and points nowhere."""
    return _free(value) and _POINTS.search(value.text) is None


def _free(value: Value) -> bool:
    """Say whether a value means something by itself."""
    return bool(value.text) and names().pointing.match(value.raw) is None


@cache
def _pleasantry(name: str) -> re.Pattern[str]:
    return re.compile(load_table("acts")["pleasantry"][name], re.IGNORECASE)


def is_role(text: str) -> bool:
    """Say whether a noun phrase names what someone does or is: "backend engineer", "nurse in Graz"."""
    head = _HEAD_END.split(text, maxsplit=1)[0].strip().casefold()
    words = head.split(" ")
    if not _ASIDE_WORDS.isdisjoint(words):
        return False
    if not head or len(words) > _ROLE_WORDS or head in names().not_roles or words[-1] in names().not_roles:
        return False
    last = words[-1].removesuffix(".")
    return last in names().roles or (len(last) > 4 and last.endswith(names().role_suffixes))  # noqa: PLR2004


def _role(value: Value, situation: Situation) -> bool:
    del situation
    return is_role(value.text)


def _capital(value: Value, situation: Situation) -> bool:
    del situation
    return _CAPITAL.match(value.raw) is not None and _words(value) <= _SHORT and lexicon().category(value.text) is None


def _org(value: Value, situation: Situation) -> bool:
    del situation
    if _NOT_ORG.match(value.raw):
        return False
    return _words(value) <= _SHORT and (_CAPITAL.match(value.raw) is not None or _ARTICLE.match(value.raw) is not None)


def _name(value: Value, situation: Situation) -> bool:
    del situation
    return _NAME.match(value.text) is not None and value.text.split()[0].strip(",").casefold() not in names().never_names


def _known(value: Value, situation: Situation) -> bool:
    del situation
    return lexicon().category(value.text) is not None


def _short(value: Value, situation: Situation) -> bool:
    del situation
    return _free(value) and _words(value) <= _SHORT


def _date(value: Value, situation: Situation) -> bool:
    del situation
    return _DATE_LIKE.search(value.text) is not None and _words(value) <= _PHRASE


def _number(value: Value, situation: Situation) -> bool:
    del situation
    return any(letter.isdigit() for letter in value.text)


def _tool(value: Value, situation: Situation) -> bool:
    del situation
    if lexicon().category(value.text) is not None:
        return True
    return _free(value) and _TOOL.match(value.text) is not None


def _used(value: Value, situation: Situation) -> bool:
    if _tool(value, situation):
        return True
    lasting = situation.predicate.tense == "simple" or bool(situation.predicate.cues & {"always"})
    return lasting and _free(value) and _words(value) <= _SHORT and not value.raw.lower().startswith("the ")


def _taste(value: Value, situation: Situation) -> bool:
    del situation
    if not _free(value) or _words(value) > _TASTE or _POINTS.search(value.text):
        return False
    lasting = value.raw.lower().startswith("being ") or _pleasantry("lasting").match(value.raw) is not None
    return lasting or _pleasantry("objects").match(value.raw) is None


def _trait(value: Value, situation: Situation) -> bool:
    del situation
    return value.text.casefold() in names().traits


def _spoken(value: Value, situation: Situation) -> bool:
    del situation
    return lexicon().category(value.text) == "spoken_language"


def _married(value: Value, situation: Situation) -> bool:
    del value
    return any(word in situation.predicate.text for word in ("married", "engaged", "marry"))


def _introduction(value: Value, situation: Situation) -> bool:
    return situation.short and _introduced(value)


def _recurring(value: Value, situation: Situation) -> bool:
    return _date(value, situation)


def _own(value: Value, situation: Situation) -> bool:
    noun = situation.subject.noun.casefold()
    if "degree" in situation.predicate.cues or "," in noun or _is_participle(value.raw):
        return False
    if noun in names().skip_nouns or noun.count(" ") > 3 or not _free(value) or _words(value) > _PHRASE:  # noqa: PLR2004
        return False
    if names().skip_values.match(value.raw):
        return situation.attribute.name in {"goal", "dream"} and value.raw.startswith("to ")
    if situation.attribute.known or noun.startswith(("favourite", "favorite", "preferred")):
        return True
    return _weighty(value)


def _is_participle(text: str) -> bool:
    """Say whether a value begins with what is done or being done: "handled in …", "killing me"."""
    form = lexicon().forms.get(text.split(" ", 1)[0])
    return form is not None and not form.kinds.isdisjoint({"participle", "gerund"})


def _weighty(value: Value) -> bool:
    """Say whether a value of an unknown slot looks like a name, a number or a thing rather than a mood."""
    if any(letter.isdigit() or letter.isupper() for letter in value.text) or lexicon().category(value.text):
        return True
    return _ARTICLE.match(value.raw) is not None and _words(value) <= _SHORT


def _the(value: Value, situation: Situation) -> bool:
    if not _free(value) or names().skip_values.match(value.raw) or _words(value) > _SHORT:
        return False
    subject, attribute = situation.subject, situation.attribute
    marked = any(letter.isdigit() or letter.isupper() for letter in value.text)
    if "degree" in situation.predicate.cues:
        return False
    if subject.entity:
        named = attribute.known or subject.noun.casefold().rpartition(" ")[2] in names().the_nouns or subject.entity[0].isupper()
        return named and (marked or attribute.known)
    if subject.noun.casefold().rpartition(" ")[2] in names().the_nouns and " " in subject.noun:
        return marked
    return attribute.known and (marked or lexicon().category(value.text) == attribute.name)


def _choice(value: Value, situation: Situation) -> bool:
    del situation
    return _free(value) and _words(value) <= _LONG and _POINTS.search(value.text) is None


def _appointment(value: Value, situation: Situation) -> bool:
    return not situation.dated_past and _date(value, situation)


def _habit(value: Value, situation: Situation) -> bool:
    """Say whether a predicate is a habit: "always", "never", "usually", or one that is given up."""
    predicate = situation.predicate
    lasting = predicate.ended or not predicate.cues.isdisjoint({"always", "never", "usually"})
    if not lasting or predicate.tense != "simple" or predicate.verb in names().mental:
        return False
    return 1 < _words(value) <= _PHRASE and _POINTS.search(value.text) is None


def _does(value: Value, situation: Situation) -> bool:
    del situation
    return 1 < _words(value) <= _TASTE and _POINTS.search(value.text) is None


def _maybe(value: Value, situation: Situation) -> bool:
    if situation.predicate.verb in names().mental:
        return False
    return 1 < _words(value) <= _TASTE and _POINTS.search(value.text) is None


def _located(value: Value, situation: Situation) -> bool:
    if _date(value, situation):
        return False
    last = situation.subject.noun.casefold().rpartition(" ")[2]
    return _capital(value, situation) or (last in names().the_nouns and _words(value) <= _SHORT)


def _kin_name(value: Value, situation: Situation) -> bool:
    return names().kin_noun(situation.subject.noun.split(" ")[-1]) is not None and _introduced(value)


def _introduced(value: Value) -> bool:
    """Say whether a value is a person's name rather than a nation, a tool or a weekday."""
    first = value.text.split(" ")[0].strip(",").casefold()
    known = lexicon().category(value.text) or names().traits.get(value.text.casefold())
    return _NAME.match(value.text) is not None and first not in names().never_names and known is None


def _plan(value: Value, situation: Situation) -> bool:
    del situation
    return _free(value) and 1 < _words(value) <= _PHRASE and _POINTS.search(value.text) is None


def _dated_plan(value: Value, situation: Situation) -> bool:
    return situation.dated_ahead and _plan(value, situation)


def _happening(value: Value, situation: Situation) -> bool:
    if not situation.dated_past or situation.predicate.negated:
        return False
    rest = value.text.partition(" ")[2]
    vague = names().vague_happenings.match(value.text) or names().pointing.fullmatch(rest)
    return 1 < _words(value) <= _LONG and not vague


_CHECKS: Final[Mapping[str, Callable[[Value, Situation], bool]]] = {
    "": lambda value, situation: _free(value) and _words(value) <= _PHRASE and situation is not None,
    "role": _role,
    "capital": _capital,
    "place": _capital,
    "org": _org,
    "name": _name,
    "kin": lambda value, _: names().kin_noun(value.text.split(" ")[0]) is not None,
    "short": _short,
    "date": _date,
    "number": _number,
    "tool": _tool,
    "used": _used,
    "taste": _taste,
    "trait": _trait,
    "spoken": _spoken,
    "married": _married,
    "introduction": _introduction,
    "recurring": _recurring,
    "appointment": _appointment,
    "known": _known,
    "opinion": lambda value, _: 2 < _words(value) <= _PHRASE and _POINTS.search(value.text) is None,
    "refused": lambda value, situation: situation.predicate.negated and _choice(value, situation),
    "habit": _habit,
    "does": _does,
    "person_does": lambda value, situation: situation.subject.who == "person" and _does(value, situation),
    "maybe": _maybe,
    "located": _located,
    "our_role": lambda _, situation: situation.attribute.known is False and is_role(situation.attribute.name.replace("_", " ")),
    "food": lambda value, _: lexicon().category(value.text) == "food",
    "drink": lambda value, _: lexicon().category(value.text) == "drink",
    "kin_name": _kin_name,
    "own": _own,
    "the": _the,
    "choice": _choice,
    "plan": _plan,
    "dated_plan": _dated_plan,
    "happening": _happening,
    "negated": lambda value, situation: situation.predicate.negated and _free(value),
    "after_leaving": lambda value, situation: situation.left_before and _capital(value, situation),
    "bounded": lambda _, situation: situation.bounded,
    "job_noun": lambda value, situation: situation.attribute.name in {"job_title", "employer"} and _capital(value, situation),
    "nominal": lambda _, situation: nominal(situation.subject.noun) is not None,
    "thing_used": lambda value, situation: _tool(value, situation),
}
_NOMINAL: Final = {
    "deployment": "deployment",
    "deploy": "deployment",
    "release": "release",
    "ship": "release",
    "build": "build",
    "publication": "publication",
    "publish": "publication",
}


def nominal(word: str) -> str | None:
    """Give the name of what is done, from its verb or its plural: "deploy" and "deployments" are a deployment."""
    return _NOMINAL.get(word.casefold().split(" ")[-1].removesuffix("s"))


def holds(check: str, value: Value, situation: Situation) -> bool:
    """Say whether a value passes a named check of the pattern files."""
    return _CHECKS[check](value, situation)
