"""`remembering` around the real clients of Anthropic and OpenAI: synchronous, asynchronous and streaming."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anthropic
import anyio
import httpx2
import openai
import pytest

from credenda import Credenda, Unavailable
from credenda.agents import remembering
from credenda.agents.conversation import Conversation, UserMessage
from credenda.agents.denial import find_denied
from credenda.text.fence import OPENING

REPLY = "You live in Oslo, I guess."
ASKED = "Which database did we decide on for the billing service?"


def make_events(shape: str) -> Iterator[dict[str, Any]]:
    """Yield the events of a stream, in two halves of the reply."""
    halves = [REPLY[:9], REPLY[9:]]
    if shape == "anthropic":
        yield {"type": "message_start", "message": make_answer(shape) | {"content": [], "stop_reason": None}}
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        for half in halves:
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": half}}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}
        yield {"type": "message_stop"}
    elif shape == "chat":
        for half in halves:
            choice = {"index": 0, "delta": {"content": half}, "finish_reason": None}
            yield {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    else:
        for number, half in enumerate(halves):
            told = {"type": "response.output_text.delta", "delta": half, "item_id": "i", "sequence_number": number}
            yield {**told, "output_index": 0, "content_index": 0, "logprobs": []}


def make_answer(shape: str) -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    if shape == "anthropic":
        told = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
        return {**told, "stop_sequence": None, "content": [{"type": "text", "text": REPLY}], "usage": usage}
    if shape == "chat":
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": REPLY}}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    part: dict[str, Any] = {"type": "output_text", "text": REPLY, "annotations": []}
    item: dict[str, Any] = {"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": [part]}
    made: dict[str, Any] = {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [item],
        "status": "completed",
    }
    return {**made, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}


class Provider:
    """A provider that keeps what it was sent, and answers in its shape."""

    def __init__(self, shape: str) -> None:
        self.shape = shape
        self.sent: list[dict[str, Any]] = []

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.sent.append(body)
        if not body.get("stream"):
            return httpx2.Response(200, json=make_answer(self.shape))
        lines = [f"event: {one.get('type', 'x')}\ndata: {json.dumps(one)}\n\n" for one in make_events(self.shape)]
        text = "".join(lines) + ("data: [DONE]\n\n" if self.shape != "anthropic" else "")
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=text.encode())

    @contextmanager
    def client(self) -> Generator[Callable[..., Any]]:
        with httpx2.Client(transport=httpx2.MockTransport(self.answer)) as http:
            if self.shape == "anthropic":
                yield anthropic.Anthropic(api_key="x", http_client=http).messages.create
            else:
                client = openai.OpenAI(api_key="x", http_client=http, base_url="http://127.0.0.1/v1")
                yield client.chat.completions.create if self.shape == "chat" else client.responses.create

    @asynccontextmanager
    async def client_later(self) -> AsyncGenerator[Callable[..., Any]]:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(self.answer)) as http:
            if self.shape == "anthropic":
                yield anthropic.AsyncAnthropic(api_key="x", http_client=http).messages.create
            else:
                client = openai.AsyncOpenAI(api_key="x", http_client=http, base_url="http://127.0.0.1/v1")
                yield client.chat.completions.create if self.shape == "chat" else client.responses.create

    def call(self, text: str, *, stream: bool = False) -> dict[str, Any]:
        more: dict[str, Any] = {"model": "m", **({"stream": True} if stream else {})}
        if self.shape == "responses":
            return {**more, "input": text}
        return {**more, "messages": [{"role": "user", "content": text}], "max_tokens": 5}

    def system(self, number: int = -1) -> str:
        body = self.sent[number]
        if self.shape == "chat":
            return str([one["content"] for one in body["messages"] if one["role"] == "system"])
        return str(body.get("system" if self.shape == "anthropic" else "instructions", ""))

    def asked(self, number: int = -1) -> str:
        body = self.sent[number]
        return str(body["input"] if self.shape == "responses" else body["messages"][-1]["content"])


@pytest.fixture(params=["anthropic", "chat", "responses"])
def provider(request: pytest.FixtureRequest) -> Provider:
    return Provider(str(request.param))


@pytest.fixture
def taught(mem: Credenda) -> Credenda:
    mem.remember("I'm allergic to peanuts. We decided to use Postgres for the billing service.", session="before")
    mem.settle()
    return mem


def check_told_and_kept(provider: Provider, memory: Credenda) -> None:
    """Check that the core and the answer were sent, and that both sides' words are kept as theirs."""
    assert "peanuts" in provider.system(0)
    assert "database: Postgres (billing service)" in provider.asked(0)
    assert OPENING in provider.asked(0)
    memory.settle()
    found = [hit.event for hit in memory.search("Oslo", kinds=["event"]).hits if hit.event is not None]
    assert [(one.role, one.text) for one in found if "Oslo" in one.text] == [("assistant", REPLY)]
    assert memory.list(attribute="residence").items == ()
    own = memory.search(ASKED, session="chat", kinds=["event"]).hits
    assert [hit.event.text for hit in own if hit.event and hit.event.role == "user"] == [ASKED]


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_recalls_before_and_remembers_after(provider: Provider, taught: Credenda, *, stream: bool) -> None:
    given = provider.call(ASKED, stream=stream)
    before = json.dumps(given)
    with provider.client() as create:
        answer = remembering(taught, create, session="chat")(**given)
        if stream:
            assert len(list(answer)) == len(list(make_events(provider.shape)))
    assert json.dumps(given) == before
    check_told_and_kept(provider, taught)


