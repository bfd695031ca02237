"""Search: check the arguments, run the read phase, and record which memories were shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

from credenda import limits, read, services
from credenda.clock import DAY_US
from credenda.errors import Invalid, LimitExceeded
from credenda.model.evaluation import ContextLine, ContextPreview
from credenda.model.fast_dataclass import compile_fast_init
from credenda.model.memory import Layer, MemoryType
from credenda.model.query import Context, Hit, HitKind, Include, Mode, Profile, Query, SearchResult
from credenda.read.pack_trace import PackTrace, TracedLine
from credenda.runtime import Parts
from credenda.storage.records import READING_JOBS
from credenda.storage.store import Access, JobFilter, JobStatus, Reader
from credenda.text.fence import TokenBudget
from credenda.text.given_time import parse_moment
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


_WAITING: Final = frozenset({JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED})


def resolve_moment(parts: Parts, value: datetime | str | None) -> int | None:
    """Parse a time argument in the user's time zone; None stays None."""
    return None if value is None else parse_moment(value, parts.settings.zone, parts.clock.now_us())


def search(
    parts: Parts, text: str, conditions: Mapping[str, Any] | None = None, *, reach: int | None = None
) -> SearchResult:
    """Search the memories and events that answer a question; `conditions` are the arguments of `Credenda.search`.

    `reach` returns that many hits instead of `limit`, for interfaces that filter the hits further.
    """
    query = build_query(parts, text, conditions or {})
    query = query if reach is None else replace(query, limit=reach)
    with parts.active_calls, parts.store.reader(parts.user_id, may_lag=True) as reader:
        result = read.search.search(
            query,
            reader=reader,
            index=open_index(parts, reader),
            embed=parts.ask,
            tokens=parts.ask_tokens,
            claims=parts.ask_claims,
            model_id=parts.embedder.model_id if parts.embedder else None,
            now_us=parts.clock.now_us(),
        )
        waiting = _count_waiting_messages(reader, limits.WAITING_MESSAGES_COUNTED)
    result = replace(result, waiting=waiting) if waiting else result
    if query.record_access:
        record_hits(parts, result.hits, query.session)
    return result


def _count_waiting_messages(reader: Reader, jobs_max: int | None = None) -> int:
    """Count the messages of jobs that have not been read yet; at most `jobs_max` jobs are looked at."""
    waiting = reader.jobs(JobFilter(statuses=_WAITING, kinds=READING_JOBS, limit=jobs_max))
    return sum(job.last - job.first + 1 for job in waiting)


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


