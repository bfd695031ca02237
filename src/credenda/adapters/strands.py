"""A memory store of Strands Agents: `CredendaMemoryStore`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from credenda.adapters.messages import describe_hit, join_texts, make_message, remember_each, require_framework
from credenda.client import Credenda
from credenda.errors import CredendaError
from credenda.ids import draw_key
from credenda.model.memory import MemoryUnit

with require_framework("Strands Agents", "strands"):
    from strands import tool
    from strands.memory.extraction.types import ExtractionConfig
    from strands.memory.types import AddMessagesContext, MemoryEntry, MemoryStore, Metadata, SearchOptions
    from strands.types.content import Message
    from strands.types.tools import AgentTool


class CredendaMemoryStore(MemoryStore):
    """A `MemoryStore` that searches and writes a memory, with tools that list, read and search its directory.

    Conversations are extracted here, without a model of the agent's. A retried batch of messages is stored once.
    """

    def __init__(
        self,
        memory: Credenda,
        *,
        name: str = "credenda",
        description: str | None = "What is known about the user, with dates and reasons.",
        max_search_results: int = 10,
        extraction: ExtractionConfig | bool = True,
        tools: bool = True,
        session: str | None = None,
    ) -> None:
        """Bind an open memory; `session` is the session of the messages."""
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = True
        self.extraction = extraction
        self._memory = memory
        self._tools = tools
        self._session = session
        self._run = draw_key().hex()[:16]

    async def initialize(self) -> None:
        """Begin a run of an agent, whose messages are numbered from 0."""
        self._run = draw_key().hex()[:16]

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Return what answers a query, best first; nothing if nothing relevant is known."""
        most = (options or {}).get("max_search_results") or self.max_search_results or 10
        if not query.strip():
            return []
        found = await asyncio.to_thread(self._memory.search, query, limit=most)
        return [MemoryEntry(content=hit.text, metadata=describe_hit(hit)) for hit in found.hits]

    async def add(self, content: str, metadata: Metadata | None = None) -> str:
        """Store a memory with the trust of a model's text, and return its id; repeated, it confirms the first one."""
        unit = MemoryUnit(text=content, source="ai", source_session=self._session or "", metadata=metadata or {})
        return (await asyncio.to_thread(self._memory.store, unit)).id

    async def add_messages(self, messages: list[Message], context: AddMessagesContext | None = None) -> None:
        """Remember messages of the conversation."""
        numbers = context.sequence_numbers if context is not None else None
        given = [
            make_message(one["role"], text, id=None if numbers is None else f"{self._run}:{numbers[place]}")
            for place, one in enumerate(messages)
            if (text := join_texts(one["content"]).strip())
        ]
        if given:
            await asyncio.to_thread(remember_each, self._memory, given, session=self._session, agent=self.name)

    def get_tools(self) -> list[AgentTool]:
        """Return the tools of the directory."""
        return list(_make_tools(self._memory)) if self._tools else []


def _make_tools(memory: Credenda) -> tuple[AgentTool, ...]:
    directory = memory.directory

    @tool
    def list_memory_pages(path: str = "") -> str:
        """List the pages and folders of the memory.

        Args:
            path: A folder, such as "consolidated", or "@2026-03-01" for the beliefs of that day.
        """
        return _answer(lambda: "\n".join(f"{one.path}{'/' * one.folder}" for one in directory.ls(path)))

    @tool
    def read_memory_page(path: str) -> str:
        """Read a page of the memory.

        Args:
            path: The path of a page, as listed.
        """
        return _answer(lambda: directory.read(path).text)

    @tool
    def grep_memory_pages(text: str, path: str = "") -> str:
        """Find the lines of memory pages that contain a text.

        Args:
            text: The text to find, in any case.
            path: The folder to search; all of them by default.
        """

        def show() -> str:
            return "\n".join(f"{one.path}:{one.line}: {one.text}" for one in directory.grep(text, path)) or "no line"

        return _answer(show)

    return list_memory_pages, read_memory_page, grep_memory_pages


def _answer(work: Callable[[], str]) -> str:
    """Return the answer of a tool; an error is an answer too, for the model to read."""
    try:
        return work()
    except CredendaError as error:
        return str(error)
