"""Find the candidate pairs and groups of consolidation, page by page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from credenda import limits
from credenda.clock import to_local_time
from credenda.ids import IdKind, format_id, parse_id_number
from credenda.index.document_names import name_memory_document
from credenda.index.quantize import decode_rows
from credenda.manage.consolidation.absolute_dates import has_relative_date
from credenda.manage.consolidation.judge import Pair, cluster_pairs, is_candidate
from credenda.manage.consolidation.member import Member, get_slot_key
from credenda.manage.consolidation.nominate import (
    EXACT_SEEDS,
    NearestNeighbours,
    SharedKeyIndex,
    compute_floor,
    compute_keys,
)
from credenda.model.change import ChangeKind, ChangeRecord, Support
from credenda.model.memory import CONSOLIDATED, Memory, Relation, Status, get_valid_from_us
from credenda.providers.embed.hashed import HashedEmbedder
from credenda.runtime import Parts
from credenda.storage.store import ChangeFilter, MemoryFilter, Reader
from credenda.text.normalize import normalise_attribute, normalise_name

SEEDS_MOST: Final = 32_000
"""Seeds compared in one walk, and memories compared at a time with many: 50 MB of vectors of 384 dimensions each."""
_PAGE: Final = 500
_HELD: Final = frozenset({Status.ACTIVE})
_REPLACED: Final = frozenset({Relation.CHANGED, Relation.CORRECTED})
_TELLING: Final = frozenset({ChangeKind.UNDO, ChangeKind.LINK})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The scope of a run: a topic or all, the similarity threshold, neighbours per memory, and largest group.

    `floor` is the minimum cosine of neighbours if it does not follow from the threshold; groups smaller than `least`
    are skipped.
    """

    topic: str | None
    threshold: float
    k: int
    cluster_max: int
    floor: float | None = None
    least: int = 1


def _walk_pages(parts: Parts, topic: str | None, above: int = 0) -> Generator[tuple[Reader, list[tuple[int, Memory]]]]:
    """Yield the candidates, newest first, each page with its own view, which is open until the next page."""
    below: int | None = None
    while True:
        with parts.store.reader(parts.user_id) as reader:
            tag = reader.tenant.tag
            found = reader.find(MemoryFilter(statuses=_HELD, topic=topic, below=below, limit=_PAGE))
            numbered = [(parse_id_number(one.id, IdKind.MEMORY, tag), one) for one in found]
            inside = [(number, one) for number, one in numbered if number > above]
            yield reader, [(number, one) for number, one in inside if is_candidate(one)]
        if len(inside) < _PAGE:
            return
        below = numbered[-1][0]


def find_pending(parts: Parts, topic: str | None, above: int, *, enough: int | None = None) -> list[int]:
    """Return the numbers of memories that no run has judged, oldest first, except memories made by a run.

    Counting stops at `enough`. For a named topic all its memories are returned.
    """
    found: list[int] = []
    with closing(_walk_pages(parts, topic, above)) as pages:
        for _, page in pages:
            found += (number for number, one in page if topic is not None or not _is_made(one))
            if enough is not None and len(found) >= enough:
                break
    return sorted(found)


def _is_made(memory: Memory) -> bool:
    return isinstance(memory.metadata.get(CONSOLIDATED), dict)


class Nominations:
    """The neighbours of many memories, found in one walk over the store."""

    def __init__(self, parts: Parts, seeds: Sequence[int], wanted: Wanted) -> None:
        """Compare the seeds, at most `SEEDS_MOST`, with all candidates."""
        self._wanted = wanted
        self._near = _Near(parts, seeds, wanted)
        self._keys = SharedKeyIndex(key for keys in self._near.keys.values() for key in keys)
        self._changed: set[int] = set()
        chosen = frozenset(seeds)
        with closing(_walk_pages(parts, wanted.topic)) as pages:
            for reader, page in pages:
                self._near.show(reader, page)
                for number, memory in page:
                    self._keys.add(number, compute_keys(memory))
                    if number in chosen and get_slot_key(memory) is not None:
                        self._changed.add(number)

    def groups(self, batch: Sequence[int]) -> list[tuple[int, ...]]:
        """Group seeds with their neighbours; a memory that may describe a change is in a group of its own."""
        keys = (key for number in batch for key in self._near.keys.get(number, ()))
        pairs = [*self._keys.pairs(keys), *self._near.pairs(batch)]
        found = cluster_pairs(pairs, self._wanted.cluster_max)
        placed = {number for group in found for number in group}
        alone = self._changed.intersection(batch) - placed
        groups = sorted([*found, *((number,) for number in alone)])
        return [group for group in groups if len(group) >= self._wanted.least]


