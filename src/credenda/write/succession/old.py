"""A memory prepared for comparison: its words, owner and scope. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from credenda.model.memory import Memory
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.write.extract.lexicon import names
from credenda.write.succession.turning import Turning
from credenda.write.succession.words import Phrase, phrase

__all__ = ["Match", "Old", "name_of", "old_of", "others_words", "same_owner", "same_scope"]

_OWNERS: Final = frozenset({"", "user"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A memory that a sentence replaces, with the score, the rule and the signs.

    `cell` is the replaced span of the old sentence, and `into` its replacement, if there is one.
    """

    memory: Memory
    score: float
    rule: str
    shared: tuple[str, ...]
    cell: str | None = None
    into: str | None = None


class Old(NamedTuple):
    """A memory prepared for comparison: its words, its attribute, and its person or thing."""

    memory: Memory
    said: Phrase
    name: str
    own: bool
    kin: frozenset[str]
    owner: frozenset[str]
    person: bool
    scope: frozenset[str]

    @property
    def named(self) -> frozenset[str]:
        """The words of its person."""
        return self.owner if self.person else frozenset()


def name_of(memory: Memory) -> str:
    """Return the normalised attribute of a memory, "" without one; it excludes most memories cheaply."""
    return _known_of(memory).name


class _Known(NamedTuple):
    """The features of a memory that depend on its slot alone."""

    name: str
    own: bool
    owner: frozenset[str]
    person: bool
    scope: frozenset[str]


def others_words(entity: str | None, attribute: str | None, speaker: str) -> frozenset[str]:
    """Return the words of another person that an entity names; none for a thing or the speaker."""
    known = _known(entity or "", attribute or "", "", speaker)
    return known.owner if known.person else frozenset()


def old_of(memory: Memory) -> Old:
    """Prepare a memory for comparison."""
    said, known = phrase(memory.text), _known_of(memory)
    return Old(
        memory=memory,
        said=said,
        name=known.name,
        own=known.own,
        kin=said.kin,
        owner=known.owner,
        person=known.person,
        scope=known.scope,
    )


def _known_of(memory: Memory) -> _Known:
    return _known(memory.entity or "", memory.attribute or "", memory.scope or "", memory.speaker)


@lru_cache(maxsize=512)
def _known(entity: str, attribute: str, scope: str, speaker: str) -> _Known:
    key = normalise_name(entity)
    own = key in _OWNERS or key == normalise_name(speaker)
    bare = key.removeprefix("user's ").removeprefix("my ")
    words = names()
    kin = words.kin_noun(bare) or words.kin_noun(bare.rpartition("'s ")[2])
    return _Known(
        name=normalise_attribute(attribute),
        own=own,
        owner=frozenset() if own else phrase(bare).terms,
        person=not own and (kin is not None or (entity[:1].isupper() and attribute != "date")),
        scope=phrase(scope).terms,
    )


def same_owner(turn: Turning, old: Old) -> bool:
    """Return whether both are about the same person, by relatives, names and pronouns."""
    if old.person and old.owner.isdisjoint(turn.terms):
        entity = normalise_name(old.memory.entity or "")
        if all(normalise_name(one.entity or "") != entity for one in turn.given):
            return False
    if old.own and not old.kin and turn.of_other:
        return False
    if turn.kin <= old.kin | old.owner | old.said.terms:
        return True
    return old.own and (turn.on_me or bool(phrase(old.memory.value or "").kin))


def same_scope(turn: Turning, old: Old) -> bool:
    """Return whether both have the same scope."""
    return old.scope <= turn.terms and turn.scopes <= old.said.terms | old.scope
