"""Entry for synchronising a folder of pages."""

from __future__ import annotations

from typing import Final

from credenda.errors import Invalid, Unavailable
from credenda.operations.entries.schema import Door, Operation, Param

__all__ = ["ENTRIES"]

_NAMES_FOLDERS: Final[frozenset[Door]] = frozenset({"python", "cli"})
"""Interfaces that may name folders to read and write; not MCP or REST."""

ENTRIES: Final = (
    Operation(
        name="files",
        call="data.sync_files",
        summary="Synchronise a folder of Markdown pages, in both directions.",
        params=(
            Param(name="dir", kind="path", help="The folder; created if missing.", positional=True),
            Param(
                name="missing",
                default="ask",
                choices=("ask", "delete", "restore"),
                help="What to do if many entries are missing at once.",
            ),
        ),
        output="SyncReport",
        errors=(Invalid, Unavailable),
        writes=True,
        destructive=True,
        idempotent=True,
        doors=_NAMES_FOLDERS,
    ),
)
