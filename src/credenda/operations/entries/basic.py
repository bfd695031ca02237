"""Entries for remember, search and context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from credenda.errors import Conflict, Invalid, LimitExceeded, Unavailable
from credenda.model.event import Source
from credenda.model.memory import Layer, MemoryType
from credenda.model.query import HitKind, Include, Mode, Profile
from credenda.operations.entries.schema import MESSAGES, SESSION, TIMES, TOPIC, Operation, Param, Rest, text

_ASK: Final = (
    Param(name="limit", type=int, default=20, help="Maximum number of hits, 1 to 50."),
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
        help="Memory types to search, or code alone.",
    ),
    Param(name="min_confidence", type=float, default=0.4, help="Minimum confidence of a memory, 0 to 1."),
    *TIMES,
    Param(name="recency_weight", type=float, default=0.3, help="Weight of recency, 0 to 1."),
    Param(name="profile", type=Profile, default="default", help="Scoring profile."),
    Param(name="tags", type=Sequence[str], help="Only hits with all these tags.", option="tag"),
    Param(name="metadata", type=Mapping[str, str], help="Only what was kept with these pairs."),
    Param(name="session", help="Only hits from this session."),
    Param(name="exclude_session", help="No hits from this session."),
    Param(name="project", help="Nothing said in other projects, except the user's own facts."),
    Param(
        name="include",
        type=Sequence[Include],
        default=(),
        help="Also show hits that are hidden by default.",
    ),
    Param(name="explain", type=bool, default=False, help="Show the terms of each score."),
)
_RECORDED: Final = Param(
    name="record_access",
    type=bool,
    default=True,
    help="Count the memories that are shown as recalled.",
    person_only=True,
)

_CLAIMS: Final = Param(
    name="claims",
    type=Sequence[Mapping[str, str]],
    help="Each: quote, entity, attribute, value, stance, scope, replaces (an id), statement, key.",
)

CONTEXT_INPUTS: Final = (
    Param(
        name="query",
        help="A question or some words; without it, only the core.",
        positional=True,
        optional=True,
    ),
    Param(
        name="token_budget",
        type=int,
        help="Maximum number of tokens. [default: the setting context_tokens]",
        option="tokens",
    ),
    Param(
        name="automatic",
        type=bool,
        default=False,
        help="For a block added to every turn: half of the tokens, and no recall is recorded.",
        person_only=True,
    ),
    *_ASK,
)

ENTRIES: Final = (
    Operation(
        name="remember",
        call="remember",
        summary="Store a message; it is on disk when this returns, and beliefs follow shortly after.",
        params=(
            Param(name="content", type=MESSAGES, help="The message, in the speaker's own words.", positional=True),
            TOPIC,
            SESSION,
            text("agent", "Program that took it; shown with the evidence. Searches do not look at it."),
            Param(
                name="source",
                type=Source,
                default="human",
                among=("human", "ai", "interaction", "ingest", "code_scan", "dream"),
                help="Where it came from; determines how far it is trusted.",
            ),
            Param(name="occurred_at", type=datetime, help="When it was said. [default: now]", option="at"),
            Param(name="memory_type", type=MemoryType, help="The type of what is believed from it, if it is known."),
            Param(name="tags", type=Sequence[str], default=(), help="Tag to find it by.", option="tag"),
            Param(name="metadata", type=Mapping[str, str], help="Pair to store with it."),
            Param(name="expires_at", type=datetime, help="When it expires.", option="expires"),
            text("idempotency_key", "The same key and content are stored once.", option="key"),
            _CLAIMS,
            Param(
                name="allow_deleted",
                type=bool,
                default=False,
                help="Store it even if it was deleted before.",
                person_only=True,
            ),
        ),
        errors=(Invalid, LimitExceeded, Conflict, Unavailable),
        writes=True,
        scope="memory:write",
        rest=(Rest(method="POST", path="/v1/memories", status=202),),
        closed={},
    ),
    Operation(
        name="search",
        call="search",
        summary="Search memories and events for the answer to a question; abstains if nothing is known.",
        params=(Param(name="query", help="A question or some words.", positional=True), *_ASK, _RECORDED),
        errors=(Invalid, LimitExceeded),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="POST", path="/v1/search"),),
    ),
    Operation(
        name="context",
        call="context",
        summary="Build a fenced context block for a prompt, within a token budget.",
        params=(*CONTEXT_INPUTS, replace(_RECORDED, default=None, optional=True)),
        errors=(Invalid, LimitExceeded),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="POST", path="/v1/context"),),
    ),
)
