"""Keep the calls of a server to the project in which its client started it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from credenda.errors import NotFound
from credenda.interfaces.authorization import authorize
from credenda.interfaces.call_note import note_operation
from credenda.model.project import PROJECT
from credenda.operations.table import OPERATIONS, Operation
from credenda.text.fence import CLOSING, OPENING, fence_text

if TYPE_CHECKING:
    from credenda.client import Credenda


def bind_to_project(operation: Operation, given: Mapping[str, Any], project: str | None) -> dict[str, Any]:
    """Return the inputs of a call with the project: searches stay in it, and what is stored belongs to it."""
    bound = dict(given)
    if project is None:
        return bound
    names = {param.name for param in operation.params}
    if PROJECT in names:
        bound.setdefault(PROJECT, project)
    if operation.name == "remember" and project:
        bound["metadata"] = {PROJECT: project, **(bound.get("metadata") or {})}
    return bound


# The directory of a memory as resources: a page, or the listing of a folder, fenced as data.


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
