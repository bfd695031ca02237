"""Step 2: find candidates in the whole store by words, vectors, slot and time.

Conditions are applied before each engine picks its best documents, so that no matching document is crowded out (D-003).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credenda import limits
from credenda.ids import IdKind, format_id, parse_id_number
from credenda.index.resident import Occasion, ResidentIndex, make_mask, read_stored_vectors
from credenda.index.snapshot import STATE_CURRENT, STATE_HIDDEN, STATE_PAST, SkipBoost
from credenda.model.event import CODE, Event
from credenda.model.fast_dataclass import compile_fast_init
from credenda.model.memory import Layer, Status, get_valid_from_us
from credenda.model.query import Query
from credenda.read.candidates import Candidates, Floats, Integers, Mask, measure_lead
from credenda.read.dense import Meaning, collect_rows, compare_claims, find_similar, make_empty_meaning
from credenda.read.filters import may_return_events, may_return_memories
from credenda.read.plan import ANY_TIME, Plan, extract_trigger_terms, is_near_spelling, score_instructions
from credenda.read.score import compute_z_scores
from credenda.read.weights import Relevance, load_weights
from credenda.storage.store import (
    Delta,
    Document,
    DocumentState,
    IndexPosition,
    MemoryFilter,
    Reader,
    pack_code,
    unpack_code,
)
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.passages import compose_event_text, compose_memory_text, split_passages
from credenda.text.tokens import ALTERNATIVE, space_runs, tokenize

# Mark texts by their speakers.


ASSISTANT: Final = "assistant"
_BEST_OF_SPEAKER: Final = 3


def mask_spoken_by(index: ResidentIndex, speaker: NDArray[np.int32], names: Sequence[str]) -> Mask:
    """Mark the texts of these speakers; a table lookup takes a tenth of the time of a set operation."""
    named = _mask_named_speakers(index, names)
    return named[speaker] if len(named) else np.zeros(len(speaker), np.bool_)


def _mask_named_speakers(index: ResidentIndex, names: Sequence[str]) -> Mask:
    """Mark the speaker numbers that have one of these names."""
    known = index.speaker_names
    return make_mask(len(known), [number for number, name in enumerate(known) if name in names])


def mask_spoken_to(index: ResidentIndex, speaker: NDArray[np.int32], names: Sequence[str]) -> Mask:
    """Mark the texts of speakers who share a session with these people.

    Only their words can be confused with those of the named people; among all speakers, some fit better by chance.
    Texts outside any session count as one session. If the named people share no session, everyone else counts.
    """
    named = _mask_named_speakers(index, names)
    said = ~index.is_memory
    met = np.zeros(len(index.session_names) + 1, np.bool_)  # the last is for "no session", number -1
    met[index.session[said & named[index.speaker]]] = True
    partners = np.zeros(len(named), np.bool_)
    partners[index.speaker[said & met[index.session]]] = True
    partners &= ~named
    return (partners if partners.any() else ~named)[speaker]


def measure_speaker_fit(scores: Floats, by_named: Mask, by_partner: Mask) -> float:
    """Return how well the best turns of the named person fit compared with their partners': 0 worst, 1 fully.

    Users do name the wrong person, and an unconditional bonus for the named one loses ten points on such questions.
    """
    low, high = load_weights().relevance.speaker_fit
    theirs, others = (np.sort(part)[-_BEST_OF_SPEAKER:] for part in (scores[by_named], scores[by_partner]))
    if not len(others) or not len(theirs) or others.mean() <= 0:
        return 1.0
    return float(np.clip((theirs.mean() / others.mean() - low) / (high - low), 0.0, 1.0))


_candidates: Final = compile_fast_init(Candidates)
_filter: Final = compile_fast_init(MemoryFilter)
_TELLING: Final = 0.25
"""The part of all texts outside of a named time from which it tells, beside words, what is asked for."""
_COMMON: Final = 1_000
"""Minimum number of documents for idf: in a new store, a word in both of two texts is not yet common."""
_TIMELY: Final = 50
"""Number of latest documents of a named time that become candidates regardless of their words."""
_USER: Final = "user"
_INSTRUCTION: Final = "instruction"
_BEFORE, _STEP = 20.0, 10.0
"""Relevance by which what answers a question about the whole stands before the rest, and each before the next."""
_PASSAGE_BITS: Final = pack_code(1, memory=False).bit_length() - 1
_ORDINALS: Final = pack_code(1, memory=False) - 1
_FIRST_MEMORY: Final = pack_code(0, memory=True)
_NOWHERE: Final = np.zeros(0, np.intp)


@dataclass(frozen=True, slots=True)
class _Words:
    """Word scores of every row: its own, with the neighbours' share, and of the subject alone.

    `held` is the summed idf of the subject's terms in a row, `idfs` the idf of each term, and `rarest` the rows with
    the rarest term, and `unheard` the terms in no row.
    """

    own: Floats
    spread: Floats
    subject: Floats
    held: Floats
    idfs: Sequence[float]
    rarest: Integers
    unheard: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Signs:
    """Results of each engine over all rows.

    `slot` has row numbers, `governs` a degree for some rows, `whole` how far some stand before all others.
    """

    words: _Words
    meant: Meaning
    claims: Floats
    """How well each row answers as a claim, NaN for those that were not compared."""
    slot: Integers
    timely: Mask
    governs: Mapping[int, float]
    whole: Mapping[int, float]


class _Searched(NamedTuple):
    """The candidates' row numbers, and what was searched; see `Candidates`."""

    rows: Integers
    documents: int
    complete: bool


