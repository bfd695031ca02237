"""Value types by form: names, days, places, tastes, and words that only refer elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from credenda.write.extract.lexicon import expression, lexicon, names
from credenda.write.extract.values import Value

__all__ = [
    "BY_VALUE",
    "LONG_WORDS",
    "NOUN_WORDS",
    "PHRASE_WORDS",
    "SHORT_WORDS",
    "TASTE_WORDS",
    "is_capital",
    "is_choice",
    "is_courtesy",
    "is_date",
    "is_deed",
    "is_employer",
    "is_free",
    "is_known",
    "is_marked",
    "is_meant",
    "is_name",
    "is_number",
    "is_occupation",
    "is_opinion",
    "is_participle",
    "is_person",
    "is_plan",
    "is_possession",
    "is_role",
    "is_shape",
    "is_short",
    "is_taste",
    "is_tool",
    "is_trait",
    "is_weighty",
    "points_away",
    "word_count",
]

SHORT_WORDS: Final = 6
TASTE_WORDS: Final = 9
PHRASE_WORDS: Final = 14
LONG_WORDS: Final = 25
NOUN_WORDS: Final = 4
_HOURS: Final = 31
"""A bare number above 31 is neither a day nor an hour, unless it is a year."""
_YEARS: Final = range(1900, 2101)
_DEEDS: Final = frozenset({"adopt", "retire", "emigrate", "marry", "move", "graduate", "quit", "resign"})
"""Activities that are a plan in one word."""
_ROLE_LETTERS: Final = 5
_ASIDE_WORDS: Final = frozenset({"about", "as", "to", "that", "my", "your", "how", "this", "if", "not"})


def word_count(value: Value) -> int:
    """Count the words of a value."""
    return value.text.count(" ") + 1


def is_shape(shape: str, text: str) -> bool:
    """Return whether a text begins with, or for whole shapes equals, a shape of `checks.toml`."""
    return expression("checks", shape).match(text) is not None


def points_away(value: Value) -> bool:
    """Return whether a value refers elsewhere: "this", "it", "your"."""
    return expression("checks", "points").search(value.text.replace("IT", "I.T.")) is not None


def is_free(value: Value) -> bool:
    """Return whether a value is self-contained."""
    return is_meant(value) and not points_away(value)


def is_meant(value: Value) -> bool:
    """Return whether a value is more than a pronoun or a filler."""
    return bool(value.text) and (names().pointing.match(value.raw) is None or value.raw.startswith("IT"))


def is_marked(value: Value) -> bool:
    """Return whether a value has a capital or a digit, as names and numbers do."""
    return any(letter.isdigit() or letter.isupper() for letter in value.text)


def is_courtesy(name: str, value: Value) -> bool:
    """Return whether a value consists of courtesies."""
    return expression("acts", "pleasantry", name).match(value.raw) is not None


def is_role(text: str) -> bool:
    """Return whether a noun phrase names a role: "backend engineer", "nurse in Graz"."""
    head, words, last = _role_head(text)
    excluded = {head, last} & names().not_roles or not _ASIDE_WORDS.isdisjoint(words)
    if not head or excluded or len(words) > SHORT_WORDS:
        return False
    return last in names().roles or (len(last) >= _ROLE_LETTERS and last.endswith(names().role_suffixes))


def is_occupation(text: str) -> bool:
    """Return whether a noun phrase names a profession, of which a person has one: a nurse, and no activist.

    >>> is_occupation("paediatric nurse in Graz"), is_occupation("climate activist")
    (True, False)
    """
    return _role_head(text)[2] in names().occupations


def _role_head(text: str) -> tuple[str, list[str], str]:
    """Return a noun phrase without its modifiers after the noun, its words, and the noun."""
    head = expression("checks", "head_end").split(text, maxsplit=1)[0].strip().casefold()
    words = head.split(" ")
    return head, words, words[-1].removesuffix(".")


def is_known(value: Value) -> bool:
    """Return the category of a known name."""
    return lexicon().category(value.text) is not None


def is_capital(value: Value) -> bool:
    """Return whether a value begins with a capital and is no known thing."""
    return is_shape("capital", value.raw) and word_count(value) <= SHORT_WORDS and not is_known(value)


def is_employer(value: Value) -> bool:
    """Return whether a value may name an employer."""
    named = is_shape("capital", value.raw) or is_shape("article", value.raw)
    return named and word_count(value) <= SHORT_WORDS and not is_shape("not_employer", value.raw)


def is_name(value: Value) -> bool:
    """Return whether a value has the form of a person's name."""
    return is_shape("name", value.text) and value.text.split()[0].strip(",").casefold() not in names().never_names


