"""Both backends keep the same: an archive of one loads into the other, and a word finds the same documents in both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda.storage.postgres import erase
from credenda.storage.postgres.connections import Scope
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.sql.row_loader import TABLES
from credenda.storage.sqlite.check import list_columns
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import Redaction, Store
from credenda.storage.transfer import Cell, ImportRow
from tests.contract.store.build import ANA, BEN, add, because, held, put, said, see, vector

SENTENCES = [
    "I moved to Linz in May and love the Danube.",
    "Je préfère un café crème à Zürich, les voitures m'ennuient.",
    "我喜欢喝绿茶, and so does my sister.",
    "東京都に住んでいます。毎日コーヒーを飲みます。",
    "The databases accelerated: node.js v2.1 by ana@example.com ran and was running.",
    "Мій кіт живе в Києві. Πίνουμε καφέ.",
    "ผมชอบดื่มชาเขียว every morning",
    "저는 서울에 살아요; meetings moved to Thursdays.",
    "C++ and C# builds, k8s, don't stop believing – naïve hopes.",
    "मैं हिन्दी भाषा बोलता हूँ",
]
TERMS = [
    *("linz", "danube", "café", "cafe crème", "voiture", "绿茶", "茶", "東京", "コーヒー", "database", "node.js"),
    *("ana@example.com", "run", "running", "кіт", "καφε", "ชาเขียว", "ช", "서울", "thursday", "c++", "c#", "don't"),
    *("believe", "naive hope", "हिन्दी", "may", "user", "moved", "the", "a", "v2.1", "2", "sister's", "-", ""),
]


@pytest.fixture
def both(tmp_path: Path, store: PostgresStore) -> Iterator[tuple[SqliteStore, PostgresStore]]:
    file = SqliteStore(str(tmp_path / "memory.db"))
    yield file, store
    file.close()


def fill(store: Store) -> None:
    """More events than the index takes up at once, some memories, and one long text of many passages."""
    for turn in range(5):
        put(store, ANA, *(said(f"{text} Turn {turn}.", session=f"s{turn}") for text in SENTENCES))
    put(store, ANA, said("\n\n".join(" ".join(f"{name}{turn}" for turn in range(150)) for name in ("alpha", "beta"))))
    add(store, ANA, *(held(text, entity="Ana", attribute="note", value=text[:8]) for text in SENTENCES))
    put(store, BEN, *(said(text) for text in SENTENCES[:3]))


@pytest.mark.parametrize("limit", [1, 3, 1_000])
@pytest.mark.parametrize("memories", [False, True])
def test_a_word_finds_the_same_documents_in_the_same_order(
    both: tuple[SqliteStore, PostgresStore], limit: int, *, memories: bool
) -> None:
    for one in both:
        fill(one)
    for terms in (*([term] for term in TERMS), TERMS[:9], TERMS[9:20], TERMS[20:], ["alpha77", "beta3"]):
        found = [
            see(one, ANA, lambda reader, terms=terms: reader.nominate(terms, limit, memories=memories)) for one in both
        ]
        assert found[0] == found[1], terms


def test_redacted_words_find_the_same_documents(both: tuple[SqliteStore, PostgresStore]) -> None:
    for one in both:
        fill(one)
        tag = see(one, ANA, lambda reader: reader.tenant.tag)
        put(one, ANA, *(Redaction(id=f"e{number}-{tag}", at_us=9) for number in (1, 7, 50)))
        assert one.check(ANA) == []
    for term in TERMS:
        found = [see(one, ANA, lambda reader, term=term: reader.nominate([term], 1_000)) for one in both]
        assert found[0] == found[1], term


@pytest.mark.requirement("R-210", "R-211")
def test_the_tables_of_a_tenant_have_the_same_columns(both: tuple[SqliteStore, PostgresStore]) -> None:
    file, store = both
    for table in TABLES:
        with file._readers.take() as connection, store._connections.transaction(Scope(ANA)) as session:  # noqa: SLF001 - the schemas are compared
            columns = {column.name: column for column in list_columns(connection, table)}
            others = {column.name: column for column in erase.list_columns(session, table)}
        assert columns.keys() == others.keys(), table
        for name, column in columns.items():
            assert column.kinds == others[name].kinds, (table, name)
            assert bool(column.key_place) == bool(others[name].key_place), (table, name)


@pytest.mark.requirement("R-210")
def test_an_archive_of_one_backend_loads_into_the_other_and_back(both: tuple[SqliteStore, PostgresStore]) -> None:
    file, store = both
    fill(file)
    event, memory = (see(file, ANA, lambda reader, kind=kind: f"{kind}1-{reader.tenant.tag}") for kind in "em")
    put(file, ANA, because(memory, event), vector(4096))
    first = copy(file, store, ANA)
    assert store.check(ANA) == []
    assert store.erase(ANA).held
    assert see(store, ANA, lambda reader: reader.tenant.tag) == ""
    copy(file, store, ANA)
    assert file.erase(ANA).held
    assert copy(store, file, ANA) == first
    assert file.check(ANA) == []


def copy(source: Store, target: Store, user_id: str) -> list[tuple[str, dict[str, Cell]]]:
    """Load the archive of one store into another, and return its rows."""
    with source.dump(user_id) as export:
        rows = [(table, dict(row)) for table, row in export.rows]
    target.load(user_id, export.origin, (ImportRow(place, *row) for place, row in enumerate(rows, 1)))
    with target.dump(user_id) as export:
        assert [(table, dict(row)) for table, row in export.rows] == rows
    return rows
