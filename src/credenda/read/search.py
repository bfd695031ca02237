"""A search from question to hits: plan, retrieve, fuse, read rows, gate, score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from credenda.clock import seconds
from credenda.ids import Kind, number_of
from credenda.model.event import Event
from credenda.model.memory import Memory
from credenda.model.query import Hit, Query, SearchResult
from credenda.read.candidates import Candidates, Floats, Integers, Row, Signs
from credenda.read.cold import cold_index
from credenda.read.filters import fits_event, fits_memory, is_narrow, wants_events, wants_memories
from credenda.read.fuse import Fused, best_of_owner, fuse, fuse_ranks
from credenda.read.gate import arrange, join, judge_event, judge_memory, shows_sign, veil
from credenda.read.load import Loaded, load, load_evidence, name_document
from credenda.read.plan import Plan, plan
from credenda.read.retrieve import owner_of, retrieve
from credenda.read.score import answerability, final_scores, keyed
from credenda.read.tables import Calibration, Weights, weights
from credenda.storage.store import EventFilter, MemoryFilter, Reader, pack_code
from credenda.text.passages import passages
from credenda.vectors.resident import STATE_HIDDEN, ResidentIndex

__all__ = ["Embed", "search"]

Embed = Callable[[Sequence[str]], Floats]
"""Turns texts into (n, d) float32, rows of unit length."""

_SPARE: Final = 8
"""Rows read beyond the limit: some are dropped, and an event and its memory become one."""
_RECALL_ROWS: Final = 200
"""Rows read at once for profile "recall", whose other components can outweigh many ranks."""
_NARROW_BATCHES: Final = 3
"""Batches read under conditions that the index does not know, before the store is asked which rows meet them."""
_MISSES: Final = 5
"""Nearest misses named in the trace of a search that abstained."""


@dataclass(slots=True)
class _Search:
    """One search under way: what it was given, and what it has read so far."""

    query: Query
    reader: Reader
    index: ResidentIndex
    now_us: int
    made: Plan
    tuned: Weights
    engine: Calibration
    loaded: Loaded = field(default_factory=Loaded)
    rows: list[Row] = field(default_factory=list[Row])
    misfits: int = 0
    """Rows left out because they do not meet a condition that the index does not know."""


def search(
    query: Query,
    *,
    reader: Reader,
    index: ResidentIndex | None,
    embed: Embed | None = None,
    now_us: int,
    floor: float | None = None,
) -> SearchResult:
    """Answer a query from one tenant's view.

    `index` is that tenant's resident index, None for a tenant too large for one (then the full-text index nominates).
    `embed` is None for a search by words alone; vectors count where they are of the index's model. Below `floor`
    (default: the calibrated one) the result says that nothing relevant is known. Nothing is written.
    """
    began = seconds()
    tuned = weights()
    made = plan(query, now_us, index.speaker_names if index is not None else ())
    vector = embed([query.text])[0] if embed is not None else None
    whole = index if index is not None else cold_index(reader, made.terms)
    engine = tuned.engine(whole.model_id if vector is not None else None)
    work = _Search(query, reader, whole, now_us, made, tuned, engine)
    found = retrieve(whole, reader, query, made, vector=vector)
    ordered = _settle(work, found)
    if len(ordered) < query.limit and work.misfits and not found.complete:
        work.rows.clear()
        found = retrieve(whole, reader, query, made, vector=vector, allowed=_allowed(work))
        ordered = _settle(work, found)
    answerable = answerability(ordered, engine, tuned.slot_logit)
    abstained = not ordered or answerable < (tuned.floor if floor is None else floor)
    shown = [] if abstained else _hits(work, ordered, answerable)
    trace = _trace(work, found, answerable, ordered if abstained else (), meant=vector is not None)
    return SearchResult(
        hits=tuple(shown), abstained=abstained, took_ms=(seconds() - began) * 1_000, trace=trace
    )


def _settle(work: _Search, found: Candidates) -> list[Row]:
    """Read candidates in order of relevance until enough of them may be shown; return those in their final order."""
    fused = fuse_ranks(found, work.tuned) if work.query.profile == "recall" else fuse(found, work.tuned)
    ordered: list[Row] = []
    for count, batch in enumerate(_batches(work.query, best_of_owner(found, fused.relevance)), 1):
        _admit(work, found, fused, batch)
        ordered = _ordered(work)
        if len(ordered) >= work.query.limit or (work.misfits and count == _NARROW_BATCHES):
            break
    return ordered[: work.query.limit]


def _batches(query: Query, positions: Integers) -> Iterator[Integers]:
    size = _RECALL_ROWS if query.profile == "recall" else query.limit + max(_SPARE, query.limit // 3)
    for start in range(0, len(positions), size):
        yield positions[start : start + size]


def _admit(work: _Search, found: Candidates, fused: Fused, batch: Integers) -> None:
    """Read a batch of candidates and keep, as rows, those that may be shown."""
    named = [name_document(int(found.codes[at]), work.reader.tenant.tag) for at in batch]
    load(
        work.reader,
        work.loaded,
        memory_ids=[name for kind, name, _ in named if kind is Kind.MEMORY],
        event_ids=[name for kind, name, _ in named if kind is Kind.EVENT],
        known_at_us=work.query.known_at_us,
    )
    for at, (kind, name, ordinal) in zip(batch, named, strict=True):
        signs, terms = _signs(found, int(at)), _terms(fused, int(at), explain=work.query.explain)
        key = float(fused.relevance[at])
        if kind is Kind.MEMORY:
            row = _memory_row(work, name)
        else:
            row = _event_row(work, name, ordinal)
        if row is not None:
            row = row._replace(key=key, signs=signs, terms=terms)
            if _speaks(work, row):
                work.rows.append(row)


def _speaks(work: _Search, row: Row) -> bool:
    if work.query.profile == "recall":
        return row.key > 0
    return shows_sign(row, work.engine.cosine_floor)


def _signs(found: Candidates, at: int) -> Signs:
    cosine = float(found.cosine[at])
    return Signs(
        words=float(found.words[at]),
        coverage=float(found.coverage[at]),
        cosine=None if np.isnan(cosine) else cosine,
        slot=bool(found.slot[at]),
        timely=bool(found.timely[at]),
    )


def _terms(fused: Fused, at: int, *, explain: bool) -> Mapping[str, float]:
    return {name: float(values[at]) for name, values in fused.terms.items()} if explain else {}


def _memory_row(work: _Search, name: str) -> Row | None:
    memory = work.loaded.memories.get(name)
    if memory is None:
        return None
    if not fits_memory(memory, work.query):
        work.misfits += 1
        return None
    flags = judge_memory(memory, work.query, work.now_us)
    return None if flags is None else Row(kind="memory", id=name, text=memory.text, key=0.0, memory=memory, flags=flags)


def _event_row(work: _Search, name: str, ordinal: int) -> Row | None:
    event = work.loaded.events.get(name)
    if event is None:
        return None
    if not fits_event(event, work.query):
        work.misfits += 1
        return None
    flags = judge_event(event, work.loaded.claims(name), work.query, work.now_us)
    if flags is None:
        return None
    shown = veil(event, work.loaded.removed_spans(name))
    text = shown.text if shown is not event else _passage(event.text, ordinal)
    return Row(kind="event", id=name, text=text, key=0.0, event=shown, flags=flags)


def _passage(text: str, ordinal: int) -> str:
    """Return the passage that was found, all of a text that has only one."""
    spans = passages(text)
    if len(spans) <= 1 or ordinal >= len(spans):
        return text
    start, stop = spans[ordinal]
    return text[start:stop]


def _ordered(work: _Search) -> list[Row]:
    rows = keyed(work.rows, work.query, work.tuned, work.now_us)
    joined = join(rows, work.loaded.claims_of)
    return arrange(*_with_successors(work, joined))


def _with_successors(work: _Search, rows: list[Row]) -> tuple[list[Row], dict[str, str]]:
    """Add the current value of whatever is flagged superseded, where it may be shown (ranked first, then the past)."""
    present = {row.id for row in rows}
    successors: dict[str, str] = {}
    added: list[Row] = []
    for row in rows:
        current = _successor(work, row) if "superseded" in row.flags else None
        if current is None:
            continue
        if current.id not in present:
            fresh = _memory_row(work, current.id)
            if fresh is None:
                continue
            present.add(current.id)
            added.append(fresh._replace(key=row.key, signs=row.signs, terms={**row.terms, "successor": row.key}))
        successors[row.id] = current.id
    return [*rows, *added], successors


def _successor(work: _Search, row: Row) -> Memory | None:
    replaced = [row.memory] if row.memory else work.loaded.claims(row.id)
    found = (work.loaded.successor(memory) for memory in replaced)
    return next((memory for memory in found if memory is not None), None)


def _allowed(work: _Search) -> Integers:
    """Ask the store which events and memories meet the conditions, as codes of owners: slow, and exact."""
    query, tag = work.query, work.reader.tenant.tag
    codes: list[int] = []
    if wants_memories(query):
        wanted = MemoryFilter(
            types=query.types, layers=query.layers, topic=query.topic, known_at_us=query.known_at_us
        )
        for memory in work.reader.find(wanted):
            if fits_memory(memory, query) and judge_memory(memory, query, work.now_us) is not None:
                codes.append(pack_code(number_of(memory.id, Kind.MEMORY, tag), memory=True))
    if wants_events(query):
        for event in work.reader.find_events(EventFilter(session=query.session, topic=query.topic)):
            if fits_event(event, query):
                codes.append(pack_code(number_of(event.id, Kind.EVENT, tag), memory=False))
    return owner_of(np.array(codes, np.int64))


def _hits(work: _Search, rows: Sequence[Row], answerable: float) -> list[Hit]:
    query = work.query
    evidence = load_evidence(
        work.reader,
        work.loaded,
        [row.id for row in rows if row.kind == "memory"],
        veiled=bool((work.index.state == STATE_HIDDEN).any()),
        known_at_us=query.known_at_us,
    )
    scores = final_scores(rows, query, answerable, work.tuned.falloff)
    return [_hit(work, row, score, evidence.get(row.id, ())) for row, score in zip(rows, scores, strict=True)]


def _hit(work: _Search, row: Row, score: float, evidence: Sequence[Event]) -> Hit:
    shown = (veil(event, work.loaded.removed_spans(event.id)) for event in evidence if event.text)
    known = work.query.known_at_us
    signs = row.signs
    extra = {"coverage": signs.coverage, "cosine": signs.cosine or 0.0, "key": row.key}
    return Hit(
        kind=row.kind,
        id=row.id,
        text=row.text,
        score=score,
        memory=row.memory,
        event=row.event,
        evidence=tuple(event for event in shown if known is None or event.recorded_us <= known),
        flags=row.flags,
        terms={**row.terms, **extra} if work.query.explain else {},
    )


def _trace(
    work: _Search, found: Candidates, answerable: float, missed: Sequence[Row], *, meant: bool
) -> dict[str, object]:
    """Say how it was searched; the plan and the nearest misses only when explanation was asked for."""
    trace: dict[str, object] = {
        "engines": ("words", "vectors") if meant else ("words",),
        "candidates": len(found),
        "answerable": answerable,
    }
    if work.query.explain:
        made = work.made
        trace["terms"] = made.terms
        trace["people"] = made.people
        trace["slots"] = tuple(f"{slot.entity}.{slot.attribute}" for slot in made.slots)
        trace["ask"] = made.ask.value
        trace["misses"] = tuple((row.id, row.key) for row in missed[:_MISSES])
    return trace
