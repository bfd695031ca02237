"""Entry for synchronising a folder of pages."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from credenda.errors import Invalid, NotFound, Unavailable
from credenda.operations.entries.schema import LOCAL, Operation, Param

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
                help="What to do with entries that are missing but not certainly removed by a person.",
            ),
            Param(
                name="dry_run",
                type=bool,
                default=False,
                help="Change nothing; list what would be written and deleted.",
            ),
            Param(
                name="by_agent",
                type=bool,
                default=False,
                help="For the memory folder of an agent: what it removes is forgotten, which undo takes back.",
            ),
        ),
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        destructive=True,
        idempotent=True,
        scope="memory:admin",
        closed=LOCAL,
    ),
)
