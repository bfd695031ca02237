"""Keep the calls of a server to the project in which its client started it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from credenda.model.project import PROJECT
from credenda.operations.table import Operation

__all__ = ["bind_to_project"]


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
