"""Say what an agent would get for a prompt, line by line, and what it would not; no recall is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from credenda.model.preview import ContextLine, ContextPreview
from credenda.read.pack_trace import PackTrace, TracedLine
from credenda.runtime import Parts
from credenda.services.context import choose_budget, context

__all__ = ["explain_context"]


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
