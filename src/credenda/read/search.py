"""Search from question to hits: plan, retrieve, fuse, read rows, check the floor, score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from credenda import limits
from credenda.clock import seconds
from credenda.errors import Unavailable
from credenda.index.resident import ResidentIndex, find_nearest_codes
from credenda.index.snapshot import STATE_HIDDEN
from credenda.model.event import Event
from credenda.model.fast_dataclass import compile_fast_init
from credenda.model.memory import Memory, Stance, Status, mark_over
from credenda.model.query import Flag, Hit, Query, SearchResult
from credenda.model.statement import name_value, was_before, write_statement
from credenda.providers.embed.factory import TokenAsk
from credenda.read.candidates import (
    Candidates,
    Floats,
    Integers,
    QuestionSignals,
    Rise,
    Row,
    estimate_answerability,
    has_compared_vectors,
    measure_rise,
    pick_most_relevant,
)
from credenda.read.dense import embed_question
from credenda.read.hydrate import load_evidence, name_document
from credenda.read.late import Question, add_late_scores, ask_tokens, is_talk_of_persons
from credenda.read.newer import is_older, link_newer, put_then_first, was_valid_within
from credenda.read.plan import (
    ANY_TIME,
    Ask,
    Plan,
    is_about_past,
    is_quotation,
    is_task_material,
    is_typed_question,
    plan,
)
from credenda.read.rank import COMPARED, Reading, find_allowed_owners, find_quoting_owners, hydrate_batch, order_rows
from credenda.read.retrieve import add_relatives, build_partial_index, read_claims, retrieve
from credenda.read.score import Fused, compute_final_scores, fuse_ranks, fuse_scores, pick_best_of_owner, rate_by_claim
from credenda.read.spelling import correct_spelling
from credenda.read.versions import is_about_earlier, pick_asked_for
from credenda.read.visibility import mask_relevant, redact_spans
from credenda.read.weights import Calibration, load_talk_weights, load_weights
from credenda.read.whole import add_whole
from credenda.storage.current_trust import combine_trust
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.passages import split_passages
from credenda.text.tokens import tokenize

Embed = Callable[[Sequence[str]], Floats]
"""Embeds texts as (n, d) float32 with rows of unit length."""

_new_hit: Final = compile_fast_init(Hit)
THEN: Final = "then"
"""Key of the trace with the ids of the values that held at the time that a question asks about."""
_SPARE: Final = 4
"""Rows read beyond those wanted: some are dropped, and an event and its memory become one."""
_LOOKS: Final = 30
"""Further rows read if the question has an answer type, which only the text can show."""
_RECALL_ROWS: Final = 200
"""Rows read at once for profile "recall", whose other components can outweigh many ranks."""
_NARROW_BATCHES: Final = 3
"""Batches read before a search with conditions unknown to the index asks the store for all matching rows."""
_USER: Final = "user"
_SLOT_TERMS: Final = 3
"""Maximum number of terms of a question about a single slot; a longer one asks for more than its value."""
_WHOLE: Final = 0.999
"""Coverage of a text that has all words of the question."""
_WHOLE_READ: Final = 100
"""Number of such texts, beyond the best rows, that are searched for the whole question."""
_BACK_READ: Final = 5
"""Best rows whose earlier values are read for a question about the past."""
_MISSES: Final = 5
"""Number of nearest misses in the trace of an abstained search, and in its result if requested."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query with all inputs of its search."""

    query: Query
    made: Plan
    index: ResidentIndex
    vector: Floats | None
    engine: Calibration
    tokens: Question | None = None
    claim: Callable[[], Floats | None] | None = None
    """Embeds the question for the comparison with claims; None if none is made."""


