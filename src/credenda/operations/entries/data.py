"""Looking after a whole memory, and moving it."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from credenda.errors import Conflict, Corrupt, Invalid, LimitExceeded, NotFound, Unavailable
from credenda.operations.entries.schema import LOCAL, NOT_A_SKILL, PERSONS, Operation, Param, Rest, text

__all__ = ["ENTRIES"]

_Written = Literal["credenda", "mcp-memory"]
_Read = Literal[
    "credenda",
    "claude-code",
    "chatgpt",
    "claude",
    "mcp-memory",
    "mem0",
    "conversation",
    "obsidian",
    "markdown",
    "text",
]

ENTRIES: Final = (
    Operation(
        name="stats",
        call="stats",
        summary="Count what is held and what still waits.",
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/stats"),),
    ),
    Operation(
        name="doctor",
        call="data.doctor",
        summary="Verify the store, and repair what is derived.",
        params=(Param(name="repair", type=bool, default=False, help="Rebuild derived indexes that differ."),),
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/doctor"),),
    ),
    Operation(
        name="rebuild",
        call="data.rebuild",
        summary="Make beliefs again from the change log, and put right what differs.",
        params=(
            Param(
                name="reextract",
                type=bool,
                default=False,
                help="Derive them afresh from what was said, by today's rules.",
            ),
            Param(name="model", type=bool, default=False, help="Let the model read for --reextract, not rules alone."),
            Param(name="dry_run", type=bool, default=False, help="Only say what differs."),
            Param(
                name="from_files",
                type=Path,
                remote="nothing",
                help="Fill an empty memory from a folder of `files sync` instead.",
            ),
        ),
        errors=(Corrupt, Conflict, Invalid, NotFound, Unavailable),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        closed={**PERSONS, "rest": "it may run for hours, and a person answers its questions"},
    ),
    Operation(
        name="reembed",
        call="data.reembed",
        summary="Give every text a vector of a model, beside those it has.",
        params=(
            Param(
                name="model",
                help="Such as minilm or openai:MODEL; the one in use when left out.",
                positional=True,
                optional=True,
            ),
        ),
        errors=(Invalid, Unavailable),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/reindex"),),
        closed={**NOT_A_SKILL, "mcp": "a model must not start work that may cost money"},
    ),
    Operation(
        name="extract",
        call="manage.extract",
        summary="Read again with the model what waits for it; or say what reading would cost, without asking it.",
        params=(
            Param(
                name="path",
                type=Path,
                remote="upload",
                help="With --dry-run: a file to price.",
                positional=True,
                optional=True,
            ),
            text("text", "With --dry-run: a text to price."),
            text("model", "With --dry-run: another model, such as openai:gpt-5-mini."),
            Param(name="dry_run", type=bool, default=False, help="Only say what it would cost."),
        ),
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/extractions"),),
        closed={**NOT_A_SKILL, "mcp": "a model must not start work that may cost money"},
    ),
    Operation(
        name="export",
        call="data.export",
        summary="Write everything of this user as JSON Lines, without loss; or what is held now, for another memory.",
        params=(
            Param(name="path", type=Path, remote="download", help="File to write; .gz is compressed.", positional=True),
            Param(
                name="format",
                type=_Written,
                default="credenda",
                help="The archive, or the file of the MCP reference memory server.",
            ),
        ),
        errors=(Invalid, Unavailable),
        scope="memory:read",
        rest=(Rest(method="POST", path="/v1/export"),),
        closed={**NOT_A_SKILL, "mcp": LOCAL["mcp"]},
    ),
    Operation(
        name="import",
        call="data.import_",
        summary="Read an export, talk with assistants, another memory, or documents; repeating it adds nothing.",
        params=(
            Param(
                name="path",
                type=Path,
                remote="upload",
                help="File or folder to read; .gz and .zip too.",
                positional=True,
            ),
            Param(
                name="format",
                type=_Read,
                help="What it is; told from the file when left out.",
            ),
        ),
        errors=(Invalid, NotFound, Conflict, LimitExceeded),
        writes=True,
        idempotent=True,
        scope="memory:write",
        rest=(Rest(method="POST", path="/v1/imports"),),
        closed={**NOT_A_SKILL, "mcp": LOCAL["mcp"]},
    ),
)
