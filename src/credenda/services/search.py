"""Search: check the arguments, run the read phase, and record which memories were shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar, cast, get_args

from credenda import limits, read
from credenda.clock import DAY_US
from credenda.errors import Invalid, LimitExceeded
from credenda.model.fast_dataclass import compile_fast_init
from credenda.model.memory import Layer, MemoryType
from credenda.model.query import (
    Hit,
    HitKind,
    Include,
    Mode,
    Profile,
    Query,
    SearchResult,
)
from credenda.runtime import Parts
from credenda.services.waiting import count_waiting_messages
from credenda.storage.store import Access, Reader
from credenda.text.dates import parse_moment
from credenda.validation import check_fraction, check_member, check_metadata, check_name, check_text, check_words

if TYPE_CHECKING:
    from credenda.index.resident import ResidentIndex

E = TypeVar("E", bound=StrEnum)


_access: Final = compile_fast_init(Access)


_checked_query: Final = compile_fast_init(Query)


_KINDS: Final[tuple[str, ...]] = get_args(HitKind)


_MODES: Final[tuple[str, ...]] = get_args(Mode)


_PROFILES: Final[tuple[str, ...]] = get_args(Profile)


_INCLUDES: Final[tuple[str, ...]] = get_args(Include)


WAITING_COUNTED_MAX: Final = 100
"""Waiting jobs that a search looks at: it must not become slower by what waits."""


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
    project: str | None = None
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
    query = build_query(parts, question)
    query = query if reach is None else replace(query, limit=reach)
    with parts.active_calls, parts.store.reader(parts.user_id, may_lag=True) as reader:
        result = read.search.search(
            query,
            reader=reader,
            index=open_index(parts, reader),
            embed=parts.ask,
            tokens=parts.ask_tokens,
            model_id=parts.embedder.model_id if parts.embedder else None,
            now_us=parts.clock.now_us(),
        )
        waiting = count_waiting_messages(reader, WAITING_COUNTED_MAX)
    result = replace(result, waiting=waiting) if waiting else result
    if query.record_access:
        record_hits(parts, result.hits, query.session)
    return result


def open_index(parts: Parts, reader: Reader) -> ResidentIndex | None:
    """Return the tenant's index, up to date; None if the tenant is too large for memory."""
    model_id = parts.embedder.model_id if parts.embedder else None
    try:
        return parts.indexes.get(reader, model_id=model_id, store=parts.store_name)
    except LimitExceeded:
        return None


def record_hits(parts: Parts, hits: Sequence[Hit], session: str | None) -> None:
    """Record which memories were shown, without waiting for the write (S-056, S-059)."""
    if parts.read_only:
        return
    now_us = parts.clock.now_us()
    for hit in hits:
        if hit.memory is not None:
            access = _access(memory_id=hit.id, session=session or "", day=now_us // DAY_US, at_us=now_us, shown=1)
            parts.accesses.add(access)


def build_query(parts: Parts, question: SearchArguments) -> Query:
    """Validate a question and normalise it."""
    text = question.query
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid("a query must be text", why=f"it is a {type(text).__name__}", fix="ask with words")
    if not text.strip():
        raise Invalid("cannot search for nothing", why="the query is empty", fix="ask with words")
    if len(text) > limits.QUERY_CHARACTERS:
        raise LimitExceeded(f"a query of {len(text)} characters", why=f"at most {limits.QUERY_CHARACTERS} are read")
    check_limit(question.limit, limits.SEARCH_LIMIT)
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
        project=question.project if question.project == "" else check_name(question.project, "project"),
        include=_check_words(question.include, _INCLUDES, "thing to include"),
        explain=question.explain,
        record_access=question.record_access,
        refuse_below=parts.settings.refuse_below,
        zone=parts.settings.zone,
    )


def check_limit(limit: int, most: int) -> None:
    """Refuse a limit below 1 or above the bound."""
    if not isinstance(limit, int) or not 1 <= limit <= most:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"limit cannot be {limit!r}", why=f"it lies in 1 to {most}", fix="page through with less")


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
