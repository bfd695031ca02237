"""A hook of Haystack's agents over a memory: `CredendaHook`."""

from __future__ import annotations

from typing import Any, Self

from credenda.adapters.messages import require_framework
from credenda.agents.conversation import Conversation, Conversations, find_user_messages
from credenda.client import Credenda
from credenda.errors import Invalid

with require_framework("Haystack", "haystack"):
    from haystack.components.agents.state import State
    from haystack.dataclasses import ChatMessage, ChatRole


class CredendaHook:
    """A `Hook` of an `Agent` for `before_run` and `after_run`, which recalls and remembers what both have said.

    Before a run the core goes to the message of the system, and what probably answers a message of the user is added
    to that message; after it the answer is stored. The session is `hook_context={"session": …}` of the run.
    """

    allowed_hook_points = ("before_run", "after_run")

    def __init__(
        self, memory: Credenda, *, session: str | None = None, project: str | None = None, agent: str | None = None
    ) -> None:
        """Bind an open memory, that of the agent's user; `session` is that of runs which name none."""
        self._conversations = Conversations(memory, session=session, project=project, agent=agent)

    def run(self, state: State) -> None:
        """Recall before a run; after it, which has a reason for its end, remember what the model has said."""
        messages: list[ChatMessage] = state.data["messages"]
        session = (state.data.get("hook_context") or {}).get("session")
        conversation = self._conversations.get(session)
        if state.data.get("exit_reason") is None:
            state.data["messages"] = _prepare(conversation, messages)
            return
        asked = max((at for at, one in enumerate(messages) if one.is_from(ChatRole.USER)), default=0)
        for message in messages[asked:]:
            if message.is_from(ChatRole.ASSISTANT):
                conversation.keep_reply("\n".join(message.texts))

    def to_dict(self) -> dict[str, Any]:
        """Raise `Invalid`: an open memory is in no file."""
        raise Invalid("this hook is not written to a file", why="it holds an open memory", fix="add it after loading")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Raise `Invalid`, as `to_dict` does."""
        del data
        raise Invalid("this hook is not read from a file", why="it holds an open memory", fix="add it after loading")


def _prepare(conversation: Conversation, messages: list[ChatMessage]) -> list[ChatMessage]:
    messages = [cut for one in messages if (cut := _withdraw(conversation, one)) is not None]
    told = [{"role": one.role.value, "content": "\n".join(one.texts)} for one in messages]
    core, blocks = conversation.recall(find_user_messages({"messages": told}))
    ready = [_add(one, blocks[at]) if at in blocks else one for at, one in enumerate(messages)]
    if not core:
        return ready
    if ready and ready[0].is_from(ChatRole.SYSTEM):
        return [_add(ready[0], core), *ready[1:]]
    return [ChatMessage.from_system(core), *ready]


def _withdraw(conversation: Conversation, message: ChatMessage) -> ChatMessage | None:
    """Return a message of an earlier run without what was told in it and deleted since; None if that was all."""
    kept = [conversation.cut_deleted(text) for text in message.texts]
    if kept == list(message.texts):
        return message
    told = message.to_dict()
    for part, text in zip([one for one in told["content"] if "text" in one], kept, strict=True):
        part["text"] = text
    return ChatMessage.from_dict(told) if any(kept) else None


def _add(message: ChatMessage, text: str) -> ChatMessage:
    """Return a message with a text behind its last one; one that has it already, from an earlier run, is the same."""
    if any(text in one for one in message.texts):
        return message
    told = message.to_dict()
    last = [part for part in told["content"] if "text" in part][-1]
    last["text"] = f"{last['text']}\n\n{text}"
    return ChatMessage.from_dict(told)
