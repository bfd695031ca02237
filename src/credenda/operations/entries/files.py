"""A folder of pages that is kept in step with a memory."""

from __future__ import annotations

from typing import Final

from credenda.errors import Invalid, Unavailable
from credenda.operations.entries.schema import Door, Operation, Param

__all__ = ["ENTRIES"]

_NAMES_FOLDERS: Final[frozenset[Door]] = frozenset({"python", "cli"})
"""Who may name folders that are read and written: neither a model nor a distant caller."""

ENTRIES: Final = (
    Operation(
        name="files",
        call="data.sync_files",
        summary="Keep a folder of Markdown in step with this memory, both ways: edit its pages, and sync.",
        params=(
            Param(name="dir", kind="path", help="The folder; made where there is none.", positional=True),
            Param(
                name="missing",
                default="ask",
                choices=("ask", "delete", "restore"),
                help="What it means when many entries are gone at once.",
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
