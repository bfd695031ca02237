"""End derived memories, that is cards and bridges, whose sources have ended.

They are found by their slot: cards by their entity, bridges under one common name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, cast

from credenda.model.change import Change, Delete, end_memory
from credenda.model.memory import BRIDGE, CARD, Memory, Relation, Status, is_dreamed, list_sources
from credenda.model.statement import GIVEN, list_given, replace_given
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.normalize import normalise_name
from credenda.text.tokens import tokenize

ENDED_STATUSES: Final = frozenset(
    {Status.SUPERSEDED, Status.MERGED, Status.INVALIDATED, Status.FORGOTTEN, Status.DELETED}
)
"""Statuses of memories that have ended."""
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED})


def end_dependents(reader: Reader, left: Mapping[str, Memory], deleted: frozenset[str], now_us: int) -> list[Change]:
    """Return the changes that end the derived memories of some sources, given as they were before they ended.

    `deleted` are the ids of deleted sources: their derived memories, in every version, are deleted too. Other derived
    memories are superseded without a successor; the next dream run derives them again.
    """
    entities = {normalise_name(memory.entity) for memory in left.values() if memory.entity}
    if not entities:
        return []
    pairs = [*((entity, CARD) for entity in sorted(entities)), (BRIDGE, BRIDGE)]
    found = {one.id: one for pair in pairs for one in reader.find(MemoryFilter(pair=pair)) if is_dreamed(one)}
    changes: list[Change] = []
    for one in sorted(found.values(), key=lambda memory: memory.created_us):
        gone = list_sources(one) & left.keys()
        if gone & deleted:
            changes.append(Delete(memory_id=one.id, reason="its source was deleted"))
        elif gone and one.status in _HELD:
            reason = f"its source {min(gone)} is no longer active"
            changes.append(end_memory(one, now_us, reason, relation=Relation.REFINED))
    return changes


# Take the wording that came with a claim out of memories that lost words, or where it has words of deleted ones.


_Field = tuple[str, object, object]


def leave_out_wordings(versions: Iterable[Memory], fields: Iterable[_Field] = ()) -> list[_Field]:
    """Return the fields of versions that lose words, with metadata that has no wording of a claim any more."""
    lost = list(fields)
    for one in versions:
        left = next((now for name, before, now in lost if name == "metadata" and before == one.metadata), one.metadata)
        if list_given(one.metadata):
            lost.append(("metadata", one.metadata, replace_given(cast("Mapping[str, object]", left))))
    return lost


def find_wordings(reader: Reader, deleted: Iterable[str]) -> list[Memory]:
    """Find the memories whose wording has a deleted word that they have nowhere else, such as somebody's name."""
    gone = {word for text in deleted for word in tokenize(text)}
    found: list[Memory] = []
    for one in reader.find(MemoryFilter(label=f'"{GIVEN}')):
        own = (one.text, one.entity or "", (one.attribute or "").replace("_", " "), one.value or "", one.scope or "")
        more = {word for text in list_given(one.metadata) for word in tokenize(text)}
        if (more & gone).difference(*map(tokenize, own)):
            found.append(one)
    return found
