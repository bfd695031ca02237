"""Looking after a whole memory, and moving it."""

from __future__ import annotations

from typing import Final

from credenda.errors import Conflict, Corrupt, Invalid, LimitExceeded, NotFound, Unavailable
from credenda.operations.entries.schema import WITH_FILES, Operation, Param, text

__all__ = ["ENTRIES"]

ENTRIES: Final = (
    Operation(
        name="stats",
        call="stats",
        summary="Count what is held and what still waits.",
        output="Stats",
        idempotent=True,
    ),
    Operation(
        name="doctor",
        call="data.doctor",
        summary="Verify the store, and repair what is derived.",
        params=(Param(name="repair", kind="flag", default=False, help="Rebuild derived indexes that differ."),),
        output="DoctorReport",
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="rebuild",
        call="data.rebuild",
        summary="Make beliefs again from the change log, and put right what differs.",
        params=(
            Param(
                name="reextract",
                kind="flag",
                default=False,
                help="Derive them afresh from what was said, by today's rules.",
            ),
            Param(
                name="model", kind="flag", default=False, help="Let the model read for --reextract, not rules alone."
            ),
            Param(name="dry_run", kind="flag", default=False, help="Only say what differs."),
            Param(name="from_files", kind="path", help="Fill an empty memory from a folder of `files sync` instead."),
        ),
        output="RebuildReport",
        errors=(Corrupt, Conflict, Invalid, NotFound, Unavailable),
        writes=True,
        idempotent=True,
        doors=frozenset({"python", "cli"}),
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
        output="ReembedReport",
        errors=(Invalid, Unavailable),
        writes=True,
        idempotent=True,
        doors=frozenset({"python", "cli", "rest"}),  # a model must not start what may cost money
    ),
    Operation(
        name="extract",
        call="manage.extract",
        summary="Read again with the model what waits for it; or say what reading would cost, without asking it.",
        params=(
            Param(name="path", kind="path", help="With --dry-run: a file to price.", positional=True, optional=True),
            text("text", "With --dry-run: a text to price."),
            text("model", "With --dry-run: another model, such as openai:gpt-5-mini."),
            Param(name="dry_run", kind="flag", default=False, help="Only say what it would cost."),
        ),
        output="ExtractionReport",
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        idempotent=True,
        doors=WITH_FILES,
    ),
    Operation(
        name="export",
        call="data.export",
        summary="Write everything of this user as JSON Lines, without loss; or what is held now, for another memory.",
        params=(
            Param(name="path", kind="path", help="File to write; .gz is compressed.", positional=True),
            Param(
                name="format",
                default="credenda",
                choices=("credenda", "mcp-memory"),
                help="The archive, or the file of the MCP reference memory server.",
            ),
        ),
        output="ExportReport",
        errors=(Invalid, Unavailable),
        doors=WITH_FILES,
    ),
    Operation(
        name="import",
        call="data.import_",
        summary="Read an export, talk with assistants, another memory, or documents; repeating it adds nothing.",
        params=(
            Param(name="path", kind="path", help="File or folder to read; .gz and .zip too.", positional=True),
            Param(
                name="format",
                choices=(
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
                ),
                help="What it is; told from the file when left out.",
            ),
        ),
        output="ImportReport",
        errors=(Invalid, NotFound, Conflict, LimitExceeded),
        writes=True,
        idempotent=True,
        doors=WITH_FILES,
    ),
)
