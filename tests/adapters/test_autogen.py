"""The memory of AutoGen's agents, in real agents around a model that keeps what it was sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import TextMessage
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_core.models import ChatCompletionClient, CreateResult, LLMMessage, ModelInfo, RequestUsage

from credenda import Credenda, Invalid
from credenda.adapters.autogen import CredendaMemory
from credenda.text.fence import OPENING

Said = Callable[[str], list[tuple[str, str]]]
ASKED = "Which database do we use for billing?"


class Model(ChatCompletionClient):
    """A model that answers in turn, and keeps the messages of each call."""

    def __init__(self, *answers: str) -> None:
        self.sent: list[list[str]] = []
        self._answers = list(answers)

    async def create(self, messages: Sequence[LLMMessage], **_: Any) -> CreateResult:
        self.sent.append([str(one.content) for one in messages])
        usage = RequestUsage(prompt_tokens=1, completion_tokens=1)
        return CreateResult(finish_reason="stop", content=self._answers.pop(0), usage=usage, cached=False)

    def create_stream(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def close(self) -> None: ...

    def actual_usage(self) -> RequestUsage:
        return RequestUsage(prompt_tokens=0, completion_tokens=0)

    total_usage = actual_usage

    def count_tokens(self, *_: Any, **__: Any) -> int:
        return 0

    remaining_tokens = count_tokens

    @property
    def capabilities(self) -> Any:
        return self.model_info

    @property
    def model_info(self) -> ModelInfo:
        no: Any = dict.fromkeys(("vision", "function_calling", "json_output", "structured_output"), False)
        return ModelInfo(**no, family="unknown", multiple_system_messages=True)


async def test_what_was_said_before_reaches_the_model_once(known: Credenda) -> None:
    model = Model("Postgres.", "Postgres, still.")
    agent = AssistantAgent("planner", model, memory=[CredendaMemory(known)])
    await agent.run(task=ASKED)
    await agent.run(task="And which database is used for billing?")
    first, second = ([one for one in call if OPENING in one] for call in model.sent)
    assert "Postgres" in "".join(first)
    assert second == first


async def test_a_turn_is_remembered(memory: Credenda, said: Said) -> None:
    kept = CredendaMemory(memory, session="s1")
    agent = AssistantAgent("planner", Model("Noted.", "Fine."), memory=[kept])
    await agent.run(task="I live in Linz.")
    await agent.run(task="I play the cello.")
    await kept.close()
    memory.settle()
    assert [one.value for one in memory.list(attribute="residence").items] == ["Linz"]
    turns = [
        ("user", "I live in Linz."),
        ("assistant", "Noted."),
        ("user", "I play the cello."),
        ("assistant", "Fine."),
    ]
    assert said("s1") == turns


async def test_several_messages_of_a_run_and_the_answer_before_are_remembered_once(
    memory: Credenda, said: Said
) -> None:
    kept = CredendaMemory(memory, session="s1")
    agent = AssistantAgent("planner", Model("Noted.", "Fine."), memory=[kept])
    await agent.run(task="I live in Linz.")
    both = ["I play the cello.", "I have two cats."]
    await agent.run(task=[TextMessage(content=one, source="user") for one in both])
    await kept.close()
    turns = [("user", "I live in Linz."), ("assistant", "Noted."), *(("user", one) for one in both)]
    assert said("s1") == [*turns, ("assistant", "Fine.")]


async def test_what_was_told_leaves_the_context_with_its_deletion(known: Credenda) -> None:
    model = Model("Postgres.", "I do not know.")
    agent = AssistantAgent("planner", model, memory=[CredendaMemory(known)])
    await agent.run(task=ASKED)
    for one in known.list().items:
        known.delete(one.id)
    await agent.run(task="And now?")
    assert any(OPENING in one for one in model.sent[0])
    assert not any(OPENING in one for one in model.sent[1])
    assert ASKED in model.sent[1]


async def test_agents_of_a_team_store_a_message_once_and_each_other_not_at_all(known: Credenda, said: Said) -> None:
    models = Model("Postgres."), Model("Postgres.")
    for model in models:
        agent = AssistantAgent("planner", model, memory=[CredendaMemory(known, session="s1")])
        other = TextMessage(content="I live in Graz.", source="critic")
        await agent.run(task=[other, TextMessage(content=ASKED, source="user")])
    assert all(any("Postgres" in one for one in model.sent[0]) for model in models)
    assert said("s1") == [("user", ASKED)]


async def test_texts_are_added_and_found(memory: Credenda) -> None:
    kept = CredendaMemory(memory)
    await kept.add(MemoryContent(content="The sail is red.", mime_type="text/plain"))
    (found,) = (await kept.query("Which colour is the sail?")).results
    assert "The sail is red." in str(found.content)
    assert (found.metadata or {})["id"]
    assert (await kept.query("volcanoes of Iceland")).results == []
    assert (await kept.query(" ")).results == []


async def test_what_is_no_text_and_clearing_is_refused(memory: Credenda) -> None:
    kept = CredendaMemory(memory)
    with pytest.raises(Invalid, match="no text"):
        await kept.add(MemoryContent(content=b"x", mime_type=MemoryMimeType.BINARY))
    with pytest.raises(Invalid, match="does not clear"):
        await kept.clear()


async def test_a_failing_memory_does_not_fail_the_agent(memory: Credenda) -> None:
    agent = AssistantAgent("planner", Model("Hello."), memory=[CredendaMemory(memory)])
    memory.close()
    assert (await agent.run(task="Hi.")).messages[-1].source == "planner"
