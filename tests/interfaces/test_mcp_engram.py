"""The lifecycle over MCP by engram's names, as somebody who comes from there would call it."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda, MemoryUnit
from credenda.interfaces.mcp.tool_specs import build_tools
from credenda.operations import ENGRAM, TOOLSETS, Toolset
from docs_mcp import estimate_tokens

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
        assert date.fromisoformat(second["changed_at"])
        refused: dict[str, Any] = await agent.fail("update_status", memory_id=held.id, new="candidate")
        assert refused["code"] == "conflict"

    drive(serving(mem, "engram"), body, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.requirement("C-021")
def test_consolidate_runs_the_seven_steps(mode: str, mem: Credenda) -> None:
    seven = ["forgetting", "merge", "cards", "bridges", "probe", "drift", "prune"]
    for at in range(5):
        mem.store(MemoryUnit(text=f"Bea keeps hen number {at}.", entity="Bea"))

    async def body(agent: Agent) -> None:
        planned = (await agent.ask("consolidate", dry_run=True))["data"]
        assert [step["name"] for step in planned["steps"]] == seven
        done = (await agent.ask("consolidate"))["data"]
        assert [step["name"] for step in done["steps"]] == seven
        (card,) = mem.list(entity="Bea", attribute="peer_card").items
        assert "hen number 4" in card.text

    drive(serving(mem, "engram"), body, mode)


@pytest.mark.requirement("C-021")
def test_the_names_of_engram_are_a_toolset_of_their_own() -> None:
    small, engram = build_tools(), build_tools(toolset="engram")
    named = {tool.name for tool in ENGRAM.values()}
    assert named <= set(engram)
    assert named.isdisjoint(small)
    assert not {"store_memory", "search_memories"} & set(engram)
    assert set(engram) - named == set(small) - {"store_memory", "search_memories"}
    assert all("memory_id" in engram[name].inputs for name in BY_MEMORY)
    assert estimate_tokens(small.values()) <= 2_500
    assert estimate_tokens(engram.values()) <= 6_000


@pytest.mark.requirement("C-021")
@pytest.mark.parametrize("toolset", TOOLSETS)
def test_no_toolset_has_two_tools_for_one_operation(toolset: Toolset) -> None:
    behind = [route.operation.name for offer in build_tools(toolset=toolset).values() for route in offer.routes]
    assert sorted(behind) == sorted(set(behind))


@pytest.mark.requirement("C-021")
def test_the_full_toolset_has_every_default_tool_and_none_of_the_names_of_engram_that_double_it() -> None:
    full = build_tools(toolset="full")
    assert set(build_tools()) <= set(full)
    assert not {"remember", "recall", "update_status", "pin", "unpin", "consolidate", "list_contests"} & set(full)


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
