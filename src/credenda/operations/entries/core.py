"""Entries for remember, search and context."""

from __future__ import annotations

from typing import Final

from credenda.errors import Conflict, Invalid, LimitExceeded, Unavailable
from credenda.model.memory import Layer, MemoryType
from credenda.operations.entries.schema import SESSION, TIMES, TOPIC, Operation, Param, text

__all__ = ["ENTRIES"]

_ASK: Final = (
    Param(name="limit", kind="integer", default=20, help="Maximum number of hits, 1 to 50."),
    TOPIC,
    Param(name="kinds", kind="names", default=("memory", "event"), help="memory, event or both.", option="kind"),
    Param(name="types", kind="names", choices=tuple(MemoryType), help="Only memories of these types.", option="type"),
    Param(name="layers", kind="names", choices=tuple(Layer), help="Only memories of these layers.", option="layer"),
    Param(
        name="mode",
        default="full_context",
        choices=("facts_only", "facts_plus_rules", "full_context", "codebase"),
        help="Memory types to search, or code alone.",
    ),
    Param(name="min_confidence", kind="number", default=0.4, help="Minimum confidence of a memory, 0 to 1."),
    *TIMES,
    Param(name="recency_weight", kind="number", default=0.3, help="Weight of recency, 0 to 1."),
    Param(name="profile", default="default", choices=("default", "recall", "evidence"), help="Scoring profile."),
    Param(name="tags", kind="names", help="Only hits with all these tags.", option="tag"),
    Param(name="session", help="Only hits from this session."),
    Param(name="exclude_session", help="No hits from this session."),
    Param(
        name="include",
        kind="names",
        choices=("superseded", "low_confidence", "archived", "misses"),
        help="Also show hits that are hidden by default.",
    ),
    Param(name="explain", kind="flag", default=False, help="Show the terms of each score."),
)

ENTRIES: Final = (
    Operation(
        name="remember",
        call="remember",
        summary="Store a message; it is on disk when this returns, and beliefs follow shortly after.",
        params=(
            Param(name="content", help="The message, in the speaker's own words.", positional=True),
            TOPIC,
            SESSION,
            text("agent", "Agent that received it."),
            Param(
                name="source",
                default="human",
                choices=("human", "ai", "interaction", "ingest", "code_scan", "dream"),
                help="Where it came from; determines how far it is trusted.",
            ),
            Param(name="occurred_at", kind="time", help="When it was said. [default: now]", option="at"),
            Param(name="tags", kind="names", help="Tag to find it by.", option="tag"),
            Param(name="metadata", kind="table", help="Pair to store with it."),
            Param(name="expires_at", kind="time", help="When it expires.", option="expires"),
            text("idempotency_key", "The same key and content are stored once.", option="key"),
            Param(
                name="allow_deleted",
                kind="flag",
                default=False,
                help="Store it even if it was deleted before.",
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
        summary="Search memories and events for the answer to a question; abstains if there is none.",
        params=(Param(name="query", help="A question or some words.", positional=True), *_ASK),
        output="SearchResult",
        errors=(Invalid, LimitExceeded),
        idempotent=True,
    ),
    Operation(
        name="context",
        call="context",
        summary="Build a fenced context block for a prompt, within a token budget.",
        params=(
            Param(
                name="query",
                help="A question or some words; without it, only the core.",
                positional=True,
                optional=True,
            ),
            Param(name="token_budget", kind="integer", default=800, help="Maximum number of tokens.", option="tokens"),
            Param(
                name="automatic",
                kind="flag",
                default=False,
                help="For a block added to every turn: half of the tokens, and no recall is recorded.",
                person_only=True,
            ),
            *_ASK,
        ),
        output="Context",
        errors=(Invalid, LimitExceeded),
        idempotent=True,
    ),
)