def add_relatives(reader: Reader, made: Plan) -> Plan:
    """Add the names of the relatives whose slots a question asks for: "my sister" may be filed as "Lola"."""
    if made.asked is None or not made.first_person or not made.asked.rest:
        return made
    relation = normalise_attribute(made.asked.entities[-1])
    held = reader.find(MemoryFilter(pair=(_USER, relation), limit=limits.SLOT_ROWS))
    names = [normalise_name(memory.value) for memory in held if memory.value]
    more = tuple(dict.fromkeys((*made.asked.entities, *names)))
    return replace(made, asked=made.asked._replace(entities=more))


def find_owner(codes: Integers) -> Integers:
    """Return the event or memory of each document: its code without the passage."""
    return codes >> _PASSAGE_BITS


def mask_eligible(index: ResidentIndex, query: Query, allowed: Integers | None = None) -> Mask:
    """Mark the rows that meet the conditions known to the index; `allowed` are owner codes."""
    travels = query.as_of_us is not None or query.known_at_us is not None
    mask = index.state == STATE_CURRENT
    if travels or "superseded" in query.include:
        mask |= index.state == STATE_PAST
    if query.known_at_us is not None or "archived" in query.include or query.asks_code:
        mask |= index.state == STATE_HIDDEN
    if not may_return_events(query):
        mask &= index.is_memory
    if not may_return_memories(query):
        mask &= ~index.is_memory
    if query.session is not None:
        mask &= index.is_memory | (index.session == _find_number(index.session_names, query.session))
    if query.exclude_session is not None:
        mask &= index.session != _find_number(index.session_names, query.exclude_session)
    if query.as_of_us is not None:
        mask &= index.is_memory | (index.occurred_us <= query.as_of_us)  # a plan is held before its day
    if allowed is not None:
        mask &= np.isin(find_owner(index.codes), allowed)
    return mask


def read_claims(index: ResidentIndex, reader: Reader, names: Sequence[str]) -> dict[str, Floats]:
    """Read the vectors of memories by their ids."""
    tag = reader.tenant.tag
    codes = np.array([pack_code(parse_id_number(name, IdKind.MEMORY, tag), memory=True) for name in names], np.int64)
    rows = index.rows_of(codes)
    name_of = {int(row): name for row, name in zip(rows, names, strict=True) if row >= 0}
    known = np.array(sorted(row for row in name_of if index.has_vector[row]), np.int64)
    read, matrix = read_stored_vectors(index, reader, known)
    return {name_of[int(row)]: vector for row, vector in zip(read, matrix, strict=True)}


