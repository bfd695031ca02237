"""`remembering`: put memory around the calls of a model, for programs with a loop of their own."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

from credenda.agents.denial import challenge_denied
from credenda.agents.messages import UserMessage, add_core, attach, find_user_messages, read_delta, read_reply
from credenda.agents.recall import find_core, find_for_prompt
from credenda.errors import CredendaError
from credenda.ids import draw_request_id
from credenda.text.spoken import extract_spoken

if TYPE_CHECKING:
    from credenda.client import Credenda

C = TypeVar("C", bound=Callable[..., Any])
_log: Final = logging.getLogger(__name__)


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
    message, each memory once in a session. The user's words are stored before the call as theirs, the answer as the
    assistant's when it is complete; with `stream=True` when the stream ends or is closed.

    Give one `session` to a conversation; without one this function is a conversation of its own. A failure of the
    memory is logged and never fails the call.
    """
    turns = _Conversation(
        memory,
        session=session or f"chat-{draw_request_id()}",
        project=project,
        agent=agent,
        system=_choose_system(call),
    )
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


class _Conversation:
    """The texts of one session: the text added to each message stays the same, so that a provider can cache it."""

    def __init__(self, memory: Credenda, *, session: str, project: str | None, agent: str | None, system: str) -> None:
        self._memory = memory
        self._session = session
        self._project = project
        self._agent = agent
        self._system = system
        self._core: str | None = None
        self._blocks: dict[str, str] = {}
        self._seen: set[str] = set()
        self._last: tuple[str, ...] = ()
        self._answered = ""
        self._lock = Lock()

    def prepare(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Store the user's words and return the inputs of the call with what is recalled."""
        with self._lock:
            try:
                said = find_user_messages(given)
                if said:
                    self._take(said[-1])
                if self._core is None:
                    core = find_core(self._memory, project=self._project)
                    self._core = core.text
                    self._seen.update(core.ids)
            except CredendaError as error:
                _log.warning("the memory failed before a call: %s", error.code)
                said = []
            blocks = {one.place: block for one in said if (block := self._blocks.get(_hash_message(one)))}
            with_blocks = attach(given, blocks)
            return add_core(with_blocks, self._core or "", system=self._system)

    def _take(self, said: UserMessage) -> None:
        """Store the latest words of the user, and recall for them; a repeated call does neither again."""
        name = _hash_message(said)
        if name in self._blocks:
            return
        words = said.text
        self._answered = name
        self._blocks[name] = ""
        if not words:
            return
        self._remember("user", words, "human", name)
        challenge_denied(self._memory, words, self._last)
        found = find_for_prompt(
            self._memory, words, project=self._project, session=self._session, seen=frozenset(self._seen)
        )
        self._blocks[name] = found.text
        self._last = found.ids
        self._seen.update(found.ids, found.sources)

    def keep_reply(self, text: str) -> None:
        """Store the words of the answer, as the assistant's."""
        words = extract_spoken(text)
        if not words:
            return
        try:
            with self._lock:
                self._remember("assistant", words, "ai", f"{self._answered}-reply-{_hash_text(words)}")
        except CredendaError as error:
            _log.warning("the memory failed after a call: %s", error.code)

    def _remember(self, role: str, words: str, source: str, name: str) -> None:
        self._memory.remember(
            [{"role": role, "content": words}],
            session=self._session,
            agent=self._agent,
            source=source,
            metadata={"project": self._project} if self._project else None,
            idempotency_key=f"agent-{_hash_text(self._session)}-{name}",
        )


def _hash_message(said: UserMessage) -> str:
    return f"{_hash_text(said.text)}-{said.repeats}"


def _hash_text(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


class _Gathered:
    """The words of a stream so far; they are stored once, at its end."""

    def __init__(self, stream: Any, turns: _Conversation) -> None:  # noqa: ANN401 - a stream of a client
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