def search(  # noqa: PLR0913 - the ways to embed a question, each of which may be missing
    query: Query,
    *,
    reader: Reader,
    index: ResidentIndex | None,
    embed: Embed | None = None,
    tokens: TokenAsk | None = None,
    claims: Callable[[str], Floats] | None = None,
    model_id: str | None = None,
    now_us: int,
) -> SearchResult:
    """Answer a query from one tenant's view, without writing.

    `index` is the tenant's resident index, or None if the tenant is too large for one; the indexes on disk then
    provide the candidates, by words and by vectors of `model_id`, the model of `embed`. `embed` is None for a search by
    words alone; vectors are compared only if the index has the same model, and token vectors only with `tokens`.
    `claims` embeds a question for the comparison with memories. The result abstains only if no text has a word or the
    meaning of the question, or, where `Query.refuse_below` asks for it, if the probability of an answer is lower and no
    text holds the query verbatim.
    """
    began = seconds()
    tuned = load_weights()
    planned = plan(query, now_us, index.speaker_names if index is not None else ())
    made = add_whole(reader, query, add_relatives(reader, planned), now_us)
    reads = index is None or bool(index.dims)
    means = embed is not None and bool(made.terms)  # marks alone mean nothing that a model could compare
    vector = None
    if embed is not None and means and reads:
        vector = _call_or_none(lambda: embed_question(embed, query.text, made))
    whole = index if index is not None else _read_from_disk(reader, query, made, vector=vector, model_id=model_id)
    vector = vector if whole.dims else None
    asks = means and whole.dims
    split = _split_question(whole, tokens, made.addressed or query.text) if tokens is not None and asks else None
    asked = _Asked(query, made, whole, vector, tuned.engine(whole.model_id if vector is not None else None), split)
    if claims is not None and vector is not None and _may_rate_claims(query, made, whole):
        asked = replace(asked, claim=lambda: _call_or_none(lambda: claims(query.text)))
    work = Reading(query, reader, now_us, tuned, made.ask, made.subject, made.asked)
    work.read_vectors = partial(read_claims, whole, reader) if asked.claim is not None else None
    work.then = made.intervals if is_about_past(made) or is_about_earlier(query.text) else None
    found, rows, rise = _find(asked, work, COMPARED)
    if work.quoted and not tokenize(query.text) and not any(row.signs.verbatim for row in rows):
        found, rows, rise = _find_quoting(asked, work) or (found, rows, rise)
    answerable = _estimate_answer(asked, work, (found, rows, rise))
    abstained = not rows or (answerable < query.refuse_below and not any(row.signs.verbatim for row in rows))
    if not abstained and query.limit > len(rows) == COMPARED:
        rows += _find_further(asked, work, rows)
    most = max(query.limit, COMPARED)  # a newer value goes before its older one wherever the list is cut
    shown = (rows or _read_nearest(asked, work, found))[:_MISSES] if abstained else rows[:most]
    scores = compute_final_scores(shown, query, answerable, tuned.falloff, compared=COMPARED)
    built, then = _build_hits(asked, work, shown, scores)
    linked = link_newer(built[:COMPARED], work.changed, now_us, moves=work.then is None)
    hits = put_then_first((*linked, *built[COMPARED:]), then)
    hits = hits if abstained else hits[: query.limit]
    nearest = hits if abstained else ()
    return SearchResult(
        hits=() if abstained and "misses" not in query.include else hits,
        abstained=abstained,
        probability=answerable,
        nearest=nearest,
        took_ms=(seconds() - began) * 1_000,
        trace=_trace(asked, len(found), answerable, shown if abstained else ())
        | ({THEN: tuple(one.id for one in then.values())} if then else {}),
    )


def _estimate_answer(asked: _Asked, work: Reading, result: tuple[Candidates, list[Row], Rise]) -> float:
    """Return the probability that the store has an answer, by what `_find` returned."""
    found, rows, rise = result
    made, text = asked.made, asked.query.text
    judge = asked.engine if has_compared_vectors(rows) else load_weights().engine(None)
    short = len(made.terms) <= _SLOT_TERMS
    names_slot = short and bool(made.slots) and made.first_person and made.ask is Ask.VALUE and not made.advice
    shown, relevant = (_leave_out_tasks(some, made, text) for some in (rows, work.rows))
    if names_slot:
        shown, relevant = (_leave_out_others(some, made) for some in (shown, relevant))
    return estimate_answerability(
        shown,
        pick_most_relevant(relevant),
        judge,
        work.tuned,
        asking=QuestionSignals(
            names_slot=names_slot,
            broad=made.broad,
            strange=found.strange,
            lead=found.lead,
            rise=rise,
            searched=found.searched,
        ),
    )


def _may_rate_claims(query: Query, made: Plan, index: ResidentIndex) -> bool:
    """Return whether memories are ordered as claims: where a user and an assistant talk, by relevance, in any slot."""
    return query.profile == "default" and not made.whole and not is_talk_of_persons(index)


def _leave_out_tasks(rows: Sequence[Row], made: Plan, question: str) -> Sequence[Row]:
    """Return the rows without texts to translate, others' words and the like, which answer no question about the user.

    Others' words answer any other question.
    """
    others = made.first_person
    return [
        row
        for row in rows
        if row.signs.verbatim or not (is_task_material(row) or (others and is_quotation(row, question)))
    ]