def _rate_claims(
    index: ResidentIndex,
    reader: Reader,
    meant: Meaning,
    *,
    claim: Callable[[], Floats | None] | None,
    mask: Mask,
    limit: int,
) -> Floats:
    """Return how well each memory answers that a model or an agent gave, NaN for all other rows.

    The vectors of other memories are those of sentences. Where none of the nearest memories was given, the question is
    not embedded for it.
    """
    none = np.full(len(index), np.nan, np.float32)
    near = meant.rows[index.is_memory[meant.rows]]
    vector = claim() if claim is not None and len(_find_given(index, reader, near)) else None
    if vector is None:
        return none
    compared = compare_claims(index, reader, vector, mask, limit=limit)
    given = _find_given(index, reader, (~np.isnan(compared)).nonzero()[0])
    none[given] = compared[given]
    return none


def _find_given(index: ResidentIndex, reader: Reader, rows: Integers) -> Integers:
    """Return those rows of memories that a model or an agent gave."""
    tag = reader.tenant.tag
    names = [format_id(IdKind.MEMORY, unpack_code(code)[1], tag) for code in index.codes[rows].tolist()]
    given = {one.memory_id for one in reader.evidence(memory_ids=names) if one.reader} if names else set[str]()
    return rows[[name in given for name in names]] if names else rows


