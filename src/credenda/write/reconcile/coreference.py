"""Resolve which of several relatives or pets a claim is about: "my son Emil", and "my son" after it.

A person has one wife and one boss, whatever their names. There may be several children, siblings, friends and pets, so
a name distinguishes them. Without a name, the only one with the same attribute is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from credenda.model.attributes import get_attribute
from credenda.model.claim import Claim, Span, UpdateKind
from credenda.model.event import Event, Role
from credenda.model.memory import Cardinality, Memory, MemoryType, Status
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name
from credenda.text.sentences import split_sentences
from credenda.write.extract.clauses import names
from credenda.write.related import find_related

_NOMINATED: Final = 64
_OWNER: Final = "'s "
_OF_PERSONS: Final = {"location": "residence", "lives_in": "residence"}
"""Attributes that extraction gives to things and places, and their names for persons."""
_NAME: Final = re.compile(r"[A-Z\u00c0-\u00de][\w-]{1,30}$")
"""A first name alone."""
_REPLACING_KINDS: Final = frozenset({UpdateKind.CHANGE, UpdateKind.END, UpdateKind.CORRECT})


def resolve_relative(reader: Reader, claim: Claim) -> Claim:
    """Move a claim about one of several relatives or pets to the entity whose slot has a value already."""
    found = _split_kin_and_name(claim.entity or "")
    if found is None or not claim.attribute:
        return _resolve_by_name(reader, claim) if claim.attribute and _NAME.match(claim.entity or "") else claim
    kin, name = found
    held = [
        one
        for one in _find_relatives(reader, kin)
        if normalise_attribute(one.attribute or "") == normalise_attribute(claim.attribute)
    ]
    if any(normalise_name(one.entity or "") == normalise_name(claim.entity or "") for one in held):
        return claim
    others = {one.entity for one in held if one.entity}
    if not name:
        return replace(claim, entity=next(iter(others))) if len(others) == 1 else claim
    unnamed = [one for one in held if normalise_name(one.entity or "") == normalise_name(kin)]
    same = claim.move in _REPLACING_KINDS or any(is_same_value(one.value, claim.value) for one in unnamed)
    if len(others) == 1 and unnamed and (same or _is_called(reader, kin, name)):
        return replace(claim, entity=unnamed[0].entity)
    return claim


def _resolve_by_name(reader: Reader, claim: Claim) -> Claim:
    """Move a claim about "Emil" to the son of that name, if only his slot has a value.

    A claim about an attribute of persons is moved to the only entity of that name, if the bare name has no memory.
    """
    key, name = normalise_attribute(claim.attribute or ""), normalise_name(claim.entity or "")
    known = _load_active(reader, name)
    asked = {key, *(one for one in (*_OF_PERSONS, "residence") if key in _OF_PERSONS or key == "residence")}
    held = [one for one in known if normalise_attribute(one.attribute or "") in asked]
    own = {one.attribute or "" for one in held if normalise_name(one.entity or "") == name}
    if own:
        return replace(claim, attribute=next(iter(own))) if len(own) == 1 and key not in own else claim
    called = {(one.entity, one.attribute) for one in held if _is_named(one, name)}
    if len(called) == 1:
        ((entity, attribute),) = called
        return replace(claim, entity=entity, attribute=attribute)
    bearers = {one.entity for one in known if _is_named(one, name)}
    bare = any(normalise_name(one.entity or "") == name for one in known)
    alone = not called and not bare and len(bearers) == 1 and get_attribute(key).person
    return replace(claim, entity=next(iter(bearers))) if alone else claim


def _is_named(memory: Memory, name: str) -> bool:
    known = _split_kin_and_name(memory.entity or "")
    return known is not None and normalise_name(known[1]) == name


def _load_active(reader: Reader, word: str) -> list[Memory]:
    return [one for one in find_related(reader, [word], _NOMINATED) if one.status is Status.ACTIVE and one.entity]


def _split_kin_and_name(entity: str) -> tuple[str, str] | None:
    """Split "user's son Emil" into relation and name; None for other entities.

    >>> (_split_kin_and_name("user's older sister Ana Maria"), _split_kin_and_name("user's son"),
    ... _split_kin_and_name("user's boss"))
    (("user's older sister", 'Ana Maria'), ("user's son", ''), None)
    """
    owner, _, rest = entity.rpartition(_OWNER)
    words = rest.split(" ")
    at = next((place for place, word in enumerate(words) if word in names().many_kin), None)
    if not owner or at is None or not all(word[:1].isupper() for word in words[at + 1 :]):
        return None
    return f"{owner}{_OWNER}{' '.join(words[: at + 1])}", " ".join(words[at + 1 :])


def _find_relatives(reader: Reader, kin: str) -> list[Memory]:
    """Read the active memories about whoever is such a relative, found by the word for it."""
    key = normalise_name(kin)
    return [
        one
        for one in _load_active(reader, kin.rpartition(" ")[2])
        if (known := _split_kin_and_name(one.entity or "")) is not None and normalise_name(known[0]) == key
    ]


def _is_called(reader: Reader, kin: str, name: str) -> bool:
    """Return whether the only relative of that kind is known to have this name."""
    owner, _, noun = kin.rpartition(_OWNER)
    wanted = MemoryFilter(
        pair=(normalise_name(owner), normalise_attribute(noun)), statuses=frozenset({Status.ACTIVE}), limit=2
    )
    called = reader.find(wanted)
    return len(called) == 1 and is_same_value(called[0].value, name)


_ALIAS: Final = "alias"
_HELD: Final = frozenset({Status.ACTIVE})
_NAMES: Final = 16
_SENTENCES: Final = 200
_CONFIDENCE: Final = 0.9
_IMPORTANCE: Final = 0.5
_ALIAS_NAME: Final = (
    r"(?!I(?:['\u2019]|\b))[A-Z\u00c0-\u00de][\w'\u2019-]{0,30}(?: [A-Z\u00c0-\u00de][\w'\u2019-]{0,30}){0,2}"
)
_HINT: Final = re.compile(r"call|known as|aka|goes by|short for|for short|nicknam|alias")
_PATTERNS: Final = tuple(
    re.compile(pattern.replace("NAME", f"(?P<name>{_ALIAS_NAME})").replace("ALIAS", f"(?P<alias>{_ALIAS_NAME})"))
    for pattern in (
        r"\bNAME, (?:whom? )?(?:everyone|everybody|we|people|friends|I) (?:just )?calls? (?:him |her |it )?ALIAS\b",
        r"\b(?:[Ee]veryone|[Ee]verybody|[Ww]e|[Pp]eople|I) (?:just )?calls? NAME ALIAS\b",
        r"\b[Ee]veryone calls NAME (?:just |simply )ALIAS\b",
        r"\bNAME,? (?:\()?(?:a\.?k\.?a\.?|also (?:known as|called)|alias|nicknamed) ALIAS\b",
        r"\bNAME goes by (?:the name (?:of )?)?ALIAS\b",
        r"\bALIAS is short for NAME\b",
        r"\bNAME,? or ALIAS for short\b",
        r"\bNAME['\u2019]s nickname is ALIAS\b",
    )
)


def find_aliases(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield (name, alias) for every alias that a sentence states.

    >>> list(find_aliases("My manager is Robert, everyone calls him Bob."))
    [('Robert', 'Bob')]
    >>> list(find_aliases("Bob is short for Robert."))
    [('Robert', 'Bob')]
    >>> list(find_aliases("She works at a charity in Cardiff called Bramble."))
    []
    """
    for pattern in _PATTERNS:
        for found in pattern.finditer(sentence):
            if normalise_name(found["name"]) != normalise_name(found["alias"]):
                yield found["name"], found["alias"]


