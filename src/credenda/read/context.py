"""Build the context block of a prompt from the core and the hits of a search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final, NamedTuple, cast

from credenda import limits
from credenda.index.resident import ResidentIndex
from credenda.model.attributes import get_attribute
from credenda.model.change import ContestCase, ContestState
from credenda.model.claim import Span
from credenda.model.core import HEADINGS, INSTRUCTIONS_PART, CoreMemory, Section
from credenda.model.memory import Cardinality, Memory, Relation, Stance, Status
from credenda.model.query import Context, Hit, Query, SearchResult, SlotVersion
from credenda.model.statement import format_core_text, format_validity, write_statement
from credenda.providers.embed.factory import TokenAsk
from credenda.read.candidates import Floats
from credenda.read.core_memories import add_statement_times, find_core_memories, to_core_memory
from credenda.read.history import read_slot_history
from credenda.read.pack import WHEN, Packing, has_untold_words, pack
from credenda.read.pack_trace import PackTrace
from credenda.read.plan import (
    extract_trigger_terms,
    find_echoes,
    is_about_talk,
    is_for_other_questions,
    plan,
    score_instructions,
)
from credenda.read.search import THEN, Embed, search
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.fence import TokenBudget, format_bullet
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_value

_ALWAYS: Final = frozenset({Section.INSTRUCTION, Section.PINNED})
_ENDED: Final = frozenset({Status.SUPERSEDED, Status.INVALIDATED})
_MOST: Final = 0.8
"""Share of a message's text from which the memories of it tell all that it says."""
_QUOTED: Final = 3
"""Number of best hits whose sentences are looked at for what the memories do not tell."""
_SLOTS_WITH_HISTORY: Final = 10
"""Number of best memories whose earlier values are looked up."""


def build_context(  # noqa: PLR0913 - what a search takes, and the core
    query: Query | None,
    *,
    budget: TokenBudget,
    reader: Reader,
    index: ResidentIndex | None,
    embed: Embed | None = None,
    tokens: TokenAsk | None = None,
    claims: Callable[[str], Floats] | None = None,
    now_us: int,
    core: Sequence[CoreMemory] | None = None,
    trace: PackTrace | None = None,
) -> Context:
    """Build the context block; without a query, or if the query has no words, from the core alone.

    `core` defaults to standing instructions and pinned memories. With hits, other core memories are added only while
    the core uses at most half of the budget. Hits fill a part of the budget that grows with the probability of an
    answer; if the search abstains, the block contains only the core and sets `abstained`. `trace` takes down the lines
    that the block gets and lacks.
    """
    asked = query or Query(text="")
    if core is None:
        core = add_statement_times(reader, [to_core_memory(one) for one in find_core_memories(reader, asked, now_us)])
    kept = candidates = core
    if query is None or not query.text:
        kept = _limit_instructions(kept, asked, budget, terms=())
        always = [one.memory for one in kept]
        packing = Packing(
            budget=budget,
            contests=_find_contests(reader, always, (), asked),
            headings=_choose_headings(kept, ()),
            told_at=_list_statement_times(kept),
            zone=asked.zone,
            now_us=now_us,
            trace=trace,
        )
        if trace is not None:
            trace.leave_core([one.memory for one in candidates], always)
        return pack(always, (), packing)
    found = search(query, reader=reader, index=index, embed=embed, tokens=tokens, claims=claims, now_us=now_us)
    made = plan(query, now_us, ())
    kept = _choose_core(kept, found.hits, query, budget, terms=made.terms)
    always, whole = [one.memory for one in kept], "whole" in found.trace
    found, together = _complete_answers(reader, always, found, query)
    if trace is not None:
        trace.leave_core([one.memory for one in candidates], always, found.hits)
    found = _add_quotes(reader, found, previous := _find_previous_values(reader, found.hits, query))
    sentences = _compare_sentences(reader, found.hits, query)
    echoes = frozenset[str]() if is_about_talk(query.text) else find_echoes(found.hits)
    packing = Packing(
        budget=budget,
        contests=_find_contests(reader, always, found.hits, query),
        previous=previous,
        told=_find_redundant(reader, previous) | sentences.told,
        outdated=sentences.outdated,
        together=together,
        then=cast("tuple[str, ...]", found.trace.get(THEN, ())),
        echoes=echoes - {hit.id for hit in takewhile(lambda hit: hit.id in echoes, found.hits)},
        history=made.history,
        in_order=made.broad and not whole,
        ranked=whole,
        abstained=found.abstained,
        probability=found.probability,
        headings=_choose_headings(kept, made.terms),
        told_at=_list_statement_times(kept),
        zone=query.zone,
        now_us=now_us if query.as_of_us is None else query.as_of_us,
        trace=trace,
    )
    return pack(always, found.hits, packing)


