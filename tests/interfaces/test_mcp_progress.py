"""Calls that take long: progress, cancellation, and results of bounded length."""

from __future__ import annotations

from threading import Event
from typing import Any, cast

import anyio
import mcp_types as wire
import pytest
from mcp import Client

from credenda import Credenda, MemoryUnit
from credenda.current_call import check_deadline, report_progress, report_to, report_within
from credenda.errors import Unavailable
from credenda.interfaces.mcp import server as server_module
from credenda.testing import ManualClock

from .agent import MODES, Agent, drive, say, serving

STEPS = ["forgetting", "merge", "cards", "bridges", "probe", "drift", "prune"]
Step = tuple[float, float | None, str | None]


@pytest.mark.parametrize("mode", MODES)
def test_a_long_call_reports_ever_more(mode: str, mem: Credenda) -> None:
    say(mem, *[f"My hobby is number{n}ing." for n in range(8)])
    steps: list[Step] = []

    async def note(done: float, total: float | None, doing: str | None) -> None:
        steps.append((done, total, doing))

    async def body(agent: Agent) -> None:
        told = await agent.client.call_tool("dream", {}, progress_callback=cast("Any", note))
        assert not told.is_error

    drive(serving(mem, "full"), body, mode)
    assert {total for _, total, _ in steps} == {len(STEPS)}
    assert [done for done, _, _ in steps] == sorted({done for done, _, _ in steps})
    assert [doing for done, _, doing in steps if done == int(done)] == STEPS


@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_wants_no_progress_gets_none(mode: str, mem: Credenda) -> None:
    say(mem, "I like tea.")
    received: list[object] = []

    async def note(message: object) -> None:
        received.append(message)

    async def run() -> None:
        async with Client(serving(mem, "full"), mode=mode, message_handler=cast("Any", note)) as client:
            assert not (await client.call_tool("dream", {})).is_error

    anyio.run(run)
    assert [one for one in received if isinstance(one, wire.ProgressNotification)] == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tool", ["get_memory_stats", "dream"])
def test_the_work_of_a_cancelled_call_stops(
    mode: str, tool: str, mem: Credenda, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = Event(), Event()
    seen: list[str] = []

    def work_until_stopped(*_: object, **__: object) -> Any:  # noqa: ANN401 - never returns
        begun.set()
        try:
            while True:
                check_deadline()
        except Unavailable as error:
            seen.append(error.what)
            raise
        finally:
            ended.set()

    monkeypatch.setattr(server_module, "invoke", work_until_stopped)

    async def body(agent: Agent) -> None:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(agent.result, tool)
                await anyio.to_thread.run_sync(begun.wait)
                scope.cancel()
        assert await anyio.to_thread.run_sync(ended.wait, 10)
        monkeypatch.undo()
        assert (await agent.ask("get_memory_stats"))["total"] == 0

    drive(serving(mem, "full"), body, mode)
    assert seen == ["the call was cancelled"]


def test_progress_of_a_part_is_within_that_part() -> None:
    steps: list[tuple[float, float, str]] = []

    def note(done: float, total: float, doing: str) -> None:
        steps.append((done, total, doing))

    with report_to(note):
        report_progress(0, 2, "first")
        with report_within(1, 2, "second"):
            report_progress(1, 4, "inside")
            report_progress(4, 4, "inside")
            with report_within(1, 2, "deeper"):
                report_progress(0, 0, "of nothing")
    assert steps == [(0, 2, "first"), (1, 2, "second"), (1.25, 2, "second"), (1.99, 2, "second"), (1.5, 2, "second")]
    report_progress(1, 1, "to nobody")
    assert len(steps) == 5


@pytest.mark.parametrize("mode", MODES)
def test_a_long_history_is_shown_in_part(mode: str, mem: Credenda, clock: ManualClock) -> None:
    for number in range(60):
        day = f"{2020 + number // 12}-{number % 12 + 1:02}-01"
        unit = MemoryUnit(
            text=f"I work for firm{number}", entity="user", attribute="employer", value=f"firm{number}", created_at=day
        )
        mem.store(unit)

    async def body(agent: Agent) -> None:
        told = await agent.ask("memory_history", entity="user", attribute="employer")
        assert len(told["versions"]) == 50
        assert told["versions"][-1]["value"] == "firm59"
        assert told["versions_left_out"] == 10

    drive(serving(mem), body, mode)
    assert clock.now_us() > 0