def _leave_out_others(rows: Sequence[Row], made: Plan) -> Sequence[Row]:
    """Return the rows whose words may tell the user's own value now; "Tim lives in Rome" tells none of mine.

    Neither does a replaced value.
    """
    slots = {slot.attribute for slot in made.slots if slot.entity == _USER}
    others = {
        row.text
        for row in rows
        if row.memory is not None and row.memory.attribute in slots and normalise_name(row.memory.entity or "") != _USER
    }
    left = [row for row in rows if row.text not in others and (made.history or "superseded" not in row.flags)]
    return [row for row in rows if row.signs.slot or row.signs.verbatim] + left


def _read_nearest(asked: _Asked, work: Reading, found: Candidates) -> list[Row]:
    """Return visible rows that come nearest, where no candidate reaches the floor of relevance.

    These are the nearest by their vectors; without vectors, texts with a word that differs from the question's by one
    letter.
    """
    if asked.vector is None:
        meant = correct_spelling(asked.made, work.reader)
        return _find(replace(asked, made=meant), work, _MISSES)[1] if meant else []
    compared = np.flatnonzero(~np.isnan(found.cosine))
    best = compared[np.argsort(-found.cosine[compared], kind="stable")][:COMPARED]
    if not len(best):
        return []
    hydrate_batch(work, found, fuse_scores(found, work.tuned, asked.engine), best)
    return order_rows(work)


def _call_or_none(embed: Callable[[], Floats]) -> Floats | None:
    """Return a vector of the question, or None if the embedder is unavailable; the trace then shows words only."""
    try:
        return embed()
    except Unavailable:
        return None


def _read_from_disk(
    reader: Reader, query: Query, made: Plan, *, vector: Floats | None, model_id: str | None
) -> ResidentIndex:
    """Build an index for this search alone, for a tenant that has none in memory."""
    near: list[int] = []
    if vector is not None and model_id is not None:
        near = find_nearest_codes(reader, model_id, vector, limits.VECTOR_CANDIDATES)
    return build_partial_index(reader, query.text, made, model_id=model_id, near=near)


def _split_question(index: ResidentIndex, ask: TokenAsk, text: str) -> Question | None:
    """Return the tokens of a question; None where only a user and an assistant talk, or the embedder is unavailable."""
    try:
        return ask_tokens(index, ask, text) if is_talk_of_persons(index) else None
    except Unavailable:
        return None


def _find_further(asked: _Asked, work: Reading, rows: Sequence[Row]) -> list[Row]:
    """Return the rows that come after the compared ones, where more of them are to be shown."""
    deeper = Reading(
        work.query, work.reader, work.now_us, work.tuned, work.ask, work.subject, work.asked, loaded=work.loaded
    )
    _, found, _ = _find(asked, deeper, max(work.query.limit, limits.SEARCH_LIMIT))
    shown = {row.id for row in rows}
    told = {claim for row in rows if row.event for claim in work.loaded.claims_of.get(row.id, ())}
    return [row for row in found if row.id not in shown and row.id not in told]


def _find(asked: _Asked, work: Reading, count: int) -> tuple[Candidates, list[Row], Rise]:
    """Return the candidates, the best rows (at most `count`) in their order, and how far the best rise above the rest.

    Where conditions that only the store knows left too few, it is asked which rows meet them, and those alone compete.
    """
    found = retrieve(asked.index, work.reader, asked.query, asked.made, vector=asked.vector, claim=asked.claim)
    rows, rise = _settle(asked, work, found, count)
    if len(rows) < count and work.misfits and (work.unread or not found.complete):
        allowed = find_allowed_owners(work)
        found = retrieve(
            asked.index, work.reader, asked.query, asked.made, vector=asked.vector, claim=asked.claim, allowed=allowed
        )
        work.rows.clear()
        work.misfits, work.unread = 0, False
        rows, rise = _settle(asked, work, found, count)
    return found, rows, rise


def _find_quoting(asked: _Asked, work: Reading) -> tuple[Candidates, list[Row], Rise] | None:
    """Find the latest texts that hold a query verbatim of whose words no index has any: "No, I didn't.".

    None without such a text.
    """
    allowed = find_quoting_owners(work)
    if not len(allowed):
        return None
    anytime = replace(asked, made=replace(asked.made, intervals=(ANY_TIME,)))
    found = retrieve(
        asked.index, work.reader, asked.query, anytime.made, vector=asked.vector, claim=asked.claim, allowed=allowed
    )
    work.rows.clear()
    return found, *_settle(anytime, work, found, COMPARED)


