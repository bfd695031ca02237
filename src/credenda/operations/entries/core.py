"""Saying and searching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from credenda.errors import Conflict, Invalid, LimitExceeded, Unavailable
from credenda.model.event import Source
from credenda.model.memory import Layer, MemoryType
from credenda.model.query import HitKind, Include, Mode, Profile
from credenda.operations.entries.schema import SESSION, TIMES, TOPIC, Operation, Param, Rest, text

__all__ = ["ENTRIES"]

_ASK: Final = (
    Param(name="limit", type=int, default=20, help="Most hits, 1 to 50."),
    TOPIC,
    Param(
        name="kinds", type=Sequence[HitKind], default=("memory", "event"), help="memory, event or both.", option="kind"
    ),
    Param(name="types", type=Sequence[MemoryType], help="Only memories of these types.", option="type"),
    Param(name="layers", type=Sequence[Layer], help="Only memories of these layers.", option="layer"),
    Param(
        name="mode",
        type=Mode,
        default="full_context",
        help="Which kinds may answer: facts, facts and procedures, or all.",
    ),
    Param(name="min_confidence", type=float, default=0.4, help="Least confidence of a memory, 0 to 1."),
    *TIMES,
    Param(name="recency_weight", type=float, default=0.3, help="How much newer counts, 0 to 1."),
    Param(name="profile", type=Profile, default="default", help="How hits are scored."),
    Param(name="tags", type=Sequence[str], help="Only what carries all these tags.", option="tag"),
    Param(name="metadata", type=Mapping[str, str], help="Only what was kept with these pairs."),
    Param(name="session", help="Only what was said in this session."),
    Param(name="exclude_session", help="Nothing that was said in this session."),
    Param(
        name="include",
        type=Sequence[Include],
        default=(),
        help="Also show what is usually left out.",
    ),
    Param(name="explain", type=bool, default=False, help="Name every term of every score."),
)
_RECORDED: Final = Param(
    name="record_access",
    type=bool,
    default=True,
    help="Count the memories that are shown as recalled.",
    person_only=True,
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
                type=Source,
                default="human",
                among=("human", "ai", "interaction", "ingest", "code_scan", "dream"),
                help="How it came in; decides how far it is trusted.",
            ),
            Param(name="occurred_at", type=datetime, help="When it was said, if not now.", option="at"),
            Param(name="memory_type", type=MemoryType, help="The type of what is believed from it, if it is known."),
            Param(name="tags", type=Sequence[str], default=(), help="A word to find it by.", option="tag"),
            Param(name="metadata", type=Mapping[str, str], help="A pair to keep with it."),
            Param(name="expires_at", type=datetime, help="When to forget it by itself.", option="expires"),
            text("idempotency_key", "The same key and content are filed once.", option="key"),
            Param(
                name="allow_deleted",
                type=bool,
                default=False,
                help="Say a deleted thing again, on purpose.",
                person_only=True,
            ),
        ),
        errors=(Invalid, LimitExceeded, Conflict, Unavailable),
        writes=True,
        scope="memory:write",
        rest=(Rest(method="POST", path="/v1/memories", status=202),),
    ),
    Operation(
        name="search",
        call="search",
        summary="Find what is known that answers a question; says so when nothing does.",
        params=(Param(name="query", help="A question or some words.", positional=True), *_ASK, _RECORDED),
        errors=(Invalid, LimitExceeded),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="POST", path="/v1/search"),),
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
            Param(
                name="token_budget",
                type=int,
                help="Most tokens. [default: the setting context_tokens]",
                option="tokens",
            ),
            Param(
                name="automatic",
                type=bool,
                default=False,
                help="A program adds it to each turn: half of the tokens, and nothing counts as recalled.",
                person_only=True,
            ),
            *_ASK,
            replace(_RECORDED, default=None, optional=True),
        ),
        errors=(Invalid, LimitExceeded),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="POST", path="/v1/context"),),
    ),
)
