"""A memory as a sentence is compared with it: its words, whose it is, and in which case it holds. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from credenda.model.memory import Memory
from credenda.text.normal import attribute_key, name_key
from credenda.write.extract.lexicon import names
from credenda.write.succession.turning import Turning
from credenda.write.succession.words import Phrase, phrase

__all__ = ["Match", "Old", "old_of", "same_owner", "same_scope"]

_HE: Final = re.compile(r"(?:^|[,;] ?(?:and |but |so )?)(?:he|she)\b")
_ME: Final = re.compile(r"\b(?:took|put|moved|switched|taken|got|has) me\b")
_OWNERS: Final = frozenset({"", "user"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A memory whose place a sentence takes: how strong the signs are, by which rule, and what they are.

    `cell` is what is replaced in the old sentence and `into` what stands there now, where one word does.
    """

    memory: Memory
    score: float
    rule: str
    shared: tuple[str, ...]
    cell: str | None = None
    into: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """A memory as it is compared: its words, its attribute, and whom or what it is about."""

    memory: Memory
    said: Phrase
    name: str
    own: bool
    kin: frozenset[str]
    owner: frozenset[str]
    person: bool

    @property
    def named(self) -> frozenset[str]:
        """The words of the person whom it is about."""
        return self.owner if self.person else frozenset()


def old_of(memory: Memory) -> Old:
    """Prepare a memory for comparison."""
    said = phrase(memory.text)
    entity = name_key(memory.entity or "")
    own = entity in _OWNERS or entity == name_key(memory.speaker)
    bare = entity.removeprefix("user's ").removeprefix("my ")
    words = names()
    kin = words.kin_noun(bare) or words.kin_noun(bare.rpartition("'s ")[2])
    return Old(
        memory=memory,
        said=said,
        name=attribute_key(memory.attribute or ""),
        own=own,
        kin=frozenset(one.term for one in said.words if one.kind == "kind:kin"),
        owner=frozenset() if own else frozenset(one.term for one in phrase(bare).words if one.content),
        person=not own and (kin is not None or ((memory.entity or "")[:1].isupper() and memory.attribute != "date")),
    )


def same_owner(turn: Turning, old: Old) -> bool:
    """Say whether both are about the same person, as far as kin, names and pronouns tell."""
    entity, value = name_key(old.memory.entity or ""), old.memory.value or ""
    if old.person and not old.owner & turn.terms and all(name_key(one.entity or "") != entity for one in turn.given):
        return False
    if old.own and not old.kin and _HE.search(turn.said.lower):
        return False
    if old.own and (_ME.search(turn.said.lower) or any(one.kind == "kind:kin" for one in phrase(value).words)):
        return True
    return turn.kin <= old.kin | old.owner | old.said.terms


def same_scope(turn: Turning, old: Old) -> bool:
    """Say whether neither holds in a case that the other does not name."""
    scope = frozenset(one.term for one in phrase(old.memory.scope or "").words if one.content)
    return scope <= turn.terms and turn.scopes <= old.said.terms | scope
