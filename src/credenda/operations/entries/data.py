"""Entries for maintenance, export and import."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from credenda.errors import Conflict, Corrupt, Invalid, LimitExceeded, NotFound, Unavailable
from credenda.operations.entries.schema import LOCAL, NOT_A_SKILL, PERSONS, Operation, Param, Rest, text

_Written = Literal["credenda", "mcp-memory", "pam"]
_Read = Literal[
    "credenda",
    "claude-code",
    "chatgpt",
    "claude",
    "mcp-memory",
    "pam",
    "letta",
    "hindsight",
    "openmemory",
    "zep",
    "cognee",
    "mem0",
    "conversation",
    "messages",
    "memory-folder",
    "memories",
    "obsidian",
    "markdown",
    "text",
]

ENTRIES: Final = (
    Operation(
        name="stats",
        call="stats",
        summary="Count memories, events and pending work.",
        idempotent=True,
        scope="memory:read",
        rest=(Rest(method="GET", path="/v1/stats"),),
    ),
    Operation(
        name="doctor",
        call="data.doctor",
        summary="Verify the store, and repair derived data.",
        params=(Param(name="repair", type=bool, default=False, help="Rebuild derived indexes that differ."),),
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/doctor"),),
    ),
    Operation(
        name="audit",
        call="data.audit",
        summary="List the calls of a server that reached this memory, oldest first.",
        params=(
            Param(name="limit", type=int, default=20, help="Maximum number of items, 1 to 50."),
            text("cursor", "Cursor of the last page."),
        ),
        errors=(Invalid, NotFound),
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="GET", path="/v1/audit"),),
        closed={**PERSONS, "cli": "it is `audit export` there"},
    ),
    Operation(
        name="rebuild",
        call="data.rebuild",
        summary="Rebuild the beliefs from the change log, and repair rows that differ.",
        params=(
            Param(
                name="reextract",
                type=bool,
                default=False,
                help="Derive them again from the events, with the current rules.",
            ),
            Param(name="model", type=bool, default=False, help="Use the LLM for --reextract, not rules alone."),
            Param(name="dry_run", type=bool, default=False, help="Only report the differences."),
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
        summary="Embed every text with a model; vectors of other models stay, unless they are to be deleted.",
        params=(
            Param(
                name="model",
                help="Such as minilm or openai:MODEL. [default: the configured model]",
                positional=True,
                optional=True,
            ),
            Param(
                name="clear_existing",
                type=bool,
                default=False,
                help="Also embed texts that have a vector of this model; the new one takes its place.",
            ),
            Param(
                name="drop_others",
                type=bool,
                default=False,
                help="Delete the vectors of other models at the end; the memory must be open with this model.",
            ),
            Param(name="dry_run", type=bool, default=False, help="Only count the texts."),
        ),
        errors=(Invalid, Unavailable),
        writes=True,
        idempotent=True,
        scope="memory:admin",
        rest=(Rest(method="POST", path="/v1/reindex"),),
        long=True,
        closed={**NOT_A_SKILL, "mcp": "a model must not start work that may cost money"},
    ),
    Operation(
        name="extract",
        call="manage.extract",
        summary="Process the messages that wait for the LLM; or estimate the cost without calling it.",
        params=(
            Param(
                name="path",
                type=Path,
                remote="upload",
                help="With --dry-run: a file to estimate.",
                positional=True,
                optional=True,
            ),
            text("text", "With --dry-run: a text to estimate."),
            text("model", "With --dry-run: another model, such as openai:gpt-5-mini."),
            Param(name="dry_run", type=bool, default=False, help="Only estimate the cost."),
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
        summary="Export all data of this user as JSON Lines, without loss; or the current memories, for another tool.",
        params=(
            Param(name="path", type=Path, remote="download", help="File to write; .gz is compressed.", positional=True),
            Param(
                name="format",
                type=_Written,
                default="credenda",
                help="The archive, the file of the MCP reference memory server, or Portable AI Memory.",
            ),
            Param(
                name="skip_damaged",
                type=bool,
                default=False,
                help="Leave out rows of a damaged database that cannot be read, and name them.",
            ),
        ),
        errors=(Invalid, Corrupt, Unavailable),
        scope="memory:read",
        rest=(Rest(method="POST", path="/v1/export"),),
        closed={**NOT_A_SKILL, "mcp": LOCAL["mcp"]},
    ),
    Operation(
        name="import",
        call="data.import_",
        summary="Import an export, conversations, another tool's memory, or documents; repeating it adds nothing.",
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
                help="Format of the file. [default: detected]",
            ),
            Param(name="dry_run", type=bool, default=False, help="Only count what would be stored."),
        ),
        errors=(Invalid, NotFound, Conflict, LimitExceeded),
        writes=True,
        idempotent=True,
        scope="memory:write",
        rest=(Rest(method="POST", path="/v1/imports"),),
        remotely={"uploaded": True},
        closed={**NOT_A_SKILL, "mcp": LOCAL["mcp"]},
    ),
)
