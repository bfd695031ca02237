"""The memory service of Google's Agent Development Kit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai.types import Content, FunctionCall, Part

from credenda import Credenda
from credenda.adapters.google_adk import CredendaMemoryService, join_names
from credenda.errors import Invalid


@pytest.fixture
def service(memory: Credenda) -> Iterator[CredendaMemoryService]:
    made = CredendaMemoryService(memory)
    yield made
    made.close()


def say(author: str, text: str, id: str = "") -> Event:
    return Event(author=author, id=id, timestamp=1772355600.0, content=Content(parts=[Part(text=text)]))


def converse(*events: Event, user: str = "ana", app: str = "boats") -> Session:
    return Session(id="s1", app_name=app, user_id=user, events=list(events), last_update_time=0.0)


async def texts(service: BaseMemoryService, query: str, *, user: str = "ana", app: str = "boats") -> list[str]:
    found = await service.search_memory(app_name=app, user_id=user, query=query)
    return [part.text or "" for one in found.memories for part in one.content.parts or ()]


async def test_a_session_is_remembered_and_found(service: CredendaMemoryService) -> None:
    call = Event(author="agent", content=Content(parts=[Part(function_call=FunctionCall(name="look_up", args={}))]))
    await service.add_session_to_memory(converse(say("user", "The boat is called Ada.", "1"), call, Event(author="x")))
    found = await service.search_memory(app_name="boats", user_id="ana", query="What is the boat called?")
    (entry,) = found.memories
    assert entry.content.parts is not None
    assert [part.text for part in entry.content.parts] == ["user: boat's name: Ada, told 2026-03-01"]
    assert entry.content.role == "user"
    assert entry.author == "user"
    assert entry.timestamp == "2026-03-01T09:00:00+00:00"
    assert entry.id == entry.custom_metadata["id"]


async def test_a_session_that_is_added_repeatedly_is_stored_once(
    service: CredendaMemoryService, memory: Credenda
) -> None:
    first, second = say("user", "The boat is called Ada.", "1"), say("user", "The boat is blue.", "2")
    for events in ((first,), (first,), (first, second)):
        await service.add_session_to_memory(converse(*events))
    with memory.for_user(join_names("boats", "ana"), workers=False) as stored:
        assert stored.stats().events == 2


async def test_users_and_applications_see_their_own_memories(service: CredendaMemoryService) -> None:
    await service.add_session_to_memory(converse(say("user", "The boat is called Ada.", "1")))
    question = "What is the boat called?"
    assert await texts(service, question, user="ben") == []
    assert await texts(service, question, app="cars") == []
    assert await texts(service, question) == ["user: boat's name: Ada, told 2026-03-01"]


def test_no_two_pairs_of_names_have_the_same_tenant() -> None:
    pairs = [("a/b", "c"), ("a", "b/c"), ("a%2Fb", "c"), ("a", "c"), ("A", "c")]
    assert len({join_names(*pair) for pair in pairs}) == len(pairs)


async def test_one_memory_may_serve_all_applications_of_a_user(memory: Credenda) -> None:
    service = CredendaMemoryService(memory, tenant=lambda _, user: user)
    await service.add_session_to_memory(converse(say("user", "The boat is called Ada.", "1")))
    assert await texts(service, "What is the boat called?", app="cars") == ["user: boat's name: Ada, told 2026-03-01"]
    service.close()
    assert [hit.quote for hit in memory.search("What is the boat called?").hits] == ["The boat is called Ada."]


async def test_events_and_memories_are_added_and_deleted(service: CredendaMemoryService) -> None:
    who = {"app_name": "boats", "user_id": "ana"}
    await service.add_events_to_memory(**who, events=[say("agent", "I painted the boat.", "1")], session_id="s2")
    entry = MemoryEntry(content=Content(parts=[Part(text="The harbour is in Linz.")]), custom_metadata={"from": "map"})
    await service.add_memory(**who, memories=[entry])
    assert await texts(service, "Where is the harbour?") == ["user: The harbour is in Linz. (told 2026-03-01)"]
    (found,) = (await service.search_memory(**who, query="Where is the harbour?")).memories
    await service.delete_memory(**who, memory_id=found.id)
    assert await texts(service, "Where is the harbour?") == []
    assert await texts(service, "Who painted the boat?") == ["I painted the boat."]


async def test_a_deletion_needs_an_id_and_an_empty_question_finds_nothing(service: CredendaMemoryService) -> None:
    with pytest.raises(Invalid):
        await service.delete_memory(app_name="boats", user_id="ana")
    assert await texts(service, " ") == []
