"""The hook of Haystack's agents, in real agents around a model that keeps what it was sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Tool

from credenda import Credenda, Invalid
from credenda.adapters.haystack import CredendaHook
from credenda.text.fence import OPENING

Said = Callable[[str], list[tuple[str, str]]]
ASKED = "Which database do we use for billing?"
SESSION = {"session": "s1"}


@component
class Model:
    """A model that answers in turn, and keeps the messages of each call."""

    def __init__(self, *answers: str | ChatMessage) -> None:
        self.sent: list[list[str]] = []
        self._answers = list(answers)

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, Any]:
        del tools
        self.sent.append(["".join(one.texts) for one in messages])
        answer = self._answers.pop(0)
        return {"replies": [ChatMessage.from_assistant(answer) if isinstance(answer, str) else answer]}


def make_agent(memory: Credenda, model: Any, **given: Any) -> Agent:
    hook: Any = CredendaHook(memory)
    return Agent(chat_generator=model, hooks={"before_run": [hook], "after_run": [hook]}, **given)


def test_what_was_said_before_reaches_the_model_once(known: Credenda) -> None:
    model = Model("Postgres.", "Postgres, still.")
    agent = make_agent(known, model)
    first = agent.run(messages=[ChatMessage.from_user(ASKED)], hook_context=SESSION)["messages"]
    again = ChatMessage.from_user("And which database is used for billing?")
    agent.run(messages=[*first, again], hook_context=SESSION)
    told, later = model.sent
    assert "Postgres" in told[-1]
    assert OPENING in told[-1]
    assert later[: len(told)] == told
    assert OPENING not in later[-1]


def test_a_history_of_the_programs_own_gets_the_same_texts(known: Credenda) -> None:
    model = Model("Postgres.", "Postgres, still.")
    agent = make_agent(known, model)
    asked, answered = ChatMessage.from_user(ASKED), ChatMessage.from_assistant("Postgres.")
    agent.run(messages=[asked], hook_context=SESSION)
    agent.run(messages=[asked, answered, ChatMessage.from_user("Thanks for that.")], hook_context=SESSION)
    told, later = model.sent
    assert later[: len(told)] == told


def test_what_was_told_leaves_the_history_with_its_deletion(known: Credenda) -> None:
    model = Model("Postgres.", "I do not know.")
    agent = make_agent(known, model)
    first = agent.run(messages=[ChatMessage.from_user(ASKED)], hook_context=SESSION)["messages"]
    for one in known.list().items:
        known.delete(one.id)
    agent.run(messages=[*first, ChatMessage.from_user("And now?")], hook_context=SESSION)
    assert OPENING in "".join(model.sent[0])
    assert OPENING not in "".join(model.sent[1])
    assert ASKED in model.sent[1]


def test_several_messages_of_a_run_are_remembered(memory: Credenda, said: Said) -> None:
    messages = [ChatMessage.from_user(one) for one in ("I live in Linz.", "I play the cello.")]
    make_agent(memory, Model("Noted.")).run(messages=messages, hook_context=SESSION)
    assert said("s1") == [("user", "I live in Linz."), ("user", "I play the cello."), ("assistant", "Noted.")]


def test_what_was_said_before_a_tool_ends_the_run_is_remembered(memory: Credenda, said: Said) -> None:
    call = ToolCall(tool_name="count_boats", arguments={})
    model = Model(ChatMessage.from_assistant("I count them.", tool_calls=[call]))
    tool = Tool("count_boats", "Count.", {"type": "object", "properties": {}}, function=lambda: "3")
    agent = make_agent(memory, model, tools=[tool], exit_conditions=["count_boats"])
    agent.run(messages=[ChatMessage.from_user("How many boats do I have?")], hook_context=SESSION)
    assert said("s1") == [("user", "How many boats do I have?"), ("assistant", "I count them.")]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_turn_is_remembered(memory: Credenda, said: Said, *, asynchronous: bool) -> None:
    agent = make_agent(memory, Model("Noted."))
    messages = [ChatMessage.from_user("I live in Linz.")]
    if asynchronous:
        await agent.run_async(messages=messages, hook_context=SESSION)
    else:
        agent.run(messages=messages, hook_context=SESSION)
    memory.settle()
    assert [one.value for one in memory.list(attribute="residence").items] == ["Linz"]
    assert said("s1") == [("user", "I live in Linz."), ("assistant", "Noted.")]


@pytest.mark.parametrize("prompt", ["Be brief.", None])
def test_the_core_is_in_the_message_of_the_system(memory: Credenda, prompt: str | None) -> None:
    memory.remember("Always answer in French.", session="before")
    memory.settle()
    model = Model("Oui.")
    make_agent(memory, model, system_prompt=prompt).run(messages=[ChatMessage.from_user("Hello there.")])
    system, asked = model.sent[0]
    assert system.startswith(prompt or OPENING[:8])
    assert "French" in system
    assert asked == "Hello there."


def test_it_is_not_written_to_a_file(memory: Credenda) -> None:
    with pytest.raises(Invalid, match="open memory"):
        CredendaHook(memory).to_dict()
    with pytest.raises(Invalid, match="open memory"):
        CredendaHook.from_dict({})


def test_a_failing_memory_does_not_fail_the_agent(memory: Credenda) -> None:
    agent = make_agent(memory, Model("Hello."))
    memory.close()
    assert agent.run(messages=[ChatMessage.from_user("Hi.")])["last_message"].text == "Hello."
