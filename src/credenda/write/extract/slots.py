"""Choose the slot of a value: its attribute and entity."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from credenda.model.attributes import AttributeSchema
from credenda.model.memory import Cardinality
from credenda.text.normalize import normalise_attribute
from credenda.write.extract.checks import nominal
from credenda.write.extract.lexicon import expression, lexicon, names
from credenda.write.extract.patterns import Pattern
from credenda.write.extract.shapes import is_occupation
from credenda.write.extract.subjects import Subject
from credenda.write.extract.values import Value

__all__ = ["attribute_of", "entity_of", "holder_of"]

_VAGUE_HEADS: Final = frozenset({"things", "ones", "ways", "times", "days", "years", "others", "us", "this", "class"})
_UNSORTED: Final = "prefers"

_CHOOSING: Final = frozenset({"decides_on", "decides_over", "going_with", "ends_up", "they_choose"})
_DWELLINGS: Final = {
    "home_floor": "home_floor",
    "named_street": "address",
    "home": "home",
    "living_area": "living_area",
}
"""Objects of "I live in …" that are no place; they replace no town."""
_WITH_ES: Final = frozenset(
    {"go", "do", "teach", "watch", "reach", "pass", "fix", "finish", "publish", "push", "catch", "match", "touch"}
)
_NAMED: Final = re.compile(r"(?:[A-Z][\w.+#-]*)(?: (?:[A-Z][\w.+#-]*|\d[\d.]*)){0,2}")
"""A short name of a product: "Litestar", "Django 5.1"."""
_NOT_GERUNDS: Final = frozenset({"morning", "evening", "spring", "wedding", "building", "meeting"})


def _head(value: Value) -> str:
    """Return the attribute of a preference without a category: its final plural, or "prefers"."""
    found = expression("checks", "plural_head").match(value.text)
    first = value.text.split(" ", 1)[0].casefold()
    gerund = first.endswith("ing") and first not in _NOT_GERUNDS
    if found is None or gerund or found["head"] in _VAGUE_HEADS:
        return _UNSORTED
    return found["head"]


def _fill(template: str, found: re.Match[str], subject: Subject, value: Value) -> str:
    """Insert groups of the match into an attribute or entity name."""
    if "{" not in template:
        return template
    groups = {name: text or "" for name, text in found.groupdict().items()}
    kind = groups.get("kind", "")
    groups["kind"] = names().kin_noun(kind) or kind
    if "{how}s" in template and groups.get("how", "") in _WITH_ES:
        groups["how"] += "e"
    kin = names().kin_noun(subject.noun) or names().kin_noun(subject.noun.split(" ")[-1])
    if expression("checks", "other_manager").fullmatch(subject.noun):
        kin = subject.noun
    return template.format(**groups, noun=subject.noun, head=_head(value), kin=kin)


def _category(pattern: Pattern, value: Value) -> AttributeSchema | None:
    """Return the attribute of a known thing: PostgreSQL the database, dark mode the theme."""
    words = lexicon()
    category = words.category(value.text) if pattern.category else None
    if category is None and pattern.category and value.prior is not None and _NAMED.fullmatch(value.text):
        category = words.category(value.prior)  # what is chosen is of the kind of what is turned down
    if category is None:
        return None
    prefix = "" if category in words.settings else pattern.prefix
    many = words.cardinality(category) if not prefix else Cardinality.SINGLE
    return _holding(words.attribute(f"{prefix}{category}"), many)


def _holding(attribute: AttributeSchema, cardinality: Cardinality) -> AttributeSchema:
    return attribute if attribute.cardinality is cardinality else replace(attribute, cardinality=cardinality)


def _named(pattern: Pattern, name: str, subject: Subject) -> AttributeSchema:
    words = lexicon()
    if name == "date" and subject.noun and words.attribute(subject.noun).dated:
        return words.attribute(subject.noun)
    attribute = words.attribute(name)
    if subject.who == "the" and attribute.name == "clothing_size":
        attribute = AttributeSchema(name="size")  # of a team, of a flat
    if name.casefold() in words.kin:
        return attribute
    many = name == _UNSORTED if pattern.attribute == "{head}" else pattern.many
    return _holding(attribute, Cardinality.SET) if many else attribute


def _trait(value: str) -> str:
    return names().traits.get(value) or names().traits.get(value.replace(" ", "-"), "trait")


def attribute_of(
    pattern: Pattern, found: re.Match[str], subject: Subject, value: Value, *, changed: bool = False
) -> AttributeSchema:
    """Choose the attribute of a value; one without a name if the sentence has no slot.

    `changed`: the words state a change, as in "I'm an activist now".
    """
    if (
        pattern.check in {"role", "bare_role"}
        and value.text.casefold().partition(" of ")[0].split(" ")[-1] in names().family
    ):
        return AttributeSchema(name="family_status")
    if pattern.name == "is_role" and not changed and not is_occupation(value.text):
        return _holding(_named(pattern, pattern.attribute, subject), Cardinality.SET)
    if pattern.check == "trait":
        return lexicon().attribute(_trait(value.text.casefold()))
    category = _category(pattern, value)
    if category is not None:
        return category
    name = _fill(pattern.attribute, found, subject, value)
    if name == "residence":
        name = next((told for shape, told in _DWELLINGS.items() if expression("checks", shape).match(value.raw)), name)
    if name == "location" and expression("checks", "stands_built").search(subject.noun):
        name = next(
            (told for told in ("floor", "beside") if expression("checks", f"stands_{told}").match(value.raw)), name
        )
    if not name and pattern.name in _CHOOSING:
        chosen = expression("checks", "chosen_kind").match(value.raw)
        name = chosen["kind"] if chosen else ""
    return _named(pattern, name, subject) if name else AttributeSchema(name="")


def holder_of(subject: Subject) -> Subject:
    """Parse "my deadline for the thesis" as the deadline of the thesis."""
    found = expression("checks", "holder").match(subject.noun) if subject.who in {"own", "the"} else None
    if found is None or names().kin_noun(found["entity"]):
        return subject
    return subject._replace(noun=found["noun"], entity=found["entity"])


def entity_of(
    pattern: Pattern, found: re.Match[str], subject: Subject, attribute: AttributeSchema, *, owner: str
) -> str:
    """Choose the entity: the subject, a named thing, or the owner if the noun names the slot."""
    if pattern.entity:
        filled = _fill(pattern.entity, found, subject, Value(text=""))
        return nominal(filled) or filled
    if pattern.check == "nominal":
        return nominal(subject.noun) or subject.noun
    if pattern.check == "kin_name":
        return subject.entity.rpartition("'s ")[0] or owner
    if pattern.swap or subject.who == "best":
        return owner
    if subject.who in {"me", "person", "name"}:
        itself = subject.who == "name" and normalise_attribute(subject.entity) == attribute.name
        return owner if itself else subject.entity
    return _thing(pattern, subject, attribute, owner)


def _thing(pattern: Pattern, subject: Subject, attribute: AttributeSchema, owner: str) -> str:
    """Choose between the owner of a slot ("my birthday is …") and the thing itself ("the demo is on …")."""
    if "{noun}" in pattern.attribute or (attribute.dated and attribute.name != "date"):
        return subject.entity or owner or subject.noun
    if subject.who == "the" and subject.entity and attribute.name == subject.noun.casefold():
        return subject.entity  # the colour of my car is a slot of the car
    if subject.who == "own" and "'s " in subject.entity:
        return f"{subject.entity}'s {subject.noun}"  # my sister's wedding is not mine
    if subject.who == "own" and pattern.name == "thing_called" and subject.entity not in {"", owner, subject.noun}:
        return f"{subject.entity} {subject.noun}"  # the channel for bugs is not that for releases
    if subject.who == "own" or subject.entity in {"", subject.noun}:
        return subject.noun
    return f"{subject.entity} {subject.noun}"