def _find_number(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


def retrieve(
    index: ResidentIndex,
    reader: Reader,
    query: Query,
    made: Plan,
    *,
    vector: Floats | None,
    claim: Callable[[], Floats | None] | None = None,
    allowed: Integers | None = None,
) -> Candidates:
    """Return the candidates for a planned query; `claim` embeds it for the comparison with claims."""
    tuned = load_weights().relevance
    mask = mask_eligible(index, query, allowed)
    standing = _find_instructions(index, reader, query, mask) if may_return_memories(query) else {}
    rules = np.array(list(standing), np.int64)
    meant = (
        make_empty_meaning(index)
        if vector is None
        else find_similar(index, reader, vector, mask, limit=query.limit, also=rules)
    )
    claims = _rate_claims(index, reader, meant, claim=claim, mask=mask, limit=query.limit)
    whole: dict[int, float] = {}
    for place, name in enumerate(reversed(made.whole), 1):
        row = index.row_of(pack_code(parse_id_number(name, IdKind.MEMORY, reader.tenant.tag), memory=True))
        if row is not None and mask[row]:
            whole[row] = _BEFORE + place * _STEP
    found = (row for wanted in _list_filters(made, query) for row in _find_rows(index, reader, wanted, mask))
    slot = np.fromiter(found, np.int64)
    if not standing:
        instructions = {}
    else:
        near = [None if np.isnan(meant.cosine[row]) else float(meant.cosine[row]) for row in standing]
        degrees = score_instructions(made.terms, list(standing.values()), near)
        instructions = {row: degree for row, degree in zip(standing, degrees, strict=True) if degree}
    signs = _Signs(
        words=_score_words(index, made, tuned),
        meant=meant,
        claims=claims,
        slot=np.array(list(whole), np.int64) if whole else slot,
        whole=whole,
        timely=_mask_by_time(index, made, mask),
        governs=instructions,
    )
    best = (mask & (signs.words.spread > 0)).nonzero()[0]
    worded = best[_pick_top(signs.words.spread[best], limits.CANDIDATES)]
    close = meant.rows[_pick_top(meant.spread[meant.rows], limits.CANDIDATES)]
    governing = np.array(list(signs.governs), np.int64)
    if not made.intervals:
        latest = _NOWHERE
    else:
        rows = np.flatnonzero(signs.timely)
        latest = rows[_pick_top(index.occurred_us[rows], _TIMELY)]
    claimed = (~np.isnan(claims)).nonzero()[0]
    answering = claimed[_pick_top(claims[claimed], limits.CANDIDATES)]
    rows = collect_rows(len(index), worded, close, signs.slot, governing, latest, answering)
    complete = vector is None and len(worded) < limits.CANDIDATES
    return _gather(index, made, signs, _Searched(rows, int(np.count_nonzero(mask)), complete))


def _score_words(index: ResidentIndex, made: Plan, tuned: Relevance) -> _Words:
    """Score every row; BM25+ is a sum over terms, so scoring each term once also gives the coverage."""
    alive = max(index.worded, _COMMON)
    own = np.zeros(len(index), np.float32)
    named = np.zeros(len(index) if made.people else 0, np.float32)
    held = np.zeros(len(index), np.float32)
    idfs: list[float] = []
    rarest = _NOWHERE
    unheard: list[str] = []
    found = index.each_term(made.terms)
    for term, (rows, scores) in zip(made.terms, found, strict=True):
        own[rows] += scores
        if not len(rows):
            unheard.append(term)
        if term in made.subject:
            # The positive idf of a term: ln(1 + (N − df + ½) / (df + ½)), Robertson and Sparck Jones.
            df = len(rows)
            idf = math.log1p((alive - df + 0.5) / (df + 0.5))
            rarest = rows if idf > max(idfs, default=-1.0) else rarest
            held[rows] += np.float32(idf)
            idfs.append(idf)
        elif made.people:
            named[rows] += scores
    brief = SkipBoost(tuned.words_second, index.length, tuned.brief)
    heard = np.concatenate([_NOWHERE, *(rows for rows, _ in found)])
    spread = index.spread_few(own.copy(), heard, back=tuned.back, ahead=tuned.words_ahead, second=brief)
    subject = index.spread_few(own - named, heard, back=tuned.back, ahead=tuned.ahead) if made.people else spread
    return _Words(own, spread, subject, held, idfs, rarest, frozenset(unheard))


def _list_filters(made: Plan, query: Query) -> list[MemoryFilter]:
    """List the filters of the memories that a question asks for by slot, or by the user's name alone."""
    if made.whole:
        return []
    pairs = dict.fromkeys((one.entity, one.attribute) for one in made.slots)
    if made.asked is not None:
        pairs.update(dict.fromkeys(itertools.product(made.asked.entities, sorted(made.asked.attributes))))
    return [_filter_pair(pair, query) for pair in pairs]


def _filter_pair(pair: tuple[str, str], query: Query) -> MemoryFilter:
    """Build the filter for an entity and attribute; limited to the latest rows unless an earlier time is queried."""
    if query.known_at_us is not None:
        return _filter(pair=pair)
    return _filter(pair=pair, limit=limits.SLOT_ROWS, as_of_us=query.as_of_us)


def _find_rows(index: ResidentIndex, reader: Reader, wanted: MemoryFilter, mask: Mask) -> Iterator[int]:
    """Yield the rows of the memories that match a filter."""
    for memory in reader.find(wanted):
        number = parse_id_number(memory.id, IdKind.MEMORY, reader.tenant.tag)
        row = index.row_of(pack_code(number, memory=True))
        if row is not None and mask[row]:
            yield row


def _find_instructions(index: ResidentIndex, reader: Reader, query: Query, mask: Mask) -> dict[int, Occasion]:
    """Return the rows of the standing instructions with their trigger words.

    Every search needs them and they seldom change, so they are cached until the change log grows.
    """
    wanted = _filter_pair((_USER, _INSTRUCTION), query)
    if wanted.limit is None or wanted.as_of_us is not None:
        return _read_triggers(index, _read_instructions(reader, wanted), mask)
    change = reader.duties.heads.change
    known = index.noted.at(change)
    if known is None:
        known = _read_instructions(reader, wanted)
        index.noted.note(change, known)
    return _read_triggers(index, known, mask)


def _read_instructions(reader: Reader, wanted: MemoryFilter) -> dict[int, Occasion]:
    tag = reader.tenant.tag
    return {
        pack_code(parse_id_number(memory.id, IdKind.MEMORY, tag), memory=True): extract_trigger_terms(memory.text)
        for memory in reader.find(wanted)
    }


def _read_triggers(index: ResidentIndex, by_code: Mapping[int, Occasion], mask: Mask) -> dict[int, Occasion]:
    if not by_code:
        return {}
    rows = index.rows_of(np.fromiter(by_code, np.int64, len(by_code))).tolist()
    return {row: words for row, words in zip(rows, by_code.values(), strict=True) if row >= 0 and mask[row]}


def _mask_by_time(index: ResidentIndex, made: Plan, mask: Mask) -> Mask:
    """Mark the rows that occurred, or have held since, within a time that the question names."""
    timely = np.zeros(len(index), np.bool_)
    for interval in made.intervals:
        inside = mask.copy()
        if interval.from_us is not None:
            inside &= index.occurred_us >= interval.from_us
        if interval.until_us is not None:
            inside &= index.occurred_us < interval.until_us
        timely |= inside
    return timely


def _estimate_meaning(meaning: Floats, words: Floats, embedded: Mask) -> Floats:
    """Let rows that have no vector yet be as near as their words say, and never below the mean of the others."""
    if embedded.all() or not embedded.any():
        return meaning
    likely = meaning[embedded].mean() + meaning[embedded].std() * np.maximum(compute_z_scores(words), 0)
    return np.where(embedded, meaning, np.fmax(meaning, likely))


def _pick_top(scores: NDArray[np.float32] | NDArray[np.int64], count: int) -> Integers:
    """Return the positions of the highest scores, in no order."""
    if len(scores) <= count:
        return np.arange(len(scores))
    return scores.argpartition(len(scores) - count)[len(scores) - count :]


def _gather(index: ResidentIndex, made: Plan, signs: _Signs, found: _Searched) -> Candidates:
    rows = found.rows
    words, meant = signs.words, signs.meant
    codes, speaker = index.codes[rows], index.speaker[rows]
    by_named = mask_spoken_by(index, speaker, made.people)
    by_partner = mask_spoken_to(index, speaker, made.people) if len(made.people) == 1 else by_named
    # Return the share of the subject's idf in each text; a named time counts as a term of mean idf, less the part of
    # all texts that it holds: a day on which everything was told singles out nothing.
    held, timely = words.held[rows], signs.timely[rows]
    total = sum(words.idfs)
    if made.intervals:
        mean = total / len(words.idfs) if words.idfs else 1.0
        apart = 1.0 if ANY_TIME in made.intervals else 1.0 - np.count_nonzero(signs.timely) / max(found.documents, 1)
        held += np.float32(mean * apart) * timely
        total += mean * apart
        if words.idfs and apart < _TELLING:
            timely = np.zeros_like(timely)
    coverage = held / np.float32(total or 1.0)
    alone = len(made.people) == 1
    said = codes < _FIRST_MEMORY
    others = said & ~mask_spoken_by(index, speaker, (_USER, ASSISTANT))
    # Whether no text contains any name of the question; a misspelt speaker name counts as known.
    if made.people or not made.proper or not words.unheard.issuperset(made.proper):
        strange = False
    else:
        spoken = {term for name in index.speaker_names for term in tokenize(name)}
        strange = not any(is_near_spelling(name, term) for term in made.proper for name in spoken)
    return _candidates(
        codes=codes,
        owners=find_owner(codes),
        words=words.spread[rows],
        own_words=words.own[rows],
        coverage=coverage,
        session=index.by_session(made.terms, rows),
        in_session=index.session[rows] >= 0,
        cosine=meant.cosine[rows],
        meaning=_estimate_meaning(meant.spread[rows], words.spread[rows], index.has_vector[rows]),
        claim=signs.claims[rows],
        length=index.length[rows].astype(np.float32),
        by_named=by_named,
        slot=make_mask(len(index), signs.slot)[rows] if len(signs.slot) else np.zeros(len(rows), np.bool_),
        timely=timely,
        belief=codes >= _FIRST_MEMORY,
        place=_spread_degrees(len(index), signs.whole)[rows] if signs.whole else None,
        governs=_spread_degrees(len(index), signs.governs)[rows] if signs.governs else np.zeros(len(rows), np.float32),
        rarest=make_mask(len(words.own), words.rarest)[rows],
        speaker_fit=measure_speaker_fit(words.subject[rows], by_named, by_partner) if alone else 0.0,
        lead=measure_lead(coverage, by_named, by_partner) if alone else 0.0,
        searched=found.documents,
        talk=int(np.count_nonzero(others)) * 2 > int(np.count_nonzero(said)),
        complete=found.complete,
        strange=strange,
        whole=not (codes & _ORDINALS).any(),
    )


def _spread_degrees(count: int, given: Mapping[int, float]) -> Floats:
    degrees = np.zeros(count, np.float32)
    for row, degree in given.items():
        degrees[row] = degree
    return degrees


# Search without a resident index, over candidates from the indexes on disk: by words, and by vectors.


_NOMINATED: Final = 1_000
"""Maximum number of documents fetched; their statistics rank the sample."""
_HIDDEN: Final = frozenset({Status.CANDIDATE, Status.ARCHIVED, Status.FORGOTTEN})
_SHOWN: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})


