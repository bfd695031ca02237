"""Read operations: search, context, get, list, history, why, stats."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, get_args

from credenda import limits
from credenda.clock import DAY_US, format_time
from credenda.errors import Invalid, LimitExceeded, NotFound
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import ChangeRecord
from credenda.model.fast_dataclass import compile_fast_init
from credenda.model.memory import Layer, Memory, MemoryType, Relation, Status
from credenda.model.query import (
    Context,
    Explanation,
    Hit,
    HitKind,
    Include,
    Mode,
    Page,
    Profile,
    Query,
    SearchResult,
    SlotVersion,
)
from credenda.runtime import Parts
from credenda.services.lookup import get_current
from credenda.services.short_ids import resolve_id_in
from credenda.services.waiting import count_waiting_messages
from credenda.storage.store import Access, ChangeFilter, JobStatus, MemoryFilter, Reader
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.times import parse_moment
from credenda.text.token_budget import TokenBudget
from credenda.validation import check_fraction, check_member, check_metadata, check_name, check_text, check_words

if TYPE_CHECKING:
    from credenda.index.resident import ResidentIndex
    from credenda.model.report import Stats

__all__ = [
    "SearchArguments",
    "context",
    "count_stats",
    "get",
    "history",
    "list_changes",
    "list_memories",
    "open_index",
    "search",
    "why",
]

E = TypeVar("E", bound=StrEnum)
_access: Final = compile_fast_init(Access)
_checked_query: Final = compile_fast_init(Query)
_ONCE_ACTIVE: Final = frozenset({Status.ACTIVE, Status.SUPERSEDED, Status.MERGED})
"""Statuses of memories that may have been believed at an earlier time."""
_NOT_CODE: Final = frozenset(Layer) - {Layer.CODEBASE}
"""Layers that are listed by default; code scans would fill the list."""
_KINDS: Final[tuple[str, ...]] = get_args(HitKind)
_MODES: Final[tuple[str, ...]] = get_args(Mode)
_PROFILES: Final[tuple[str, ...]] = get_args(Profile)
_INCLUDES: Final[tuple[str, ...]] = get_args(Include)
_JOBS_LOOKED_AT: Final = 100
"""Waiting jobs that a search looks at: it must not become slower by what waits."""
_PENDING: Final = (JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchArguments:
    """The arguments of a call of `search`."""

    query: str
    limit: int = 20
    topic: str | None = None
    kinds: Collection[str] = ("memory", "event")
    types: Collection[str] | None = None
    layers: Collection[str] | None = None
    mode: str = "full_context"
    min_confidence: float = 0.4
    as_of: datetime | str | None = None
    known_at: datetime | str | None = None
    recency_weight: float = 0.3
    profile: str = "default"
    tags: Collection[str] | None = None
    metadata: Mapping[str, object] | None = None
    session: str | None = None
    exclude_session: str | None = None
    include: Collection[str] = ()
    explain: bool = False
    record_access: bool = True


def resolve_moment(parts: Parts, value: datetime | str | None) -> int | None:
    """Parse a time argument in the user's time zone; None stays None."""
    return None if value is None else parse_moment(value, parts.settings.zone, parts.clock.now_us())


def search(parts: Parts, question: SearchArguments, *, reach: int | None = None) -> SearchResult:
    """Search the memories and events that answer a question.

    `reach` returns that many hits instead of `limit`, for interfaces that filter the hits further.
    """
    from credenda.read.search import search as search_memory

    query = _query(parts, question)
    query = query if reach is None else replace(query, limit=reach)
    with parts.active_calls, parts.store.reader(parts.user_id) as reader:
        result = search_memory(
            query,
            reader=reader,
            index=open_index(parts, reader),
            embed=parts.ask,
            now_us=parts.clock.now_us(),
        )
        waiting = count_waiting_messages(reader, _JOBS_LOOKED_AT)
    result = replace(result, waiting=waiting) if waiting else result
    if query.record_access:
        _record(parts, result.hits, query.session)
    return result


