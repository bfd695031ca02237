"""Hooks of Agno's agents over a memory: `CredendaHooks`."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from credenda.adapters.messages import require_framework
from credenda.agents.conversation import Conversation, Conversations
from credenda.client import Credenda

with require_framework("Agno", "agno"):
    from agno.models.message import Message

if TYPE_CHECKING:
    from agno.agent import Agent
    from agno.run import RunContext
    from agno.run.agent import RunInput, RunOutput
    from agno.session import AgentSession


_log: Final = logging.getLogger(__name__)


class CredendaHooks:
    """Hooks of an `Agent`, which recall for its input and remember what both have said.

    `Agent(pre_hooks=[hooks.recall], post_hooks=[hooks.keep])` serves `run`; `arun` also takes `arecall` and `akeep`,
    which use threads. The core and what is recalled are added to the input, each once in a session whose history the
    agent sees. A run for another user than that of the memory neither reads nor writes it.
    """

    def __init__(self, memory: Credenda, *, project: str | None = None, agent: str | None = None) -> None:
        """Bind an open memory, whose `user` is the `user_id` of the runs, if they name one."""
        self._user = memory.user
        self._conversations = Conversations(memory, project=project, agent=agent)

    def recall(self, run_input: RunInput, run_context: RunContext, agent: Agent, session: AgentSession) -> None:
        """Store the input as the user's words, and add what is recalled to it."""
        conversation = self._find(run_context)
        if conversation is not None:
            # Take out of the history what was told with earlier inputs and was deleted since.
            for run in session.runs or []:
                for message in run.messages or []:
                    if isinstance(message.content, str):
                        message.content = conversation.cut_deleted(message.content)
        given = run_input.input_content
        text = given.content if isinstance(given, Message) else given
        if conversation is None or not isinstance(text, str):
            return
        seen = agent.num_history_runs if agent.add_history_to_context else 0
        if seen is not None and conversation.turns_told > seen:
            conversation.forget_shown()
        found = conversation.begin_turn(text, turn=run_context.run_id)
        if not found or found in text:
            return
        full = f"{text}\n\n{found}"
        run_input.input_content = given.model_copy(update={"content": full}) if isinstance(given, Message) else full

    def keep(self, run_output: RunOutput, run_context: RunContext) -> None:
        """Store the answer as the agent's words; one that is not a text stays out."""
        conversation = self._find(run_context)
        if conversation is not None and isinstance(run_output.content, str):
            conversation.keep_reply(run_output.content)

    async def arecall(self, run_input: RunInput, run_context: RunContext, agent: Agent, session: AgentSession) -> None:
        """Do as `recall`, in a thread."""
        await asyncio.to_thread(self.recall, run_input, run_context, agent, session)

    async def akeep(self, run_output: RunOutput, run_context: RunContext) -> None:
        """Do as `keep`, in a thread."""
        await asyncio.to_thread(self.keep, run_output, run_context)

    def _find(self, context: Any) -> Conversation | None:  # noqa: ANN401 - a RunContext
        if context.user_id not in (None, self._user):
            _log.warning("a run for another user than that of the memory is not remembered")
            return None
        return self._conversations.get(context.session_id)
