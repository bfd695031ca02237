"""The middleware of LangChain's agents, in real agents around a model that keeps what it was sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from credenda import Credenda
from credenda.adapters.langchain_agents import CredendaMiddleware
from credenda.text.fence import OPENING

Said = Callable[[str], list[tuple[str, str]]]
ASKED = "Which database do we use for billing?"


class Model(GenericFakeChatModel):
    """A model that answers in turn, and keeps the messages of each call."""

    sent: list[list[BaseMessage]] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.sent.append(messages)
        return super()._generate(messages, *args, **kwargs)

    def bind_tools(self, *_: Any, **__: Any) -> Model:
        return self


def make_model(*answers: AIMessage | str) -> Model:
    return Model(messages=iter(one if isinstance(one, AIMessage) else AIMessage(one) for one in answers))


def say(text: str) -> Any:
    return {"messages": [{"role": "user", "content": text}]}


def test_what_was_said_before_reaches_the_model_and_not_the_state(known: Credenda) -> None:
    model = make_model("Postgres.")
    agent: Any = create_agent(model, system_prompt="Be brief.", middleware=[CredendaMiddleware(known)])
    state = agent.invoke(say(ASKED))
    system, asked = model.sent[0]
    assert system.text.startswith("Be brief.")
    assert asked.text.startswith(ASKED)
    assert OPENING in asked.text
    assert "Postgres" in asked.text
    assert [one.text for one in state["messages"]] == [ASKED, "Postgres."]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_turn_is_remembered_in_its_thread(memory: Credenda, said: Said, *, asynchronous: bool) -> None:
    agent: Any = create_agent(make_model("Noted.", "Fine."), middleware=[CredendaMiddleware(memory, agent="planner")])
    config = {"configurable": {"thread_id": "t1"}}
    if asynchronous:
        await agent.ainvoke(say("I live in Linz."), config)
    else:
        agent.invoke(say("I live in Linz."), config)
    memory.settle()
    assert [one.value for one in memory.list(attribute="residence").items] == ["Linz"]
    assert said("t1") == [("user", "I live in Linz."), ("assistant", "Noted.")]


def test_a_call_for_each_tool_stores_and_recalls_once(known: Credenda, said: Said) -> None:
    def count_boats() -> int:
        """Count."""
        return 3

    call = AIMessage("", tool_calls=[{"name": "count_boats", "args": {}, "id": "c1"}])
    model = make_model(call, "Three.")
    agent: Any = create_agent(model, tools=[count_boats], middleware=[CredendaMiddleware(known)])
    agent.invoke(say(ASKED), {"configurable": {"thread_id": "t1"}})
    first, second = model.sent
    assert second[: len(first)] == first
    assert said("t1") == [("user", ASKED), ("assistant", "Three.")]


def test_what_a_message_was_given_stays_and_is_given_once(known: Credenda) -> None:
    model = make_model("Postgres.", "Postgres, still.")
    agent: Any = create_agent(model, middleware=[CredendaMiddleware(known)], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t1"}}
    agent.invoke(say(ASKED), config)
    agent.invoke(say("And which database is used for billing?"), config)
    first, second = model.sent
    assert second[: len(first)] == first
    assert [OPENING in one.text for one in second if one.type == "human"] == [True, False]


def test_several_messages_of_a_run_are_remembered_once(memory: Credenda, said: Said) -> None:
    agent: Any = create_agent(make_model("One.", "Two."), middleware=[CredendaMiddleware(memory)])
    messages: Any = [*say("I live in Linz.")["messages"], *say("I play the cello.")["messages"]]
    for _ in range(2):
        agent.invoke({"messages": messages}, {"configurable": {"thread_id": "t1"}})
    assert [text for role, text in said("t1") if role == "user"] == ["I live in Linz.", "I play the cello."]


def test_a_summary_is_not_the_users_word(known: Credenda, said: Said) -> None:
    model = make_model("One.", "Two.")
    summary = SummarizationMiddleware(make_model("SUMMARY"), trigger=("messages", 3), keep=("messages", 1))
    agent: Any = create_agent(model, middleware=[summary, CredendaMiddleware(known)], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t1"}}
    agent.invoke(say("Hello there."), config)
    agent.invoke(say(ASKED), config)
    assert any("SUMMARY" in one.text for one in model.sent[1])
    assert [text for role, text in said("t1") if role == "user"] == ["Hello there.", ASKED]


def test_a_failing_memory_does_not_fail_the_agent(memory: Credenda) -> None:
    agent: Any = create_agent(make_model("Hello."), middleware=[CredendaMiddleware(memory)])
    memory.close()
    assert agent.invoke(say("Hi."))["messages"][-1].text == "Hello."
