"""Straighten a sentence, expand its contractions, and split it into clauses."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any, Final

from credenda.model.attributes import AttributeSchema, get_attribute, load_attributes
from credenda.model.event import Event, Role
from credenda.model.memory import MemoryType
from credenda.text.normalize import normalise_attribute, normalise_value

_CLAUSES_MAX: Final = 8
_QUOTES: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "})
_EMOJI: Final = re.compile(
    " ?(?:[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff]"
    "[\ufe0e\ufe0f\u200d\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*)+"
)
"""Emoji with their variation and joining characters; they mark tone, and belong to no name."""
_BULLET: Final = re.compile(r"^(?:[-*\u2022+]|\d{1,3}[.)]|#{1,6})\s+|^[^\w\"'(>]+")
_MARKUP: Final = re.compile(r"\*\*|__|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|`")
_CONTRACTIONS: Final = [
    (re.compile(form, re.IGNORECASE), full)
    for form, full in (
        (r"\bcan't\b", "cannot"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"'m\b", " am"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"\blet's\b", "let us"),
        (r"\b(here|that|it|there|what|who|where|how|he|she)'s\b", r"\1 is"),
    )
]
_SUBJECT: Final = (
    r"(?:(?:i|we|he|she|they|it|you|my|our|his|her|their|your|the|what|how|why|can|could|would|will|should|do|does|is|are"
    r"|please)\b(?!')|(?:i|we|he|she|they|it|you|that|what)'|(?-i:[A-Z][\w-]+(?: [A-Z][\w-]+)? [a-z]))"
)
_JOINT: Final = re.compile(
    rf"(?:\s*[,;:]|\s+[-–—]{{1,3}}|\s*—)\s*(?:(?:and|but|so|then|while|though|or|because|yet|also)\s+){{0,3}}(?={_SUBJECT})"
    rf"|\s+(?:and|but|so|while|because)\s+(?:(?:also|now|then)\s+){{0,2}}(?={_SUBJECT})",
    re.IGNORECASE,
)
_WITH_ME: Final = re.compile(r"(?i:my|our) (?:[\w-]+ ){0,2}[\w-]+|[A-Z][\w-]+")
"""A person whom "and I" joins to the speaker."""


def straighten(sentence: str) -> str:
    """Normalise quotes and spaces of a sentence; remove list markers, emphasis marks and emoji."""
    worded = sentence if sentence.isascii() else _EMOJI.sub("", sentence.translate(_QUOTES))
    plain = " ".join(worded.split())
    if "*" in plain or "`" in plain or "__" in plain:
        plain = _MARKUP.sub("", plain)
    return _BULLET.sub("", plain)


def open_contractions(text: str) -> str:
    """Expand "I'm", "don't" and "we've".

    >>> open_contractions("I'm sure we don't")
    'I am sure we do not'
    """
    if "'" in text:
        for form, full in _CONTRACTIONS:
            text = form.sub(full, text)
    return text


def split_clauses(sentence: str) -> list[str]:
    """Split a sentence where a new subject, a question or a request begins.

    >>> split_clauses("I live in Rome and my brother lives in Oslo"), split_clauses("My wife and I live in Rome")
    (['I live in Rome', 'my brother lives in Oslo'], ['My wife and I live in Rome'])
    """
    clauses: list[str] = []
    start = 0
    for joint in _JOINT.finditer(sentence):
        if len(clauses) < _CLAUSES_MAX and not _WITH_ME.fullmatch(sentence, start, joint.start()):
            clauses.append(sentence[start : joint.start()])
            start = joint.end()
    return [clause for clause in (*clauses, sentence[start:]) if clause]


# A small vocabulary: nouns of attributes, categories of named things, relatives and pets, and verb forms.


_FAVOURITE: Final = re.compile(
    r"^(?:all[- ]time )?(?:favou?rite|fave?|preferred|go-to|go to) (?P<noun>.+)$", re.IGNORECASE
)
_QUALIFIER: Final = re.compile(r"^(?:(?:current|new|present|own|usual|main|primary) )+", re.IGNORECASE)


@cache
def load_table(name: str) -> dict[str, Any]:
    """Load one data file of this package; the result is shared and must not be changed."""
    folder = resources.files("credenda.write.extract").joinpath("data")
    return tomllib.loads(folder.joinpath(f"{name}.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Attributes by every noun that names them, categories by value, and the base of a verb by every form."""

    attributes: Mapping[str, AttributeSchema]
    categories: Mapping[str, str]
    verbs: Mapping[str, str]

    def attribute(self, noun: str) -> AttributeSchema:
        """Return the attribute of a noun phrase; an unknown noun is its own attribute."""
        folded = noun.casefold()
        bare = _QUALIFIER.sub("", folded)
        found = None if names().kin_noun(folded) else self.attributes.get(folded) or self.attributes.get(bare)
        if found is not None:
            return found
        if favourite := _FAVOURITE.match(bare):
            name = f"favourite_{normalise_attribute(favourite['noun'])}"
            return AttributeSchema(name=name, type=MemoryType.PREFERENCE, importance=0.8)
        name = normalise_attribute(folded)
        return AttributeSchema(name=name, known=False, cardinality=get_attribute(name).cardinality)

    def category(self, value: str) -> str | None:
        """Return the category of a named thing: "PostgreSQL" is a database, "TypeScript 5" a language; or None."""
        key = normalise_value(value)
        found = self.categories.get(key)
        if found is None and " " in key:
            first, _, rest = key.rpartition(" ")
            found = self.categories.get(first) if rest.removeprefix("v")[:1].isdigit() else None
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Words for relatives, pets and others around a person."""

    kin: frozenset[str]
    same_kin: Mapping[str, str]
    plural_kin: Mapping[str, str]
    many_kin: frozenset[str]
    """Those of whom a person may have several."""

    def kin_noun(self, word: str) -> str | None:
        """Return the base noun of a relative or pet ("mom" is a mother), or None."""
        folded = word.casefold()
        if folded in self.plural_kin:
            return self.plural_kin[folded]
        return self.same_kin.get(folded, folded) if folded in self.kin else None


def _doubled(base: str) -> bool:
    return len(base) == 3 and base[-1] in "gtpbdmn" and base[-2] in "aeiou"  # noqa: PLR2004


def _regular(base: str) -> tuple[str, ...]:
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ies", f"{base[:-1]}ied", f"{base}ing"
    third = f"{base}es" if base.endswith(("s", "sh", "ch", "x", "z")) else f"{base}s"
    if base.endswith("e"):
        return third, f"{base}d", f"{base[:-1]}ing"
    stem = base + base[-1] if _doubled(base) else base
    return third, f"{stem}ed", f"{stem}ing"


def _verbs(table: Mapping[str, Any]) -> dict[str, str]:
    forms = {base: _regular(base) for base in table["regular"]} | table["irregular"]
    found: dict[str, str] = {}
    for base, others in forms.items():
        for form in (base, *others):
            found.setdefault(form, base)
    return found | dict.fromkeys(("am", "are", "were"), "be")


def _attributes_by_noun() -> Iterator[tuple[str, AttributeSchema]]:
    for name, attribute in load_attributes().items():
        if attribute.words:
            yield name, attribute
        for word in attribute.words:
            yield word, attribute


@cache
def lexicon() -> Lexicon:
    """Load attributes, categories and verbs; cached."""
    categories = load_table("categories")["of"]
    return Lexicon(
        attributes=dict(_attributes_by_noun()),
        categories={normalise_value(value): name for name, values in categories.items() for value in values},
        verbs=_verbs(load_table("lexicon")["verbs"]),
    )


@cache
def names() -> Names:
    """Load the words for relatives and pets; cached."""
    kin = load_table("lexicon")["kin"]
    return Names(
        kin=frozenset(word.casefold() for word in (*kin["words"], *kin["pets"])),
        same_kin=kin["same"],
        plural_kin=kin["plural"],
        many_kin=frozenset(kin["many"]),
    )


# The speech act of a sentence, as far as it decides whether a claim may rest on it.


_MACRO: Final = re.compile(r"\{([A-Z]+)\}")


class Act(StrEnum):
    """The speech act of a sentence."""

    STATEMENT = "statement"
    PASTED = "pasted"
    RETRACTION = "retraction"
    SARCASM = "sarcasm"
    HYPOTHETICAL = "hypothetical"
    ROLE_PLAY = "role_play"


@cache
def _signs() -> Mapping[Act, re.Pattern[str]]:
    table = load_table("acts")

    def compile_signs(signs: list[str]) -> re.Pattern[str]:
        return re.compile(_MACRO.sub(lambda found: table["macros"][found[1]], "|".join(signs)), re.IGNORECASE)

    return {Act(name): compile_signs(signs) for name, signs in table["act"].items()}


@cache
def _question() -> re.Pattern[str]:
    return re.compile(load_table("acts")["question"], re.IGNORECASE)


def act_of(sentence: str) -> Act:
    """Classify one sentence, given with straight quotes and single spaces.

    >>> act_of("What if I lived in Bern?").value, act_of("I live in Bern.").value
    ('hypothetical', 'statement')
    """
    return next((act for act, signs in _signs().items() if signs.search(sentence)), Act.STATEMENT)


def is_question(clause: str) -> bool:
    """Return whether a clause begins as a question or request."""
    return _question().match(clause) is not None


# The speaker of an event.


def who_speaks(event: Event) -> tuple[str, str | None]:
    """Return the speaker, and the entity of "I" (None in a document)."""
    if event.role is Role.USER:
        return "user", "user"
    if event.role is Role.DOCUMENT:
        return event.speaker, None
    return event.speaker, event.speaker
