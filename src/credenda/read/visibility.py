"""Step 5: decide which rows are visible, with which flags, and which rows merge. Pure.

Belief and findability are separate. Only deletion, forgetting, denial and quarantine hide the words of an event. A
stance lowers the claim of one clause and never hides its event. A replaced value is always flagged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from credenda.model.event import DENIED, QUARANTINED, Event
from credenda.model.memory import Memory, Relation, Status, get_believed_from_us, has_ended, list_merged_sources
from credenda.model.query import Flag, Query
from credenda.read.candidates import Candidates, Mask, Row
from credenda.text.passing import find_own_end

Flags = frozenset[Flag]
Span = tuple[int, int]

_NEVER: Final = frozenset({Status.FORGOTTEN, Status.DELETED, Status.CANDIDATE})
_PAST: Final = frozenset({Status.SUPERSEDED, Status.MERGED, Status.INVALIDATED})
_UNTRUE: Final = frozenset({Status.SUPERSEDED, Status.INVALIDATED})
_MOST: Final = 0.5
"""Share of an event's text above which its unsure claims flag the whole event."""
_OPEN_ATTRIBUTES: Final = frozenset({None, "does", "experience"})
"""Attributes of memories that repeat what their event says."""
_APART: Final = frozenset({QUARANTINED, DENIED})
LIFT_STEP: Final = 1e-6
"""Difference between the keys of rows that are raised above all others, such as those with the query verbatim."""
_VEIL: Final = "[…]"
_CLAIM_FLOOR: Final = 0.35
"""Cosine from which a memory may answer a question as a claim without a shared word. Of 480 questions asked in the
stores of others a third find one so near, of those asked in their own three quarters."""


def was_valid_at(memory: Memory, moment_us: int) -> bool:
    """Return whether a memory was true at a moment, as believed now; a corrected memory was never true."""
    since = get_believed_from_us(memory)
    ended = has_ended(memory, moment_us)
    wrong = memory.relation is Relation.CORRECTED or memory.status is Status.INVALIDATED
    return since <= moment_us and not ended and not wrong


def flag_memory(memory: Memory, query: Query, now_us: int) -> Flags | None:
    """Return the flags of a memory, or None if it is not visible."""
    if memory.status in _NEVER or not memory.text or _has_expired(memory.expires_us, now_us):
        return None
    if memory.status is Status.ARCHIVED and "archived" not in query.include:
        return None
    if query.as_of_us is not None:
        if not was_valid_at(memory, query.as_of_us):
            return None
    elif memory.status in _PAST and "superseded" not in query.include:
        return None
    if memory.confidence < query.min_confidence and "low_confidence" not in query.include:
        return None
    return frozenset(_list_memory_flags(memory, query, now_us))


def _has_expired(expires_us: int | None, now_us: int) -> bool:
    return expires_us is not None and expires_us <= now_us


def _list_memory_flags(memory: Memory, query: Query, now_us: int) -> Iterable[Flag]:
    moment = next((at for at in (query.as_of_us, query.known_at_us) if at is not None), now_us)
    past = query.as_of_us is None and memory.status in _PAST
    if past:
        yield "superseded"
    if memory.contested and not past:
        yield "contested"
    if memory.status is Status.CHALLENGED:
        yield "challenged"
    if memory.confidence < query.min_confidence:
        yield "low_confidence"
    ended = has_ended(memory, moment)
    if memory.status is Status.ARCHIVED or (ended and not past):
        yield "stale"


