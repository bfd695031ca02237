"""Hooks of the Claude Agent SDK over a memory: `make_hooks`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from credenda.adapters.messages import require_framework
from credenda.agents.conversation import Conversation, Conversations
from credenda.client import Credenda

with require_framework("the Claude Agent SDK", "claude-agent-sdk"):
    from claude_agent_sdk import HookMatcher

if TYPE_CHECKING:
    from claude_agent_sdk.types import HookCallback, HookEvent, HookJSONOutput


def make_hooks(
    memory: Credenda, *, project: str | None = None, agent: str | None = None
) -> dict[HookEvent, list[HookMatcher]]:
    """Return hooks for `ClaudeAgentOptions(hooks=…)`, which recall with each prompt and remember what both have said.

    The core comes with the first prompt of a session, and again after a compaction. Prompts of sub-agents are not the
    user's words, and stay out. A failure of the memory is logged and never fails the agent. Do not run the plugin of
    Claude Code in the same agent: both would do the same.
    """
    conversations = Conversations(memory, project=project, agent=agent)

    def find(given: Any) -> Conversation:  # noqa: ANN401 - the input of any hook
        return conversations.get(given["session_id"])

    async def recall(given: Any, *_: object) -> HookJSONOutput:  # noqa: ANN401 - as above
        text = await asyncio.to_thread(find(given).begin_turn, given["prompt"], turn=given.get("prompt_id"))
        if not text:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}}

    async def keep(given: Any, *_: object) -> HookJSONOutput:  # noqa: ANN401 - as above
        await asyncio.to_thread(find(given).keep_reply, given.get("last_assistant_message") or "")
        return {}

    async def forget(given: Any, *_: object) -> HookJSONOutput:  # noqa: ANN401 - as above
        find(given).forget_shown()
        return {}

    hooks: dict[HookEvent, HookCallback] = {"UserPromptSubmit": recall, "Stop": keep, "PreCompact": forget}
    return {event: [HookMatcher(hooks=[hook])] for event, hook in hooks.items()}
