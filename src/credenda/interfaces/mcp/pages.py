"""The directory of a memory as resources: a page, or the listing of a folder, fenced as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credenda.errors import NotFound
from credenda.interfaces.authorization import authorize
from credenda.interfaces.call_note import note_operation
from credenda.operations.table import OPERATIONS
from credenda.text.fence import CLOSING, OPENING, fence_text

if TYPE_CHECKING:
    from credenda.client import Credenda

__all__ = ["read_resource_page"]

_OPERATION = OPERATIONS["list"]
"""The operation whose permission and audit apply: a page shows memories as a list does."""


def read_resource_page(memory: Credenda, path: str) -> str:
    """Return a page or listing as text for a model; raises `NotFound` for an unknown path."""
    note_operation(_OPERATION, "mcp", {"path": path})
    authorize(_OPERATION, memory)
    try:
        lines = memory.directory.read(path).text.split("\n")
    except NotFound:
        lines = [f"{one.path}/" if one.folder else one.path for one in memory.directory.ls(path)]
    return "\n".join([OPENING, *map(_fence_line, lines), CLOSING])


def _fence_line(line: str) -> str:
    """Escape a line, keeping its indentation."""
    words = line.lstrip(" ")
    return " " * (len(line) - len(words)) + fence_text(words)
