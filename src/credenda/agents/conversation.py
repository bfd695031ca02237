"""What one conversation has said and was shown: `Conversation`, and `Conversations` of a program with several."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, TypeVar, cast

from credenda.agents.denial import challenge_denied
from credenda.agents.recall import Recalled, cut_deleted, find_core, find_for_prompt
from credenda.errors import CredendaError
from credenda.ids import draw_request_id
from credenda.text.recalled_block import cut_recalled, extract_spoken

if TYPE_CHECKING:
    from credenda.client import Credenda


# The messages of model clients: find the spoken words, and add recalled text. Three shapes are read: Anthropic's
# messages with `system`, the chat completions of OpenAI and compatible servers, and OpenAI's responses with `input`
# and `instructions`. The caller's values are never changed; copies are.


_TEXT: Final = frozenset({"text", "input_text", "output_text"})
_SYSTEM: Final = frozenset({"system", "developer"})


class UserMessage(NamedTuple):
    """A message of the user: its place among the messages, its spoken words, and how often the same came before.

    `answered` tells whether an answer of the assistant follows it.
    """

    place: int
    text: str
    repeats: int
    answered: bool = False


def find_user_messages(call: Mapping[str, Any]) -> list[UserMessage]:
    """Return the messages of the user with words in a call, in order; results of tools have none."""
    found: list[UserMessage] = []
    counts: dict[str, int] = {}
    messages = _list_messages(call)
    answer = max((at for at, one in enumerate(messages) if _get(one, "role") == "assistant"), default=-1)
    for place, message in enumerate(messages):
        written = _read_text(_get(message, "content")) if _get(message, "role") == "user" else ""
        text = extract_spoken(written)
        if written.strip():
            found.append(UserMessage(place, text, counts.get(text, 0), place < answer))
            counts[text] = counts.get(text, 0) + 1
    return found


def _list_messages(call: Mapping[str, Any]) -> Sequence[Any]:
    given = call.get("messages", call.get("input"))
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return cast("Sequence[Any]", given) if isinstance(given, Sequence) else []


def _get(value: object, name: str) -> Any:  # noqa: ANN401 - a table or an object of a client
    return cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _read_text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, Iterable):
        return ""
    parts = [_get(part, "text") for part in cast("Iterable[Any]", content) if _get(part, "type") in _TEXT]
    return "\n".join(part for part in parts if isinstance(part, str))


def attach(call: Mapping[str, Any], blocks: Mapping[int, str]) -> dict[str, Any]:
    """Return a call with text added to messages, by their place."""
    if not blocks:
        return dict(call)
    key = "messages" if "messages" in call else "input"
    if isinstance(call[key], str):
        return {**call, key: f"{call[key]}\n\n{blocks[0]}" if 0 in blocks else call[key]}
    kind = "text" if key == "messages" else "input_text"
    messages = [
        _add_text(message, blocks[place], kind) if place in blocks else message
        for place, message in enumerate(_list_messages(call))
    ]
    return {**call, key: messages}


def _add_text(message: Any, block: str, kind: str) -> Any:  # noqa: ANN401 - as above
    if not isinstance(message, Mapping):
        return message
    told = cast("Mapping[str, Any]", message)
    content = told.get("content")
    if isinstance(content, str):
        return {**told, "content": f"{content}\n\n{block}"}
    return {**told, "content": [*cast("Iterable[Any]", content), {"type": kind, "text": block}]}


def add_core(call: Mapping[str, Any], core: str, *, system: str) -> dict[str, Any]:
    """Return a call with the core among what the program tells the model; `system` names the input that takes it.

    It is "system" or "instructions" for an input of the call, and "message" for a message of the system.
    """
    if not core:
        return dict(call)
    if system == "message":
        # Put the core behind the first messages of the system, so that what the program says comes first.
        messages = _list_messages(call)
        place = next((at for at, one in enumerate(messages) if _get(one, "role") not in _SYSTEM), len(messages))
        return {**call, "messages": [*messages[:place], {"role": "system", "content": core}, *messages[place:]]}
    held = call.get(system)
    if isinstance(held, str) and held:
        return {**call, system: f"{held}\n\n{core}"}
    if isinstance(held, Sequence) and held and not isinstance(held, str):
        return {**call, system: [*cast("Sequence[Any]", held), {"type": "text", "text": core}]}
    return {**call, system: core}


def read_reply(answer: object) -> str:
    """Return the words of a model's answer; "" for an answer without any, such as calls of tools alone."""
    output = _get(answer, "output_text")
    if isinstance(output, str):
        return output
    choices = _get(answer, "choices")
    if isinstance(choices, Sequence) and choices:
        return _read_text(_get(_get(cast("Sequence[Any]", choices)[0], "message"), "content"))
    return _read_text(_get(answer, "content"))


