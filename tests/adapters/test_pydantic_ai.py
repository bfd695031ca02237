"""The memory store of the Pydantic AI harness, beside the stores that it brings."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_harness.memory import (
    InMemoryStore,
    Memory,
    MemoryConflictError,
    MemoryOperation,
    MemoryOperationConflictError,
    MemoryStore,
    MetadataMemoryStore,
    SearchableMemoryStore,
)

from credenda import Credenda
from credenda.adapters.pydantic_ai import CredendaMemoryStore

MakeStore = Callable[[], MetadataMemoryStore]


@pytest.fixture(params=["credenda", "in memory"])
def store(request: pytest.FixtureRequest, memory: Credenda) -> MetadataMemoryStore:
    """Ours, and those of the harness: what holds for them must hold for ours."""
    stores: dict[str, MakeStore] = {
        "credenda": lambda: CredendaMemoryStore(memory),
        "in memory": InMemoryStore,
    }
    return stores[request.param]()


def test_it_is_every_kind_of_store(memory: Credenda) -> None:
    store = CredendaMemoryStore(memory)
    assert isinstance(store, MemoryStore)
    assert isinstance(store, MetadataMemoryStore)
    assert isinstance(store, SearchableMemoryStore)


async def test_a_file_is_created_read_replaced_and_deleted(store: MetadataMemoryStore) -> None:
    assert await store.read("a/MEMORY.md", max_chars=99) is None
    text = "# Notes\n\n- The boat is called Ada.\n\n```\ncode\n```\nnaïve 日本語"
    made = await store.write("a/MEMORY.md", text, expected_version=None)
    assert not made.existed
    found = await store.read("a/MEMORY.md", max_chars=999)
    assert found is not None
    assert (found.content, found.version, found.truncated, found.metadata) == (text, made.version, False, None)
    again = await store.write("a/MEMORY.md", "- The boat is called Bella.", expected_version=made.version)
    assert again.existed
    assert again.version != made.version
    cut = await store.read("a/MEMORY.md", max_chars=5)
    assert cut is not None
    assert (cut.content, cut.truncated) == ("- The", True)
    gone = await store.delete("a/MEMORY.md", expected_version=again.version)
    assert (gone.version, gone.existed) == (None, True)
    assert await store.read("a/MEMORY.md", max_chars=99) is None
    assert not (await store.delete("a/MEMORY.md", expected_version=None)).existed


async def test_another_version_is_a_conflict_and_changes_nothing(store: MetadataMemoryStore) -> None:
    first = await store.write("a.md", "one thing", expected_version=None)
    second = await store.write("a.md", "two things", expected_version=first.version)
    for version in (None, first.version, "0"):
        with pytest.raises(MemoryConflictError):
            await store.write("a.md", "three things", expected_version=version)
        with pytest.raises(MemoryConflictError):
            await store.delete("a.md", expected_version=version)
    found = await store.read("a.md", max_chars=99)
    assert found is not None
    assert (found.content, found.version) == ("two things", second.version)


async def test_a_repeated_operation_is_carried_out_once(store: MetadataMemoryStore) -> None:
    operation = MemoryOperation(id="op1", fingerprint="f1")
    assert await store.get_operation(operation) is None
    first = await store.write("a.md", "one thing", expected_version=None, operation=operation)
    replayed = await store.write("a.md", "one thing", expected_version=None, operation=operation)
    assert (replayed.version, replayed.replayed, replayed.existed) == (first.version, True, False)
    assert await store.get_operation(operation) == replayed
    found = await store.read("a.md", max_chars=99)
    assert found is not None
    assert found.operation_id == "op1"
    with pytest.raises(MemoryOperationConflictError):
        await store.delete("a.md", expected_version=first.version, operation=MemoryOperation("op1", "f2"))


async def test_metadata_belongs_to_the_write_that_brought_it(store: MetadataMemoryStore) -> None:
    first = await store.write_with_metadata("a.md", "one thing", expected_version=None, metadata={"by": "ana"})
    found = await store.read("a.md", max_chars=99)
    assert found is not None
    assert found.metadata == {"by": "ana"}
    await store.write("a.md", "two things", expected_version=first.version)
    found = await store.read("a.md", max_chars=99)
    assert found is not None
    assert found.metadata is None


async def test_paths_are_listed_by_their_beginning(store: MetadataMemoryStore) -> None:
    for path in ("b/x.md", "a/y.md", "a/x.md", "ab/x.md"):
        await store.write(path, "one thing", expected_version=None)
    assert await store.list_paths(limit=9) == ["a/x.md", "a/y.md", "ab/x.md", "b/x.md"]
    assert await store.list_paths("a/", limit=9) == ["a/x.md", "a/y.md"]
    assert await store.list_paths("a", limit=2) == ["a/x.md", "a/y.md"]
    assert await store.list_paths("c", limit=9) == []


@pytest.mark.parametrize("path", ["../a", "a/../b", "/a", "a//b", "a b", "", "a/./b", "ä"])
async def test_a_path_that_leads_elsewhere_is_refused(store: MetadataMemoryStore, path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        await store.write(path, "one thing", expected_version=None)
    with pytest.raises(ValueError, match="path"):
        await store.read(path, max_chars=9)


async def test_files_directly_below_a_prefix_are_searched(store: MetadataMemoryStore) -> None:
    assert isinstance(store, SearchableMemoryStore)
    await store.write("a/boat.md", "The boat is called Ada.", expected_version=None)
    await store.write("a/cars.md", "The car is red, the boat is blue, a boat.", expected_version=None)
    await store.write("a/deep/boat.md", "A boat below.", expected_version=None)
    await store.write("b/boat.md", "Another boat.", expected_version=None)
    bounds = {"limit": 9, "max_files": 9, "max_chars": 999, "max_file_chars": 999}
    found = await store.search("a/", "boat", **bounds)
    assert sorted(match.path for match in found.matches) == ["a/boat.md", "a/cars.md"]
    assert (found.scanned, found.truncated) == (2, False)
    assert (await store.search("a/", "volcano", **bounds)).matches == []
    assert (await store.search("a/", "boat", **{**bounds, "max_files": 1})).truncated
    assert (await store.search("a/", " ", **bounds)).scanned == 0


async def test_lines_are_memories_and_a_deleted_one_leaves_its_file(memory: Credenda) -> None:
    store = CredendaMemoryStore(memory)
    made = await store.write("MEMORY.md", "- The boat is called Ada.\n- The car is red.", expected_version=None)
    hit = memory.search("What is the boat called?").hits[0]
    memory.delete(hit.id)
    found = await store.read("MEMORY.md", max_chars=99)
    assert found is not None
    assert found.content == "- The car is red."
    assert found.version != made.version
    with pytest.raises(ValueError, match="stays deleted"):
        await store.write("MEMORY.md", "- The boat is called Ada.", expected_version=found.version)
    assert memory.directory.read("pydantic-ai/MEMORY.md").text == "- The car is red."


async def test_an_agent_writes_and_reads_its_notes(memory: Credenda) -> None:
    def act(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        if len(messages) == 1:
            call = ToolCallPart("write_memory", {"content": "- The boat is called Ada."})
            return ModelResponse(parts=[call])
        return ModelResponse(parts=[TextPart("done")])

    agent = Agent(FunctionModel(act), capabilities=[Memory(store=CredendaMemoryStore(memory))])
    assert (await agent.run("Remember the boat.")).output == "done"
    assert memory.search("What is the boat called?").hits[0].quote == "The boat is called Ada."