def build_partial_index(
    reader: Reader, question: str, made: Plan, *, model_id: str | None = None, near: Sequence[int] = ()
) -> ResidentIndex:
    """Build an index for one search from the documents that contain a word of the question, rarest words first.

    `near` are codes of documents whose vectors of a model are near; the index then holds vectors.

    A question about the whole also gets the memories that answer it.

    The idf of a term is computed within this sample, which keeps the order of rarity but not its scale.
    """
    words = space_runs(question).split()
    stems = [stem for term in made.terms for stem in term.split(ALTERNATIVE)[1:]]
    codes = list(
        {*reader.nominate(([*([word for word in words if tokenize(word)] or words), *stems]), _NOMINATED), *near}
    )
    wanted = set(codes)
    tag = reader.tenant.tag
    parts = [unpack_code(code) for code in codes]
    memory_ids = {format_id(IdKind.MEMORY, number, tag) for is_memory, number, _ in parts if is_memory}
    event_ids = {format_id(IdKind.EVENT, number, tag): number for is_memory, number, _ in parts if not is_memory}
    memories = reader.memories(list(memory_ids))
    known = reader.memories(list(made.whole)) if made.whole else []
    if made.asked is not None:
        pairs = itertools.product(made.asked.entities, sorted(made.asked.attributes))
        known += [memory for pair in pairs for memory in reader.find(MemoryFilter(pair=pair, limit=limits.SLOT_ROWS))]
    memories += {memory.id: memory for memory in known if memory.id not in memory_ids}.values()
    documents = [
        Document(
            code=pack_code(parse_id_number(memory.id, IdKind.MEMORY, tag), memory=True),
            text=compose_memory_text(memory.text, entity=memory.entity, attribute=memory.attribute, value=memory.value),
            session="",
            speaker=memory.speaker,
            occurred_us=get_valid_from_us(memory),
            state=DocumentState.HIDDEN if memory.layer is Layer.CODEBASE else _choose_state(memory.status),
        )
        for memory in memories
    ]
    for event in reader.events(list(event_ids)):
        documents += (made for made in _make_event_documents(event, event_ids[event.id]) if made.code in wanted)
    index = ResidentIndex(model_id=model_id if near else None)
    vectors = reader.vectors([one.code for one in documents], model_id) if near and model_id else []
    index.fold(
        Delta(
            heads=IndexPosition(),
            documents=tuple(sorted(documents, key=lambda one: one.code)),
            vectors=tuple(vectors),
        )
    )
    return index


def _choose_state(status: Status) -> DocumentState:
    if status in _SHOWN:
        return DocumentState.CURRENT
    if status is Status.DELETED:
        return DocumentState.GONE
    return DocumentState.HIDDEN if status in _HIDDEN else DocumentState.PAST


def _make_event_documents(event: Event, number: int) -> list[Document]:
    return [
        Document(
            code=pack_code(number, ordinal, memory=False),
            text=compose_event_text(
                speaker=event.speaker,
                role=event.role,
                occurred_us=event.occurred_us,
                text=event.text[start:stop],
            ),
            session=event.session,
            speaker=event.speaker,
            occurred_us=event.occurred_us,
            state=DocumentState.HIDDEN if CODE in event.flags else DocumentState.CURRENT,
        )
        for ordinal, (start, stop) in enumerate(split_passages(event.text))
    ]