def _settle(asked: _Asked, work: Reading, found: Candidates, wanted: int) -> tuple[list[Row], Rise]:
    """Read candidates by relevance until enough are visible; also return the rise of the best candidates."""
    query = asked.query
    fused = fuse_ranks(found, work.tuned) if query.profile == "recall" else _fuse(asked, work, found)
    best = pick_best_of_owner(found, fused.relevance)
    ranked = best[fused.relevance[best] > 0] if query.profile == "recall" else best
    heard = ranked[mask_relevant(found, asked.engine.cosine_floor)[ranked]]
    heard = _read_verbatim(asked, work, (found, fused), heard)
    rows: list[Row] = []
    for count, batch in enumerate(_cut_batches(query, asked.made.ask, heard, wanted), 1):
        hydrate_batch(work, found, fused, batch)
        rows = order_rows(work)
        if len(rows) >= wanted:
            break
        if work.misfits and count == _NARROW_BATCHES:
            work.unread = count * len(batch) < len(heard)
            break
    return rows[:wanted], measure_rise(found, best)


def _fuse(asked: _Asked, work: Reading, found: Candidates) -> Fused:
    """Add up the features, with the weights and the late interaction for talk between persons where it applies."""
    if asked.tokens is None or asked.vector is None or not found.talk:
        return rate_by_claim(found, fuse_scores(found, work.tuned, asked.engine))
    work.tuned = load_talk_weights()
    fused = fuse_scores(found, work.tuned, work.tuned.engine(asked.index.model_id))
    return add_late_scores(
        asked.index, work.reader, found, fused, question=asked.tokens, weight=work.tuned.relevance.late
    )


def _read_verbatim(asked: _Asked, work: Reading, first: tuple[Candidates, Fused], heard: Integers) -> Integers:
    """Read further candidates with all words of the query, and keep those that hold it verbatim; return the others."""
    found, fused = first
    if not work.quoted or asked.query.profile == "recall":
        return heard
    near, far = heard[:COMPARED], heard[COMPARED:]
    whole = far[found.coverage[far] >= _WHOLE][:_WHOLE_READ]
    if not len(whole):
        return heard
    before = len(work.rows)
    hydrate_batch(work, found, fused, whole)
    work.rows[before:] = [row for row in work.rows[before:] if row.signs.verbatim]
    holding = {row.id for row in work.rows[before:]}
    tag = work.reader.tenant.tag
    kept = [at for at in whole.tolist() if name_document(int(found.codes[at]), tag)[1] in holding]
    return np.concatenate([near, far[~np.isin(far, kept)]])


