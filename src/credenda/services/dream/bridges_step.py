"""Step 4: connections between two entities that only a model can confirm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from credenda.index.document_names import memory_document
from credenda.manage.dream.bridges import BridgeRules, Pairing, bridge_digest, bridge_ends, decide_bridge, nominated
from credenda.manage.dream.eligible_facts import About, Shelf
from credenda.model.change import Change
from credenda.model.derived import BRIDGE, is_dreamed
from credenda.model.dream import DreamStep
from credenda.model.memory import Status
from credenda.providers.embed.protocol import Embedder
from credenda.services.dream.index_derived import fitted
from credenda.services.dream.llm import Mind
from credenda.services.dream.step_context import Night
from credenda.storage.store import MemoryFilter, Watermark

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["bridges"]

_MARK: Final = "bridges"
_KEPT: Final = frozenset(Status) - {Status.SUPERSEDED, Status.DELETED}


def bridges(night: Night, rules: BridgeRules | None = None) -> DreamStep:
    """Ask a model about the nearest pairs of entities that nothing connects, once a day and once for the same facts."""
    bounds = rules or BridgeRules()
    mind, embedder = Mind(night), night.parts.embedder
    if mind.absent:
        return DreamStep(name="bridges", ran=False, reason=f"{mind.absent}, and only a model confirms a bridge")
    if embedder is None:
        return DreamStep(name="bridges", ran=False, reason="without an embedder nothing is near anything")
    if night.asked_today(_MARK):
        return DreamStep(name="bridges", ran=False, reason="tonight's pairs were asked about")
    abouts = _abouts(night, bounds)
    pairs = nominated(_pairs(night, embedder, abouts), abouts, bounds)
    bridged = _bridged(night)
    changes: list[Change] = []
    told: list[str] = []
    asked = 0
    for pair in pairs:
        one, other = abouts[pair.one], abouts[pair.other]
        digest = bridge_digest(one, other)
        if frozenset((pair.one, pair.other)) in bridged or _asked(night, digest):
            continue
        if asked == bounds.a_night or mind.absent:
            break
        asked += 1
        found = mind.bridge(one, other)
        if mind.trouble:
            break
        add = None if found is None else decide_bridge(one, other, found, bounds)
        if add is not None and not night.forbids([add]) and _file(night, add, (one, other)):
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


def _abouts(night: Night, rules: BridgeRules) -> dict[str, About]:
    shelf = Shelf(rules.facts_most)
    for batch in night.held():
        for memory in batch:
            shelf.put(memory)
    return dict(shelf.entities(rules.facts_least, rules.entities))


def _bridged(night: Night) -> set[frozenset[str]]:
    """Give the pairs, by normal names, that a bridge connects, and those whose bridge a person put away."""
    found = night.see(lambda reader: reader.find(MemoryFilter(pair=(BRIDGE, BRIDGE), statuses=_KEPT)))
    return {bridge_ends(one) for one in found if is_dreamed(one)}


def _pairs(night: Night, embedder: Embedder, abouts: Mapping[str, About]) -> list[Pairing]:
    """Compare the centroids of all entities that have vectors, each with each."""
    import numpy as np

    centroids = {
        key: found for key, about in abouts.items() if (found := _centroid(night, embedder, about)) is not None
    }
    return [
        Pairing(float(np.dot(centroids[one], centroids[other])), one, other)
        for one, other in combinations(sorted(centroids), 2)
    ]


def _centroid(night: Night, embedder: Embedder, about: About) -> NDArray[np.float32] | None:
    """Average the vectors of an entity's facts; (d,) float32 of unit length, None where none has one."""
    import numpy as np

    from credenda.index.quantize import decode_rows

    with night.parts.store.reader(night.parts.user_id) as reader:
        tag = reader.tenant.tag
        codes = [memory_document(fact.id, tag) for fact in about.facts]
        found = reader.vector_data(codes, embedder.model_id)
    if not found:
        return None
    mean = np.mean([decode_rows([data], bits, embedder.dims)[0] for _, bits, data in found], axis=0)
    length = float(np.linalg.norm(mean))
    return (mean / length).astype(np.float32) if length else None


def _file(night: Night, add: Change, both: Sequence[About]) -> bool:
    seen = {fact.id: fact for about in both for fact in about.facts}
    return night.dry_run or night.commit([add], seen, cause=_MARK, then=fitted(night, [add]))


def _asked(night: Night, digest: str) -> bool:
    return night.see(lambda reader: reader.duties.watermark(f"dream:bridge:{digest}")) is not None


def _note(night: Night, digest: str) -> None:
    """Note that a pair was asked about with these facts, by their hash alone."""
    mark = Watermark(name=f"dream:bridge:{digest}", value=night.today, at_us=night.now_us)
    if not night.dry_run:
        night.parts.store.commit(night.parts.user_id, lambda writer: writer.put(mark))