def flag_event(
    event: Event, claims: Sequence[Memory], query: Query, now_us: int, *, spans: Mapping[str, Span] | None = None
) -> Flags | None:
    """Return the flags of an event, given the memories derived from it, or None if it is not visible.

    `spans` are the evidence spans of the memories in the event, by id. Unsure claims flag the event only if they cover
    most of its text: the other words of the event are no less certain.
    """
    if not event.text or not _APART.isdisjoint(event.flags) or not _is_within(event, query, now_us):
        return None
    claims = [memory for memory in claims if memory.status is not Status.DELETED]  # their words are blanked
    over = frozenset[Flag](["stale"] if is_event_over(event, query, now_us) else [])
    if not claims:
        return over
    live = [memory for memory in claims if memory.status not in _NEVER]
    if not live:
        return None
    unsure = all(memory.confidence < query.min_confidence for memory in live)
    unsure = unsure and _has_most(event, [(spans or {}).get(memory.id) for memory in live])
    return over.union(_list_event_flags(live, query, unsure=unsure))


def is_event_over(event: Event, query: Query, now_us: int) -> bool:
    """Return whether the words of a message bound all that it tells to a time that has passed: "this week"."""
    moment = next((at for at in (query.as_of_us, query.known_at_us) if at is not None), now_us)
    end_us = find_own_end(event.text, event.occurred_us)
    return end_us is not None and end_us <= moment


def _has_most(event: Event, spans: Sequence[Span | None]) -> bool:
    """Return whether spans cover most of an event's text; an unknown span counts as the whole text."""
    if None in spans:
        return True
    covered = {at for span in spans if span is not None for at in range(*span)}
    return len(covered) > _MOST * len(event.text.strip())


def _is_within(event: Event, query: Query, now_us: int) -> bool:
    """Return whether an event occurred and was recorded by the times of the query and has not expired."""
    said = query.as_of_us is None or event.occurred_us <= query.as_of_us
    known = query.known_at_us is None or event.recorded_us <= query.known_at_us
    return said and known and not _has_expired(event.expires_us, now_us)


def _list_event_flags(live: Sequence[Memory], query: Query, *, unsure: bool) -> Iterable[Flag]:
    # The memories that tell whether the words of their event hold. An entry that consolidation made of claims of the
    # event has its evidence, but also where it names a claim only as a previous value. So each claim stands for itself,
    # and for a merged claim the entry that it is merged into.
    by_id = {memory.id: memory for memory in live}
    deciding = [memory for memory in live if by_id.keys().isdisjoint(list_merged_sources(memory))]
    current = [
        memory
        for memory in [_follow_merges(memory, by_id) for memory in deciding] or list(live)
        if not _is_past(memory, query)
    ]
    if not current:
        yield "superseded"
    if any(memory.contested for memory in current):
        yield "contested"
    if any(memory.status is Status.CHALLENGED for memory in current):
        yield "challenged"
    if unsure:
        yield "low_confidence"
    # Whether a memory was merged elsewhere, before its import: nothing here tells what became of it.
    if all(
        memory.status is Status.ARCHIVED or (memory.status is Status.MERGED and memory.superseded_by is None)
        for memory in live
    ):
        yield "stale"


def _follow_merges(memory: Memory, by_id: Mapping[str, Memory]) -> Memory:
    for _ in range(len(by_id)):
        following = by_id.get(memory.superseded_by or "")
        if memory.status is not Status.MERGED or following is None:
            break
        memory = following
    return memory


def _is_past(memory: Memory, query: Query) -> bool:
    if query.as_of_us is not None:
        return not was_valid_at(memory, query.as_of_us)
    return memory.status in _UNTRUE


def mask_relevant(found: Candidates, cosine_floor: float) -> Mask:
    """Mark the candidates with any relevance; others are not returned even if hits are missing (R-120)."""
    near = (found.cosine >= cosine_floor) | (found.claim >= _CLAIM_FLOOR)  # False for NaN (not compared)
    return (found.words > 0) | found.slot | found.timely | (found.governs > 0) | near


def redact_spans(event: Event, spans: Collection[tuple[int, int]]) -> Event:
    """Blank the spans of an event that support forgotten memories."""
    if not spans:
        return event
    text = event.text
    for start, stop in sorted(spans, reverse=True):
        text = text[:start] + _VEIL + text[stop:]
    return event if text == event.text else replace(event, text=text)


