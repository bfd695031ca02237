"""Entries for previews, scores, costs and the audit: they change no belief."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Final

from credenda.errors import Invalid, LimitExceeded, NotFound, Unavailable
from credenda.model.event import Source
from credenda.operations.entries.basic import CONTEXT_INPUTS
from credenda.operations.entries.schema import LOCAL, NOT_A_SKILL, PERSONS, SESSION, TOPIC, Operation, Param, Rest, text

_SPAN: Final = (
    Param(name="since", type=datetime, help="Start; a date is its whole day."),
    Param(name="until", type=datetime, help="End; a date is its whole day. [default: now]"),
)
_FILE: Final = Param(
    name="path", type=Path, remote="download", help="File to write; .gz is compressed.", positional=True
)
_PAGE: Final = (
    Param(name="limit", type=int, default=20, help="Maximum number of items, 1 to 50."),
    text("cursor", "Cursor of the last page."),
)

ENTRIES: Final = (
    Operation(
        name="preview-extraction",
        call="inspect.extraction",
        summary="Say what would become of a text: stored, replaced, contested or refused, and why. Nothing is stored.",
        params=(
            Param(name="text", help="The message, in the speaker's own words.", positional=True),
            TOPIC,
            SESSION,
            Param(
                name="source",
                type=Source,
                default="human",
                among=("human", "ai", "interaction", "ingest", "code_scan", "dream"),
                help="Where it came from; determines how far it is trusted.",
            ),
            Param(name="occurred_at", type=datetime, help="When it was said. [default: now]", option="at"),
        ),
        errors=(Invalid, LimitExceeded),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="POST", path="/v1/previews/extraction"),),
    ),
    Operation(
        name="preview-context",
        call="inspect.context",
        summary="Show what an agent would get for a prompt: each line and its reason, and what is left out and why.",
        params=CONTEXT_INPUTS,
        errors=(Invalid, LimitExceeded),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="POST", path="/v1/previews/context"),),
    ),
    Operation(
        name="test",
        call="inspect.test",
        summary="Test the beliefs against a file of assertions; nothing is changed.",
        params=(
            Param(name="path", type=Path, help="File of assertions, such as beliefs.test.", positional=True),
            Param(
                name="reextract",
                type=bool,
                default=False,
                help="Read the journal again with the present rules, in a copy, and show what that changes.",
            ),
            Param(name="data", type=Path, help="Test on an empty copy into which this file is imported."),
        ),
        errors=(Invalid, NotFound, Unavailable),
        idempotent=True,
        scope="memory:read",
        closed=LOCAL,
    ),
    Operation(
        name="replay",
        call="inspect.replay",
        summary="Rebuild the contexts that the prompts of a session would have got, with and without a memory.",
        params=(
            Param(name="session", help="The session.", positional=True),
            text("without", "Id of the memory to leave out."),
            Param(name="token_budget", type=int, help="Tokens of each context. [default: the setting]"),
            Param(
                name="automatic", type=bool, default=False, help="Rebuild the block that a program adds to each turn."
            ),
            Param(name="limit", type=int, default=20, help="Maximum number of prompts, the last ones, 1 to 50."),
        ),
        errors=(Invalid, NotFound, Unavailable),
        idempotent=True,
        scope="memory:read",
        closed={**PERSONS, "rest": "it copies the whole memory for each prompt"},
    ),
    Operation(
        name="score",
        call="inspect.score",
        summary="Score how faithful a response is to its context, claim by claim; the figures are stored.",
        params=(
            Param(name="response", help="The response of the agent.", positional=True),
            Param(name="context", help="The context that it was given.", positional=True),
            text("session", "Conversation of the response."),
        ),
        errors=(Invalid, LimitExceeded, Unavailable),
        writes=True,
        scope="memory:write",
        rest=(Rest(method="POST", path="/v1/scores"),),
    ),
    Operation(
        name="scores",
        call="inspect.scores",
        summary="List stored scores, the newest first.",
        params=(text("session", "Only scores of this conversation."), *_PAGE),
        errors=(Invalid, NotFound),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/scores"),),
        closed={**PERSONS, "mcp": "an operator watches trends, not a model"},
    ),
    Operation(
        name="costs",
        call="inspect.costs",
        summary="Sum up what models cost, by day, operation and model; without times, over the last thirty days.",
        params=_SPAN,
        errors=(Invalid,),
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/costs"),),
    ),
    Operation(
        name="verify-audit",
        call="inspect.verify_audit",
        summary="Verify the audit records of the server: that none was changed, moved or removed.",
        params=(
            Param(name="anchor", default="", help="The head of an earlier report, which the chain must lead through."),
        ),
        errors=(Invalid,),
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="GET", path="/v1/audit/verification"),),
        closed={**NOT_A_SKILL, "cli": "it is `audit verify` there"},
    ),
    Operation(
        name="export-audit",
        call="inspect.export_audit",
        summary="Export the audit records of this user as JSON Lines.",
        params=(_FILE,),
        errors=(Invalid, Unavailable),
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/audit/export"),),
        closed={**NOT_A_SKILL, "mcp": LOCAL["mcp"], "cli": "it is `audit export` there"},
    ),
    Operation(
        name="compliance",
        call="inspect.export_compliance",
        summary="Export who called what, what changed and what was deleted in a span of time, as JSON Lines.",
        params=(_FILE, *_SPAN),
        errors=(Invalid, Unavailable),
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/compliance"),),
        closed={**NOT_A_SKILL, "mcp": LOCAL["mcp"]},
    ),
)