def build_query(parts: Parts, text: str, conditions: Mapping[str, Any], *, of_context: bool = False) -> Query:
    """Validate a question and its conditions; what is left out has the default of `Query`.

    `of_context` says that it is for a context, whose own arguments an unknown name is answered with too.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid("a query must be text", why=f"it is a {type(text).__name__}", fix="ask with words")
    if not text.strip():
        raise Invalid("cannot search for nothing", why="the query is empty", fix="ask with words")
    if len(text) > limits.QUERY_CHARACTERS:
        raise LimitExceeded(f"a query of {len(text)} characters", why=f"at most {limits.QUERY_CHARACTERS} are read")
    checked: dict[str, Any] = {}
    for name, value in conditions.items():
        if name in _MOMENTS:
            checked[f"{name}_us"] = resolve_moment(parts, value)
        elif name in _CHECKS:
            checked[name] = _CHECKS[name](value)
        else:
            what, own = ("context", ["token_budget", "automatic"]) if of_context else ("search", [])
            raise Invalid(f"a {what} takes no {name!r}", fix=f"it takes {', '.join([*own, *_CHECKS, *_MOMENTS])}")
    return _checked_query(text=text, **checked, refuse_below=parts.settings.refuse_below, zone=parts.settings.zone)


def check_limit(limit: int, most: int) -> int:
    """Return a limit; refuse one below 1 or above the bound."""
    if not isinstance(limit, int) or not 1 <= limit <= most:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"limit cannot be {limit!r}", why=f"it lies between 1 and {most}", fix=f"give 1 to {most}")
    return limit


def _check_members(kind: type[E], values: Collection[str] | None, what: str) -> frozenset[E] | None:
    if values is None:
        return None
    return frozenset(check_member(kind, value, what) for value in check_words(values, f"{what}s"))


def _check_words(values: str | Collection[str], choices: tuple[str, ...], what: str) -> frozenset[str]:
    """Validate values against the allowed choices."""
    if isinstance(values, tuple) and all(type(value) is str for value in values):
        return _choose_among(values, choices, what)
    return _choose_among(check_words(values, what), choices, what)


@lru_cache(maxsize=64)
def _choose_among(given: tuple[str, ...], choices: tuple[str, ...], what: str) -> frozenset[str]:
    unknown = sorted(set(given) - set(choices))
    if unknown:
        raise Invalid(f"{unknown[0]!r} is not a {what}", fix=f"choose among {', '.join(choices)}")
    return frozenset(given)


def _check_word(value: str, choices: tuple[str, ...], what: str) -> str:
    return next(iter(_check_words(check_text(value, what), choices, what)))


_MOMENTS: Final = ("as_of", "known_at")
_CHECKS: Final[Mapping[str, Callable[[Any], object]]] = {
    "limit": lambda limit: check_limit(limit, limits.SEARCH_LIMIT),
    "min_confidence": lambda share: check_fraction(share, "min_confidence"),
    "recency_weight": lambda share: check_fraction(share, "recency_weight"),
    "topic": lambda name: check_name(name, "topic"),
    "kinds": lambda words: _check_words(words, _KINDS, "kind"),
    "types": lambda words: _check_members(MemoryType, words, "type"),
    "layers": lambda words: _check_members(Layer, words, "layer"),
    "mode": lambda word: _check_word(word, _MODES, "mode"),
    "profile": lambda word: _check_word(word, _PROFILES, "profile"),
    "tags": lambda words: frozenset(check_words(words, "tags")) if words else None,
    "metadata": lambda pairs: dict(check_metadata(pairs)) or None,
    "session": lambda name: check_name(name, "session"),
    "exclude_session": lambda name: check_name(name, "exclude_session"),
    "project": lambda name: name if name == "" else check_name(name, "project"),
    "include": lambda words: _check_words(words, _INCLUDES, "thing to include"),
    "explain": bool,
    "record_access": bool,
}
"""The check of each condition; it returns the value for the query."""


# Build a context block for a prompt, within a token budget.


def context(
    parts: Parts,
    query: str | None,
    token_budget: int | None,
    conditions: Mapping[str, Any],
    *,
    automatic: bool = False,
    trace: PackTrace | None = None,
) -> Context:
    """Build a context block for a prompt; without a query, the core alone.

    An `automatic` block has a smaller budget and does not count as a recall; otherwise memories would keep themselves
    in the block. `trace` takes down the lines that the block gets and lacks.
    """
    budget = choose_budget(parts, token_budget, automatic=automatic)
    if not isinstance(budget, int) or budget < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"a budget of {budget!r} tokens", why="it must be at least 1", fix="leave it out for the default")
    conditions = {"record_access": not automatic, **conditions}
    asked = build_query(parts, "core" if query is None else query, conditions, of_context=True)
    now_us = parts.clock.now_us()
    with parts.active_calls, parts.store.reader(parts.user_id) as reader:
        packed = read.context.build_context(
            asked if query is not None else replace(asked, text=""),
            reader=reader,
            index=open_index(parts, reader) if query is not None else None,
            embed=parts.ask,
            tokens=parts.ask_tokens,
            claims=parts.ask_claims,
            now_us=now_us,
            budget=TokenBudget(budget, parts.counter),
            core=services.core.gather_candidates(parts, reader, asked, now_us),
            trace=trace,
        )
        packed = replace(packed, waiting=_count_waiting_messages(reader, limits.WAITING_MESSAGES_COUNTED))
    if query is not None and asked.record_access:
        record_hits(parts, packed.hits, asked.session)
    return packed


def choose_budget(parts: Parts, token_budget: int | None, *, automatic: bool) -> int:
    """Return the budget that was asked for, or that of the settings."""
    usual = parts.settings.inject_tokens if automatic else parts.settings.context_tokens
    return usual if token_budget is None else token_budget


# Say what an agent would get for a prompt, line by line, and what it would not; no recall is recorded.


def explain_context(
    parts: Parts,
    query: str | None,
    token_budget: int | None,
    conditions: Mapping[str, Any],
    *,
    automatic: bool = False,
) -> ContextPreview:
    """Build a context block and describe its lines; `automatic` is the block that a program adds to each turn."""
    trace = PackTrace()
    asked = {**conditions, "record_access": False, "explain": True}
    packed = context(parts, query, token_budget, asked, automatic=automatic, trace=trace)
    return ContextPreview(
        text=packed.text,
        tokens=packed.tokens,
        token_budget=choose_budget(parts, token_budget, automatic=automatic),
        counted_by=packed.counted_by,
        abstained=packed.abstained,
        lines=tuple(map(_describe, trace.kept)),
        left_out=tuple(map(_describe, trace.left_out)),
        waiting=packed.waiting,
    )


def _describe(line: TracedLine) -> ContextLine:
    hit = line.hit
    flags = f"; flagged {', '.join(sorted(hit.flags))}" if hit is not None and hit.flags else ""
    return ContextLine(
        text=line.text,
        heading=line.heading,
        ids=line.ids,
        tokens=line.tokens,
        reason=line.reason + flags,
        score=None if hit is None else round(hit.score, 4),
        terms=None if hit is None else hit.terms,
    )
