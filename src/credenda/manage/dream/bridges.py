"""Dream step 4: choose the entity pairs to ask a model about, and store a confirmed bridge. Pure.

The numbers are engram's (E-069): entities with at least three facts and no connection yet, centroids with a cosine from
.75 to .90, five pairs a night, importance .6. More similar entities have the same subject, less similar ones are
unrelated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from credenda.manage.dream.eligible_facts import About, digest_of
from credenda.manage.dream.prompts import Bridging
from credenda.model.change import Add
from credenda.model.derived import BRIDGE, DREAMER
from credenda.model.event import TRUST, Source
from credenda.model.memory import Draft, Layer, Memory, MemoryType
from credenda.text.normalize import name_key

__all__ = ["BridgeRules", "Pairing", "bridge_digest", "bridge_ends", "connected", "decide_bridge", "nominated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeRules:
    """The limits of bridges (E-069); `facts_most` is the number of facts of each entity that a model sees."""

    entities: int = 50
    facts_least: int = 3
    facts_most: int = 12
    nearest: float = 0.90
    farthest: float = 0.75
    a_night: int = 5
    importance: float = 0.6


class Pairing(NamedTuple):
    """Two entities by their normal names, in order, and the cosine of their centroids."""

    cosine: float
    one: str
    other: str


def connected(one: About, other: About) -> bool:
    """Return whether a fact of one entity names the other."""
    return _names(one.facts, other.name) or _names(other.facts, one.name)


def _names(facts: Iterable[Memory], name: str) -> bool:
    wanted = f" {name_key(name)} "
    return any(wanted in f" {name_key(fact.text)} " or name_key(fact.value or "") == wanted.strip() for fact in facts)


def nominated(pairs: Iterable[Pairing], abouts: Mapping[str, About], rules: BridgeRules) -> list[Pairing]:
    """Return the pairs to ask about, most similar first: within the cosine range and not connected."""
    near = [pair for pair in pairs if rules.farthest <= pair.cosine <= rules.nearest]
    apart = [pair for pair in near if not connected(abouts[pair.one], abouts[pair.other])]
    return sorted(apart, key=lambda pair: (-pair.cosine, pair.one, pair.other))


def bridge_digest(one: About, other: About) -> str:
    """Hash the facts of two entities, so that the same facts are asked about once."""
    return digest_of((*one.facts, *other.facts), "bridge-1")


def bridge_ends(bridge: Memory) -> frozenset[str]:
    """Return the normalised names of the two entities of a bridge."""
    named = bridge.metadata.get("entities")
    return (
        frozenset(name_key(str(one)) for one in cast("list[object]", named)) if isinstance(named, list) else frozenset()
    )


def decide_bridge(one: About, other: About, found: Bridging, rules: BridgeRules) -> Add:
    """Add a bridge that a model confirmed; it names both entities and cites the facts of both."""
    return Add(
        key=f"new:bridge {name_key(one.name)} {name_key(other.name)}",
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
                "digest": bridge_digest(one, other),
                "edge": "SYNTHESIZED_WITH",
                "entities": [one.name, other.name],
            },
        ),
        support=(),
        reason=f"the model connected {len(found.cites)} memories",
    )
