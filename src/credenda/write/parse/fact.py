"""One fact of a clause, and the statement that it comes from. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from credenda.model.claim import UpdateKind
from credenda.model.memory import Stance
from credenda.write.parse.clauses import Clause
from credenda.write.parse.people import Party
from credenda.write.parse.tree import Tree

__all__ = ["Fact", "Statement", "load_frames", "make_fact"]


class Statement(NamedTuple):
    """A clause with its tree, whom or what it is about, and the entity of its speaker."""

    tree: Tree
    clause: Clause
    party: Party
    speaker: str
    last_object: str = ""
    """What "it" means: the thing that the clause before is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact: its slot and value, and the characters [start, stop) of the text that say it."""

    entity: str
    attribute: str
    value: str
    start: int
    stop: int
    stance: Stance = Stance.ASSERTED
    move: UpdateKind = UpdateKind.STATE
    prior: str | None = None
    hedged: bool = False
    many: bool = False
    """Stands beside other values of its slot."""
    past: bool = False
    """The value is over: "60 %" of "from 60 % to 85 %"."""
    made: bool = False
    """The entity is a thing that the speaker makes or changes."""
    topical: str = ""
    """The attribute under the thing that the speaker works on, where the clause names none."""
    loose: bool = False
    """A measure of nothing that is named; it belongs to the topic, or to nothing."""
    completes: int = 0
    """The length of the sentence that leaves out words of the fact; `start` and `stop` are of the completed one."""
    said: Statement | None = None
    """The statement that tells it; None where a noun alone does."""


def make_fact(said: Statement, attribute: str, value: str, **more: Any) -> Fact:  # noqa: ANN401 - fields of a fact
    """Return a fact about the party of a statement, unless `entity` names another."""
    clause = said.clause
    fields: dict[str, Any] = {"entity": said.party.owner, "start": clause.start, "stop": clause.stop} | more
    return Fact(attribute=attribute, value=value, said=said, **fields)


@cache
def load_frames() -> Mapping[str, Any]:
    """Load the frames of verbs and adjectives; cached."""
    return tomllib.loads(resources.files("credenda.write.parse").joinpath("frames.toml").read_text("utf-8"))