def _choose_headings(core: Sequence[CoreMemory], terms: Collection[str]) -> dict[str, str]:
    return {
        one.memory.id: WHEN if is_for_other_questions(one.memory.text, terms) else HEADINGS[one.section] for one in core
    }


def _list_statement_times(core: Sequence[CoreMemory]) -> dict[str, tuple[int, ...]]:
    return {one.memory.id: one.told_us for one in core}


def _choose_core(
    core: Sequence[CoreMemory], hits: Sequence[Hit], query: Query, budget: TokenBudget, *, terms: Sequence[str]
) -> list[CoreMemory]:
    """Select the core memories beside hits: instructions, all that the user pinned, others while room is left."""
    found = {hit.id for hit in hits}
    told = {format_core_text(hit.memory) for hit in hits if hit.memory is not None}
    spent, kept = 0, list[CoreMemory]()
    for one in _limit_instructions(core, query, budget, terms=terms):
        spent += _count_tokens(one.memory, query, budget)
        other = one.section is Section.RECALLED and query.topic not in {None, one.memory.topic}
        new = one.memory.id not in found and format_core_text(one.memory) not in told
        if one.section in _ALWAYS or (new and not other and spent <= budget.tokens // 2):
            kept.append(one)
    return kept


def _count_tokens(memory: Memory, query: Query, budget: TokenBudget) -> int:
    line = format_bullet(memory.id, format_core_text(memory), format_validity(memory, query.zone))
    return budget.counter.count(line)


def _limit_instructions(
    core: Sequence[CoreMemory], query: Query, budget: TokenBudget, *, terms: Sequence[str]
) -> list[CoreMemory]:
    """Return the core with instructions for at most a third of the budget, first those that the question calls for."""
    orders = [one for one in core if one.section is Section.INSTRUCTION]
    matches = score_instructions(
        terms, [extract_trigger_terms(one.memory.text) for one in orders], [None] * len(orders)
    )
    ranked = sorted(zip(orders, matches, strict=True), key=lambda pair: (-pair[1], not pair[0].memory.pinned))
    left, kept = budget.tokens // INSTRUCTIONS_PART, set[str]()
    for one, _ in ranked:
        cost = _count_tokens(one.memory, query, budget)
        if cost <= left:
            left -= cost
            kept.add(one.memory.id)
    chosen = [one for one, _ in ranked if one.memory.id in kept]
    return [*chosen, *(one for one in core if one.section is not Section.INSTRUCTION)]


def _find_contests(reader: Reader, core: Sequence[Memory], hits: Sequence[Hit], query: Query) -> list[ContestCase]:
    """Return the contests, open now or at the time of the query, that involve a memory in the block."""
    shown = {memory.id for memory in core} | {hit.id for hit in hits if hit.memory and hit.memory.contested}
    shown |= {hit.id for hit in hits if "contested" in hit.flags}
    if not shown:
        return []
    events = any(hit.kind == "event" and "contested" in hit.flags for hit in hits)
    known_at_us = query.known_at_us
    if known_at_us is None:
        opened = reader.contests(state=ContestState.OPEN)
    else:
        begun = (case for case in reader.contests() if case.opened_us <= known_at_us)
        opened = [case for case in begun if case.resolved_us is None or case.resolved_us > known_at_us]
    return [case for case in opened if events or not shown.isdisjoint(case.memory_ids)]


def _complete_answers(
    reader: Reader, core: Sequence[Memory], found: SearchResult, query: Query
) -> tuple[SearchResult, Mapping[str, str]]:
    """Add to the values of an answer to a contest ("mornings in winter, else afternoons") the ones that are not found.

    One of them without the others would be taken for all of the answer. Also return the contest of each, by memory id.
    """
    hits = found.hits
    if query.as_of_us is not None or query.known_at_us is not None:
        return found, {}
    cases = [case for case in reader.contests(state=ContestState.RESOLVED) if len(case.scopes) > 1]
    together, added, known = dict[str, str](), list[Hit](), {hit.id: hit for hit in hits}
    shown = [*core, *(hit.memory for hit in hits if hit.memory is not None and not hit.flags)]
    for case in cases:
        pair = (normalise_name(case.entity), normalise_attribute(case.attribute))
        part = next((one for one in shown if one.entity and one.attribute and _get_pair(one) == pair), None)
        if part is None or part.id in together:
            continue
        answers = {normalise_value(value) for value in case.scopes}
        rows = reader.find(MemoryFilter(pair=pair, statuses=frozenset({Status.ACTIVE})))
        parts = [
            one
            for one in rows
            if normalise_name(one.speaker) == case.speaker and normalise_value(one.value or "") in answers
        ]
        if len(parts) < 2 or part.id not in {one.id for one in parts}:  # noqa: PLR2004 - a pair at least
            continue
        together |= {one.id: case.id for one in parts}
        within = known.keys() | {one.id for one in core}
        added += [_make_hit(reader, one, query) for one in parts if one.id not in within]
    return replace(found, hits=(*hits, *added)), together


def _get_pair(memory: Memory) -> tuple[str, str]:
    return normalise_name(memory.entity or ""), normalise_attribute(memory.attribute or "")


def _make_hit(reader: Reader, memory: Memory, query: Query) -> Hit:
    links = reader.evidence(memory_ids=[memory.id])
    said = tuple(reader.events(sorted({link.span.event_id for link in links})))
    text = write_statement(memory, query.zone, told_us=[event.occurred_us for event in said])
    return Hit(kind="memory", id=memory.id, text=text, score=0.0, memory=memory, evidence=said)


def _find_previous_values(reader: Reader, hits: Sequence[Hit], query: Query) -> dict[str, list[SlotVersion]]:
    """Return the earlier values in the slots of the best memories, latest first; changed values, not corrected ones."""
    if query.as_of_us is not None or query.known_at_us is not None:
        return {}
    previous: dict[str, list[SlotVersion]] = {}
    current = [hit.memory for hit in hits if hit.memory is not None and "superseded" not in hit.flags]
    for memory in current[:_SLOTS_WITH_HISTORY]:
        if memory.entity is None or memory.attribute is None or memory.value is None:
            continue
        pair = _get_pair(memory)
        rows = reader.find(MemoryFilter(pair=pair, statuses=frozenset({Status.SUPERSEDED})))
        if any(row.relation is Relation.CHANGED for row in rows):
            versions = read_slot_history(reader, id=memory.id, latest=limits.SLOT_ROWS)
            previous[memory.id] = [version for version in reversed(versions) if _was_valid(version, memory)]
    return previous


def _was_valid(version: SlotVersion, memory: Memory) -> bool:
    changed = version.status is Status.SUPERSEDED and version.relation is Relation.CHANGED
    kinds = [get_attribute(name or "").kind for name in (version.attribute, memory.attribute)]
    changed = changed and kinds[0] == kinds[1]  # "laid off" is no earlier employer
    single = memory.cardinality is Cardinality.SINGLE and version.scope == memory.scope
    other = memory.stance is Stance.NEGATED if version.value == memory.value else single
    return changed and bool(version.text) and version.memory_id != memory.id and other


def _add_quotes(reader: Reader, found: SearchResult, previous: Mapping[str, Sequence[SlotVersion]]) -> SearchResult:
    """Add the sentences of the best memories that say more than all memories that the reader took from them.

    "I don't work at Arup anymore, Buro hired me": the reader may miss what answers the question. Agents and models
    choose themselves what they claim. Where a claim has ended, the sentence is not shown as said.
    """
    shown = {hit.id for hit in found.hits}
    best = [hit for hit in found.hits[:_QUOTED] if hit.memory is not None and hit.memory.value is not None]
    sources = {
        hit.id: event
        for hit in best
        for event in hit.evidence
        if event.id not in shown and hit.quote and hit.quote in event.text
    }
    links = reader.evidence(event_ids=sorted({event.id for event in sources.values()})) if sources else []
    memories = {one.id: one for one in reader.memories(sorted({link.memory_id for link in links}))} if links else {}
    hits: list[Hit] = []
    for hit in found.hits:
        hits.append(hit)
        event = sources.get(hit.id)
        if event is None or event.id in shown:
            continue
        own = [link for link in links if link.span.event_id == event.id]
        claims = [memories[link.memory_id] for link in own if link.memory_id in memories]
        whole = len(claims) == len(own) and all(one.status is Status.ACTIVE for one in claims)
        if (
            whole
            and not any(link.reader for link in own)
            and has_untold_words(hit.quote, claims, [one.value for one in previous.get(hit.id, ())])
        ):
            shown.add(event.id)
            hits.append(Hit(kind="event", id=event.id, text=hit.quote, score=0.0, event=event))
    return replace(found, hits=tuple(hits))


class _Sentences(NamedTuple):
    """Ids of hits that are shown by their sentence: `told` says nothing beside other lines, `outdated` has an end."""

    told: frozenset[str] = frozenset()
    outdated: frozenset[str] = frozenset()


def _compare_sentences(reader: Reader, hits: Sequence[Hit], query: Query) -> _Sentences:
    """Find messages, and memories without a slot, whose words gave facts that are shown, or that have ended.

    A message is told by the memories shown if they were read from most of it and leave no words untold, unless it
    stands above them all: it then has more of the question than they.
    """
    places = {hit.id: place for place, hit in enumerate(hits)}
    sources = {
        hit.id: [hit.id] if hit.memory is None else [event.id for event in hit.evidence]
        for hit in hits
        if hit.memory is None or hit.memory.value is None
    }
    names = sorted({name for events in sources.values() for name in events})
    if query.as_of_us is not None or query.known_at_us is not None or not names:
        return _Sentences()
    made: dict[str, dict[str, Span]] = {}
    given = set[str]()
    for link in reader.evidence(event_ids=names):
        made.setdefault(link.span.event_id, {})[link.memory_id] = link.span
        given.update([link.span.event_id] if link.reader else [])
    memories = {one.id: one for one in reader.memories(sorted({name for ids in made.values() for name in ids}))}
    shown = [hit.memory for hit in hits if hit.memory is not None and hit.memory.value is not None]
    ids, slots = {one.id for one in shown}, {(one.entity, one.attribute) for one in shown}
    told, outdated = set[str](), set[str]()
    for name, events in sources.items():
        claims = [memories[one] for event in events for one in made.get(event, ()) if one in memories]
        ended = [one for one in claims if one.status in _ENDED]
        known = {one.id for one in claims if one.id in ids or (one.entity, one.attribute) in slots}
        spans = [span for event in events for one, span in made.get(event, {}).items() if one in known]
        text = next((hit.text for hit in hits if hit.id == name and hit.memory is None), "")
        above = all(places[name] < places.get(one, len(hits)) for one in known)
        covered = len({at for span in spans for at in range(span.start, span.stop)}) >= _MOST * len(text)
        if (ended and known) or (
            text and not above and covered and (name in given or not has_untold_words(text, claims))
        ):
            told.add(name)
        elif ended:
            outdated.add(name)
    return _Sentences(frozenset(told), frozenset(outdated))


def _find_redundant(reader: Reader, previous: Mapping[str, Sequence[SlotVersion]]) -> frozenset[str]:
    """Return the ids of earlier values and of their events, which the line of the current value already mentions."""
    names = {version.memory_id for versions in previous.values() for version in versions}
    links = reader.evidence(memory_ids=sorted(names)) if names else []
    return frozenset(names | {link.span.event_id for link in links})
