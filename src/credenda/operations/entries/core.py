"""Saying and searching."""

from __future__ import annotations

from typing import Final

from credenda.errors import Conflict, Invalid, LimitExceeded, Unavailable
from credenda.model.memory import Layer, MemoryType
from credenda.operations.entries.schema import SESSION, TIMES, TOPIC, Operation, Param, text

__all__ = ["ENTRIES"]

_ASK: Final = (
    Param(name="limit", kind="integer", default=20, help="Most hits, 1 to 50."),
    TOPIC,
    Param(name="kinds", kind="names", default=("memory", "event"), help="memory, event or both.", option="kind"),
    Param(name="types", kind="names", choices=tuple(MemoryType), help="Only memories of these types.", option="type"),
    Param(name="layers", kind="names", choices=tuple(Layer), help="Only memories of these layers.", option="layer"),
    Param(
        name="mode",
        default="full_context",
        choices=("facts_only", "facts_plus_rules", "full_context", "codebase"),
        help="Which kinds may answer: facts, facts and procedures, or all.",
    ),
    Param(name="min_confidence", kind="number", default=0.4, help="Least confidence of a memory, 0 to 1."),
    *TIMES,
    Param(name="recency_weight", kind="number", default=0.3, help="How much newer counts, 0 to 1."),
    Param(name="profile", default="default", choices=("default", "recall", "evidence"), help="How hits are scored."),
    Param(name="tags", kind="names", help="Only what carries all these tags.", option="tag"),
    Param(name="session", help="Only what was said in this session."),
    Param(name="exclude_session", help="Nothing that was said in this session."),
    Param(
        name="include",
        kind="names",
        choices=("superseded", "low_confidence", "archived", "misses"),
        help="Also show what is usually left out.",
    ),
    Param(name="explain", kind="flag", default=False, help="Name every term of every score."),
)

ENTRIES: Final = (
    Operation(
        name="remember",
        call="remember",
        summary="File what was said; it is on disk when this returns, and believed soon after.",
        params=(
            Param(name="content", help="What was said, in the speaker's own words.", positional=True),
            TOPIC,
            SESSION,
            text("agent", "Agent that heard it."),
            Param(
                name="source",
                default="human",
                choices=("human", "ai", "interaction", "ingest", "code_scan", "dream"),
                help="How it came in; decides how far it is trusted.",
            ),
            Param(name="occurred_at", kind="time", help="When it was said, if not now.", option="at"),
            Param(name="tags", kind="names", help="A word to find it by.", option="tag"),
            Param(name="metadata", kind="table", help="A pair to keep with it."),
            Param(name="expires_at", kind="time", help="When to forget it by itself.", option="expires"),
            text("idempotency_key", "The same key and content are filed once.", option="key"),
            Param(
                name="allow_deleted",
                kind="flag",
                default=False,
                help="Say a deleted thing again, on purpose.",
                person_only=True,
            ),
        ),
        output="Receipt",
        errors=(Invalid, LimitExceeded, Conflict, Unavailable),
        writes=True,
    ),
    Operation(
        name="search",
        call="search",
        summary="Find what is known that answers a question; says so when nothing does.",
        params=(Param(name="query", help="A question or some words.", positional=True), *_ASK),
        output="SearchResult",
        errors=(Invalid, LimitExceeded),
        idempotent=True,
    ),
    Operation(
        name="context",
        call="context",
        summary="Pack what is known into a fenced block for a prompt, within a budget of tokens.",
        params=(
            Param(
                name="query",
                help="A question or some words; without one, only what every prompt needs.",
                positional=True,
                optional=True,
            ),
            Param(name="token_budget", kind="integer", default=800, help="Most tokens.", option="tokens"),
            Param(
                name="automatic",
                kind="flag",
                default=False,
                help="A program adds it to each turn: half of the tokens, and nothing counts as recalled.",
                person_only=True,
            ),
            *_ASK,
        ),
        output="Context",
        errors=(Invalid, LimitExceeded),
        idempotent=True,
    ),
)
