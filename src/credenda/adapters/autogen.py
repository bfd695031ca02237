"""A memory of AutoGen's agents over a memory: `CredendaMemory`."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from credenda.adapters.messages import describe_hit, require_framework
from credenda.agents.conversation import Conversations, find_user_messages
from credenda.client import Credenda
from credenda.errors import Invalid
from credenda.model.memory import MemoryUnit

with require_framework("AutoGen", "autogen"):
    from autogen_core import CancellationToken
    from autogen_core.memory import Memory, MemoryContent, MemoryMimeType, MemoryQueryResult, UpdateContextResult
    from autogen_core.model_context import ChatCompletionContext
    from autogen_core.models import AssistantMessage, LLMMessage, SystemMessage, UserMessage
    from pydantic import BaseModel


_TEXTS: Final = frozenset({MemoryMimeType.TEXT.value, MemoryMimeType.MARKDOWN.value})


class CredendaMemory(Memory):
    """A `Memory` of one agent, which recalls for the messages of the user and remembers what both have said.

    The core and what is recalled go into the agent's context as messages of the system, each once while it is there.
    Messages whose source is not `user`, such as those of other agents, are no words of the user, and stay out. An
    answer is stored with the next message, the last one when this is closed; the open memory is not closed. Agents of
    a team have an object each, with the same `session`.
    """

    component_config_schema = BaseModel  # an open memory is in no configuration

    def __init__(
        self,
        memory: Credenda,
        *,
        session: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        user: str = "user",
        limit: int = 10,
    ) -> None:
        """Bind an open memory; `user` is the source of the user's messages, `limit` bounds the results of `query`."""
        self._memory = memory
        self._conversation = Conversations(memory, session=session, project=project, agent=agent).get()
        self._user = user
        self._limit = limit
        self._context: ChatCompletionContext | None = None

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Add what is recalled for the latest message of the user, and store what was said."""
        messages = await self._withdraw(model_context)
        told = [{"role": self._name_role(one), "content": _read_text(one)} for one in messages]
        said = find_user_messages({"messages": told})
        if self._context is model_context and said:
            await self._keep(messages[max((one.place for one in said if one.answered), default=0) :])
        self._context = model_context
        core, blocks = await asyncio.to_thread(self._conversation.recall, said)
        held = {one.content for one in messages if isinstance(one, SystemMessage)}
        new = [blocks.get(one.place, "") for one in said if not one.answered]
        added = [text for text in (core, *new) if text and text not in held]
        for text in added:
            await model_context.add_message(SystemMessage(content=text))
        return UpdateContextResult(memories=MemoryQueryResult(results=[_make_content(text) for text in added]))

    async def _withdraw(self, context: ChatCompletionContext) -> list[LLMMessage]:
        """Take out of the context what was told and was deleted since, and return its messages."""
        messages = await context.get_messages()
        told = {one.content for one in messages if isinstance(one, SystemMessage)}
        kept = {text: await asyncio.to_thread(self._conversation.cut_deleted, text) for text in told}
        if all(text == left for text, left in kept.items()):
            return messages
        state = dict(await context.save_state())
        cut = [
            {**one, "content": kept.get(one["content"], one["content"])} if one["type"] == "SystemMessage" else one
            for one in state["messages"]
        ]
        await context.load_state({**state, "messages": [one for one in cut if one["content"]]})
        return await context.get_messages()

    def _name_role(self, message: LLMMessage) -> str:
        if isinstance(message, AssistantMessage):
            return "assistant"
        return "user" if isinstance(message, UserMessage) and message.source == self._user else ""

    async def _keep(self, messages: list[LLMMessage]) -> None:
        for message in messages:
            if isinstance(message, AssistantMessage) and isinstance(message.content, str):
                await asyncio.to_thread(self._conversation.keep_reply, message.content)

    async def query(
        self,
        query: str | MemoryContent,
        cancellation_token: CancellationToken | None = None,
        **kwargs: Any,  # noqa: ANN401 - the library's
    ) -> MemoryQueryResult:
        """Return what answers a query, best first; nothing if nothing relevant is known."""
        del cancellation_token, kwargs
        words = query if isinstance(query, str) else _require_text(query)
        if not words.strip():
            return MemoryQueryResult(results=[])
        found = await asyncio.to_thread(self._memory.search, words, limit=self._limit)
        return MemoryQueryResult(results=[_make_content(hit.text, describe_hit(hit)) for hit in found.hits])

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Store a text with the trust of a model's text; raises `Invalid` for any other content."""
        del cancellation_token
        unit = MemoryUnit(text=_require_text(content), source="ai", metadata=content.metadata or {})
        await asyncio.to_thread(self._memory.store, unit)

    async def clear(self) -> None:
        """Raise `Invalid`: a person deletes memories, not an agent."""
        raise Invalid("an agent does not clear the memory", why="deletion is final", fix="delete memories by their id")

    async def close(self) -> None:
        """Store the last answer."""
        if self._context is not None:
            messages = await self._context.get_messages()
            last = max((at for at, one in enumerate(messages) if self._name_role(one) == "user"), default=0)
            await self._keep(messages[last:])


def _read_text(message: LLMMessage) -> str:
    content = message.content
    return content if isinstance(content, str) else "\n".join(one for one in content if isinstance(one, str))


def _make_content(text: str, metadata: dict[str, Any] | None = None) -> MemoryContent:
    return MemoryContent(content=text, mime_type=MemoryMimeType.TEXT, metadata=metadata)


def _require_text(content: MemoryContent) -> str:
    kind = content.mime_type.value if isinstance(content.mime_type, MemoryMimeType) else content.mime_type
    if kind not in _TEXTS or not isinstance(content.content, str):
        raise Invalid("this is no text", why=f"its type is {kind}", fix="give a content of text/plain")
    return content.content
