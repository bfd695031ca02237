"""Entry for synchronising a folder of pages."""

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
        summary="Synchronise a folder of Markdown pages, in both directions.",
        params=(
            Param(name="dir", type=Path, help="The folder; created if missing.", positional=True),
            Param(
                name="missing",
                type=_Missing,
                default="ask",
                help="What to do if many entries are missing at once.",
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
