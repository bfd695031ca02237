"""The stores of Microsoft's Agent Framework, beside those that it brings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_framework import (
    AgentFileStore,
    AgentSession,
    InMemoryAgentFileStore,
    MemoryFileStore,
    MemoryStore,
    MemoryTopicRecord,
)

from credenda import Credenda
from credenda.adapters.agent_framework import CredendaFileStore, CredendaMemoryStore

WHO: dict[str, Any] = {"source_id": "memory"}


@pytest.fixture(params=["credenda", "in memory"])
def files(request: pytest.FixtureRequest, memory: Credenda) -> AgentFileStore:
    stores: dict[str, Callable[[], AgentFileStore]] = {
        "credenda": lambda: CredendaFileStore(memory),
        "in memory": InMemoryAgentFileStore,
    }
    return stores[request.param]()


@pytest.fixture(params=["credenda", "files"])
def topics(request: pytest.FixtureRequest, memory: Credenda, tmp_path: Path) -> MemoryStore:
    stores: dict[str, Callable[[], MemoryStore]] = {
        "credenda": lambda: CredendaMemoryStore(memory, tmp_path / "transcripts"),
        "files": lambda: MemoryFileStore(tmp_path / "files", owner_state_key="owner"),
    }
    return stores[request.param]()


@pytest.fixture
def session() -> AgentSession:
    made = AgentSession()
    made.state["owner"] = "ana"
    return made


async def test_files_are_written_read_listed_and_deleted(files: AgentFileStore) -> None:
    text = "# Boat\n\n- The boat is called Ada.\n"
    await files.write("trips/boat.md", text)
    await files.write("plan.md", "one thing")
    assert await files.read("trips/boat.md") == text
    assert await files.read("absent.md") is None
    assert await files.file_exists("plan.md")
    assert not await files.file_exists("trips")
    assert [(one.name, one.type) for one in await files.list_children()] == [
        ("trips", "directory"),
        ("plan.md", "file"),
    ]
    assert [(one.name, one.type) for one in await files.list_children("trips")] == [("boat.md", "file")]
    assert await files.list_children("absent") == []
    await files.write("plan.md", "two things")
    assert await files.read("plan.md") == "two things"
    with pytest.raises(FileExistsError):
        await files.write("plan.md", "three things", overwrite=False)
    assert await files.delete("plan.md")
    assert not await files.delete("plan.md")
    await files.create_directory("new")


@pytest.mark.parametrize("path", ["../a.md", "a/../../b.md"])
async def test_a_path_that_leads_elsewhere_is_refused(files: AgentFileStore, path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        await files.write(path, "one thing")
    with pytest.raises(ValueError, match="path"):
        await files.read(path)


async def test_files_are_searched_by_an_expression(files: AgentFileStore) -> None:
    await files.write("trips/boat.md", "first\nThe boat is called Ada.\n")
    await files.write("plan.md", "The boat is blue.")
    found = await files.search("", "boat is (called|blue)", recursive=True)
    assert sorted(one.file_name for one in found) == ["plan.md", "trips/boat.md"]
    assert [one.file_name for one in await files.search("", "boat", "*.md")] == ["plan.md"]


def make(topic: str, *memories: str) -> MemoryTopicRecord:
    return MemoryTopicRecord(
        topic=topic, summary="About it.", memories=memories, updated_at="2026-03-01T09:00:00+00:00", session_ids=["s1"]
    )


def test_topics_are_written_read_listed_and_deleted(topics: MemoryStore, session: AgentSession) -> None:
    boat, car = make("My boat", "The boat is called Ada.", "The boat is blue."), make("Car", "The car is red.")
    for record in (boat, car):
        topics.write_topic(session, record, **WHO)
    assert topics.list_topics(session, **WHO) == [car, boat]
    assert topics.get_topic(session, topic="My boat", **WHO) == boat
    assert topics.get_topic(session, topic="my-boat", **WHO) == boat
    assert topics.list_topics(session, source_id="other") == []
    topics.delete_topic(session, topic="car", **WHO)
    for work in (topics.get_topic, topics.delete_topic):
        with pytest.raises(FileNotFoundError):
            work(session, topic="car", **WHO)


def test_the_index_names_the_topics(topics: MemoryStore, session: AgentSession) -> None:
    bounds = {"line_limit": 9, "line_length": 99, **WHO}
    assert topics.get_index_text(session, **bounds) == "# MEMORY\n\n- none yet"
    topics.write_topic(session, make("My boat", "The boat is called Ada."), **WHO)
    entries = topics.rebuild_index(session, **bounds)
    expected = "# MEMORY\n\n- [My boat](topics/my-boat.md): About it."
    assert [entry.topic for entry in entries] == ["My boat"]
    assert topics.get_index_text(session, **bounds) == expected
    assert topics.get_index_text(session, index_entries=entries, **bounds) == expected


def test_the_state_is_kept(topics: MemoryStore, session: AgentSession) -> None:
    assert topics.read_state(session, **WHO) == {"last_consolidated_at": None, "sessions_since_consolidation": []}
    topics.write_state(session, {"last_consolidated_at": "2026-03-01", "sessions_since_consolidation": ["s"]}, **WHO)
    assert topics.read_state(session, **WHO)["last_consolidated_at"] == "2026-03-01"


def test_a_topic_is_memory_and_a_deleted_line_leaves_it(memory: Credenda, tmp_path: Path) -> None:
    store, session = CredendaMemoryStore(memory, tmp_path), AgentSession()
    assert store.get_owner_id(session) == "ana"
    assert store.export_provider_state(session) == {}
    store.write_topic(session, make("Boat", "The boat is called Ada.", "The boat is blue."), **WHO)
    memory.delete(memory.search("What is the boat called?").hits[0].id)
    assert store.get_topic(session, topic="Boat", **WHO).memories == ["The boat is blue."]
    with pytest.raises(ValueError, match="stays deleted"):
        store.write_topic(session, make("Boat", "The boat is called Ada."), **WHO)


def test_transcripts_are_searched_in_their_folder(memory: Credenda, tmp_path: Path) -> None:
    store, session = CredendaMemoryStore(memory, tmp_path), AgentSession()
    folder = store.get_transcripts_directory(session, **WHO)
    assert folder.is_relative_to(tmp_path)
    assert store.search_transcripts(session, query="boat", **WHO) == []