@pytest.mark.parametrize("stream", [False, True])
def test_an_asynchronous_call_does_the_same(provider: Provider, taught: Credenda, *, stream: bool) -> None:
    async def talk() -> None:
        async with provider.client_later() as create:
            answer = await remembering(taught, create, session="chat")(**provider.call(ASKED, stream=stream))
            if stream:
                assert len([event async for event in answer]) == len(list(make_events(provider.shape)))

    anyio.run(talk)
    check_told_and_kept(provider, taught)


def test_a_stream_that_is_left_early_remembers_what_was_said(provider: Provider, taught: Credenda) -> None:
    with provider.client() as create, remembering(taught, create)(**provider.call("hello", stream=True)) as stream:
        for event in stream:
            if REPLY[:9] in str(event):
                break
    taught.settle()
    assert taught.search("You live", kinds=["event"]).hits[0].quote == REPLY[:9].strip()


def test_each_memory_comes_once_and_stays_where_it_came(taught: Credenda) -> None:
    """A later call sends the same text with the same message again, so that a provider can cache it."""
    provider = Provider("anthropic")
    first = {"role": "user", "content": ASKED}
    with provider.client() as create:
        ask = remembering(taught, create, session="chat")
        ask(model="m", max_tokens=5, messages=[first])
        again = {"role": "user", "content": [{"type": "text", "text": ASKED}]}
        more = [first, {"role": "assistant", "content": REPLY}, again]
        ask(model="m", max_tokens=5, messages=more, system=[{"type": "text", "text": "Be kind."}])
        ask(model="m", max_tokens=5, messages=more, system=[{"type": "text", "text": "Be kind."}])
    assert provider.sent[0]["messages"][0] == provider.sent[1]["messages"][0]
    assert provider.sent[1] == provider.sent[2]
    assert "Postgres" not in str(provider.sent[1]["messages"][2])
    assert provider.sent[1]["system"][0] == {"type": "text", "text": "Be kind."}
    assert str(provider.sent[1]).count("database: Postgres") == 1
    taught.settle()
    assert taught.stats().events == 1 + 2 + 2  # the repeated call adds nothing


@pytest.mark.parametrize("how", ["delete", "forget", "erase"])
def test_what_was_told_is_not_sent_again_after_its_deletion(taught: Credenda, how: str) -> None:
    provider = Provider("anthropic")
    first = {"role": "user", "content": ASKED}
    with provider.client() as create:
        ask = remembering(taught, create, session="chat")
        ask(model="m", max_tokens=5, messages=[first])
        assert "Postgres" in str(provider.sent[0]["messages"])
        assert "peanuts" in provider.system(0)
        if how == "erase":
            taught.erase(taught.user)
        for one in taught.list().items:
            getattr(taught, how)(one.id)
        more = [first, {"role": "assistant", "content": REPLY}, {"role": "user", "content": "And now?"}]
        ask(model="m", max_tokens=5, messages=more)
    assert "Postgres" not in str(provider.sent[1])
    assert "peanuts" not in str(provider.sent[1])
    assert OPENING not in str(provider.sent[1])


