"""Entries for code: scanning, and checking memories about code."""

from __future__ import annotations

from typing import Final

from credenda.errors import Invalid, NotFound, Unavailable
from credenda.operations.entries.schema import Door, Operation, Param

__all__ = ["ENTRIES"]

_NAMES_FOLDERS: Final[frozenset[Door]] = frozenset({"python", "cli"})
"""Interfaces that may name folders to read. MCP is excluded because a model may follow injected instructions, REST
because a remote caller could read the server's disk."""

ENTRIES: Final = (
    Operation(
        name="scan",
        call="data.scan",
        summary="Store the declarations of the code in a folder, in a layer of their own; a second scan adds nothing.",
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
        summary="Check what memories claim about code against the code in the given folders.",
        params=(
            Param(
                name="roots",
                kind="names",
                help="Project folders. [default: the setting drift_roots]",
                positional=True,
                optional=True,
                person_only=True,
            ),
            Param(name="fix", kind="flag", default=False, help="Invalidate memories with errors; `undo` reverses it."),
        ),
        output="DriftReport",
        errors=(Invalid, NotFound, Unavailable),
        writes=True,
        idempotent=True,
        doors=frozenset({"python", "cli", "mcp"}),
    ),
)
