"""mem0's asynchronous classes and its client, questions among the messages, and results without repetition."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from credenda.compat.mem0 import AsyncMemory, AsyncMemoryClient, Memory, MemoryClient
from credenda.errors import Invalid, NotFound

ANA: dict[str, Any] = {"user_id": "ana"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def client(tmp_path: Path) -> Iterator[MemoryClient]:
    opened = MemoryClient("a key that is not used", path=tmp_path / "client.db")
    yield opened
    opened.close()


def texts(found: dict[str, Any]) -> list[str]:
    return [one["memory"] for one in found["results"]]


@pytest.mark.parametrize(
    "question",
    ["Where do I live?", "Can you tell me what I am allergic to", "Why? How? What is the capital of France?"],
)
def test_a_question_is_no_memory_and_no_result(memory: Memory, question: str) -> None:
    assert memory.add(question, **ANA) == {"results": []}
    assert memory.get_all(**ANA)["results"] == []
    assert memory.search(question, filters=ANA)["results"] == []


def test_a_statement_beside_a_question_is_remembered(memory: Memory) -> None:
    memory.add([{"role": "user", "content": "What is the capital of France? I live in Linz."}], **ANA)
    assert texts(memory.get_all(**ANA)) == ["I live in Linz."]


def test_nothing_comes_twice(memory: Memory) -> None:
    lunch = "The lunch at Mario's was cold."
    for said in (lunch, lunch, "the lunch at Mario's was cold", "I live in Linz.", "I live in Linz."):
        memory.add(said, **ANA)
    assert len(texts(memory.search("How was the lunch at Mario's?", filters=ANA))) == 1
    assert texts(memory.search("Where do I live?", filters=ANA)) == ["I live in Linz."]
    assert texts(memory.get_all(**ANA)).count("I live in Linz.") == 1


def test_the_asynchronous_memory_does_the_same(tmp_path: Path) -> None:
    async def converse() -> None:
        async with AsyncMemory(tmp_path / "async.db") as memory:
            (row,) = (await memory.add("I live in Linz.", **ANA))["results"]
            assert texts(await memory.search("Where do I live?", filters=ANA)) == ["I live in Linz."]
            changed = await memory.update(row["id"], "I live in Graz.")
            assert (await memory.get(changed["id"]))["memory"] == "I live in Graz."  # type: ignore[index]
            assert texts(await memory.get_all(filters=ANA)) == ["I live in Graz."]
            assert [one["event"] for one in await memory.history(changed["id"])] == ["ADD", "UPDATE"]
            await memory.delete(changed["id"])
            await memory.delete_all(user_id="ana")
            await memory.reset()
            assert texts(await memory.get_all(**ANA)) == []
            found = await asyncio.gather(*(memory.add(f"I own boat {number}.", user_id="ben") for number in range(8)))
            assert len(found) == 8

    asyncio.run(converse())


def test_the_asynchronous_memory_takes_a_configuration(tmp_path: Path) -> None:
    AsyncMemory.from_config({"path": tmp_path / "a.db"}).close()
    with pytest.raises(Invalid, match="llm"):
        AsyncMemory.from_config({"llm": {"provider": "openai"}})


def test_the_client_takes_options_as_keywords_tables_and_objects(client: MemoryClient) -> None:
    class Options:
        def model_dump(self, *, exclude_unset: bool) -> dict[str, Any]:
            assert exclude_unset
            return {"filters": ANA, "metadata": {"place": "office"}}

    client.add("I live in Linz.", {"filters": ANA})
    client.add([{"role": "user", "content": "I have a cat."}], Options())
    client.add({"role": "user", "content": "I own a boat."}, user_id="ana", top_k=None)
    assert texts(client.search("Where do I live?", filters=ANA, top_k=1)) == ["I live in Linz."]
    assert len(client.get_all(filters={"user_id": "ana", "place": "office"})["results"]) == 1
    with pytest.raises(Invalid, match="custom_categories"):
        client.add("I like tea.", user_id="ana", custom_categories=[])
    with pytest.raises(Invalid, match="table"):
        client.add("I like tea.", ["ana"])


def test_the_client_lists_in_pages(client: MemoryClient) -> None:
    for name in ("Ada", "Bella", "Cora"):
        client.add(f"My boat {name} is blue.", user_id="ana", infer=False)
    first = client.get_all(filters=ANA, page=1, page_size=2)
    assert (first["count"], first["next"], first["previous"], len(first["results"])) == (3, "page=2", None, 2)
    second = client.get_all(filters=ANA, page=2, page_size=2)
    assert (second["next"], second["previous"], len(second["results"])) == (None, "page=1", 1)
    with pytest.raises(Invalid):
        client.get_all(filters=ANA, page=-1)


def test_the_client_changes_and_deletes_in_batches(client: MemoryClient) -> None:
    ids = [client.add(text, **ANA)["results"][0]["id"] for text in ("I live in Linz.", "I have a cat.")]
    client.batch_update([{"memory_id": ids[0], "text": "I live in Graz."}])
    assert sorted(texts(client.get_all(filters=ANA))) == ["I have a cat.", "I live in Graz."]
    new = client.get_all(filters=ANA)["results"]
    client.batch_delete([{"memory_id": one["id"]} for one in new])
    assert client.get_all(filters=ANA)["count"] == 0
    with pytest.raises(NotFound):
        client.batch_delete([{"memory_id": "m99-000000"}])
    assert client.get(new[0]["id"]) is None
    assert client.history(new[0]["id"])


def test_the_client_names_and_deletes_users(client: MemoryClient) -> None:
    for user in ("ana", "ben"):
        client.add("I live in Linz.", user_id=user)
    client.add("I live in Linz.", agent_id="guide")
    assert client.users()["results"] == [{"name": "ana", "type": "user"}, {"name": "ben", "type": "user"}]
    client.delete_users(user_id="ben")
    assert client.get_all(filters={"user_id": "ben"})["count"] == 0
    assert client.get_all(filters=ANA)["count"] == 1
    client.delete_users()
    assert client.get_all(filters=ANA)["count"] == 0
    with pytest.raises(Invalid):
        client.delete_users(app_id="boats")
    client.reset()
    assert client.users()["results"] == []


def test_the_client_has_no_server(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="host"):
        MemoryClient(host="https://example.org", path=tmp_path / "a.db")


def test_the_asynchronous_client_does_the_same(tmp_path: Path) -> None:
    async def converse() -> None:
        async with AsyncMemoryClient(path=tmp_path / "async.db") as client:
            await client.add("I live in Linz.", user_id="ana")
            assert texts(await client.search("Where do I live?", filters=ANA)) == ["I live in Linz."]
            assert (await client.users())["results"] == [{"name": "ana", "type": "user"}]

    asyncio.run(converse())