def context(
    parts: Parts,
    query: str | None,
    token_budget: int | None,
    conditions: Mapping[str, Any],
    *,
    automatic: bool = False,
) -> Context:
    """Build a context block for a prompt; without a query, the core alone.

    An `automatic` block has a smaller budget and does not count as a recall; otherwise memories would keep themselves
    in the block.
    """
    from credenda.read.context import build_context as pack_context
    from credenda.services.core import gather_candidates

    usual = parts.settings.inject_tokens if automatic else parts.settings.context_tokens
    budget = usual if token_budget is None else token_budget
    if not isinstance(budget, int) or budget < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"a budget of {budget!r} tokens", why="it must be at least 1", fix="leave it out for the default")
    conditions = {"record_access": not automatic, **conditions}
    asked = _query(parts, _build_question("core" if query is None else query, conditions))
    now_us = parts.clock.now_us()
    with parts.active_calls, parts.store.reader(parts.user_id) as reader:
        packed = pack_context(
            asked if query is not None else replace(asked, text=""),
            reader=reader,
            index=open_index(parts, reader) if query is not None else None,
            embed=parts.ask,
            now_us=now_us,
            budget=TokenBudget(budget, parts.counter),
            core=gather_candidates(parts, reader, asked, now_us),
        )
        packed = replace(packed, waiting=count_waiting_messages(reader, _JOBS_LOOKED_AT))
    if query is not None and asked.record_access:
        _record(parts, packed.hits, asked.session)
    return packed


def _build_question(query: str, conditions: Mapping[str, Any]) -> SearchArguments:
    unknown = sorted(set(conditions) - set(SearchArguments.__dataclass_fields__))
    if unknown:
        raise Invalid(f"context takes no {unknown[0]!r}", fix="give the conditions that search takes")
    return SearchArguments(query=query, **conditions)


def open_index(parts: Parts, reader: Reader) -> ResidentIndex | None:
    """Return the tenant's index, up to date; None if the tenant is too large for memory."""
    model_id = parts.embedder.model_id if parts.embedder else None
    try:
        return parts.indexes.get(reader, model_id=model_id, store=parts.store_name)
    except LimitExceeded:
        return None