class _Near:
    """The nearest memories of each seed, by stored vectors or, without an embedding model, by spelling."""

    def __init__(self, parts: Parts, seeds: Sequence[int], wanted: Wanted) -> None:
        self._model_id = parts.embedder.model_id if parts.embedder is not None else None
        self._dims = parts.embedder.dims if parts.embedder is not None else 0
        if self._model_id is None:
            self._hashed = HashedEmbedder()
        self.keys: dict[int, tuple[int, ...]] = {}
        """The exact keys of the seeds, by number."""
        self._waiting: list[tuple[list[int], NDArray[np.float32]]] = []
        numbers: list[int] = []
        blocks: list[NDArray[np.float32]] = []
        with parts.store.reader(parts.user_id) as reader:
            tag = reader.tenant.tag
            for start in range(0, len(seeds), _PAGE):
                found = reader.memories([format_id(IdKind.MEMORY, one, tag) for one in seeds[start : start + _PAGE]])
                numbered = [(parse_id_number(one.id, IdKind.MEMORY, tag), one) for one in found]
                named, vectors = self._vectors(reader, numbered)
                numbers += named
                blocks.append(vectors)
                self.keys.update((number, compute_keys(one)) for number, one in numbered)
        floor = compute_floor(wanted.threshold) if wanted.floor is None else wanted.floor
        self._nearest = NearestNeighbours(numbers, _stack_blocks(blocks), k=wanted.k, floor=floor)

    def _vectors(self, reader: Reader, page: Sequence[tuple[int, Memory]]) -> tuple[list[int], NDArray[np.float32]]:
        """Return the numbers of the memories with a vector, and their vectors, (n, d) rows of unit length."""
        if self._model_id is None:
            return [number for number, _ in page], self._hashed.embed([one.text for _, one in page])
        codes = {name_memory_document(one.id, reader.tenant.tag): number for number, one in page}
        by_width: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
        for code, bits, data in reader.vector_data(list(codes), self._model_id):
            by_width[bits].append((codes[code], data))
        blocks = [decode_rows([data for _, data in rows], bits, self._dims) for bits, rows in by_width.items()]
        return [number for rows in by_width.values() for number, _ in rows], _stack_blocks(blocks)

    def show(self, reader: Reader, page: Sequence[tuple[int, Memory]]) -> None:
        """Compare the seeds with a page, at once or, if the seeds are many, together with others."""
        self._waiting.append(self._vectors(reader, page))
        if len(self._waiting) * _PAGE >= (SEEDS_MOST if len(self.keys) > EXACT_SEEDS else 0):
            self._compare()

    def _compare(self) -> None:
        numbers = [number for named, _ in self._waiting for number in named]
        self._nearest.show(numbers, _stack_blocks([vectors for _, vectors in self._waiting]))
        self._waiting = []

    def pairs(self, batch: Sequence[int]) -> list[Pair]:
        """Return the pairs of these seeds above the threshold."""
        self._compare()
        return self._nearest.pairs(batch)


def _stack_blocks(blocks: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    given = [block for block in blocks if len(block)]
    return np.concatenate(given) if given else np.empty((0, 0), np.float32)


def read_members(reader: Reader, parts: Parts, numbers: Sequence[int], seeds: frozenset[int]) -> list[Member]:
    """Read the current versions of a group's memories with the data that judging needs."""
    tag = reader.tenant.tag
    found = [
        one for one in reader.memories([format_id(IdKind.MEMORY, one, tag) for one in numbers]) if is_candidate(one)
    ]
    fresh = {one.id for one in found if parse_id_number(one.id, IdKind.MEMORY, tag) in seeds}
    past = {one.id: _find_earlier_values(reader, one) for one in found if one.id in fresh}
    ids = tuple(one.id for one in chain(found, *past.values()))
    support: defaultdict[str, list[Support]] = defaultdict(list)
    for item in reader.evidence(memory_ids=ids):
        support[item.memory_id].append(Support(span=item.span, claim_hash=item.claim_hash, reader=item.reader))
    dated = [one.id for one in chain(found, *past.values()) if has_relative_date(one.text) and support[one.id]]
    told = _read_times(reader, {name: support[name][0].span.event_id for name in dated})

    log: defaultdict[str, list[ChangeRecord]] = defaultdict(list)
    for record in reader.changes(ChangeFilter(memory_ids=ids, kinds=_TELLING)):
        log[record.memory_id or ""].append(record)

    def read(memory: Memory) -> Member:
        before = tuple(read(one) for one in past.get(memory.id, ()))
        made = _make_member(parts, memory, told.get(memory.id), support=tuple(support[memory.id]), log=log[memory.id])
        return replace(made, past=before)

    return [replace(read(one), fresh=one.id in fresh) for one in found]


def _read_times(reader: Reader, events: Mapping[str, str]) -> dict[str, int]:
    """Return when the event of each memory was said."""
    said = {one.id: one.occurred_us for one in reader.events(sorted(set(events.values())))} if events else {}
    return {name: said[event] for name, event in events.items() if event in said}


def _make_member(
    parts: Parts, memory: Memory, told_us: int | None, *, support: tuple[Support, ...], log: Sequence[ChangeRecord]
) -> Member:
    since_us = get_valid_from_us(memory)
    since_us = since_us if told_us is None else told_us
    return Member(
        memory=memory,
        support=support,
        fresh=False,
        told_us=told_us,
        left_alone=any(one.kind is ChangeKind.UNDO for one in log),
        linked=_find_linked(log),
        zone_us=to_local_time(since_us, parts.settings.zone) - since_us,
    )


def _find_linked(log: Iterable[ChangeRecord]) -> frozenset[str]:
    named = (one.after.get("linked") for one in log if one.kind is ChangeKind.LINK)
    return frozenset(str(name) for ids in named if isinstance(ids, list) for name in cast("list[object]", ids))


def _find_earlier_values(reader: Reader, memory: Memory) -> list[Memory]:
    """Return the earlier values in a memory's slot, and the values that it corrected."""
    slot = get_slot_key(memory)
    if slot is None or not (memory.entity and memory.attribute):
        return []
    pair = (normalise_name(memory.entity), normalise_attribute(memory.attribute))
    wanted = MemoryFilter(pair=pair, statuses=frozenset({Status.SUPERSEDED}), limit=limits.SLOT_ROWS)
    return [one for one in reader.find(wanted) if one.relation in _REPLACED and get_slot_key(one) == slot]
