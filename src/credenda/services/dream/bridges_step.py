"""Step 4: connections between two entities, which only an LLM can confirm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from credenda import index
from credenda.index.document_names import name_memory_document
from credenda.manage.dream.bridges import (
    BridgeRules,
    EntityPair,
    decide_bridge,
    get_bridge_ends,
    hash_bridge,
    nominate_pairs,
)
from credenda.manage.dream.eligible_facts import EntityFacts, FactIndex
from credenda.model.change import Change
from credenda.model.derived import BRIDGE, is_dreamed
from credenda.model.dream import DreamStep
from credenda.model.memory import Status
from credenda.providers.embed.protocol import Embedder
from credenda.services.dream.index_derived import prepare_vectors
from credenda.services.dream.llm import Mind
from credenda.services.dream.step_context import Night
from credenda.storage.store import MemoryFilter, Watermark

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["run_bridges"]

_MARK: Final = "bridges"
_KEPT: Final = frozenset(Status) - {Status.SUPERSEDED, Status.DELETED}


def run_bridges(night: Night, rules: BridgeRules | None = None) -> DreamStep:
    """Ask an LLM about the nearest pairs of unconnected entities, once a day and once for the same facts."""
    bounds = rules or BridgeRules()
    mind, embedder = Mind(night), night.parts.embedder
    if mind.absent:
        return DreamStep(name="bridges", ran=False, reason=f"{mind.absent}, and only a model confirms a bridge")
    if embedder is None:
        return DreamStep(name="bridges", ran=False, reason="there is no embedder to compare entities with")
    if night.asked_today(_MARK):
        return DreamStep(name="bridges", ran=False, reason="today's pairs were asked about")
    abouts = _read_entities(night, bounds)
    pairs = nominate_pairs(_compare_entities(night, embedder, abouts), abouts, bounds)
    bridged = _find_bridged_pairs(night)
    changes: list[Change] = []
    told: list[str] = []
    asked = 0
    for pair in pairs:
        one, other = abouts[pair.one], abouts[pair.other]
        digest = hash_bridge(one, other)
        if frozenset((pair.one, pair.other)) in bridged or _was_asked(night, digest):
            continue
        if asked == bounds.max_per_run or mind.absent:
            break
        asked += 1
        found = mind.bridge(one, other)
        if mind.trouble:
            break
        add = None if found is None else decide_bridge(one, other, found, bounds)
        if add is not None and not night.forbids([add]) and _write_bridge(night, add, (one, other)):
            changes.append(add)
            verb = "would be" if night.dry_run else "was"
            told.append(f"A bridge between {one.name} and {other.name} {verb} made (cosine {pair.cosine:.2f}).")
        _note(night, digest)
    if not mind.trouble:
        night.mark(_MARK)
    else:
        told.append(f"{mind.trouble[0].upper()}{mind.trouble[1:]}.")
    counts = {"near": len(pairs), "asked": asked, "made": len(changes)}
    return DreamStep(name="bridges", told=tuple(told), counts=counts, changes=tuple(changes))


def _read_entities(night: Night, rules: BridgeRules) -> dict[str, EntityFacts]:
    shelf = FactIndex(rules.facts_most)
    for batch in night.held():
        for memory in batch:
            shelf.put(memory)
    return dict(shelf.entities(rules.facts_least, rules.entities))


def _find_bridged_pairs(night: Night) -> set[frozenset[str]]:
    """Return the pairs, by normal names, that have a bridge or had one that the user removed."""
    found = night.see(lambda reader: reader.find(MemoryFilter(pair=(BRIDGE, BRIDGE), statuses=_KEPT)))
    return {get_bridge_ends(one) for one in found if is_dreamed(one)}


def _compare_entities(night: Night, embedder: Embedder, abouts: Mapping[str, EntityFacts]) -> list[EntityPair]:
    """Compare the centroids of all entities with vectors pairwise."""
    import numpy as np

    centroids = {
        key: found for key, about in abouts.items() if (found := _average_vectors(night, embedder, about)) is not None
    }
    return [
        EntityPair(float(np.dot(centroids[one], centroids[other])), one, other)
        for one, other in combinations(sorted(centroids), 2)
    ]


def _average_vectors(night: Night, embedder: Embedder, about: EntityFacts) -> NDArray[np.float32] | None:
    """Return the mean vector of an entity's facts, (d,) float32 of unit length; None if none has a vector."""
    import numpy as np

    with night.parts.store.reader(night.parts.user_id) as reader:
        tag = reader.tenant.tag
        codes = [name_memory_document(fact.id, tag) for fact in about.facts]
        found = reader.vector_data(codes, embedder.model_id)
    if not found:
        return None
    mean = np.mean([index.quantize.decode_rows([data], bits, embedder.dims)[0] for _, bits, data in found], axis=0)
    length = float(np.linalg.norm(mean))
    return (mean / length).astype(np.float32) if length else None


def _write_bridge(night: Night, add: Change, both: Sequence[EntityFacts]) -> bool:
    seen = {fact.id: fact for about in both for fact in about.facts}
    return night.dry_run or night.commit([add], seen, cause=_MARK, then=prepare_vectors(night, [add]))


def _was_asked(night: Night, digest: str) -> bool:
    return night.see(lambda reader: reader.duties.watermark(f"dream:bridge:{digest}")) is not None


def _note(night: Night, digest: str) -> None:
    """Record, by their hash alone, that these facts were asked about."""
    mark = Watermark(name=f"dream:bridge:{digest}", value=night.today, at_us=night.now_us)
    if not night.dry_run:
        night.parts.store.commit(night.parts.user_id, lambda writer: writer.put(mark))