def _record(parts: Parts, hits: Sequence[Hit], session: str | None) -> None:
    """Record which memories were shown, without waiting for the write (S-056, S-059)."""
    if parts.read_only:
        return
    now_us = parts.clock.now_us()
    for hit in hits:
        if hit.memory is not None:
            access = _access(memory_id=hit.id, session=session or "", day=now_us // DAY_US, at_us=now_us, shown=1)
            parts.accesses.add(access)


def get(
    parts: Parts, memory_id: str, as_of: datetime | str | None = None, known_at: datetime | str | None = None
) -> Memory:
    """Return a memory as believed now or at a time; raises `NotFound` if it was not believed then."""
    as_of_us, known_at_us = resolve_moment(parts, as_of), resolve_moment(parts, known_at)
    with parts.store.reader(parts.user_id) as reader:
        memory_id = resolve_id_in(reader, memory_id)
        now = get_current(reader, memory_id)
        held = reader.memories([memory_id], known_at_us) if known_at_us is not None else [now]
    if not held:
        known = f"it is held since {format_time(now.created_us)}"
        raise NotFound(f"{memory_id} was not held then", why=known, fix="ask for a later known_at")
    if as_of_us is not None:
        from credenda.read.visibility import was_valid_at

        if not was_valid_at(held[0], as_of_us):
            raise NotFound(
                f"{memory_id} was not true then", why=_describe_validity(held[0]), fix="`history` shows what was"
            )
    return held[0]


def _describe_validity(memory: Memory) -> str:
    """Describe when a memory was true."""
    if memory.relation is Relation.CORRECTED or memory.status is Status.INVALIDATED:
        return "it turned out to be wrong"
    since = format_time(memory.created_us if memory.valid_from_us is None else memory.valid_from_us)
    return f"it was true from {since}" + (f" to {format_time(memory.valid_until_us)}" if memory.valid_until_us else "")


def list_memories(
    parts: Parts,
    *,
    status: str | None = "active",
    type: str | None = None,
    layer: str | None = None,
    topic: str | None = None,
    entity: str | None = None,
    attribute: str | None = None,
    limit: int = 20,
    offset: int = 0,
    cursor: str | None = None,
    as_of: datetime | str | None = None,
    known_at: datetime | str | None = None,
) -> Page[Memory]:
    """Return memories, newest first, one page at a time."""
    _check_limit(limit, limits.LIST_LIMIT)
    _check_offset(offset)
    statuses = frozenset({check_member(Status, status, "status")}) if status else frozenset(Status)
    if as_of is not None and status == Status.ACTIVE:
        statuses = _ONCE_ACTIVE
    with parts.store.reader(parts.user_id) as reader:
        wanted = MemoryFilter(
            statuses=statuses - {Status.DELETED},
            types=frozenset({check_member(MemoryType, type, "type")}) if type else None,
            layers=frozenset({check_member(Layer, layer, "layer")}) if layer else _NOT_CODE,
            topic=check_name(topic, "topic"),
            entity=normalise_name(entity) if check_text(entity, "entity") and entity else None,
            attribute=normalise_attribute(attribute) if check_text(attribute, "attribute") and attribute else None,
            below=parse_id_number(cursor, IdKind.MEMORY, reader.tenant.tag) if cursor else None,
            offset=offset,
            limit=limit + 1,
            as_of_us=resolve_moment(parts, as_of),
            known_at_us=resolve_moment(parts, known_at),
        )
        found = reader.find(wanted)
    more = found[limit - 1].id if len(found) > limit else None
    return Page(items=tuple(found[:limit]), next_cursor=more)


def history(
    parts: Parts,
    *,
    id: str | None = None,
    entity: str | None = None,
    attribute: str | None = None,
    as_of: datetime | str | None = None,
    known_at: datetime | str | None = None,
) -> list[SlotVersion]:
    """Return every value of a slot, or of the slot of a memory, oldest first."""
    from credenda.read.history import read_slot_history

    if (id is None) == (entity is None or attribute is None):
        raise Invalid("history needs a slot", why="either an id, or an entity and an attribute", fix="give one of them")
    check_text(entity, "entity")
    check_text(attribute, "attribute")
    as_of_us, known_at_us = resolve_moment(parts, as_of), resolve_moment(parts, known_at)
    with parts.store.reader(parts.user_id) as reader:
        id = None if id is None else resolve_id_in(reader, id)
        return read_slot_history(
            reader, id=id, entity=entity, attribute=attribute, as_of_us=as_of_us, known_at_us=known_at_us
        )


def why(parts: Parts, memory_id: str) -> Explanation:
    """Return the provenance of a memory: its evidence and every change to it."""
    from credenda.read.history import read_explanation as explain

    with parts.store.reader(parts.user_id) as reader:
        memory_id = get_current(reader, resolve_id_in(reader, memory_id)).id
        return explain(reader, memory_id)


def list_changes(parts: Parts, cause: str) -> list[ChangeRecord]:
    """Return the changes that an event caused, oldest first."""
    with parts.store.reader(parts.user_id) as reader:
        cause = resolve_id_in(reader, cause)
        parse_id_number(cause, IdKind.EVENT, reader.tenant.tag)
        return reader.changes(ChangeFilter(cause=cause))


def count_stats(parts: Parts) -> Stats:
    """Count memories, events and pending work."""
    from credenda.model.report import Stats
    from credenda.services.llm_extraction import count_waiting, describe_model_use

    with parts.store.reader(parts.user_id) as reader:
        counts = reader.counts()
        waiting, unread = count_waiting(reader), count_waiting_messages(reader)
    return Stats(
        events=counts.events,
        redacted_events=counts.redacted_events,
        memories=counts.memories,
        by_type=counts.types,
        total=counts.memories.get(Status.ACTIVE, 0),
        changes=counts.changes,
        jobs=counts.jobs,
        pending_extractions=sum(counts.jobs.get(status, 0) for status in _PENDING) - sum(waiting.values()),
        dead_jobs=counts.jobs.get(JobStatus.DEAD, 0),
        open_contests=counts.open_contests,
        vectors=counts.vectors,
        tombstones=counts.tombstones,
        embedder=parts.embedder.model_id if parts.embedder else None,
        vectors_by_model=counts.vectors_by_model,
        counted_by=parts.counter.name,
        waiting=unread,
        model=describe_model_use(parts, counts, waiting),
    )


def _query(parts: Parts, question: SearchArguments) -> Query:
    """Validate a question and normalise it."""
    _check_text(question.query)
    _check_limit(question.limit, limits.SEARCH_LIMIT)
    check_fraction(question.min_confidence, "min_confidence")
    check_fraction(question.recency_weight, "recency_weight")
    return _checked_query(
        text=question.query,
        limit=question.limit,
        topic=check_name(question.topic, "topic"),
        kinds=cast("frozenset[HitKind]", _check_words(question.kinds, _KINDS, "kind")),
        types=_check_members(MemoryType, question.types, "type"),
        layers=_check_members(Layer, question.layers, "layer"),
        mode=cast("Mode", next(iter(_check_words(check_text(question.mode, "mode"), _MODES, "mode")))),
        min_confidence=question.min_confidence,
        as_of_us=resolve_moment(parts, question.as_of),
        known_at_us=resolve_moment(parts, question.known_at),
        recency_weight=question.recency_weight,
        profile=cast(
            "Profile", next(iter(_check_words(check_text(question.profile, "profile"), _PROFILES, "profile")))
        ),
        tags=frozenset(check_words(question.tags, "tags")) if question.tags else None,
        metadata=dict(check_metadata(question.metadata)) or None,
        session=check_name(question.session, "session"),
        exclude_session=check_name(question.exclude_session, "exclude_session"),
        include=_check_words(question.include, _INCLUDES, "thing to include"),
        explain=question.explain,
        record_access=question.record_access,
        zone=parts.settings.zone,
    )


def _check_text(text: str) -> None:
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid("a query must be text", why=f"it is a {type(text).__name__}", fix="ask with words")
    if not text.strip():
        raise Invalid("cannot search for nothing", why="the query is empty", fix="ask with words")
    if len(text) > limits.QUERY_CHARACTERS:
        raise LimitExceeded(f"a query of {len(text)} characters", why=f"at most {limits.QUERY_CHARACTERS} are read")


def _check_limit(limit: int, most: int) -> None:
    if not isinstance(limit, int) or not 1 <= limit <= most:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"limit cannot be {limit!r}", why=f"it lies in 1 to {most}", fix="page through with less")


def _check_offset(offset: int) -> None:
    if not isinstance(offset, int) or not 0 <= offset <= limits.LIST_OFFSET:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"offset cannot be {offset!r}", why=f"it lies in 0 to {limits.LIST_OFFSET}", fix="use the cursor")


def _check_members(kind: type[E], values: Collection[str] | None, what: str) -> frozenset[E] | None:
    if values is None:
        return None
    return frozenset(check_member(kind, value, what) for value in check_words(values, f"{what}s"))


def _check_words(values: str | Collection[str], choices: tuple[str, ...], what: str) -> frozenset[str]:
    """Validate values against the allowed choices."""
    if isinstance(values, tuple) and all(map(_is_word, values)):
        return _choose_among(values, choices, what)
    return _choose_among(check_words(values, what), choices, what)


def _is_word(value: object) -> bool:
    return type(value) is str


@lru_cache(maxsize=64)
def _choose_among(given: tuple[str, ...], choices: tuple[str, ...], what: str) -> frozenset[str]:
    unknown = sorted(set(given) - set(choices))
    if unknown:
        raise Invalid(f"{unknown[0]!r} is not a {what}", fix=f"choose among {', '.join(choices)}")
    return frozenset(given)
