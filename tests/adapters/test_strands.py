"""The memory store of Strands Agents, alone and inside its manager."""

from __future__ import annotations

from typing import Any

import pytest
from strands.memory import MemoryManager
from strands.memory.memory_manager import MemoryManager as Manager
from strands.memory.types import AddMessagesContext

from credenda import Credenda
from credenda.adapters.strands import CredendaMemoryStore


@pytest.fixture
def store(memory: Credenda) -> CredendaMemoryStore:
    return CredendaMemoryStore(memory, session="s1")


def say(role: str, text: str) -> Any:
    return {"role": role, "content": [{"text": text}]}


async def test_what_is_added_is_found(store: CredendaMemoryStore, memory: Credenda) -> None:
    id = await store.add("The boat is called Ada.", {"page": 3})
    assert await store.add("The boat is called Ada.") == id
    (entry,) = await store.search("What is the boat called?", {"max_search_results": 3})
    assert entry.content == "user: The boat is called Ada. (told 2026-03-01)"
    assert entry.metadata is not None
    assert entry.metadata["id"] == id
    assert memory.get(id).metadata == {"page": 3}
    assert await store.search("volcanoes of Iceland") == []
    assert await store.search(" ") == []


async def test_a_retried_batch_is_stored_once_and_the_next_run_is_another(
    store: CredendaMemoryStore, memory: Credenda
) -> None:
    batch = [say("user", "ok"), say("assistant", "Fine."), say("user", "ok"), {"role": "user", "content": []}]
    context = AddMessagesContext(sequence_numbers=[0, 1, 3, 4])
    for _ in range(2):
        await store.add_messages(batch, context)
    assert memory.stats().events == 3
    await store.initialize()
    await store.add_messages(batch, context)
    assert memory.stats().events == 6


async def test_messages_without_numbers_are_stored_as_they_come(store: CredendaMemoryStore, memory: Credenda) -> None:
    await store.add_messages([say("user", "I live in Linz.")])
    memory.settle()
    assert [one.text for one in memory.list().items] == ["I live in Linz."]


async def test_the_manager_searches_adds_and_offers_the_tools(store: CredendaMemoryStore) -> None:
    manager: Manager = MemoryManager(stores=[store], add_tool_config=True)
    await manager.add("The boat is called Ada.")
    assert [one.content for one in await manager.search("What is the boat called?")] == [
        "user: The boat is called Ada. (told 2026-03-01)"
    ]
    assert {"list_memory_pages", "read_memory_page", "grep_memory_pages"} <= {one.tool_name for one in manager.tools}


def test_the_tools_list_read_and_search_pages(store: CredendaMemoryStore, memory: Credenda) -> None:
    memory.directory.write("boat.md", "# Boat\n\n- The boat is called Ada.\n")
    tools: dict[str, Any] = {one.tool_name: one for one in store.get_tools()}
    assert "boat.md" in tools["list_memory_pages"]().split("\n")
    assert "archive/" in tools["list_memory_pages"]().split("\n")
    assert tools["read_memory_page"]("boat.md") == "# Boat\n\n- The boat is called Ada.\n"
    assert tools["grep_memory_pages"]("ada", "boat.md") == "boat.md:3: - The boat is called Ada."
    assert "there is no page" in tools["read_memory_page"]("car.md")
    assert CredendaMemoryStore(memory, tools=False).get_tools() == []
