"""A session of the OpenAI Agents SDK: an exact transcript, and a memory of what was said."""

from __future__ import annotations

from typing import Any

import pytest
from agents import Agent, RunConfig, Runner
from agents.items import ModelResponse, TResponseInputItem
from agents.memory import Session, SessionSettings
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from credenda import Credenda
from credenda.adapters.openai_agents import CredendaSession


def say(role: str, text: str) -> TResponseInputItem:
    return {"role": role, "content": text}  # type: ignore[return-value, misc]


CALL: TResponseInputItem = {
    "type": "function_call",
    "call_id": "c1",
    "name": "look_up",
    "arguments": '{"place": "Linz"}',
}
PARTS: TResponseInputItem = {
    "type": "message",
    "role": "assistant",
    "id": "msg_1",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Linz is on the Danube.", "annotations": []}],
}


@pytest.fixture
def session(memory: Credenda) -> CredendaSession:
    return CredendaSession("s1", memory)


def test_it_is_a_session(session: CredendaSession) -> None:
    assert isinstance(session, Session)


async def test_items_come_back_as_they_were_in_order(session: CredendaSession) -> None:
    items = [say("user", "Hello!"), CALL, PARTS, say("user", "Hello!"), say("system", "Be brief.")]
    await session.add_items(items[:2])
    await session.add_items([])
    await session.add_items(items[2:])
    assert await session.get_items() == items


@pytest.mark.parametrize(("limit", "expected"), [(None, 5), (2, 2), (0, 0), (9, 5)])
async def test_a_limit_gives_the_latest_items_in_order(
    session: CredendaSession, limit: int | None, expected: int
) -> None:
    items = [say("user", f"Message {number}") for number in range(5)]
    await session.add_items(items)
    assert await session.get_items(limit) == items[len(items) - expected :]


async def test_the_settings_of_the_session_limit_it(memory: Credenda) -> None:
    session = CredendaSession("s1", memory, session_settings=SessionSettings(limit=1))
    await session.add_items([say("user", "one"), say("user", "two")])
    assert await session.get_items() == [say("user", "two")]


async def test_the_latest_item_is_popped_and_may_be_added_once_more(session: CredendaSession) -> None:
    await session.add_items([say("user", "one"), say("user", "two")])
    assert await session.pop_item() == say("user", "two")
    await session.add_items([say("user", "two")])
    assert await session.get_items() == [say("user", "one"), say("user", "two")]
    assert [await session.pop_item() for _ in range(3)] == [say("user", "two"), say("user", "one"), None]


async def test_a_cleared_session_is_empty_and_others_are_not(session: CredendaSession, memory: Credenda) -> None:
    other = CredendaSession("s10", memory)
    await session.add_items([say("user", "one")])
    await other.add_items([say("user", "two")])
    await session.clear_session()
    assert await session.get_items() == []
    assert await other.get_items() == [say("user", "two")]


async def test_what_the_user_says_becomes_memory_and_tool_calls_do_not(
    session: CredendaSession, memory: Credenda
) -> None:
    await session.add_items([say("user", "I live in Linz."), CALL, PARTS])
    memory.settle()
    assert [one.text for one in memory.list().items] == ["I live in Linz."]
    found = memory.search("Where is Linz?", session="s1").hits
    assert "Linz is on the Danube." in [hit.quote for hit in found]
    assert not memory.search("look_up").hits


async def test_without_remembering_only_the_transcript_is_kept(memory: Credenda) -> None:
    session = CredendaSession("s1", memory, remember=False)
    await session.add_items([say("user", "I live in Linz.")])
    memory.settle()
    assert memory.list().items == ()
    assert await session.get_items() == [say("user", "I live in Linz.")]


async def test_a_deleted_message_leaves_the_transcript(session: CredendaSession, memory: Credenda) -> None:
    await session.add_items([say("user", "I live in Linz."), say("user", "I have a cat.")])
    memory.settle()
    linz = next(one for one in memory.list().items if "Linz" in one.text)
    memory.delete(linz.id)
    assert await session.get_items() == [say("user", "I have a cat.")]


async def test_a_deleted_statement_does_not_return_by_the_transcript(
    session: CredendaSession, memory: Credenda
) -> None:
    await session.add_items([say("user", "I live in Linz.")])
    memory.settle()
    memory.delete(memory.list().items[0].id)
    await session.add_items([say("user", "I live in Linz.")])
    assert "Linz" not in str(await session.get_items())


@pytest.mark.parametrize("item", [say("user", "my password is hunter2!"), {**CALL, "arguments": "password: hunter2!"}])
async def test_secrets_are_masked_in_the_transcript(session: CredendaSession, item: Any) -> None:
    await session.add_items([item])
    assert "hunter2" not in str(await session.get_items())


class EchoModel(Model):
    """A model that says how many items it was given."""

    async def get_response(self, *_: Any, **given: Any) -> ModelResponse:
        text = ResponseOutputText(type="output_text", text=f"{len(given['input'])} items", annotations=[])
        message = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


async def test_an_agent_runs_with_the_session(session: CredendaSession) -> None:
    agent = Agent(name="echo", model=EchoModel())
    quiet = RunConfig(tracing_disabled=True)
    assert (await Runner.run(agent, "I live in Linz.", session=session, run_config=quiet)).final_output == "1 items"
    assert (await Runner.run(agent, "Where?", session=session, run_config=quiet)).final_output == "3 items"
    assert len(await session.get_items()) == 4
