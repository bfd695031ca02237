"""The vocabulary of the rules: attributes, categories of named things, relatives, and verb forms."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final

from credenda.model.attributes import AttributeSchema, get_attribute, load_attributes
from credenda.model.memory import Cardinality, MemoryType
from credenda.text.normalize import normalise_attribute, normalise_value
from credenda.text.weight_file import WeightFile, parse_weight_file

__all__ = [
    "RECENT",
    "Form",
    "Lexicon",
    "Names",
    "expression",
    "is_common",
    "lexicon",
    "load_table",
    "load_weights",
    "names",
    "occurs",
    "words_of",
]

_FAVOURITE: Final = re.compile(
    r"^(?:all[- ]time )?(?:favou?rite|fave?|preferred|go-to|go to) (?P<noun>.+)$", re.IGNORECASE
)
_QUALIFIER: Final = re.compile(r"^(?:(?:current|new|present|own|usual|main|primary) )+", re.IGNORECASE)
_WORD: Final = re.compile(r"[\w'-]+")
_SPELT: Final = re.compile(r"(?<![\w'])[a-z]{2,}")
_TABLES: Final = (
    "worth.tsv",
    "frames.toml",
    "patterns.toml",
    "lexicon.toml",
    "things.toml",
    "restate.toml",
    "acts.toml",
    "checks.toml",
)
RECENT: Final = 64
"""Cache size, in sentences or clauses, of a pure step that several passes repeat."""


@cache
def load_table(name: str) -> dict[str, Any]:
    """Load one data file of this package; the result is shared and must not be changed."""
    folder = resources.files("credenda.write.extract").joinpath("data")
    return tomllib.loads(folder.joinpath(f"{name}.toml").read_text("utf-8"))


@cache
def load_weights(name: str) -> WeightFile:
    """Read one weight file of this package."""
    folder = resources.files("credenda.write.extract").joinpath("data")
    return parse_weight_file(folder.joinpath(f"{name}.tsv").read_text("utf-8"))


@cache
def expression(table: str, *path: str) -> re.Pattern[str]:
    """Compile one expression of a data file, ignoring case."""
    found: Any = load_table(table)
    for step in path:
        found = found[step]
    return re.compile(found, re.IGNORECASE)


@cache
def _common() -> frozenset[str]:
    folder = resources.files("credenda.write.extract").joinpath("data")
    files = [
        *(folder.joinpath(name) for name in _TABLES),
        resources.files("credenda.model").joinpath("attributes.toml"),
    ]
    return frozenset(word for file in files for word in _SPELT.findall(file.read_text("utf-8")))


def is_common(word: str) -> bool:
    """Return whether our tables spell a word in lower case; another word may be a name."""
    return word in _common()


def occurs(marks: Iterable[str], folded: str) -> bool:
    """Return whether one of some texts occurs in a lower-case sentence. Cheap, before an expression."""
    for mark in marks:  # noqa: SIM110 - lists are short, and a loop takes half the time of `any`
        if mark in folded:
            return True
    return False


@lru_cache(maxsize=RECENT)
def words_of(text: str) -> frozenset[str]:
    """Return the lower-case words of a text, for checks before expressions."""
    return frozenset(_WORD.findall(text.lower()))


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a verb: its base and its form (base, third, past, participle, gerund)."""

    base: str
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Attributes by every noun that names them, categories by value, and verbs by every form."""

    attributes: Mapping[str, AttributeSchema]
    categories: Mapping[str, str]
    settings: frozenset[str]
    kin: frozenset[str]
    single_kin: frozenset[str]
    forms: Mapping[str, Form]
    adverbs: Mapping[str, str]

    def attribute(self, noun: str) -> AttributeSchema:
        """Return the attribute of a noun phrase; an unknown noun is its own attribute."""
        folded = noun.casefold()
        if folded in self.kin:
            many = Cardinality.SINGLE if folded in self.single_kin else Cardinality.SET
            return AttributeSchema(name=normalise_attribute(folded), cardinality=many, known=False)
        found = self.attributes.get(folded) or self.attributes.get(_QUALIFIER.sub("", folded))
        if found is not None:
            return found
        favourite = _FAVOURITE.match(_QUALIFIER.sub("", folded))
        if favourite:
            name = f"favourite_{normalise_attribute(favourite['noun'])}"
            return AttributeSchema(name=name, type=MemoryType.PREFERENCE, importance=0.8)
        return AttributeSchema(
            name=normalise_attribute(folded), known=False, cardinality=self.cardinality(normalise_attribute(folded))
        )

    def category(self, value: str) -> str | None:
        """Return the category of a named thing: "PostgreSQL" is a database, "TypeScript 5" a language; or None."""
        key = normalise_value(value)
        found = self.categories.get(key)
        if found is None and " " in key:
            first, _, rest = key.rpartition(" ")
            found = self.categories.get(first) if rest.removeprefix("v")[:1].isdigit() else None
        return found

    def cardinality(self, name: str) -> Cardinality:
        """Return whether an attribute holds one value or a set."""
        return get_attribute(name).cardinality


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The referents of words: relatives and pets, roles, traits, and nouns and values to ignore."""

    kin: frozenset[str]
    pets: frozenset[str]
    same_kin: Mapping[str, str]
    plural_kin: Mapping[str, str]
    never_names: frozenset[str]
    skip_nouns: frozenset[str]
    the_nouns: frozenset[str]
    vague_happenings: re.Pattern[str]
    family: frozenset[str]
    mental: frozenset[str]
    bare_kin: frozenset[str]
    many_kin: frozenset[str]
    programs: frozenset[str]
    pronouns: frozenset[str]
    passing: frozenset[str]
    talk: frozenset[str]
    leading: frozenset[str]
    work: frozenset[str]
    remarks: frozenset[str]
    skip_values: re.Pattern[str]
    pointing: re.Pattern[str]
    role_suffixes: tuple[str, ...]
    roles: frozenset[str]
    occupations: frozenset[str]
    not_roles: frozenset[str]
    traits: Mapping[str, str]

    def kin_noun(self, word: str) -> str | None:
        """Return the base noun of a relative or pet ("mom" is a mother), or None."""
        folded = word.casefold()
        if folded in self.plural_kin:
            return self.plural_kin[folded]
        if folded in self.kin or folded in self.pets:
            return self.same_kin.get(folded, folded)
        return None


