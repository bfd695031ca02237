"""The errors of tools speak of tools, and those of REST of routes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda
from credenda.interfaces.mcp.tool_specs import ToolSpec, build_tools
from credenda.operations import OPERATIONS, TOOLSETS, Toolset
from credenda.testing import ManualClock

from .agent import Agent, drive, serving
from .served import serving as serving_http

NAMED = re.compile(r"`([^`]+)`")
FILLED = {"string": "tea", "boolean": True, "integer": 5, "number": 0.5, "array": ["tea"], "object": {"tea": "tea"}}


def fill(offer: ToolSpec, given: str) -> dict[str, Any]:
    """Return arguments with this text as every id, and a valid value of every other input that is required."""
    schema = offer.input_schema()["properties"]
    required = {name: schema[name] for name in offer.routes[-1].required}
    filled = {name: one["enum"][0] if "enum" in one else FILLED[one["type"]] for name, one in required.items()}
    return filled | {name: given for name in schema if name in {"memory_id", "contest_id", "change_id"}}


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_the_errors_of_tools_name_tools(mem: Credenda, toolset: Toolset) -> None:
    tools = build_tools(toolset=toolset)
    said = mem.remember("I live in Linz.").event_ids[0]
    mem.settle()
    (held,) = mem.list().items
    mem.forget(held.id)

    async def body(agent: Agent) -> None:
        failed: dict[str, Any] = {}
        for name, offer in tools.items():
            for given in ("m999-aaaaa1", "e999", "k1", "c1-aaaaa1", "tea", held.id, said, ""):
                result = await agent.result(name, **fill(offer, given))
                if result.is_error:
                    failed[f"{name} {given}"] = result.structured_content
        assert len(failed) > 20
        for told in failed.values():
            assert told["code"] != "internal", told
            for name in NAMED.findall(f"{told['message']} {told.get('fix', '')}"):
                assert name in tools or name not in OPERATIONS, told
                assert not name.startswith("credenda "), told
        advice = failed["delete_memory tea"]["fix"]
        assert "`inspect_memories`" in advice

    drive(serving(mem, toolset), body)


def test_the_errors_of_rest_name_routes(tmp_path: Path) -> None:
    tools = set(build_tools(toolset="full")) | set(build_tools(toolset="engram"))
    paths = ("memories/m999-aaaaa1", "memories/tea/why", "memories/m9/history", "events/e999", "contests/k1", "jobs/j1")
    with serving_http(tmp_path / "memory.db", ManualClock("2026-03-01")) as site:
        told = [site.send("GET", f"/v1/{path}").json() for path in paths]
        told.append(site.send("POST", "/v1/changes/c999/undo", json={}).json())
        told.append(site.send("POST", "/v1/memories/m9/restore", json={}).json())
    advice = [one["fix"] for one in told if "fix" in one]
    assert len(advice) == len(told)
    assert "copy an id from `GET /v1/memories` or `POST /v1/search`" in advice
    for name in (name for text in advice for name in NAMED.findall(text)):
        assert name not in tools
        assert name not in OPERATIONS or not OPERATIONS[name].rest
