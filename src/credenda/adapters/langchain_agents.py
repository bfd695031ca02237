"""A middleware of LangChain's agents over a memory: `CredendaMiddleware`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from credenda.adapters.messages import require_framework
from credenda.agents.conversation import Conversation, Conversations, find_user_messages
from credenda.client import Credenda

with require_framework("LangChain's agents", "langchain-agents"):
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
    from langgraph.config import get_config


class CredendaMiddleware(AgentMiddleware):
    """An `AgentMiddleware` that recalls before each call of the model, and remembers what both have said.

    The core goes to the system prompt, and what probably answers a message of the user is added to that message, in
    the request alone: the state of the agent stays as it is. The session is the thread of the agent. A failure of the
    memory is logged and never fails the call.
    """

    def __init__(
        self, memory: Credenda, *, session: str | None = None, project: str | None = None, agent: str | None = None
    ) -> None:
        """Bind an open memory, that of the agent's user; `session` is that of runs without a thread."""
        super().__init__()
        self.tools = []
        self._conversations = Conversations(memory, session=session, project=project, agent=agent)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with what is recalled."""
        conversation = self._find_conversation()
        response = handler(_prepare(conversation, request))
        _keep(conversation, response)
        return response

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Call the model with what is recalled."""
        conversation = self._find_conversation()
        response = await handler(await asyncio.to_thread(_prepare, conversation, request))
        await asyncio.to_thread(_keep, conversation, response)
        return response

    def _find_conversation(self) -> Conversation:
        thread = get_config().get("configurable", {}).get("thread_id")
        return self._conversations.get(None if thread is None else str(thread))


def _prepare(conversation: Conversation, request: ModelRequest[Any]) -> ModelRequest[Any]:
    told = [{"role": _name_role(one), "content": one.text} for one in request.messages]
    core, blocks = conversation.recall(find_user_messages({"messages": told}))
    messages = [_add(one, blocks[at]) if at in blocks else one for at, one in enumerate(request.messages)]
    if not core:
        return request.override(messages=messages)
    system = SystemMessage(core) if request.system_message is None else _add(request.system_message, core)
    return request.override(messages=messages, system_message=system)


def _name_role(message: AnyMessage) -> str:
    """Return who spoke, "" for neither: a summary that a middleware made is not the user's."""
    if isinstance(message, AIMessage):
        return "assistant"
    return "user" if isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs else ""


def _add(message: Any, text: str) -> Any:  # noqa: ANN401 - a message, of the same class
    held = message.content
    content = f"{held}\n\n{text}" if isinstance(held, str) else [*held, {"type": "text", "text": text}]
    return message.model_copy(update={"content": content})


def _keep(conversation: Conversation, response: ModelResponse[Any]) -> None:
    for message in response.result:
        if isinstance(message, AIMessage):
            conversation.keep_reply(str(message.text))
