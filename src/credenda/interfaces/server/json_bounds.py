"""Bounds on the form of a JSON body: how deep it is nested, and how many items one level has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from starlette.requests import Request

from credenda import limits
from credenda.errors import Conflict
from credenda.interfaces.server.problems import Problem
from credenda.model.contest import ContestCase
from credenda.model.job import JobInfo
from credenda.model.memory import Memory
from credenda.operations.table import Rest
from credenda.services.expectation import name_version


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


# Versions of resources over HTTP: ETag in answers, If-Match in requests (RFC 9110).


_TAGS: Final = re.compile(r'\s*(W/)?"([\x21\x23-\x7e]{1,128})"\s*(?:,|$)')
_ANY: Final = "*"
_EXPECTED: Final = "expected"


def make_etag(route: Rest, value: object, named: str) -> Mapping[str, str]:
    """Return the header ETag of an answer that shows what the path names; no header for any other answer."""
    if not route.versioned or not isinstance(value, Memory | JobInfo | ContestCase):
        return {}
    is_named = route.method == "GET" or value.id == named
    return {"ETag": f'"{name_version(value)}"'} if is_named else {}


def read_if_match(request: Request, route: Rest) -> frozenset[str] | None:
    """Return the versions of which a request may change one; None where it names none.

    A weak tag matches nothing, because If-Match compares strictly. Raises `Problem` for a header that cannot be read,
    and on a route whose resource has no versions.
    """
    header = request.headers.get("if-match")
    if header is None:
        return None
    if not route.versioned or route.method == "GET":
        raise Problem(400, "If-Match has no meaning here", fix="leave it out")
    if header.strip() == _ANY:
        return frozenset({_ANY})
    found: list[str] = []
    at = 0
    while at < len(header):
        tag = _TAGS.match(header, at)
        if tag is None:
            raise Problem(400, "If-Match cannot be read", fix="send the ETag of an answer, with its quotes")
        found += [] if tag[1] else [tag[2]]
        at = tag.end()
    return frozenset(found)


def make_stale_problem(error: Conflict) -> Problem | None:
    """Return the answer to a request that names another version than the present one; None for another conflict."""
    if _EXPECTED not in error.ids:
        return None
    etag = {"ETag": f'"{error.ids["version"]}"'}
    problem = Problem(412, error.what, code="precondition_failed", detail=error.why, fix=error.fix, headers=etag)
    problem.body["ids"] = dict(error.ids)
    return problem