def test_only_the_deleted_line_of_a_block_goes(taught: Credenda) -> None:
    taught.remember("Please always answer in French.", session="before")
    taught.settle()
    conversation = Conversation(taught, session="chat")
    core, _ = conversation.recall([])
    (allergy,) = taught.list(attribute="allergy").items
    taught.delete(allergy.id)
    later, _ = conversation.recall([])
    assert [line for line in core.splitlines() if line not in later.splitlines()][-1].startswith(f"- [{allergy.id}]")
    assert "French" in later
    assert later.count(":\n") == core.count(":\n") - 1  # the heading of the line goes too


def test_several_new_messages_of_a_call_are_stored_once(taught: Credenda) -> None:
    said = ["I live in Linz.", "I play the cello.", "Which database do we use?"]
    before = {"role": "user", "content": "Spoken in another program."}, {"role": "assistant", "content": "Yes."}
    messages = [*before, *({"role": "user", "content": one} for one in said)]
    provider = Provider("anthropic")
    with provider.client() as create:
        ask = remembering(taught, create, session="chat")
        for _ in range(2):
            ask(model="m", max_tokens=5, messages=messages)
    assert [one.text for one in taught.inspect.session("chat").events if one.role == "user"] == said


def test_private_words_and_results_of_tools_are_not_kept(taught: Credenda) -> None:
    provider = Provider("anthropic")
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "The user lives in Rome."}]
    with provider.client() as create:
        ask = remembering(taught, create)
        ask(**provider.call("My PIN: <private>4711</private>"))
        ask(model="m", max_tokens=5, messages=[{"role": "user", "content": result}])
    taught.settle()
    assert not any("4711" in hit.text or "Rome" in hit.text for hit in taught.search("PIN Rome").hits)
    assert provider.sent[1]["messages"] == [{"role": "user", "content": result}]


def test_a_denied_recollection_is_challenged(taught: Credenda) -> None:
    provider = Provider("chat")
    with provider.client() as create:
        ask = remembering(taught, create)
        ask(**provider.call(ASKED))
        ask(**provider.call("No, that's not true, we never used Postgres for that."))
    assert [one.value for one in taught.list(status="challenged").items] == ["Postgres"]


def test_a_failing_memory_never_fails_the_call(taught: Credenda, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise Unavailable("the disk is full", why="a test says so", fix="free some space")

    monkeypatch.setattr(Credenda, "remember", fail)
    provider = Provider("chat")
    with provider.client() as create:
        answer = remembering(taught, create)(**provider.call("hello"))
    assert answer.choices[0].message.content == REPLY
    assert provider.asked() == "hello"


def test_words_that_were_not_stored_are_stored_by_the_next_call(
    taught: Credenda, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise Unavailable("the disk is full", why="a test says so", fix="free some space")

    said = [UserMessage(0, "We ship on Thursdays.", 0)]
    conversation = Conversation(taught, session="shop")
    with monkeypatch.context() as broken:
        broken.setattr(Credenda, "remember", fail)
        conversation.recall(said)
    conversation.recall(said)
    assert taught.search("when do we ship?").hits[0].quote == "We ship on Thursdays."


def test_the_same_words_in_another_turn_are_another_message(taught: Credenda) -> None:
    before = taught.stats().events
    for _ in range(2):  # of two runs of a program
        Conversation(taught, session="shop").begin_turn("Yes, deploy it.")
    assert taught.stats().events == before + 2


@pytest.mark.parametrize(
    ("words", "denied"),
    [
        ("That's wrong, I never used Postgres.", True),
        ("No, it isn't Postgres any more.", True),
        ("That's not true.", True),
        ("Not now. Rename the file, please.", False),
        ("No problem, go on with Postgres.", False),
        ("That's right.", False),
    ],
)
def test_what_counts_as_a_denial(taught: Credenda, words: str, *, denied: bool) -> None:
    shown = taught.list(attribute="database").items
    assert bool(find_denied(words, shown)) == denied
