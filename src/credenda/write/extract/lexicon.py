"""A small vocabulary: nouns of attributes, categories of named things, relatives and pets, and verb forms."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from credenda.model.attributes import AttributeSchema, get_attribute, load_attributes
from credenda.model.memory import MemoryType
from credenda.text.normalize import normalise_attribute, normalise_value

__all__ = ["Lexicon", "Names", "lexicon", "load_table", "names"]

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