def is_short(value: Value) -> bool:
    """Return whether a value is self-contained in a few words."""
    return is_meant(value) and word_count(value) <= SHORT_WORDS


def is_date(value: Value) -> bool:
    """Return whether a value names a day, an hour or a recurrence."""
    if value.text.isdigit() and _HOURS < int(value.text[:6]) not in _YEARS:
        return False
    if is_shape("amount", value.text) or _is_model(value.text):
        return False
    return expression("checks", "date_like").search(value.text) is not None and word_count(value) <= PHRASE_WORDS


_MADE: Final = re.compile(r"(?:\d{4} (?P<after>[A-Z].*)|(?P<before>[A-Z][\w'-]{2,}.*) \d{4})")

_FEAST: Final = re.compile(r"(?i)\b(?:easter|christmas|new year|thanksgiving|pentecost|ramadan|eid|diwali|hanukkah)\b")


def _is_model(text: str) -> bool:
    """Return whether a text is a thing of a year: "2019 VW ID.3", "Canyon Endurace 2021"; "2019 May" is a date."""
    found = _MADE.fullmatch(text)
    rest = "" if found is None else found["after"] or found["before"]
    return bool(rest) and expression("checks", "date_like").search(rest) is None and _FEAST.search(rest) is None


def is_number(value: Value) -> bool:
    """Return whether a value holds a digit."""
    return any(letter.isdigit() for letter in value.text)


def is_tool(value: Value) -> bool:
    """Return whether a value is a known thing, or has the form of a tool name."""
    return is_known(value) or (is_meant(value) and is_shape("tool", value.text))


def is_taste(value: Value) -> bool:
    """Return whether a value is a possible object of a lasting preference."""
    if not is_free(value) or word_count(value) > TASTE_WORDS:
        return False
    lasting = value.raw.lower().startswith("being ") or is_courtesy("lasting", value)
    return lasting or not is_courtesy("objects", value)


def is_trait(value: Value) -> bool:
    """Return whether a value is a known trait."""
    return value.text.casefold().replace(" ", "-") in names().traits or value.text.casefold() in names().traits


def is_person(value: Value) -> bool:
    """Return whether a value is a person's name rather than a nation, a tool or a weekday."""
    return is_name(value) and not is_known(value) and not is_trait(value)


def is_opinion(value: Value) -> bool:
    """Return whether a value is a self-contained phrase."""
    return 1 < word_count(value) <= PHRASE_WORDS and not points_away(value)


def is_possession(value: Value) -> bool:
    """Return whether an owned thing lasts: no headache, no question, no function."""
    return (
        is_free(value)
        and word_count(value) <= SHORT_WORDS
        and not expression("checks", "passing_goods").search(value.text)
    )


def is_deed(value: Value) -> bool:
    """Return whether a value is a short phrase of an activity."""
    return 1 < word_count(value) <= TASTE_WORDS and not points_away(value)


def is_choice(value: Value) -> bool:
    """Return whether a value can be the object of a decision."""
    return is_free(value) and word_count(value) <= LONG_WORDS


def is_plan(value: Value) -> bool:
    """Return whether a value can be the object of a plan."""
    phrase = " " in value.raw or value.raw in _DEEDS
    return is_free(value) and phrase and word_count(value) <= PHRASE_WORDS


def is_participle(text: str) -> bool:
    """Return whether a value begins with a participle: "handled in …", "killing me"."""
    form = lexicon().forms.get(text.split(" ", 1)[0])
    return form is not None and not form.kinds.isdisjoint({"participle", "gerund"})


def is_weighty(value: Value) -> bool:
    """Return whether a value of an unknown slot resembles a name, a number or a thing rather than a mood."""
    return is_marked(value) or is_known(value) or (is_shape("article", value.raw) and word_count(value) <= SHORT_WORDS)


BY_VALUE: Final[Mapping[str, Callable[[Value], bool]]] = {
    "": lambda value: is_meant(value) and word_count(value) <= PHRASE_WORDS,
    "role": lambda value: is_role(value.text),
    "capital": is_capital,
    "place": is_capital,
    "org": is_employer,
    "name": is_name,
    "kin": lambda value: names().kin_noun(value.text.split(" ")[0]) is not None,
    "short": is_short,
    "date": is_date,
    "recurring": is_date,
    "number": is_number,
    "tool": is_tool,
    "thing_used": is_tool,
    "known": is_known,
    "taste": is_taste,
    "trait": is_trait,
    "spoken": lambda value: lexicon().category(value.text) == "spoken_language",
    "drink": lambda value: lexicon().category(value.text) == "drink",
    "opinion": is_opinion,
    "possession": is_possession,
    "does": is_deed,
    "choice": is_choice,
    "plan": is_plan,
}
"""Checks of a value alone, by their names in the pattern files."""
