"""The hooks of Agno's agents, in real agents around a model that keeps what it was sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse

from credenda import Credenda
from credenda.adapters.agno import CredendaHooks
from credenda.text.fence import OPENING

Said = Callable[[str], list[tuple[str, str]]]
ASKED = "Which database do we use for billing?"


class Stub(Model):
    """A model that answers in turn, and keeps the messages of each call."""

    def __init__(self, *answers: str) -> None:
        super().__init__(id="stub")
        self.sent: list[list[str]] = []
        self._answers = list(answers)

    def invoke(self, *_: Any, messages: list[Message], **__: Any) -> ModelResponse:
        self.sent.append([str(one.content) for one in messages])
        return ModelResponse(role="assistant", content=self._answers.pop(0))

    async def ainvoke(self, *_: Any, messages: list[Message], **__: Any) -> ModelResponse:
        return self.invoke(messages=messages)

    def invoke_stream(self, *_: Any, messages: list[Message], **__: Any) -> Any:
        yield self.invoke(messages=messages)

    async def ainvoke_stream(self, *_: Any, messages: list[Message], **__: Any) -> Any:
        yield self.invoke(messages=messages)

    def _parse_provider_response(self, response: Any, **_: Any) -> ModelResponse:
        return response

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        return response


def make_agent(memory: Credenda, model: Model, *, asynchronous: bool = False, **given: Any) -> Agent:
    hooks = CredendaHooks(memory)
    pre, post = (hooks.arecall, hooks.akeep) if asynchronous else (hooks.recall, hooks.keep)
    return Agent(model=model, pre_hooks=[pre], post_hooks=[post], session_id="s1", telemetry=False, **given)


@pytest.mark.parametrize("history", [True, False])
def test_what_was_said_before_reaches_the_model_once(known: Credenda, *, history: bool) -> None:
    model = Stub("Postgres.", "Postgres, still.")
    agent = make_agent(known, model, db=InMemoryDb(), add_history_to_context=history)
    agent.run(ASKED)
    agent.run("And which database is used for billing?")
    for sent in model.sent:
        assert len([one for one in sent if OPENING in one]) == 1
    assert "Postgres" in model.sent[0][-1]
    assert (OPENING in model.sent[1][-1]) is not history


def test_what_was_told_leaves_the_history_with_its_deletion(known: Credenda) -> None:
    model = Stub("Postgres.", "I do not know.")
    agent = make_agent(known, model, db=InMemoryDb(), add_history_to_context=True)
    agent.run(ASKED)
    for one in known.list().items:
        known.delete(one.id)
    agent.run("And now?")
    assert OPENING in model.sent[0][-1]
    assert OPENING not in "".join(model.sent[1])
    assert ASKED in model.sent[1]


async def test_a_turn_is_remembered(memory: Credenda, said: Said) -> None:
    make_agent(memory, Stub("Noted.")).run("I live in Linz.")
    await make_agent(memory, Stub("Fine."), asynchronous=True).arun("I play the cello.")
    memory.settle()
    assert [one.value for one in memory.list(attribute="residence").items] == ["Linz"]
    turns = [
        ("user", "I live in Linz."),
        ("assistant", "Noted."),
        ("user", "I play the cello."),
        ("assistant", "Fine."),
    ]
    assert said("s1") == turns


def test_a_streamed_answer_and_a_message_are_remembered(known: Credenda, said: Said) -> None:
    model = Stub("Postgres.")
    list(make_agent(known, model).run(Message(role="user", content=ASKED), stream=True))
    assert OPENING in model.sent[0][-1]
    assert said("s1") == [("user", ASKED), ("assistant", "Postgres.")]


def test_another_users_run_neither_reads_nor_writes(known: Credenda) -> None:
    model = Stub("I do not know.", "Postgres.")
    agent = make_agent(known, model)
    agent.run(ASKED, user_id="ben")
    assert OPENING not in "".join(model.sent[0])
    assert [one.session for one in known.inspect.sessions().items] == ["before"]
    agent.run(ASKED, user_id=known.user)
    assert OPENING in model.sent[1][-1]


def test_a_failing_memory_does_not_fail_the_agent(memory: Credenda) -> None:
    agent = make_agent(memory, Stub("Hello."))
    memory.close()
    assert agent.run("Hi.").content == "Hello."
