"""Layers, statuses and pins, moved through every door: the same steps, the same refusals, the same history."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from credenda import Conflict, Credenda, Invalid, MemoryUnit
from credenda.interfaces.cli.main import cli
from credenda.interfaces.serialize import to_jsonable
from credenda.model.memory import TRANSITIONS, Layer, Status

from .agent import Agent, drive, serving
from .terminal import NO_SETTINGS

Call = Callable[..., dict[str, Any]]
REASON = "conflicting info from new source"


def _by_client(path: Path) -> Call:
    def call(name: str, memory_id: str, *more: str) -> dict[str, Any]:
        with Credenda.open(path, user="ana", embedder="none", workers=False) as mem:
            verb = getattr(mem.manage, name)
            try:
                answer = verb(memory_id, more[0], reason=more[1]) if more else verb(memory_id)
            except (Conflict, Invalid) as error:
                return {"code": error.code}
            return {"answer": to_jsonable(answer)}

    return call


def _by_command(path: Path) -> Call:
    def call(name: str, memory_id: str, *more: str) -> dict[str, Any]:
        options = [more[0], "--reason", more[1]] if more else []
        argv = ["--json", "--db", str(path), "--user", "ana", name.replace("_", "-"), memory_id, *options]
        result = CliRunner().invoke(cli, argv, env=NO_SETTINGS)
        if result.exit_code:
            return {"code": {Conflict.exit_code: "conflict", Invalid.exit_code: "invalid"}[result.exit_code]}
        return {"answer": json.loads(result.stdout)}

    return call


def _by_tool(path: Path) -> Call:
    def call(name: str, memory_id: str, *more: str) -> dict[str, Any]:
        outside = {"set_status": "update_status"}.get(name, name)
        given = {"new": more[0], "reason": more[1]} if more else {}
        answers: list[dict[str, Any]] = []

        async def body(agent: Agent) -> None:
            answers.append((await agent.result(outside, memory_id=memory_id, **given)).structured_content or {})

        with Credenda.open(path, user="ana", embedder="none", workers=False) as mem:
            drive(serving(mem, "engram"), body)
        (found,) = answers
        if found.get("status") == "error":
            return {"code": found["code"]}
        return {"answer": found.get("history") or found["data"].get("memory", {})}

    return call


DOORS = {"client": _by_client, "command": _by_command, "tool": _by_tool}


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, tmp_path: Path) -> Call:
    return DOORS[request.param](tmp_path / "memory.db")


@pytest.fixture
def held(tmp_path: Path) -> Iterator[str]:
    with Credenda.open(tmp_path / "memory.db", user="ana", embedder="none", workers=False) as mem:
        yield mem.store(MemoryUnit(text="The build takes nine minutes.", layer="episodic")).id


@pytest.mark.requirement("E-061", "E-015", "E-016", "E-017", "E-021", "E-022")
def test_each_door_moves_a_memory_and_tells_how_it_moved(door: Call, held: str) -> None:
    assert door("promote", held)["answer"]["layer"] == "semantic"
    assert door("promote", held) == {"code": "conflict"}
    assert door("demote", held)["answer"]["layer"] == "episodic"
    assert door("set_status", held, "challenged", REASON)["answer"]["status"] == "challenged"
    assert door("set_status", held, "invalidated", "it was wrong")["answer"]["status"] == "invalidated"
    assert door("set_status", held, "archived", "no way there") == {"code": "conflict"}
    assert "code" in door("set_status", held, "perhaps", "no such status")
    steps = door("status_history", held)["answer"]
    assert [(step["old"], step["new"], step["reason"]) for step in steps[1:]] == [
        ("active", "challenged", REASON),
        ("challenged", "invalidated", "it was wrong"),
    ]
    assert all(datetime.fromisoformat(step["changed_at"]) for step in steps)


@pytest.mark.requirement("E-062")
def test_each_door_pins(door: Call, held: str, tmp_path: Path) -> None:
    for name, pinned in (("pin", 1), ("unpin", 0)):
        assert "code" not in door(name, held)
        with closing(sqlite3.connect(tmp_path / "memory.db")) as db, db:
            assert db.execute("SELECT pinned FROM memories WHERE expired_at IS NULL").fetchall() == [(pinned,)]
        db.close()


@pytest.mark.requirement("E-021")
def test_every_illegal_step_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    with Credenda.open(tmp_path / "memory.db", user="ana", embedder="none", workers=False) as mem:
        ways = {Status.ACTIVE: (), Status.CHALLENGED: ("challenged",), Status.INVALIDATED: ("invalidated",)}
        for start, way in ways.items():
            held = mem.store(MemoryUnit(text=f"A note that is {start}."))
            for status in way:
                mem.manage.set_status(held.id, status)
            before = mem.get(held.id)
            for status in set(Status) - TRANSITIONS[start] - {start, Status.DELETED}:
                with pytest.raises(Conflict):
                    mem.manage.set_status(held.id, status)
            assert mem.get(held.id) == before


@pytest.mark.requirement("E-001", "E-002", "E-003", "E-004", "E-005")
def test_every_layer_can_be_asked_for(mem: Credenda) -> None:
    for layer in Layer:
        mem.store(MemoryUnit(text=f"A note of the layer {layer}.", layer=layer))
    for layer in Layer:
        assert [one.layer for one in mem.list(layer=layer).items] == [layer]
