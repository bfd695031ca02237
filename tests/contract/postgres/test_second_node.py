"""Two servers on one database: the index in the memory of each follows the other by reading only what changed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from credenda.index.cache import IndexCache
from credenda.storage.postgres.store import PostgresReader, PostgresStore
from credenda.storage.store import Delta, IndexPosition
from tests.contract.store.build import ANA, add, held, put, said
from tests.postgres_server import Database

MESSAGES = 60


@pytest.fixture
def second(database: Database) -> Iterator[PostgresStore]:
    opened = PostgresStore(database.url())
    yield opened
    opened.close()


def test_the_index_of_a_second_node_reads_only_changes(
    store: PostgresStore, second: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, ANA, *(said(f"word{number} of many") for number in range(MESSAGES)))
    read: list[Delta] = []
    honest = PostgresReader.delta

    def note(reader: PostgresReader, heads: IndexPosition, model_id: str | None, limit: int = 10_000) -> Delta:
        read.append(honest(reader, heads, model_id, limit))
        return read[-1]

    monkeypatch.setattr(PostgresReader, "delta", note)
    caches = {one: IndexCache() for one in (store, second)}

    def find(node: PostgresStore, word: str) -> int:
        with node.reader(ANA) as reader:
            index = caches[node].get(reader)
        return int((index.lexical([word]) > 0).sum())

    for node in caches:
        assert find(node, "word7") == 1
    assert [len(delta.documents) for delta in read if delta.documents] == [MESSAGES, MESSAGES]
    read.clear()
    put(store, ANA, said("a zebra"))
    add(store, ANA, held("Has a zebra."))
    for node in caches:
        assert find(node, "zebra") == 2
        assert find(node, "zebra") == 2
    assert [len(delta.documents) for delta in read if delta.documents] == [2, 2]
    read.clear()
    assert find(second, "word7") == 1
    assert read == []
