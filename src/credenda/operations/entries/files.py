"""A folder of pages that is kept in step with a memory."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from credenda.errors import Invalid, Unavailable
from credenda.operations.entries.schema import LOCAL, Operation, Param

__all__ = ["ENTRIES"]

_Missing = Literal["ask", "delete", "restore"]

ENTRIES: Final = (
    Operation(
        name="files",
        call="data.sync_files",
        summary="Keep a folder of Markdown in step with this memory, both ways: edit its pages, and sync.",
        params=(
            Param(name="dir", type=Path, help="The folder; made where there is none.", positional=True),
            Param(
                name="missing",
                type=_Missing,
                default="ask",
                help="What it means when many entries are gone at once.",
            ),
        ),
        errors=(Invalid, Unavailable),
        writes=True,
        destructive=True,
        idempotent=True,
        scope="memory:admin",
        closed=LOCAL,
    ),
)