def read_delta(event: object) -> str:
    """Return the words that an event of a stream adds to the answer; "" for other events."""
    choices = _get(event, "choices")
    if isinstance(choices, Sequence) and choices:
        found = _get(_get(cast("Sequence[Any]", choices)[0], "delta"), "content")
        return found if isinstance(found, str) else ""
    kind, delta = _get(event, "type"), _get(event, "delta")
    if kind == "response.output_text.delta":
        return delta if isinstance(delta, str) else ""
    if kind == "content_block_delta" and _get(delta, "type") == "text_delta":
        return str(_get(delta, "text") or "")
    return ""


# A conversation, and those of a program.


_log: Final = logging.getLogger(__name__)
_CONVERSATIONS: Final = 256


class Conversation:
    """The texts of one session: the text added to each message stays the same, so that a provider can cache it.

    A failure of the memory is logged, and gives no text. It may be used by several threads.
    """

    def __init__(self, memory: Credenda, *, session: str, project: str | None = None, agent: str | None = None) -> None:
        self._memory = memory
        self._session = session
        self._project = project
        self._agent = agent
        self._core: Recalled | None = None
        self._shown: dict[str, Recalled] = {}
        self._tells_core = True
        self.turns_told = 0
        """Turns that began since the core was told, that one included."""
        self._last: tuple[str, ...] = ()
        self._answered = ""
        self._lock = Lock()

    def recall(self, said: Sequence[UserMessage]) -> tuple[str, dict[int, str]]:
        """Store the messages of a call that have no answer yet; return the core, and the text for each by its place.

        What an earlier message of the call was given is not told again, and nothing that was deleted since.
        """
        with self._lock:
            names = [f"{_hash_text(one.text)}-{one.repeats}" for one in said]
            try:
                self._withdraw()
                failed = None
                for one, name in zip(said, names, strict=True):
                    if not one.answered or one is said[-1]:
                        try:
                            self._take(one.text, name, names)
                        except CredendaError as error:  # the others are stored all the same
                            failed = error
                if failed is not None:
                    raise failed
                core = self._load_core().text
            except CredendaError as error:
                _log.warning("the memory failed before a call: %s", error.code)
                return (self._core or Recalled()).text, {}
            texts = {one.place: self._shown.get(name, Recalled()).text for one, name in zip(said, names, strict=True)}
            return core, {place: text for place, text in texts.items() if text}

    def begin_turn(self, text: str, *, turn: str | None = None) -> str:
        """Store what the user says now, and return what is told with it: the core at first, and what is recalled.

        `turn` identifies the message, so that repeating it is harmless; without it each call is another message.
        """
        with self._lock:
            words = extract_spoken(text)
            name = _hash_text(turn or draw_request_id())
            try:
                core = self._load_core().text if self._tells_core else ""
                self._take(words, name, list(self._shown))
            except CredendaError as error:
                _log.warning("the memory failed before a call: %s", error.code)
                return ""
            self.turns_told = 1 if self._tells_core else self.turns_told + 1
            self._tells_core = False
            return "\n\n".join(filter(None, (core, self._shown[name].text)))

    def cut_deleted(self, text: str) -> str:
        """Return a text of the history without what was told in it and deleted since; all of it if the memory fails."""
        try:
            return cut_deleted(self._memory, text)
        except CredendaError as error:
            _log.warning("the memory failed before a call: %s", error.code)
            return cut_recalled(text)

    def forget_shown(self) -> None:
        """Take what was told as gone, as after a compaction: it may be told again."""
        with self._lock:
            self._shown.clear()
            self._core = None
            self._tells_core = True

    def keep_reply(self, text: str) -> None:
        """Store the words of the answer, as the assistant's; the same answer to the same words once."""
        words = extract_spoken(text)
        if not words:
            return
        try:
            with self._lock:
                self._remember("assistant", words, "ai", f"{self._answered}-reply-{_hash_text(words)}")
        except CredendaError as error:
            _log.warning("the memory failed after a call: %s", error.code)

    def _withdraw(self) -> None:
        """Take back what was told and was deleted since."""
        for name, told in self._shown.items():
            self._shown[name] = replace(told, text=cut_deleted(self._memory, told.text))
        if self._core is not None:
            self._core = replace(self._core, text=cut_deleted(self._memory, self._core.text))

    def _load_core(self) -> Recalled:
        if self._core is None:
            self._core = find_core(self._memory, project=self._project)
        return self._core

    def _take(self, words: str, name: str, visible: Sequence[str]) -> None:
        """Store the latest words of the user, and recall for them; a repeated call does neither again."""
        if name in self._shown:
            return
        self._answered = name
        self._shown[name] = Recalled()
        if not words:
            return
        try:
            self._remember("user", words, "human", name)
        except CredendaError:
            del self._shown[name]  # the next call stores them
            raise
        challenge_denied(self._memory, words, self._last)
        earlier = [self._core or Recalled(), *(self._shown[one] for one in visible if one in self._shown)]
        seen = frozenset(name for one in earlier for name in (*one.ids, *one.sources))
        found = find_for_prompt(self._memory, words, project=self._project, session=self._session, seen=seen)
        self._shown[name] = found
        self._last = found.ids

    def _remember(self, role: str, words: str, source: str, name: str) -> None:
        self._memory.remember(
            [{"role": role, "content": words}],
            session=self._session,
            agent=self._agent,
            source=source,
            metadata={"project": self._project} if self._project else None,
            idempotency_key=f"agent-{_hash_text(self._session)}-{name}",
        )


