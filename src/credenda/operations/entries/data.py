"""Entries for maintenance, export and import."""

from __future__ import annotations

from typing import Final

from credenda.errors import Conflict, Corrupt, Invalid, LimitExceeded, NotFound, Unavailable
from credenda.operations.entries.schema import WITH_FILES, Operation, Param, text

__all__ = ["ENTRIES"]

ENTRIES: Final = (
    Operation(
        name="stats",
        call="stats",
        summary="Count memories, events and pending work.",
        output="Stats",
        idempotent=True,
    ),
    Operation(
        name="doctor",
        call="data.doctor",
        summary="Verify the store, and repair derived data.",
        params=(Param(name="repair", kind="flag", default=False, help="Rebuild derived indexes that differ."),),
        output="DoctorReport",
        errors=(Unavailable,),
        writes=True,
        idempotent=True,
    ),
    Operation(
        name="rebuild",
        call="data.rebuild",
        summary="Rebuild the beliefs from the change log, and repair rows that differ.",
        params=(
            Param(
                name="reextract",
                kind="flag",
                default=False,
                help="Derive them again from the events, with the current rules.",
            ),
            Param(name="model", kind="flag", default=False, help="Use the LLM for --reextract, not rules alone."),
            Param(name="dry_run", kind="flag", default=False, help="Only report the differences."),
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
        summary="Embed every text with a model; existing vectors of other models stay.",
        params=(
            Param(
                name="model",
                help="Such as minilm or openai:MODEL. [default: the configured model]",
                positional=True,
                optional=True,
            ),
        ),
        output="ReembedReport",
        errors=(Invalid, Unavailable),
        writes=True,
        idempotent=True,
        doors=frozenset({"python", "cli", "rest"}),  # an LLM must not start a task that may cost money
    ),
    Operation(
        name="extract",
        call="manage.extract",
        summary="Process the messages that wait for the LLM; or estimate the cost without calling it.",
        params=(
            Param(name="path", kind="path", help="With --dry-run: a file to estimate.", positional=True, optional=True),
            text("text", "With --dry-run: a text to estimate."),
            text("model", "With --dry-run: another model, such as openai:gpt-5-mini."),
            Param(name="dry_run", kind="flag", default=False, help="Only estimate the cost."),
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
        summary="Export all data of this user as JSON Lines, without loss; or the current memories, for another tool.",
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
        summary="Import an export, conversations, another tool's memory, or documents; repeating it adds nothing.",
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
                help="Format of the file. [default: detected]",
            ),
        ),
        output="ImportReport",
        errors=(Invalid, NotFound, Conflict, LimitExceeded),
        writes=True,
        idempotent=True,
        doors=WITH_FILES,
    ),
)