def _cut_batches(query: Query, ask: Ask, positions: Integers, wanted: int) -> Iterator[Integers]:
    size = _RECALL_ROWS if query.profile == "recall" else wanted + max(_SPARE, wanted // 5)
    size += _LOOKS if is_typed_question(ask) else 0
    for start in range(0, len(positions), size):
        yield positions[start : start + size]


def _build_hits(
    asked: _Asked, work: Reading, rows: Sequence[Row], scores: Sequence[float]
) -> tuple[tuple[Hit, ...], Mapping[str, Hit]]:
    """Build the hits of rows, and by the ids of these the hits of the values that held when a question asks of."""
    if not rows:
        return (), {}
    query = asked.query
    bound = any((query.session, query.exclude_session, query.topic, query.tags, query.metadata, query.project))
    if query.known_at_us is None and (asked.made.whole or (is_about_past(asked.made) and not bound)):
        _load_replaced(work, rows[: COMPARED if asked.made.whole else _BACK_READ])
    then = {row.id: one for row in rows if row.memory is not None and (one := _pick_then(work, row.memory)) is not None}
    evidence = load_evidence(
        work.reader,
        work.loaded,
        list(dict.fromkeys([*(row.id for row in rows if row.kind == "memory"), *(one.id for one in then.values())])),
        veiled=bool((asked.index.state == STATE_HIDDEN).any()),
        known_at_us=query.known_at_us,
    )
    paired = list(zip(rows, scores, strict=False))
    hits = tuple(_build_hit(work, row, score, evidence.get(row.id, ()), then=then.get(row.id)) for row, score in paired)
    if query.as_of_us is not None or asked.made.whole:
        return hits, {}
    led = {
        row.id: (row._replace(id=one.id, memory=one, flags=_flag_then(one)), score)
        for row, score in paired
        if (one := then.get(row.id)) is not None and was_valid_within(one, work.then or ())
    }
    return hits, {name: _build_hit(work, row, score, evidence.get(row.id, ())) for name, (row, score) in led.items()}


def _pick_then(work: Reading, memory: Memory) -> Memory | None:
    """Return the earlier value in the slot of a memory that a question about the past asks for, if it was read."""
    if work.then is None or memory.stance is not Stance.ASSERTED:
        return None
    loaded = work.loaded.memories.values()
    earlier = [one for one in loaded if was_before(one, memory) or is_older(one, memory)]
    return pick_asked_for(memory, earlier, work.then, work.query.text)


def _flag_then(memory: Memory) -> frozenset[Flag]:
    return frozenset({"superseded"} if memory.status is Status.SUPERSEDED else ())


def _load_replaced(work: Reading, rows: Sequence[Row]) -> None:
    """Read the values that were replaced in the slots of these rows, which the statements of their memories name."""
    for memory in (row.memory for row in rows if row.memory is not None):
        if memory.entity and memory.attribute:
            pair = (normalise_name(memory.entity), normalise_attribute(memory.attribute))
            statuses = frozenset({Status.SUPERSEDED} if work.then is None else {Status.SUPERSEDED, Status.ACTIVE})
            replaced = MemoryFilter(pair=pair, statuses=statuses, limit=limits.SLOT_ROWS)
            work.loaded.memories.update({one.id: one for one in work.reader.find(replaced)})


def _build_hit(work: Reading, row: Row, score: float, evidence: Sequence[Event], *, then: Memory | None = None) -> Hit:
    shown = (redact_spans(event, work.loaded.removed_spans(event.id)) for event in evidence if event.text)
    query, known = work.query, work.query.known_at_us
    if row.memory is not None:
        moment = next((at for at in (query.as_of_us, known) if at is not None), work.now_us)
        memory = row.memory
        if not memory.confirmations or len(evidence) != memory.confirmations + 1:
            weighed = memory
        else:
            trust = combine_trust(memory, evidence)
            weighed = memory if trust == memory.trust else replace(memory, trust=trust)
        row = row._replace(memory=mark_over([weighed], moment)[0])
    return _new_hit(
        kind=row.kind,
        id=row.id,
        text=_write_text(work, row, evidence, then),
        score=score,
        memory=row.memory,
        event=row.event,
        evidence=tuple(event for event in shown if known is None or event.recorded_us <= known),
        flags=row.flags,
        terms=_list_terms(row) if work.query.explain else {},
    )


def _write_text(work: Reading, row: Row, evidence: Sequence[Event], then: Memory | None) -> str:
    """Return the passage of an event that matches, or the statement of a memory, with the value before it if read.

    That is the one `then`, which a question about the past asks for, or the latest.
    """
    memory = row.memory
    if memory is None:
        # Return the matching passage; the whole text if it has only one passage.
        text = row.text
        ordinal = row.passage
        spans = split_passages(text)
        if len(spans) <= 1 or ordinal >= len(spans):
            return text
        start, stop = spans[ordinal]
        return text[start:stop]
    loaded = work.loaded.memories.values()
    merged = {one.id: one.superseded_by for one in loaded if one.status is Status.MERGED}
    replaced = [one for one in loaded if memory.id in _follow(one.superseded_by, merged) and was_before(one, memory)]
    shown = then or max(replaced, key=lambda one: one.recorded_us, default=None)
    before = name_value(shown) if shown is not None else ""
    return write_statement(memory, work.query.zone, told_us=[event.occurred_us for event in evidence], before=before)


def _follow(successor: str | None, merged: Mapping[str, str | None]) -> Iterator[str]:
    """Yield a successor, and what it became by merges."""
    while successor is not None:
        yield successor
        successor = merged.get(successor)


def _list_terms(row: Row) -> dict[str, float]:
    signs = row.signs
    return {**row.terms, "coverage": signs.coverage, "cosine": signs.cosine or 0.0, "key": row.key}


def _trace(asked: _Asked, candidates: int, answerable: float, missed: Sequence[Row]) -> dict[str, object]:
    """Return the trace of a search; the plan and the nearest misses are included only with `explain`."""
    trace: dict[str, object] = {
        "engines": ("words",) if asked.vector is None else ("words", "vectors"),
        "candidates": candidates,
        "answerable": answerable,
    }
    if asked.made.whole:
        trace["whole"] = len(asked.made.whole)
    if asked.query.explain:
        made = asked.made
        trace["terms"] = made.terms
        trace["people"] = made.people
        trace["slots"] = tuple(f"{slot.entity}.{slot.attribute}" for slot in made.slots)
        trace["ask"] = made.ask.value
        trace["misses"] = tuple((row.id, row.key) for row in missed[:_MISSES])
    return trace
