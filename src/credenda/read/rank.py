"""Turn candidates into rows: read, filter, merge and order them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from credenda.ids import Kind, number_of
from credenda.model.feedback import Regard
from credenda.model.memory import Memory
from credenda.model.query import Query
from credenda.read.alias_match import is_named
from credenda.read.candidates import Candidates, Integers, Row, Signs
from credenda.read.filters import fits_event, fits_memory, wants_events, wants_memories
from credenda.read.fuse import Fused
from credenda.read.hydrate import Loaded, load, load_successors, name_document
from credenda.read.plan import Ask
from credenda.read.retrieve import owner_of
from credenda.read.score import keyed, lowered
from credenda.read.visibility import arrange, join, judge_event, judge_memory, veil
from credenda.read.weights import Weights
from credenda.storage.store import EventFilter, MemoryFilter, Reader, pack_code

__all__ = ["Reading", "admit", "allowed_owners", "ordered"]


_NO_TERMS: Final[Mapping[str, float]] = MappingProxyType({})


class _Found(NamedTuple):
    """How a row was found: its relevance, its features, and the summands if `explain` is set."""

    key: float
    signs: Signs
    terms: Mapping[str, float]


@dataclass(slots=True)
class Reading:
    """The state of one search: its inputs and the rows read so far."""

    query: Query
    reader: Reader
    now_us: int
    tuned: Weights
    ask: Ask = Ask.OTHER
    loaded: Loaded = field(default_factory=Loaded)
    rows: list[Row] = field(default_factory=list[Row])
    regards: dict[str, Regard] = field(default_factory=dict[str, Regard])
    judged: bool | None = None
    """Whether the tenant has any feedback; None until looked up."""
    misfits: int = 0
    """Number of relevant rows dropped by a condition that the index does not know."""
    unread: bool = False
    """Whether relevant candidates were not read, because too many before them were dropped."""


def admit(work: Reading, found: Candidates, fused: Fused, batch: Integers) -> None:
    """Read a batch of candidates and keep the visible ones as rows."""
    named = [name_document(code, work.reader.tenant.tag) for code in found.codes[batch].tolist()]
    memory_ids = [name for kind, name, _ in named if kind is Kind.MEMORY]
    if memory_ids and _judges(work):
        work.regards.update(work.reader.usage.regards(memory_ids))
    load(
        work.reader,
        work.loaded,
        memory_ids=memory_ids,
        event_ids=[name for kind, name, _ in named if kind is Kind.EVENT],
        known_at_us=work.query.known_at_us,
        evidence=work.query.profile != "recall",
    )
    for at, signs, key, (kind, name, ordinal) in zip(
        batch.tolist(), _signs(found, batch), fused.relevance[batch].tolist(), named, strict=True
    ):
        terms = _terms(fused, at) if work.query.explain else _NO_TERMS
        found_as = _Found(key, signs, terms)
        row = _memory_row(work, name, found_as) if kind is Kind.MEMORY else _event_row(work, name, ordinal, found_as)
        if row is not None:
            work.rows.append(_named(row, work))


def _judges(work: Reading) -> bool:
    """Return whether feedback matters for this search; most tenants have none, and the check is cheap."""
    if work.judged is None:
        work.judged = work.query.profile == "default" and work.reader.usage.judged
    return work.judged


def _named(row: Row, work: Reading) -> Row:
    """Add the slot bonus to a memory whose entity the question names by an alias."""
    if row.memory is None or row.signs.slot or not is_named(row.memory, work.query.text):
        return row
    more = work.tuned.relevance.slot
    terms = {**row.terms, "named": more} if work.query.explain else row.terms
    return row._replace(key=row.key + more, signs=row.signs._replace(slot=True), terms=terms)


def _signs(found: Candidates, batch: Integers) -> Iterator[Signs]:
    """Yield the features of each candidate of a batch; reading whole columns is much faster than single values."""
    governs = found.governs > 0
    columns = (found.words, found.coverage, found.cosine, found.slot, found.timely, governs, found.rarest)
    for words, coverage, cosine, *marks in zip(*(one[batch].tolist() for one in columns), strict=True):
        yield Signs(words, coverage, None if math.isnan(cosine) else cosine, *marks)


def _terms(fused: Fused, at: int) -> Mapping[str, float]:
    return {name: float(values[at]) for name, values in fused.terms.items()}


def _memory_row(work: Reading, name: str, found: _Found) -> Row | None:
    memory, query = work.loaded.memories.get(name), work.query
    if memory is None:
        work.misfits += _travels(query)  # it was recorded later
        return None
    flags = judge_memory(memory, query, work.now_us)
    if not fits_memory(memory, query) or (flags is None and _untold_by_index(memory, query)):
        work.misfits += 1
        return None
    if flags is None:
        return None
    return Row("memory", name, memory.text, *found, memory=memory, flags=flags)


def _untold_by_index(memory: Memory, query: Query) -> bool:
    """Return whether a memory was dropped by a value that the index does not know: confidence or validity."""
    return memory.confidence < query.min_confidence or _travels(query)


def _travels(query: Query) -> bool:
    return query.as_of_us is not None or query.known_at_us is not None


def _event_row(work: Reading, name: str, ordinal: int, found: _Found) -> Row | None:
    event = work.loaded.events.get(name)
    if event is None:
        return None
    if not fits_event(event, work.query):
        work.misfits += 1
        return None
    flags = judge_event(event, work.loaded.claims(name), work.query, work.now_us)
    if flags is None:
        work.misfits += _travels(work.query)
        return None
    shown = veil(event, work.loaded.removed_spans(name))
    return Row("event", name, shown.text, *found, event=shown, passage=ordinal, flags=flags)


def ordered(work: Reading) -> list[Row]:
    """Score, merge and order the rows read so far, best first."""
    rows = keyed(work.rows, work.query, work.tuned, work.now_us, ask=work.ask, regards=work.regards)
    joined = join(rows, work.loaded.claims_of)
    present, successors = _with_successors(work, joined)
    if len(present) > len(joined):
        present = join(present, work.loaded.claims_of)
    return arrange(present, successors, lambda key: lowered(key, work.query, work.tuned.falloff))


def _with_successors(work: Reading, rows: list[Row]) -> tuple[list[Row], dict[str, str]]:
    """Add the visible current value of each row flagged superseded, and map each such row to it."""
    past = [(row, [row.memory] if row.memory else work.loaded.claims(row.id)) for row in rows if _is_past(row)]
    if not past:
        return rows, {}
    load_successors(work.reader, work.loaded, (one for _, made in past for one in made), work.query.known_at_us)
    present = {row.id for row in rows}
    successors: dict[str, str] = {}
    added: list[Row] = []
    for row, replaced in past:
        current = _successor(work, replaced)
        if current is None:
            continue
        if current.id not in present:
            found = _Found(row.key, row.signs, {**row.terms, "successor": row.key})
            fresh = _memory_row(work, current.id, found)
            if fresh is None:
                continue
            present.add(current.id)
            added.append(fresh)
        successors[row.id] = current.id
    return [*rows, *added], successors


def _is_past(row: Row) -> bool:
    return "superseded" in row.flags


def _successor(work: Reading, replaced: Sequence[Memory]) -> Memory | None:
    found = (work.loaded.successor(memory) for memory in replaced)
    return next((memory for memory in found if memory is not None), None)


def allowed_owners(work: Reading) -> Integers:
    """Read from the store the owner codes of all events and memories that meet the conditions: slow but exact."""
    return owner_of(np.array([*_allowed_memories(work), *_allowed_events(work)], np.int64))


def _allowed_memories(work: Reading) -> Iterator[int]:
    query = work.query
    if not wants_memories(query):
        return
    wanted = MemoryFilter(
        types=query.types,
        layers=query.layers,
        topic=query.topic,
        known_at_us=query.known_at_us,
        as_of_us=query.as_of_us,
    )
    for memory in work.reader.find(wanted):
        if fits_memory(memory, query) and judge_memory(memory, query, work.now_us) is not None:
            yield pack_code(number_of(memory.id, Kind.MEMORY, work.reader.tenant.tag), memory=True)


def _allowed_events(work: Reading) -> Iterator[int]:
    query = work.query
    if not wants_events(query):
        return
    wanted = EventFilter(
        session=query.session,
        topic=query.topic,
        recorded_before_us=_after(query.known_at_us),
        occurred_before_us=_after(query.as_of_us),
    )
    for event in work.reader.find_events(wanted):
        if fits_event(event, query):
            yield pack_code(number_of(event.id, Kind.EVENT, work.reader.tenant.tag), memory=False)


def _after(moment_us: int | None) -> int | None:
    return None if moment_us is None else moment_us + 1