class Conversations:
    """The conversations of a program by their session; those not used for longest are dropped, and begin anew."""

    def __init__(
        self, memory: Credenda, *, session: str | None = None, project: str | None = None, agent: str | None = None
    ) -> None:
        """Bind an open memory; `session` is that of a call that names none, by default one of its own."""
        self._memory = memory
        self._session = session or f"chat-{draw_request_id()}"
        self._project = project
        self._agent = agent
        self._held: OrderedDict[str, Conversation] = OrderedDict()
        self._lock = Lock()

    def get(self, session: str | None = None) -> Conversation:
        """Return the conversation of a session."""
        name = session or self._session
        with self._lock:
            if name not in self._held:
                self._held[name] = Conversation(self._memory, session=name, project=self._project, agent=self._agent)
            self._held.move_to_end(name)
            while len(self._held) > _CONVERSATIONS:
                self._held.popitem(last=False)
            return self._held[name]


def _hash_text(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


# `remembering`: put memory around the calls of a model, for programs with a loop of their own.


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
    system = _choose_system(call)

    def prepare(given: Mapping[str, Any]) -> dict[str, Any]:
        """Store the user's words and return the inputs of the call with what is recalled."""
        core, blocks = conversation.recall(find_user_messages(given))
        return add_core(attach(given, blocks), core, system=system)

    if inspect.iscoroutinefunction(inspect.unwrap(call)):

        @wraps(call)
        async def call_later(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - as the call has it
            prepared = await asyncio.to_thread(prepare, given)
            answer = await call(*args, **prepared)
            if given.get("stream"):
                return _AsyncStream(answer, conversation)
            await asyncio.to_thread(conversation.keep_reply, read_reply(answer))
            return answer

        return cast("C", call_later)

    @wraps(call)
    def call_now(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - as the call has it
        answer = call(*args, **prepare(given))
        if given.get("stream"):
            return _Stream(answer, conversation)
        conversation.keep_reply(read_reply(answer))
        return answer

    return cast("C", call_now)


def _choose_system(call: Callable[..., Any]) -> str:
    """Return where a client takes what the program tells the model: an input of the call, or a message."""
    try:
        names = inspect.signature(inspect.unwrap(call)).parameters
    except (TypeError, ValueError):
        return "message"
    return next((name for name in ("system", "instructions") if name in names), "message")


class _Gathered:
    """The words of a stream so far; they are stored once, at its end."""

    def __init__(self, stream: Any, conversation: Conversation) -> None:  # noqa: ANN401 - a stream of a client
        self._stream = stream
        self._conversation = conversation
        self._parts: list[str] = []
        self._kept = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the stream has it
        return getattr(self._stream, name)

    def _take(self, event: object) -> None:
        self._parts.append(read_delta(event))

    def _finish(self) -> None:
        if not self._kept:
            self._kept = True
            self._conversation.keep_reply("".join(self._parts))


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