def join(rows: Iterable[Row], claims_of: Mapping[str, Collection[str]]) -> list[Row]:
    """Merge each event with those of its memories that are listed, with the better of the two scores.

    `claims_of` has the memory ids of each event. The best memory stands for the event, unless the event has more of the
    question: "My wife is Ruth. She cannot eat nuts." says what Ruth eats beside her name. A memory that only repeats
    words of the event (no slot, or "does", "experience") is not listed beside it, and gives way to a better event.
    """
    listed = list(rows)
    memories = {row.id: row for row in listed if row.kind == "memory"}
    events: list[Row] = []
    for row in listed:
        if row.kind == "memory":
            continue
        made = [memories[claim] for claim in claims_of.get(row.id, ()) if claim in memories]
        if not made:
            events.append(row)
            continue
        best = max(made, key=lambda memory: (not _is_repetition(memory), memory.key, memory.id))
        for memory in made:
            if memory is not best and _is_repetition(memory):
                del memories[memory.id]
        if _VEIL in row.text:
            memories[best.id] = _attach_event(best, row)
        elif _is_repetition(best) and row.key > best.key:
            del memories[best.id]
            events.append(row)
        elif row.signs.coverage > max(memory.signs.coverage for memory in made):
            events.append(row)
        else:
            memories[best.id] = _attach_event(best, row)
    return [*memories.values(), *events]


def _is_repetition(row: Row) -> bool:
    return row.memory is not None and row.memory.attribute in _OPEN_ATTRIBUTES and not row.signs.slot


def _attach_event(memory: Row, event: Row) -> Row:
    better = event if event.key > memory.key else memory
    return memory._replace(key=better.key, terms=better.terms, signs=memory.signs.joined(event.signs))


def order_by_flags(
    rows: Iterable[Row], successors: Mapping[str, str], lowered: Callable[[float], float] = float, *, past: bool = False
) -> list[Row]:
    """Order rows, best first: a current value before the value it replaced, unsure memories last (R-062).

    `successors` maps a row flagged superseded to the id of the current memory. If both are listed, the current memory
    gets the higher key and the features of both. `lowered` reduces the key of a replaced value and of an unsure event,
    but for a row that holds the query verbatim; that of a message of a time that is over stays if the question is about
    the `past`.
    """
    by_id = {row.id: row for row in rows}
    for old in list(by_id.values()):
        current = by_id.get(successors.get(old.id, ""))
        if current is not None:
            signs = current.signs.joined(old.signs)
            by_id[current.id] = current._replace(key=max(current.key, old.key), signs=signs)
    placed = (row._replace(key=lowered(row.key)) if _is_lowered(row, past=past) else row for row in by_id.values())
    return sorted(
        placed,
        key=lambda row: (
            row.kind == "memory" and "low_confidence" in row.flags,
            -row.key,
            "superseded" in row.flags,
            row.id,
        ),
    )


def _is_lowered(row: Row, *, past: bool) -> bool:
    """Return whether the key of a row is reduced; never if the row holds the query verbatim."""
    unsure = row.kind == "event" and "low_confidence" in row.flags
    over = "stale" in row.flags and not (past and row.kind == "event")
    return ("superseded" in row.flags or over or unsure) and not row.signs.verbatim


def lift_verbatim(rows: Sequence[Row], *, asks: bool) -> list[Row]:
    """Raise the rows that hold the query verbatim above all others, in their own order.

    With `asks` the query is a question: a memory in the slot that it asks for stays above an earlier question.
    """
    holding = sorted((row for row in rows if row.signs.verbatim), key=lambda row: row.key)
    if not holding:
        return list(rows)
    top = max((row.key for row in rows if not (asks and row.signs.slot)), default=0.0)
    raised = {row.id: top + LIFT_STEP * place for place, row in enumerate(holding, 1)}
    return [row._replace(key=max(row.key, raised.get(row.id, row.key))) for row in rows]
