"""Bounds on the form of a JSON body: how deep it is nested, and how many items one level has."""

from __future__ import annotations

from typing import Any, cast

from credenda import limits
from credenda.interfaces.server.problems import Problem

__all__ = ["check_bounds"]


def check_bounds(parsed: object) -> None:
    """Raise `Problem` for a document that is nested too deep, or has a list or object with too many items."""
    level: list[object] = [parsed]
    for _ in range(limits.HTTP_DEPTH + 1):
        level = [inner for one in level for inner in _list_items(one)]
        if not level:
            return
    raise _make_problem(f"the body is nested deeper than {limits.HTTP_DEPTH} levels")


def _list_items(value: object) -> list[object]:
    """Return what is inside a list or an object."""
    if not isinstance(value, list | dict):
        return []
    items = cast("Any", value)
    if len(items) > limits.HTTP_BATCH:
        raise _make_problem(f"a list or object in the body has more than {limits.HTTP_BATCH:,} items")
    return list(items.values() if isinstance(value, dict) else items)


def _make_problem(title: str) -> Problem:
    return Problem(413, title, code="limit_exceeded", fix="send less at a time")
