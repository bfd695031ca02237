"""Build a context block for a prompt, within a token budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from credenda import read, services
from credenda.errors import Invalid
from credenda.model.evaluation import ContextLine, ContextPreview
from credenda.model.query import Context
from credenda.read.pack_trace import PackTrace, TracedLine
from credenda.runtime import Parts
from credenda.services.search import WAITING_COUNTED_MAX, build_query, open_index, record_hits
from credenda.services.waiting import count_waiting_messages
from credenda.text.token_budget import TokenBudget


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
    asked = build_query(parts, "core" if query is None else query, conditions)
    now_us = parts.clock.now_us()
    with parts.active_calls, parts.store.reader(parts.user_id) as reader:
        packed = read.context.build_context(
            asked if query is not None else replace(asked, text=""),
            reader=reader,
            index=open_index(parts, reader) if query is not None else None,
            embed=parts.ask,
            tokens=parts.ask_tokens,
            now_us=now_us,
            budget=TokenBudget(budget, parts.counter),
            core=services.core.gather_candidates(parts, reader, asked, now_us),
            trace=trace,
        )
        packed = replace(packed, waiting=count_waiting_messages(reader, WAITING_COUNTED_MAX))
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
