"""A session of the OpenAI Agents SDK over a memory: `CredendaSession`.

The transcript is exact. Messages of the user and the agent are journaled too, under the same session, and become
memory. A message that is deleted there leaves the transcript. Tool calls and other items are only part of the
transcript.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from credenda.adapters.messages import join_texts, make_message, require_framework
from credenda.client import Credenda
from credenda.errors import Invalid
from credenda.model.core import ItemFilter
from credenda.private import cut_private

with require_framework("the OpenAI Agents SDK", "openai-agents"):
    from agents.items import TResponseInputItem
    from agents.memory import SessionABC, SessionSettings
    from agents.memory.session_settings import resolve_session_limit


_SPEAKING: Final = ("user", "assistant")


class CredendaSession(SessionABC):
    """A `Session` in a memory. `remember=False` keeps the transcript only."""

    def __init__(
        self,
        session_id: str,
        memory: Credenda,
        *,
        session_settings: SessionSettings | None = None,
        remember: bool = True,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._memory = memory
        self._space = f"openai-agents\x1f{session_id}"
        self._remembers = remember

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items of the session, oldest first; with a limit the latest ones."""
        most = resolve_session_limit(limit, self.session_settings)
        return await asyncio.to_thread(self._find, -1 if most is None else most)

    def _find(self, limit: int) -> list[TResponseInputItem]:
        found = self._memory.items.find(ItemFilter(space=self._space, newest=True, limit=limit))
        return [json.loads(one.value) for one in reversed(found)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items: all of them or, if a message is refused, none."""
        if items:
            await asyncio.to_thread(self._add, cast("list[Mapping[str, Any]]", items))

    def _add(self, items: Sequence[Mapping[str, Any]]) -> None:
        said = (
            {number: text for number, item in enumerate(items) if (text := _read_words(item))}
            if self._remembers
            else {}
        )
        sources: dict[int, str] = {}
        if said:
            messages = [make_message(items[number]["role"], text) for number, text in said.items()]
            receipt = self._memory.remember(messages, session=self.session_id, agent="openai-agents")
            if len(receipt.event_ids) != len(said):
                raise Invalid("a message was refused", why="; ".join(receipt.refused), fix="leave it out")
            sources = dict(zip(said, receipt.event_ids, strict=True))
        entries: list[tuple[object, str | None]] = []
        for number, item in enumerate(items):
            source = sources.get(number)
            kept = None if source is None else self._memory.event(source).event.text
            changed = kept is not None and kept.strip() != said[number].strip()
            entries.append(({**item, "content": kept} if changed else dict(item), source))
        self._memory.items.append(self._space, entries)

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the latest item from the transcript and return it; its words stay in the journal."""
        return await asyncio.to_thread(self._pop)

    def _pop(self) -> TResponseInputItem | None:
        found = self._memory.items.find(ItemFilter(space=self._space, newest=True, limit=1))
        if not found:
            return None
        self._memory.items.remove(self._space, found[0].key, version=found[0].version)
        return json.loads(found[0].value)

    async def clear_session(self) -> None:
        """Empty the transcript; its words stay in the journal."""
        await asyncio.to_thread(self._memory.items.remove, self._space)


def _read_words(item: Mapping[str, Any]) -> str:
    """Return the words of a message of the user or the agent, without private parts; "" for any other item."""
    if item.get("type", "message") != "message" or item.get("role") not in _SPEAKING:
        return ""
    return cut_private(join_texts(item.get("content"))).strip()