def _doubled(base: str) -> bool:
    return len(base) == 3 and base[-1] in "gtpbdmn" and base[-2] in "aeiou"  # noqa: PLR2004


def _regular(base: str) -> tuple[str, str, str, str]:
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ies", f"{base[:-1]}ied", f"{base[:-1]}ied", f"{base}ing"
    third = f"{base}es" if base.endswith(("s", "sh", "ch", "x", "z")) else f"{base}s"
    if base.endswith("e"):
        return third, f"{base}d", f"{base}d", f"{base[:-1]}ing"
    stem = base + base[-1] if _doubled(base) else base
    return third, f"{stem}ed", f"{stem}ed", f"{stem}ing"


def _forms(table: Mapping[str, Any]) -> dict[str, Form]:
    verbs = {base: _regular(base) for base in table["regular"]} | {
        base: tuple(forms) for base, forms in table["irregular"].items()
    }
    found: dict[str, tuple[str, set[str]]] = {}
    for base, (third, past, participle, gerund) in verbs.items():
        for word, kind in (
            (base, "base"),
            (third, "third"),
            (past, "past"),
            (participle, "participle"),
            (gerund, "gerund"),
        ):
            found.setdefault(word, (base, set()))[1].add(kind)
    for word in ("am", "are"):
        found[word] = ("be", {"third"})
    found["were"] = ("be", {"past"})
    return {word: Form(base, frozenset(kinds)) for word, (base, kinds) in found.items()}


def _attributes_by_noun() -> Iterator[tuple[str, AttributeSchema]]:
    for name, attribute in load_attributes().items():
        if attribute.words:
            yield name, attribute
        for word in attribute.words:
            yield word, attribute


@cache
def lexicon() -> Lexicon:
    """Load attributes, categories and verbs; cached."""
    words, categories = load_table("lexicon"), load_table("categories")
    return Lexicon(
        attributes=dict(_attributes_by_noun()),
        categories={normalise_value(value): name for name, values in categories["of"].items() for value in values},
        settings=frozenset(categories["settings"]),
        kin=frozenset(
            [*map(str.casefold, words["kin"]["words"]), *words["kin"]["pets"], *words["kin"]["plural"].values()]
        ),
        single_kin=frozenset(map(str.casefold, words["kin"]["single"])),
        forms=_forms(words["verbs"]),
        adverbs=words["adverbs"],
    )


@cache
def names() -> Names:
    """Load words for persons, roles and ignored nouns; cached."""
    table = load_table("lexicon")
    kin, skip, roles = table["kin"], table["skip"], table["roles"]
    return Names(
        kin=frozenset(word.casefold() for word in kin["words"]),
        pets=frozenset(kin["pets"]),
        same_kin=kin["same"],
        plural_kin=kin["plural"],
        never_names=frozenset(table["names"]["never"]),
        skip_nouns=frozenset(skip["nouns"]),
        the_nouns=frozenset(skip["the_nouns"]),
        vague_happenings=re.compile(skip["happenings"], re.IGNORECASE),
        family=frozenset(roles["family"]),
        mental=frozenset(table["mental"]["verbs"]),
        bare_kin=frozenset(kin["bare"]),
        many_kin=frozenset(kin["many"]),
        programs=frozenset(kin["programs"]),
        pronouns=frozenset(table["pronouns"]["subjects"]),
        passing=frozenset([*table["mental"]["passing"], *table["mental"]["verbs"]]),
        work=frozenset(table["mental"]["work"]),
        leading=frozenset(table["remarks"]["leading"]),
        talk=frozenset(table["mental"]["talk"]),
        remarks=frozenset(table["remarks"]["words"]),
        skip_values=re.compile(skip["values"], re.IGNORECASE),
        pointing=re.compile(table["pronouns"]["values"], re.IGNORECASE),
        role_suffixes=tuple(roles["suffixes"]),
        roles=frozenset([*roles["words"], *roles["occupations"]]),
        occupations=frozenset(roles["occupations"]),
        not_roles=frozenset(roles["not_roles"]),
        traits={value: name for name, values in roles["traits"].items() for value in values},
    )
