"""A memory service of Google's Agent Development Kit: `CredendaMemoryService`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from credenda.adapters.messages import describe_hit, join_texts, make_message, remember_each, require_framework
from credenda.client import Credenda
from credenda.errors import Invalid
from credenda.model.memory import MemoryUnit
from credenda.model.query import Hit
from credenda.session_pool import SessionPool

with require_framework("the Agent Development Kit", "google-adk"):
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai.types import Content, Part

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session


def join_names(app_name: str, user_id: str) -> str:
    """Name the tenant of a user of an application, so that no two pairs have the same."""
    return f"{app_name.replace('%', '%25').replace('/', '%2F')}/{user_id}"


class CredendaMemoryService(BaseMemoryService):
    """A memory service in which each user of an application is a tenant of the same database.

    `tenant` names it: return the `user_id` alone to share a user's memory between applications. Of many users, at most
    `most` memories are open at a time. Close the service, and then the memory that it was made of.
    """

    def __init__(
        self, memory: Credenda, *, tenant: Callable[[str, str], str] = join_names, limit: int = 10, most: int = 16
    ) -> None:
        self._tenant = tenant
        self._limit = limit
        self._pool = SessionPool[Credenda](memory.for_user, sessions_max=most)

    def close(self) -> None:
        """Close the memories of the users."""
        self._pool.close()

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember the messages of a session; those that were added before are stored once."""
        await asyncio.to_thread(self._add, session.app_name, session.user_id, session.events, session.id)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember some messages of a session."""
        await asyncio.to_thread(self._add, app_name, user_id, events, session_id, metadata=custom_metadata)

    def _add(
        self,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None,
        *,
        metadata: Mapping[str, object] | None = None,
    ) -> None:
        messages = [message for event in events if (message := _to_message(event)) is not None]
        if messages:
            with self._pool.lend(self._tenant(app_name, user_id)) as memory:
                remember_each(memory, messages, session=session_id, agent=app_name, metadata=metadata)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store memories at once, with the trust of a model's text."""
        units = [
            MemoryUnit(text=text, source="ai", metadata={**(custom_metadata or {}), **one.custom_metadata})
            for one in memories
            if (text := join_texts(one.content.parts).strip())
        ]

        def store() -> None:
            with self._pool.lend(self._tenant(app_name, user_id)) as memory:
                for unit in units:
                    memory.store(unit)

        await asyncio.to_thread(store)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return what answers a query, best first; nothing if nothing relevant is known."""

        def search() -> list[MemoryEntry]:
            with self._pool.lend(self._tenant(app_name, user_id)) as memory:
                memory.settle()
                found = memory.search(query, limit=self._limit).hits if query.strip() else ()
                return [_to_entry(hit) for hit in found]

        return SearchMemoryResponse(memories=await asyncio.to_thread(search))

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete a memory or message permanently, by the id of a search."""
        if not memory_id:
            raise Invalid("no memory is named", why="memory_id is empty", fix="give the id of a search result")

        def delete() -> None:
            with self._pool.lend(self._tenant(app_name, user_id)) as memory:
                memory.delete(memory_id)

        await asyncio.to_thread(delete)


def _to_message(event: Event) -> dict[str, str] | None:
    text = join_texts(event.content.parts).strip() if event.content and event.content.parts else ""
    if not text:
        return None
    said = datetime.fromtimestamp(event.timestamp, UTC).isoformat()
    return make_message("user" if event.author == "user" else "assistant", text, id=event.id or None, timestamp=said)


def _to_entry(hit: Hit) -> MemoryEntry:
    author = hit.event.role.value if hit.event is not None else hit.memory.speaker if hit.memory is not None else None
    since = (
        hit.event.occurred_at if hit.event is not None else hit.memory.created_at if hit.memory is not None else None
    )
    return MemoryEntry(
        content=Content(role="user" if author == "user" else "model", parts=[Part(text=hit.text)]),
        custom_metadata=describe_hit(hit),
        id=hit.id,
        author=author,
        timestamp=None if since is None else since.isoformat(),
    )
