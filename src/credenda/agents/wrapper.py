"""`remembering`: put memory around the calls of a model, for programs with a loop of their own."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from credenda.agents.conversation import (
    Conversation,
    Conversations,
    add_core,
    attach,
    find_user_messages,
    read_delta,
    read_reply,
)

if TYPE_CHECKING:
    from credenda.client import Credenda

C = TypeVar("C", bound=Callable[..., Any])


def remembering(
    memory: Credenda,
    call: C,
    *,
    session: str | None = None,
    project: str | None = None,
    agent: str | None = None,
) -> C:
    """Return a function like `call` that recalls before the call and remembers after it.

    `call` is `client.messages.create` of Anthropic, `client.chat.completions.create` or `client.responses.create` of
    OpenAI and compatible servers, of their synchronous or asynchronous clients, or a function that takes and returns
    the same. The core goes to the system prompt, and what probably answers a message of the user is added to that
    message, each memory once among the messages of a call. The user's words are stored before the call as theirs, the
    answer as the assistant's when it is complete; with `stream=True` when the stream ends or is closed.

    Give one `session` to a conversation; without one this function is a conversation of its own. A failure of the
    memory is logged and never fails the call.
    """
    conversation = Conversations(memory, session=session, project=project, agent=agent).get()
    turns = _Turns(conversation, _choose_system(call))
    if inspect.iscoroutinefunction(inspect.unwrap(call)):

        @wraps(call)
        async def call_later(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - as the call has it
            prepared = await asyncio.to_thread(turns.prepare, given)
            answer = await call(*args, **prepared)
            if given.get("stream"):
                return _AsyncStream(answer, turns)
            await asyncio.to_thread(turns.keep_reply, read_reply(answer))
            return answer

        return cast("C", call_later)

    @wraps(call)
    def call_now(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - as the call has it
        answer = call(*args, **turns.prepare(given))
        if given.get("stream"):
            return _Stream(answer, turns)
        turns.keep_reply(read_reply(answer))
        return answer

    return cast("C", call_now)


def _choose_system(call: Callable[..., Any]) -> str:
    """Return where a client takes what the program tells the model: an input of the call, or a message."""
    try:
        names = inspect.signature(inspect.unwrap(call)).parameters
    except (TypeError, ValueError):
        return "message"
    return next((name for name in ("system", "instructions") if name in names), "message")


class _Turns:
    """A conversation through the calls of a client."""

    def __init__(self, conversation: Conversation, system: str) -> None:
        self._conversation = conversation
        self._system = system
        self.keep_reply = conversation.keep_reply

    def prepare(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Store the user's words and return the inputs of the call with what is recalled."""
        core, blocks = self._conversation.recall(find_user_messages(given))
        return add_core(attach(given, blocks), core, system=self._system)


class _Gathered:
    """The words of a stream so far; they are stored once, at its end."""

    def __init__(self, stream: Any, turns: _Turns) -> None:  # noqa: ANN401 - a stream of a client
        self._stream = stream
        self._turns = turns
        self._parts: list[str] = []
        self._kept = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the stream has it
        return getattr(self._stream, name)

    def _take(self, event: object) -> None:
        self._parts.append(read_delta(event))

    def _finish(self) -> None:
        if not self._kept:
            self._kept = True
            self._turns.keep_reply("".join(self._parts))


class _Stream(_Gathered):
    """A stream that remembers what it has said."""

    def __iter__(self) -> Iterator[Any]:
        try:
            for event in self._stream:
                self._take(event)
                yield event
        finally:
            self._finish()

    def __enter__(self) -> Self:
        self._stream.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._finish()
        self._stream.__exit__(*error)

    def close(self) -> None:
        """Close the stream; the words so far are remembered."""
        self._finish()
        self._stream.close()


class _AsyncStream(_Gathered):
    """An asynchronous stream that remembers what it has said."""

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            async for event in self._stream:
                self._take(event)
                yield event
        finally:
            await asyncio.to_thread(self._finish)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self._finish)
        await self._stream.__aexit__(*error)

    async def close(self) -> None:
        """Close the stream; the words so far are remembered."""
        await asyncio.to_thread(self._finish)
        await self._stream.close()
