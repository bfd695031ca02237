"""Code: what it declares, and whether what is remembered of it still holds."""

from __future__ import annotations

from typing import Final

from credenda.errors import Invalid, NotFound, Unavailable
from credenda.operations.entries.schema import Door, Operation, Param

__all__ = ["ENTRIES"]

_NAMES_FOLDERS: Final[frozenset[Door]] = frozenset({"python", "cli"})
"""Who may name folders to be read: neither a model, which may have been told to by what it read, nor a distant caller,
who would learn what lies on the disk of the server."""

ENTRIES: Final = (
    Operation(
        name="scan",
        call="data.scan",
        summary="Keep what the code in a folder declares, as memories of their own layer; a second scan adds nothing.",
        params=(Param(name="path", kind="path", help="The folder of the project.", positional=True),),
        output="ScanReport",
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        idempotent=True,
        doors=_NAMES_FOLDERS,
    ),
    Operation(
        name="drift",
        call="manage.drift",
        summary="Hold what memories claim about code against the code in the folders meant for it, and nothing else.",
        params=(
            Param(
                name="roots",
                kind="names",
                help="The folders of the projects. [default: those of the setting drift_roots]",
                positional=True,
                optional=True,
                person_only=True,
            ),
            Param(name="fix", kind="flag", default=False, help="Give up memories with errors; `undo` takes it back."),
        ),
        output="DriftReport",
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        idempotent=True,
        doors=frozenset({"python", "cli", "mcp"}),
    ),
)
