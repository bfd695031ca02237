"""Other names of persons: the claims that state them, and the slot that is held under another name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from credenda.model.claim import Claim, Span
from credenda.model.event import Event, Role
from credenda.model.memory import Cardinality, MemoryType, Status
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name
from credenda.text.sentences import split_sentences

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