def extract_alias_claims(event: Event) -> list[Claim]:
    """Extract the aliases that the user states in an event, as two claims each."""
    if event.role is not Role.USER or _HINT.search(event.text) is None:
        return []
    claims: list[Claim] = []
    for start, stop in islice(split_sentences(event.text), _SENTENCES):
        span = Span(event.id, start, stop)
        for name, alias in find_aliases(event.text[start:stop]):
            claims += [_make_claim(event.speaker, span, *both) for both in ((name, alias), (alias, name))]
    return claims


def _make_claim(speaker: str, span: Span, name: str, alias: str) -> Claim:
    return Claim(
        text=f"{name} is also called {alias}.",
        type=MemoryType.FACT,
        span=span,
        speaker=speaker,
        entity=name,
        attribute=_ALIAS,
        value=alias,
        cardinality=Cardinality.SET,
        confidence=_CONFIDENCE,
        importance=_IMPORTANCE,
    )


def resolve_alias(reader: Reader, claim: Claim) -> Claim:
    """Replace the entity or value of a claim by the alias under which its slot already has a value."""
    if not claim.entity or not claim.attribute or claim.attribute == _ALIAS:
        return claim
    entity, attribute = claim.entity, normalise_attribute(claim.attribute)
    if normalise_name(entity) != "user" and not _find_values(reader, entity, attribute):
        entity = next((name for name in _find_names(reader, entity) if _find_values(reader, name, attribute)), entity)
    value = claim.value
    if value and value[:1].isupper() and len(value) <= 100:  # noqa: PLR2004 - a name
        names = _find_names(reader, value)
        held = _find_values(reader, entity, attribute) if names else []
        if not any(is_same_value(one, value) for one in held):
            value = next((one for one in held if any(is_same_value(one, name) for name in names)), value)
    return claim if (entity, value) == (claim.entity, claim.value) else replace(claim, entity=entity, value=value)


def _find_names(reader: Reader, name: str) -> list[str]:
    return _find_values(reader, name, _ALIAS)


def _find_values(reader: Reader, entity: str, attribute: str) -> list[str]:
    wanted = MemoryFilter(pair=(normalise_name(entity), attribute), statuses=_HELD, limit=_NAMES)
    return [one.value for one in reader.find(wanted) if one.value]
