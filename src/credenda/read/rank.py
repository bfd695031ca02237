"""Turn candidates into rows: read, filter, merge and order them."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from credenda import limits
from credenda.ids import IdKind, parse_id_number
from credenda.model.attributes import get_attribute
from credenda.model.evaluation import FeedbackCounts
from credenda.model.memory import OPEN_STANCES, Cardinality, Memory, Stance, Status, get_valid_from_us
from credenda.model.query import Query
from credenda.read.asked import AskedSlots, has_asked_name, is_asked, is_near_asked, is_of_relative
from credenda.read.candidates import Candidates, Floats, Integers, Row, Signs
from credenda.read.filters import (
    fold_query,
    has_query,
    is_matching_event,
    is_matching_memory,
    may_return_events,
    may_return_memories,
)
from credenda.read.hydrate import Loaded, load, load_successors, name_document
from credenda.read.newer import (
    count_matches,
    find_affirmed,
    find_changed,
    find_rival,
    find_statement_about,
    has_begun,
    is_value_asked,
    lift_newer_wording,
    may_have_rivals,
    order_appointments,
    order_siblings,
    place_before,
)
from credenda.read.plan import (
    Ask,
    Interval,
    find_echoes,
    is_about_talk,
    is_named,
    is_question,
)
from credenda.read.retrieve import find_owner
from credenda.read.score import Fused, lower_key, score_rows
from credenda.read.versions import find_latest, find_then, find_versions, list_last_statements
from credenda.read.visibility import (
    LIFT_STEP,
    flag_event,
    flag_memory,
    join,
    lift_verbatim,
    order_by_flags,
    redact_spans,
)
from credenda.read.weights import Weights
from credenda.storage.store import EventFilter, MemoryFilter, Reader, pack_code
from credenda.text.changes import is_beside
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.tokens import tokenize

COMPARED: Final = 20
"""Best rows, whatever the limit, by which a search judges and scores: a score does not depend on how many are shown."""
_QUOTED_READ: Final = 2_000
"""Number of latest events that are searched for a query of words that no index holds."""
_ECHO_SHARE: Final = 0.25
"""Share of the fit of a message that tells nothing of its own from which a row stands above it."""
_ONCE: Final = re.compile(r"\b(?:did|was|were|had|when|ago|last)\b", re.IGNORECASE)
"""Words of a question about what was, for which a message of a time that is over is as good as any."""
_OPEN_SLOTS: Final = 8
"""Most open slots of one search whose other values are looked up."""
_ASKED_ABOUT: Final = frozenset({"contested"})
"""Flags of memories that hold an asked slot all the same."""
_USER: Final = "user"
_NAME_WORDS: Final = 3
_RELATIVES: Final = 3
"""Most relatives of a question whose slots are read."""
_FEW: Final = 5
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
    subject: tuple[str, ...] = ()
    asked: AskedSlots | None = None
    then: Sequence[Interval] | None = None
    """The times that a question about the past asks for; None for any other question."""
    loaded: Loaded = field(default_factory=Loaded)
    rows: list[Row] = field(default_factory=list[Row])
    regards: dict[str, FeedbackCounts] = field(default_factory=dict[str, FeedbackCounts])
    judged: bool | None = None
    """Whether the tenant has any feedback; None until looked up."""
    misfits: int = 0
    """Number of relevant rows dropped by a condition that the index does not know."""
    unread: bool = False
    """Whether relevant candidates were not read, because too many before them were dropped."""
    read_vectors: Callable[[Sequence[str]], Mapping[str, Floats]] | None = None
    """Reads the vectors of memories by their ids."""
    changed: dict[str, str] = field(default_factory=dict[str, str])
    """The newest row that tells a row to be outdated, by ids."""
    quoted: str = field(init=False)
    """The query as `fold_query` folds it."""

    def __post_init__(self) -> None:
        """Fold the query once for all rows."""
        self.quoted = fold_query(self.query.text)


def hydrate_batch(work: Reading, found: Candidates, fused: Fused, batch: Integers) -> None:
    """Read a batch of candidates and keep the visible ones as rows."""
    named = [name_document(code, work.reader.tenant.tag) for code in found.codes[batch].tolist()]
    memory_ids = [name for kind, name, _ in named if kind is IdKind.MEMORY]
    if memory_ids and _has_judgements(work):
        work.regards.update(work.reader.usage.regards(memory_ids))
    load(
        work.reader,
        work.loaded,
        memory_ids=memory_ids,
        event_ids=[name for kind, name, _ in named if kind is IdKind.EVENT],
        known_at_us=work.query.known_at_us,
        evidence=work.query.profile != "recall",
    )
    for at, signs, key, (kind, name, ordinal) in zip(
        batch.tolist(), _list_features(found, batch), fused.relevance[batch].tolist(), named, strict=True
    ):
        terms = {name: float(values[at]) for name, values in fused.terms.items()} if work.query.explain else _NO_TERMS
        found_as = _Found(key, signs, terms)
        row = (
            _make_memory_row(work, name, found_as)
            if kind is IdKind.MEMORY
            else _make_event_row(work, name, ordinal, found_as)
        )
        if row is not None:
            work.rows.append(_mark_named_slot(row, work))


def _has_judgements(work: Reading) -> bool:
    """Return whether feedback matters for this search; most tenants have none, and the check is cheap."""
    if work.judged is None:
        work.judged = work.query.profile == "default" and work.reader.usage.judged
    return work.judged


def _mark_named_slot(row: Row, work: Reading) -> Row:
    """Add the slot bonus to a memory whose entity the question names by an alias, or in part with its attribute."""
    if row.memory is None or row.signs.slot:
        return row
    near = work.asked is not None and is_near_asked(row.memory, work.asked)
    if not (near or is_named(row.memory, work.query.text) or has_asked_name(row.memory, work.query.text)):
        return row
    more = work.tuned.relevance.slot
    terms = {**row.terms, "named": more} if work.query.explain else row.terms
    return row._replace(key=row.key + more, signs=row.signs._replace(slot=True), terms=terms)


def _list_features(found: Candidates, batch: Integers) -> Iterator[Signs]:
    """Yield the features of each candidate of a batch; reading whole columns is much faster than single values."""
    governs = found.governs > 0
    columns = (found.claim, found.words, found.coverage, found.cosine, found.slot, found.timely, governs, found.rarest)
    for claim, words, coverage, cosine, *marks in zip(*(one[batch].tolist() for one in columns), strict=True):
        answers = None if math.isnan(claim) else claim
        yield Signs(words, coverage, None if math.isnan(cosine) else cosine, *marks, claim=answers)


def _make_memory_row(work: Reading, name: str, found: _Found) -> Row | None:
    memory, query = work.loaded.memories.get(name), work.query
    if memory is None:
        work.misfits += _has_time_condition(query)  # it was recorded later
        return None
    flags = flag_memory(memory, query, work.now_us)
    if not is_matching_memory(memory, query) or (
        flags is None and (memory.confidence < query.min_confidence or _has_time_condition(query))
    ):
        work.misfits += 1
        return None
    if flags is None:
        return None
    found = _mark_verbatim(found, memory.text, work)
    return Row("memory", name, memory.text, *found, memory=memory, flags=flags)


def _has_time_condition(query: Query) -> bool:
    return query.as_of_us is not None or query.known_at_us is not None


def _make_event_row(work: Reading, name: str, ordinal: int, found: _Found) -> Row | None:
    event = work.loaded.events.get(name)
    if event is None:
        return None
    if not is_matching_event(event, work.query):
        work.misfits += 1
        return None
    flags = flag_event(event, work.loaded.claims(name), work.query, work.now_us, spans=work.loaded.claims_of.get(name))
    if flags is None:
        work.misfits += _has_time_condition(work.query)
        return None
    shown = redact_spans(event, work.loaded.removed_spans(name))
    found = _mark_verbatim(found, shown.text, work)
    return Row("event", name, shown.text, *found, event=shown, passage=ordinal, flags=flags)


def _mark_verbatim(found: _Found, text: str, work: Reading) -> _Found:
    if not has_query(text, work.quoted):
        return found
    return found._replace(signs=found.signs._replace(verbatim=True))


def order_rows(work: Reading) -> list[Row]:
    """Score, merge and order the rows read so far, best first."""
    rows = score_rows(work.rows, work.query, work.tuned, work.now_us, ask=work.ask, regards=work.regards)
    joined = lift_verbatim(join(rows, work.loaded.claims_of), asks=work.query.text.rstrip().endswith("?"))
    if work.ask is not Ask.PAST:
        joined = _lift_asked(joined, work.asked, work)
    present, successors = _add_successors(work, joined)
    if len(present) > len(joined):
        present = join(present, work.loaded.claims_of)
    past = work.ask in {Ask.PAST, Ask.WHEN} or _ONCE.search(work.query.text) is not None
    ordered = order_by_flags(present, successors, lambda key: lower_key(key, work.query, work.tuned.falloff), past=past)
    ordered = _put_echoes_behind(ordered, work)
    if work.ask is Ask.PAST:
        ordered = place_before(ordered, find_then(_read_versions(work, ordered), work.then or (), work.query.text))
        return order_appointments(ordered, work.now_us, work.query.text, past=True)
    partly = {row.id: successors[row.id] for row in ordered if row.id in successors and "superseded" not in row.flags}
    best, rest = ordered[:COMPARED], ordered[COMPARED:]
    best, rivals = _add_rivals(work, best)
    rest = [row for row in rest if row.id not in rivals.values()]
    told = find_changed(best, work.subject, _list_confirmations(work, best), work.now_us)
    work.changed = {**{old: new for old, new in rivals.items() if told.get(new) != old}, **told, **partly}
    placed = [*place_before(lift_newer_wording(best), work.changed), *rest]
    placed = place_before(placed, find_affirmed(placed[:COMPARED], work.query.text))
    versions = _read_versions(work, placed)
    then = {} if work.then is None else find_then(versions, work.then, work.query.text)
    if then:
        placed = place_before(placed, then)
    else:
        confirmed = _list_confirmations(work, versions)
        again = list_last_statements(versions, placed[:COMPARED])
        latest = find_latest(versions, work.subject, {one: max(us, confirmed.get(one, 0)) for one, us in again.items()})
        work.changed = {**_leave_out_beside(latest, placed), **work.changed}
        placed = place_before(placed, latest | _find_messages(work, placed[:COMPARED], latest))
    placed = place_before(placed, find_statement_about(placed[:COMPARED], work.query.text))
    return order_appointments(order_siblings(placed, work.query.text), work.now_us, work.query.text)


def _find_messages(work: Reading, rows: Sequence[Row], latest: Mapping[str, str]) -> dict[str, str]:
    """Map the messages that told an earlier version to the latest one."""
    told = ((row.id, latest.get(claim)) for row in rows for claim in work.loaded.claims_of.get(row.id, ()))
    return {name: newest for name, newest in told if newest is not None}


def _read_versions(work: Reading, rows: Sequence[Row]) -> list[Row]:
    """List the versions of the memory that answers best, where memories were compared as claims."""
    at_us = work.now_us if work.query.as_of_us is None else work.query.as_of_us
    begun = [row for row in rows[:COMPARED] if row.memory is not None and has_begun(row.memory, at_us)]
    if work.read_vectors is None or all(row.signs.claim is None for row in begun):
        return []
    return find_versions(begun, work.read_vectors([row.id for row in begun]), work.subject)


def _leave_out_beside(latest: Mapping[str, str], rows: Sequence[Row]) -> dict[str, str]:
    """Leave out what a version stands beside, by its words: "also", "another"."""
    beside = {row.id for row in rows if row.id in latest.values() and is_beside(row.text)}
    return {old: new for old, new in latest.items() if new not in beside}


def _put_echoes_behind(rows: list[Row], work: Reading) -> list[Row]:
    """Move messages that tell nothing of their own behind the rows that fit the question about as well.

    Of those with the same words one is enough: a question that was asked often must not fill the answer. A question
    about the talk itself may mean them, and so does one that is quoted.
    """
    if work.query.profile == "recall" or is_about_talk(work.query.text):
        return rows
    asks = is_question(work.query.text)
    quoted = {row.id for row in rows if row.signs.verbatim and not asks}
    claimed = {row.id for row in rows if work.loaded.claims_of.get(row.id)}
    echoes = find_echoes(rows, quoted | claimed)
    kept = [row for row in rows if row.id not in echoes]
    behind: dict[int, list[Row]] = {}
    told: set[tuple[str, str]] = set()
    for row in rows if echoes else ():
        words = (row.event.speaker if row.event else "", row.text.casefold())
        if row.id in echoes and words not in told:
            told.add(words)
            place = max(
                (
                    at
                    for at, one in enumerate(kept, 1)
                    if one.key >= row.key
                    or one.signs.slot
                    or one.signs.coverage >= _ECHO_SHARE * row.signs.coverage
                    or one.key >= _ECHO_SHARE * row.key
                ),
                default=0,
            )
            key = kept[place - 1].key if place else row.key
            if row.key <= key:
                lowered = row
            else:
                lowered = row._replace(key=key, terms={**row.terms, "echo": key - row.key} if row.terms else row.terms)
            behind.setdefault(place, []).append(lowered)
    placed = [*behind.get(0, ())]
    for at, row in enumerate(kept, 1):
        placed += [row, *behind.get(at, ())]
    return placed


_AHEAD: Final = re.compile(r"\b(?:will|going to|next|soon)\b", re.IGNORECASE)
_ASKS_WHICH: Final = re.compile(r"\W*(?:what|which|whose|who|whom|where|when|how)\b", re.IGNORECASE)
"""The beginning of a question whose answer is no word of it, as that of "can I eat nuts" is."""


def _lift_asked(rows: Sequence[Row], asked: AskedSlots | None, work: Reading) -> list[Row]:
    """Raise the memories of the asked slots above all other rows: present values, coming ones, and denied ones.

    An open attribute of which the question has the name goes before a known one that other words of it ask for.
    Of values that one attribute holds the newest is first, for a question about a time the newest by then; the others
    stand in their own order. A value of which the question has all words tells nothing: a cat, of "what is my cat
    called". A memory that was compared as a claim is rated by that, and not raised.
    """
    words = set(tokenize(work.query.text))
    ahead, decides = _AHEAD.search(work.query.text) is not None, _ASKS_WHICH.match(work.query.text) is None
    end_us = max((time.until_us or work.now_us for time in work.then or ()), default=None)

    relatives = _list_relatives(rows, words)
    rated = any(row.signs.claim is not None for row in rows)
    if asked is not None and relatives and not rated and is_of_relative(asked, work.query.text):
        asked = asked._replace(entities=(*asked.entities, *relatives))
        rows = [*rows, *_find_of_relatives(work, rows, relatives, asked)]
    named = {
        row.id
        for row in rows
        if row.memory and not row.flags and has_asked_name(row.memory, work.query.text, relatives)
    }

    def rate(row: Row, memory: Memory) -> tuple[bool, bool, bool, bool, bool, int, float]:
        value, since_us = set(tokenize(memory.value or "")), get_valid_from_us(memory)
        single = get_attribute(memory.attribute or "").cardinality is Cardinality.SINGLE and not memory.scope
        denied = memory.stance is Stance.NEGATED and words.isdisjoint(value)
        by_then = end_us is None or since_us < end_us
        begun = ahead or (memory.stance not in OPEN_STANCES and has_begun(memory, work.now_us))
        order = by_then, decides or not value <= words, begun, since_us if single else 0, row.key
        return row.id in named, not denied, *order

    held = [
        (row, row.memory)
        for row in rows
        if row.memory
        and row.signs.claim is None
        and row.flags <= _ASKED_ABOUT
        and (row.id in named or (asked is not None and is_asked(row.memory, asked)))
    ]
    top = max((row.key for row in rows), default=0.0)
    raised = {row.id: place for place, (row, _) in enumerate(sorted(held, key=lambda one: rate(*one)), 1)}
    return [
        row._replace(key=top + LIFT_STEP * raised[row.id], signs=row.signs._replace(slot=True))
        if row.id in raised
        else row
        for row in rows
    ]


def _list_relatives(rows: Sequence[Row], words: Collection[str]) -> frozenset[str]:
    """List whom a question names by what they are to the user, as far as the rows tell: "my mother", "my tortoise".

    A relative has all words of the attribute in the question, and another thing with a name the last one.
    """
    found: set[str] = set()
    for row in rows:
        memory = row.memory
        if memory is None or not memory.value or row.flags:
            continue
        terms = tokenize((memory.attribute or "").replace("_", " "))
        schema = get_attribute(memory.attribute or "")
        named = memory.value[:1].isupper() and len(memory.value.split()) <= _NAME_WORDS
        thing = not schema.known and named and normalise_name(memory.entity or "") == _USER and terms[-1:]
        needed = terms if schema.kind == "person" else thing or None
        if needed is not None and {*needed} <= {*words}:
            found.add(normalise_name(memory.value))
    return frozenset(found)


def _find_of_relatives(
    work: Reading, rows: Sequence[Row], relatives: Collection[str], asked: AskedSlots
) -> Iterator[Row]:
    """Read the asked slots of those whom a question names by what they are, where no row holds them."""
    best = max(rows, key=lambda row: row.key)
    present = {row.id for row in rows}
    for pair in itertools.product(sorted(relatives)[:_RELATIVES], sorted(asked.attributes)):
        for memory in work.reader.find(MemoryFilter(pair=pair, statuses=frozenset({Status.ACTIVE}), limit=_FEW)):
            if memory.id not in present:
                work.loaded.memories.setdefault(memory.id, memory)
                row = _make_memory_row(work, memory.id, _Found(best.key, Signs(0.0, 0.0, None), {}))
                if row is not None:
                    present.add(memory.id)
                    yield row


def _list_confirmations(work: Reading, rows: Sequence[Row]) -> dict[str, int]:
    """Return when each memory was told for the last time, as far as its events were read."""
    events = work.loaded.events
    told = {row.id: [events[name] for name in work.loaded.events_of.get(row.id, ()) if name in events] for row in rows}
    return {name: max(event.occurred_us for event in found) for name, found in told.items() if found}


def _add_successors(work: Reading, rows: list[Row]) -> tuple[list[Row], dict[str, str]]:
    """Add the visible current value of each row that tells a replaced one, and map each such row to it."""
    past = [(row, replaced) for row in rows if (replaced := _list_replaced(work, row))]
    if not past:
        return rows, {}
    load_successors(work.reader, work.loaded, (one for _, made in past for one in made), work.query.known_at_us)
    present = {row.id for row in rows}
    successors: dict[str, str] = {}
    added: list[Row] = []
    for row, replaced in past:
        currents = (work.loaded.successor(memory) for memory in replaced)
        current = next((memory for memory in currents if memory is not None), None)
        if current is None:
            continue
        if current.id not in present:
            found = _Found(row.key, row.signs, {**row.terms, "successor": row.key})
            fresh = _make_memory_row(work, current.id, found)
            if fresh is None:
                continue
            present.add(current.id)
            added.append(fresh)
        successors[row.id] = current.id
    return [*rows, *added], successors


def _add_rivals(work: Reading, rows: list[Row]) -> tuple[list[Row], dict[str, str]]:
    """Add the newer value of each open slot among the rows, and map the rows with an older one to it."""
    if work.query.known_at_us is not None or work.query.profile == "recall":
        return rows, {}
    at_us = work.now_us if work.query.as_of_us is None else work.query.as_of_us
    held: dict[tuple[str, str], list[Memory]] = {}
    present, rivals = {row.id for row in rows}, dict[str, str]()
    told = _list_confirmations(work, rows)
    added: list[Row] = []
    for row in rows:
        memory = row.memory
        if memory is None or row.flags or not may_have_rivals(memory):
            continue
        pair = (normalise_name(memory.entity or ""), normalise_attribute(memory.attribute or ""))
        if pair not in held:
            if len(held) == _OPEN_SLOTS:
                break
            wanted = MemoryFilter(pair=pair, statuses=frozenset({Status.ACTIVE}), limit=limits.SLOT_ROWS)
            held[pair] = [one for one in work.reader.find(wanted) if one.created_us <= at_us]
        rival = find_rival(memory, held[pair], at_us, told_us=told.get(row.id, 0))
        if rival is None or is_value_asked(memory, rival, work.subject):
            continue
        if rival.id not in present:
            work.loaded.memories.setdefault(rival.id, rival)
            fresh = _make_memory_row(work, rival.id, _Found(row.key, row.signs, {**row.terms, "successor": row.key}))
            if fresh is None:
                continue
            present.add(rival.id)
            added.append(fresh)
        rivals[row.id] = rival.id
    return [*rows, *added], rivals


def _list_replaced(work: Reading, row: Row) -> list[Memory]:
    """Return the replaced memories that a row tells; of a message that is partly true, those that are asked for."""
    if row.memory is not None:
        return [row.memory] if "superseded" in row.flags else []
    claims = work.loaded.claims(row.id)
    if "superseded" in row.flags or work.ask is Ask.PAST:
        return claims if "superseded" in row.flags else []
    past = [memory for memory in claims if memory.superseded_by and memory.status is Status.SUPERSEDED]
    if not past:
        return []
    most = max((count_matches(memory, work.subject) for memory in claims if memory.status is Status.ACTIVE), default=0)
    return [memory for memory in past if count_matches(memory, work.subject) >= max(most, 1)]


def find_allowed_owners(work: Reading) -> Integers:
    """Read from the store the owner codes of all events and memories that meet the conditions: slow but exact."""
    return find_owner(
        np.array([*_find_allowed_memories(work), *_list_codes(work, _make_event_filter(work.query))], np.int64)
    )


def find_quoting_owners(work: Reading) -> Integers:
    """Read from the store the owner codes of the latest events that hold the query verbatim."""
    wanted = _make_event_filter(work.query, newest_first=True, limit=_QUOTED_READ)
    return find_owner(np.array([*_list_codes(work, wanted, quoting=work.quoted)], np.int64))


def _find_allowed_memories(work: Reading) -> Iterator[int]:
    query = work.query
    if not may_return_memories(query):
        return
    wanted = MemoryFilter(
        types=query.types,
        layers=query.layers,
        topic=query.topic,
        known_at_us=query.known_at_us,
        as_of_us=query.as_of_us,
    )
    for memory in work.reader.find(wanted):
        if is_matching_memory(memory, query) and flag_memory(memory, query, work.now_us) is not None:
            yield pack_code(parse_id_number(memory.id, IdKind.MEMORY, work.reader.tenant.tag), memory=True)


def _make_event_filter(query: Query, **more: Any) -> EventFilter:  # noqa: ANN401 - fields of a filter
    return EventFilter(
        session=query.session,
        topic=query.topic,
        recorded_before_us=_add_microsecond(query.known_at_us),
        occurred_before_us=_add_microsecond(query.as_of_us),
        redacted=True,
        worded=True,
        **more,
    )


def _list_codes(work: Reading, wanted: EventFilter, *, quoting: str = "") -> Iterator[int]:
    """Yield the codes of the events that meet a filter and the conditions of the query, and hold a folded text."""
    for event in work.reader.find_events(wanted) if may_return_events(work.query) else ():
        if is_matching_event(event, work.query) and (not quoting or has_query(event.text, quoting)):
            yield pack_code(parse_id_number(event.id, IdKind.EVENT, work.reader.tenant.tag), memory=False)


def _add_microsecond(moment_us: int | None) -> int | None:
    return None if moment_us is None else moment_us + 1
