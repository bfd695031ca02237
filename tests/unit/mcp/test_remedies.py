"""Every error in the code names operations so that each door can name its own: tools, routes or commands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import credenda
from credenda.errors import Invalid, NotFound
from credenda.interfaces.mcp.tool_specs import build_tools
from credenda.interfaces.remedies import FOR_THE_USER, name_routes, name_tools
from credenda.operations import OPERATIONS, TOOLSETS, Toolset

SOURCES = Path(credenda.__file__).parent
TOOLS = {name for toolset in TOOLSETS for name in build_tools(toolset=toolset)}
OPTION = re.compile(r"--[a-z]")
NAMED = re.compile(r"`([^`]+)`")
OTHER_DOORS = ("interfaces/", "bench/", "portability/", "hook_files.py", "adapters/", "compat/")
"""Packages whose errors no operation of a tool raises."""


def written(node: ast.expr) -> str:
    """Return a text as it is written, with X for what is filled in."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(written(part) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return ""


def is_advice(text: str) -> bool:
    return OPTION.search(text) is not None or ("`" in text and text.count("`") % 2 == 0)


def list_passed(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield every expression of a module that is, or is part of, what a call passes as what, why or fix."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, passed = waiting.pop()
        if passed and isinstance(node, ast.expr):
            yield node
        for child in ast.iter_child_nodes(node):
            given = isinstance(node, ast.Call) and child is not node.func and not isinstance(child, ast.keyword)
            named = isinstance(node, ast.keyword) and node.arg in {"what", "why", "fix"}
            waiting.append((child, passed or given or named))


def list_texts() -> Iterator[tuple[str, str]]:
    """Yield every text that is passed as what, why or fix of an error, with its file."""
    for path in SOURCES.rglob("*.py"):
        place = path.relative_to(SOURCES).as_posix()
        if not place.startswith(OTHER_DOORS):
            for node in list_passed(ast.parse(path.read_text("utf-8"))):
                if is_advice(text := written(node)):
                    yield place, text


TEXTS = sorted(set(list_texts()))


def tools_of(toolset: Toolset) -> dict[str, str]:
    offered = build_tools(toolset=toolset)
    return {route.operation.name: offer.name for offer in offered.values() for route in offer.routes}


def test_there_are_texts_to_walk() -> None:
    assert len(TEXTS) > 25


@pytest.mark.parametrize("toolset", TOOLSETS)
@pytest.mark.parametrize(("place", "text"), TEXTS, ids=str)
def test_a_tool_never_answers_with_a_command(place: str, text: str, toolset: Toolset) -> None:
    names = tools_of(toolset)
    shown = name_tools(Invalid("it failed", why=text, fix=text), names)
    assert "`credenda " not in shown.fix, place
    assert shown.fix.startswith(FOR_THE_USER) or not OPTION.search(shown.fix), place
    for name in NAMED.findall(shown.fix):
        assert name in names.values() or name not in OPERATIONS, place
    assert str(shown).startswith(f"it failed: {shown.why}; ")


@pytest.mark.parametrize(("place", "text"), TEXTS, ids=str)
def test_rest_never_answers_with_a_tool(place: str, text: str) -> None:
    shown = name_routes(Invalid("it failed", fix=text))
    assert not TOOLS.difference(OPERATIONS) & set(NAMED.findall(shown.fix)), place
    for name in NAMED.findall(shown.fix):
        assert name not in OPERATIONS or not OPERATIONS[name].rest, place


def test_the_same_advice_at_each_door() -> None:
    error = NotFound("no memory is called 'm7'", fix="copy an id from `list` or `search`", memory_id="m7")
    assert name_tools(error, tools_of("default")).fix == "copy an id from `inspect_memories` or `search_memories`"
    assert name_tools(error, tools_of("engram")).fix == "copy an id from `inspect_memories` or `recall`"
    assert name_routes(error).fix == "copy an id from `GET /v1/memories` or `POST /v1/search`"
    assert error.fix == "copy an id from `list` or `search`"
    assert name_tools(error, {}).ids == {"memory_id": "m7"}


def test_what_no_tool_does_is_said_to_be_for_the_user() -> None:
    error = Invalid("a row is damaged", fix="run `credenda doctor --repair`, which rebuilds it")
    assert name_tools(error, tools_of("full")).fix == "run `check_store` with repair, which rebuilds it"
    assert name_tools(error, tools_of("default")).fix == f"{FOR_THE_USER}run doctor with repair, which rebuilds it"
    assert name_routes(error).fix == error.fix
