"""A memory block of LlamaIndex over a memory: `CredendaMemoryBlock`."""

from __future__ import annotations

import asyncio
from typing import Any

from credenda.adapters.messages import make_message, require_framework
from credenda.client import Credenda

with require_framework("LlamaIndex", "llama-index"):
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory.memory import BaseMemoryBlock
    from pydantic import Field


class CredendaMemoryBlock(BaseMemoryBlock[str]):
    """A block that remembers the messages it is given, and holds what belongs to the latest question.

    `token_budget` bounds its text. Without messages it is the core, which belongs in every prompt.
    """

    name: str = "credenda"
    description: str | None = "What is known about the user, with dates."
    priority: int = 1
    memory: Credenda = Field(exclude=True)
    token_budget: int = 400

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:  # noqa: ANN401 - the library's
        del block_kwargs
        questions = [
            text for one in messages or () if one.role.value == "user" and (text := (one.content or "").strip())
        ]
        found = await asyncio.to_thread(
            self.memory.context, questions[-1] if questions else None, token_budget=self.token_budget
        )
        return found.text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        given = [
            (one, text)
            for one in messages
            if one.role.value in ("user", "assistant") and (text := (one.content or "").strip())
        ]
        for one, text in given:
            session = one.additional_kwargs.get("session_id")
            await asyncio.to_thread(self.memory.remember, [make_message(one.role.value, text)], session=session)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Return the beginning of a text whose lines have so many tokens less, or None if none is left."""
        lines = content.split("\n")
        left = tokens_to_truncate
        while lines and left > 0:
            left -= len(lines.pop()) // 4 + 1
        return "\n".join(lines).strip() or None
