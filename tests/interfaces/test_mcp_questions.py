"""Contests put to the user: the form, its answers, and clients that cannot ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

import anyio
import mcp_types as wire
import pytest
from mcp import Client

from credenda import Credenda
from credenda.interfaces.authorization import Principal, use_principal
from credenda.interfaces.mcp.server import build_server
from credenda.operations import Toolset
from tests.waiting import limit_waiting

from .agent import MODES, Agent, drive, serving, swing

pytestmark = pytest.mark.parametrize("mode", MODES)
Ask = Callable[[Agent], Awaitable[Any]]


class User:
    """Answers questions in a fixed way, and keeps them."""

    def __init__(self, action: str = "accept", **content: object) -> None:
        self.reply: Any = wire.ElicitResult.model_validate({"action": action, "content": content or None})
        self.asked: list[wire.ElicitRequestFormParams] = []

    async def answer(self, _: object, asked: Any) -> wire.ElicitResult:  # noqa: ANN401 - a form or an address
        self.asked.append(asked)
        return self.reply


def ask_with(mem: Credenda, user: User, mode: str, body: Ask, *, toolset: Toolset = "default") -> Any:  # noqa: ANN401
    """Let a client whose user can be asked call the server."""

    async def run() -> object:
        with limit_waiting("the end of a conversation with a server"):
            async with Client(
                serving(mem, toolset), mode=mode, elicitation_callback=cast("Any", user.answer)
            ) as client:
                return await body(Agent(client))

    return anyio.run(run)


def resolve_only(mem: Credenda, user: User, mode: str) -> wire.CallToolResult:
    """Call the tool with a contest and without an answer."""
    contest = mem.manage.contests()[0]
    return ask_with(mem, user, mode, lambda agent: agent.result("resolve_conflict", contest_id=contest.id))


def test_the_user_chooses_a_value_in_a_form(mode: str, mem: Credenda) -> None:
    swing(mem)
    user = User(keep="morning meetings")
    told = resolve_only(mem, user, mode)
    assert not told.is_error
    assert told.structured_content["data"]["contest"]["state"] == "resolved"
    (form,) = user.asked
    assert form.message == mem.manage.contests()[0].question
    assert form.requested_schema["properties"]["keep"]["enum"] == ["afternoon meetings", "morning meetings"]
    assert mem.manage.contests()[0].resolution == "morning meetings"


def test_the_user_gives_a_rule_instead(mode: str, mem: Credenda) -> None:
    swing(mem)
    told = resolve_only(mem, User(rule="morning when consulting, else afternoon"), mode)
    assert not told.is_error
    (contest,) = mem.manage.contests()
    assert contest.scopes == {"morning meetings": "consulting", "afternoon meetings": "default"}


@pytest.mark.parametrize(
    ("action", "content"), [("decline", {}), ("cancel", {}), ("accept", {}), ("accept", {"rule": " "})]
)
def test_no_answer_changes_nothing(mode: str, action: str, content: dict[str, object], mem: Credenda) -> None:
    swing(mem)
    before = mem.stats()
    told = resolve_only(mem, User(action, **content), mode)
    assert not told.is_error
    assert told.structured_content["answer"] == ("decline" if action == "accept" else action)
    assert told.structured_content["contests"][0]["state"] == "open"
    assert mem.stats() == before


def test_an_answer_that_is_no_choice_is_refused(mode: str, mem: Credenda) -> None:
    swing(mem)
    before = mem.stats()
    told = resolve_only(mem, User(keep="evening meetings"), mode)
    assert told.is_error
    assert told.structured_content["code"] == "invalid"
    assert mem.stats() == before


def test_a_client_that_cannot_ask_gets_the_choices(mode: str, mem: Credenda) -> None:
    swing(mem)

    async def body(agent: Agent) -> None:
        told = await agent.fail("resolve_conflict", contest_id=mem.manage.contests()[0].id)
        assert "afternoon meetings, morning meetings" in told["message"] + told["fix"]

    drive(serving(mem), body, mode)


def test_an_answer_in_the_call_asks_nobody(mode: str, mem: Credenda) -> None:
    swing(mem)
    user = User(keep="afternoon meetings")
    contest = mem.manage.contests()[0]

    async def body(agent: Agent) -> None:
        await agent.ask("resolve_conflict", contest_id=contest.id, keep="morning")
        await agent.fail("resolve_conflict", contest_id=contest.id)
        await agent.fail("resolve_conflict", contest_id="k99-000000")
        assert (await agent.ask("resolve_conflict"))["contests"]

    ask_with(mem, user, mode, body)
    assert user.asked == []


def test_who_may_not_resolve_is_not_asked(mode: str, mem: Credenda) -> None:
    swing(mem)
    user = User(keep="morning meetings")
    reader = Principal(issuer="test", subject="reader", tenant="ana", scopes=frozenset({"memory:read"}))

    @contextmanager
    def lend() -> Generator[Credenda]:
        with use_principal(reader):
            yield mem

    async def run() -> wire.CallToolResult:
        async with Client(build_server(lend), mode=mode, elicitation_callback=cast("Any", user.answer)) as client:
            return await client.call_tool("resolve_conflict", {"contest_id": mem.manage.contests()[0].id})

    told = anyio.run(run)
    assert told.structured_content["code"] == "forbidden"
    assert user.asked == []
    assert mem.manage.contests()[0].state == "open"
