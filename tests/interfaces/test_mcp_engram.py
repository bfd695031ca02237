"""The lifecycle over MCP by engram's names, as somebody who comes from there would call it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda, MemoryUnit
from credenda.interfaces.mcp.tool_specs import build_tools, estimate_tokens
from credenda.operations.mcp_tools import ENGRAM
from credenda.operations.table import OPERATIONS

from .agent import MODES, Agent, drive, serving

BY_MEMORY = ("update_status", "status_history", "promote", "demote", "pin", "unpin")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.requirement("C-021", "E-021", "E-022", "E-061", "E-128")
def test_the_lifecycle_answers_to_the_names_of_engram(mode: str, mem: Credenda) -> None:
    held = mem.store(MemoryUnit(text="The build takes nine minutes.", layer="episodic"))

    async def body(agent: Agent) -> None:
        assert (await agent.ask("remember", content="I live in Linz."))["status"] == "ok"
        assert (await agent.ask("recall", query="How long does the build take?"))["results"][0]["id"] == held.id
        assert (await agent.ask("promote", memory_id=held.id))["data"]["memory"]["layer"] == "semantic"
        assert (await agent.ask("demote", memory_id=held.id))["data"]["memory"]["layer"] == "episodic"
        assert (await agent.ask("pin", memory_id=held.id))["status"] == "ok"
        reason = "conflicting info from new source"
        await agent.ask("update_status", memory_id=held.id, new="challenged", reason=reason)
        first, second = (await agent.ask("status_history", memory_id=held.id))["history"]
        assert (first["old"], first["new"]) == (None, "active")
        assert (second["old"], second["new"], second["reason"]) == ("active", "challenged", reason)
        assert second["changed_at"].endswith("Z")
        refused: dict[str, Any] = await agent.fail("update_status", memory_id=held.id, new="candidate")
        assert refused["code"] == "conflict"

    drive(serving(mem, "full"), body, mode)


@pytest.mark.requirement("C-021")
def test_the_names_of_engram_cost_the_small_toolset_nothing() -> None:
    small, full = build_tools(), build_tools(toolset="full")
    for name, tool in ENGRAM.items():
        if name in OPERATIONS and "mcp" in OPERATIONS[name].doors:
            assert tool.name in full
            assert tool.name not in small
    assert all("memory_id" in full[name].inputs for name in BY_MEMORY)
    assert estimate_tokens(small.values()) <= 2_500


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.requirement("C-021", "E-071", "E-081")
def test_drift_is_checked_in_the_folders_that_a_person_named_and_in_no_other(mode: str, tmp_path: Path) -> None:
    code, other = tmp_path / "shop", tmp_path / "other"
    for folder in (code, other):
        folder.mkdir()
        (folder / "till.py").write_text("LIMIT = 3\n")
    settings = {"drift_roots": str(code)}

    async def body(agent: Agent) -> None:
        (tool,) = (one for one in (await agent.client.list_tools()).tools if one.name == "drift_check")
        assert set(tool.input_schema["properties"]) == {"fix"}
        for named in ({"roots": [str(other)]}, {"path": str(other)}):
            assert (await agent.fail("drift_check", **named))["code"] == "invalid"
        report = (await agent.ask("drift_check"))["data"]
        assert report["roots"] == [str(code)]
        assert [one["code"] for one in report["findings"]] == ["path-dead"]
        assert (await agent.ask("drift_check", fix=True))["data"]["invalidated"] == [held.id]

    with Credenda.open(tmp_path / "code.db", user="ana", workers=False, embedder="none", settings=settings) as mem:
        held = mem.store(MemoryUnit(text=f"The counter is in {code}/counter.py."))
        drive(serving(mem, "full"), body, mode)
        mem.manage.undo(mem.why(held.id).changes[-1].id)
        assert mem.get(held.id).status == "active"


@pytest.mark.requirement("C-021")
def test_without_a_named_folder_drift_says_what_is_missing(mem: Credenda) -> None:
    async def body(agent: Agent) -> None:
        refused = await agent.fail("drift_check")
        assert refused["code"] == "invalid"
        assert "drift_roots" in refused["message"]

    drive(serving(mem, "full"), body, "auto")


def test_a_name_waits_for_its_operation() -> None:
    assert ENGRAM["consolidate"].name == "consolidate"
    assert ("consolidate" in build_tools(toolset="full")) == ("consolidate" in OPERATIONS)
