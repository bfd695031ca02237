"""Dream step 4: choose the entity pairs to ask a model about, and store a confirmed bridge. Pure.

The numbers are engram's (E-069): entities with at least three facts and no connection yet, centroids with a cosine from
.75 to .90, five pairs a night, importance .6. More similar entities have the same subject, less similar ones are
unrelated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from credenda.manage.dream.cards import EntityFacts, hash_facts
from credenda.manage.dream.prompts import BridgeAnswer
from credenda.model.change import Add
from credenda.model.event import TRUST, Source
from credenda.model.memory import BRIDGE, DREAMER, Draft, Layer, Memory, MemoryType
from credenda.text.normalize import normalise_name


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeRules:
    """The limits of bridges (E-069); `facts_most` is the number of facts of each entity that a model sees."""

    entities: int = 50
    facts_least: int = 3
    facts_most: int = 12
    nearest: float = 0.90
    farthest: float = 0.75
    max_per_run: int = 5
    importance: float = 0.6


class EntityPair(NamedTuple):
    """Two entities by their normal names, in order, and the cosine of their centroids."""

    cosine: float
    one: str
    other: str


def is_connected(one: EntityFacts, other: EntityFacts) -> bool:
    """Return whether a fact of one entity names the other."""
    return _is_named(one.facts, other.name) or _is_named(other.facts, one.name)


def _is_named(facts: Iterable[Memory], name: str) -> bool:
    wanted = f" {normalise_name(name)} "
    return any(
        wanted in f" {normalise_name(fact.text)} " or normalise_name(fact.value or "") == wanted.strip()
        for fact in facts
    )


def nominate_pairs(
    pairs: Iterable[EntityPair], abouts: Mapping[str, EntityFacts], rules: BridgeRules
) -> list[EntityPair]:
    """Return the pairs to ask about, most similar first: within the cosine range and not connected."""
    near = [pair for pair in pairs if rules.farthest <= pair.cosine <= rules.nearest]
    apart = [pair for pair in near if not is_connected(abouts[pair.one], abouts[pair.other])]
    return sorted(apart, key=lambda pair: (-pair.cosine, pair.one, pair.other))


def hash_bridge(one: EntityFacts, other: EntityFacts) -> str:
    """Hash the facts of two entities, so that the same facts are asked about once."""
    return hash_facts((*one.facts, *other.facts), "bridge-1")


def get_bridge_ends(bridge: Memory) -> frozenset[str]:
    """Return the normalised names of the two entities of a bridge."""
    named = bridge.metadata.get("entities")
    return (
        frozenset(normalise_name(str(one)) for one in cast("list[object]", named))
        if isinstance(named, list)
        else frozenset()
    )


def decide_bridge(one: EntityFacts, other: EntityFacts, found: BridgeAnswer, rules: BridgeRules) -> Add:
    """Add a bridge that a model confirmed; it names both entities and cites the facts of both."""
    return Add(
        key=f"new:bridge {normalise_name(one.name)} {normalise_name(other.name)}",
        draft=Draft(
            text=found.sentence,
            type=MemoryType.FACT,
            entity=BRIDGE,
            attribute=BRIDGE,
            speaker=DREAMER,
            importance=rules.importance,
            layer=Layer.SEMANTIC,
            trust=TRUST[Source.DREAM],
            metadata={
                "cites": list(found.cites),
                "digest": hash_bridge(one, other),
                "edge": "SYNTHESIZED_WITH",
                "entities": [one.name, other.name],
            },
        ),
        support=(),
        reason=f"the model connected {len(found.cites)} memories",
    )
