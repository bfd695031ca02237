"""Vectors of a memory that no index in memory holds: pgvector nominates them, and nobody else's rows are read."""

# ruff: noqa: SLF001 - what is tested lies behind the verbs of a store
from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from psycopg import sql

from benchmarks.nodes.vectors import measure_recall
from credenda import Credenda
from credenda.errors import CredendaError, Unavailable
from credenda.index import cache
from credenda.index.quantize import encode
from credenda.index.resident import copy_vectors, find_nearest_codes
from credenda.storage.postgres import nominees
from credenda.storage.postgres.connections import Connections, Scope
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import Redaction, Store, Vector, pack_code
from credenda.workers.loop import copy_large_vectors
from tests.contract.store.build import put, said, see
from tests.postgres_server import APP, Database

DIMS = 256
MODEL = "m"
_SAME_PART = """
SELECT 'user' || n FROM generate_series(1, 400) AS n
WHERE satisfies_hash_partition('credenda.nominees'::regclass, 16, 3, ('user' || n)::text) LIMIT 3
"""


@pytest.fixture
def store(indexed: Database) -> Iterator[PostgresStore]:
    opened = PostgresStore(indexed.url(APP))
    yield opened
    opened.close()
    indexed.clear()


def draw(count: int, seed: int) -> NDArray[np.float32]:
    drawn = np.random.default_rng(seed).standard_normal((count, DIMS)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def make_vector(number: int, numbers: NDArray[np.float32]) -> Vector:
    code = pack_code(number, memory=False)
    return Vector(code=code, model_id=MODEL, dims=len(numbers), bits=16, scale=1.0, data=encode(numbers, 16))


def fill(store: Store, user: str, count: int, seed: int) -> NDArray[np.float32]:
    """File some messages with vectors for a user, and copy those to the index."""
    matrix = draw(count, seed)
    put(store, user, *(said(f"word{number} of {user}") for number in range(1, count + 1)))
    put(store, user, *(make_vector(number, one) for number, one in enumerate(matrix, 1)))
    copy_all(store, user)
    return matrix


def copy_all(store: Store, user: str) -> None:
    while (copies := see(store, user, lambda reader: copy_vectors(reader, MODEL))) is not None:
        put(store, user, copies)


def ask(store: Store, user: str, vector: NDArray[np.float32], limit: int = 3) -> list[int]:
    """Return the numbers of the messages that the index of the backend names alone."""
    codes, _ = see(store, user, lambda reader: reader.by_vector.nearest(MODEL, vector.tolist(), limit))
    return [code >> 12 for code in codes]


@pytest.mark.requirement("R-208")
def test_each_usual_number_of_dimensions_has_an_index_by_cosine_distance(
    store: PostgresStore, indexed: Database
) -> None:
    """The extension is there, and each index has 16 links of a vector and 64 candidates while it is built."""
    fill(store, "ana", 5, 1)
    with indexed.connect() as connection:
        made = dict(
            connection.execute("SELECT extname, extversion FROM pg_extension WHERE extname = 'vector'").fetchall()
        )
        found = connection.execute(
            """SELECT c.relname, am.amname, op.opcname, c.reloptions FROM pg_class AS c
            JOIN pg_index AS i ON i.indexrelid = c.oid AND i.indisvalid JOIN pg_am AS am ON am.oid = c.relam
            JOIN pg_opclass AS op ON op.oid = i.indclass[0] WHERE c.relname LIKE 'nominees_of_%' AND c.relkind = 'I'"""
        ).fetchall()
    assert "vector" in made
    assert {row[0] for row in found} == {f"nominees_of_{size}" for size in nominees.SIZES}
    for _, method, distance, options in found:
        assert (method, distance, options) == ("hnsw", "halfvec_cosine_ops", ["m=16", "ef_construction=64"])
    assert "in use" in store.describe_backend()["pgvector"]


@pytest.mark.requirement("R-210")
@pytest.mark.parametrize("size", [100, 1_000, 2_000])
def test_the_index_finds_what_an_exact_comparison_finds(store: PostgresStore, size: int) -> None:
    found = measure_recall(store, size, dims=DIMS, questions=20, nominated=500)
    assert found["indexed"]
    assert found["recall@10"] >= 0.99


def test_the_index_names_rows_of_the_asking_user_alone(store: PostgresStore, indexed: Database) -> None:
    with indexed.connect() as connection:
        users = [row[0] for row in connection.execute(_SAME_PART)]
    matrices = {user: fill(store, user, 40 - 10 * seed, seed) for seed, user in enumerate(users)}
    for user, matrix in matrices.items():
        for wanted in matrices.values():
            found = ask(store, user, wanted[7], 100)
            assert len(found) == len(set(found)) == len(matrix)
        assert ask(store, user, matrix[7])[0] == 8
    with indexed.connect() as connection:
        assert connection.execute("SELECT count(DISTINCT user_id) FROM credenda.nominees").fetchone() == (3,)


def test_a_search_reads_the_index_of_the_users_partition(store: PostgresStore, indexed: Database) -> None:
    fill(store, "ana", 20, 1)
    links = Connections(indexed.url(APP), None)
    try:
        with links.transaction(Scope("ana")) as session:
            nominees._set(session, nominees._SETTINGS)
            statement = nominees._NEAREST.format(vector=sql.Identifier("public"), dims=sql.Literal(DIMS))
            given = {"user_id": "ana", "model_id": MODEL, "near": f"[{','.join(['1'] * DIMS)}]", "limit": 5}
            plan = session.execute(sql.SQL("EXPLAIN (COSTS OFF) {}").format(statement), given).fetchall()
    finally:
        links.close()
    scans = [row[0].strip() for row in plan if "Scan" in row[0]]
    assert len(scans) == 1
    assert "Index Scan using nominees_" in scans[0]


def test_what_is_deleted_or_erased_leaves_the_index_too(store: PostgresStore, indexed: Database) -> None:
    matrix = fill(store, "ana", 20, 1)
    fill(store, "ben", 5, 2)
    tag = see(store, "ana", lambda reader: reader.tenant.tag)
    put(store, "ana", Redaction(id=f"e3-{tag}", at_us=9))
    assert ask(store, "ana", matrix[2], 20).count(3) == 0
    assert len(ask(store, "ana", matrix[2], 20)) == 19
    put(store, "ana", make_vector(5, matrix[2]))
    copy_all(store, "ana")
    assert ask(store, "ana", matrix[2], 1) == [5]
    assert store.erase("ana").held
    with indexed.connect() as connection:
        for table in ("nominees", "nominee_heads"):
            found = connection.execute(
                sql.SQL("SELECT DISTINCT user_id FROM credenda.{}").format(sql.Identifier(table))
            )
            assert found.fetchall() == [("ben",)]


def test_vectors_that_the_index_does_not_know_yet_are_compared_one_by_one(store: PostgresStore) -> None:
    fill(store, "ana", 20, 1)
    fresh = draw(3, 9)
    put(store, "ana", *(make_vector(number, one) for number, one in enumerate(fresh, 21)))
    for number, one in enumerate(fresh, 21):
        codes = see(store, "ana", lambda reader, one=one: find_nearest_codes(reader, MODEL, one, 2))
        assert number in {code >> 12 for code in codes}


@pytest.mark.parametrize("setting", ["relaxd_order", "of"])
def test_a_setting_that_does_not_hold_is_an_error(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    matrix = fill(store, "ana", 5, 1)
    monkeypatch.setitem(nominees._SETTINGS, "hnsw.iterative_scan", setting)
    with pytest.raises(CredendaError):
        ask(store, "ana", matrix[0])
    monkeypatch.setitem(nominees._SETTINGS, "hnsw.iterative_scan", "strict_order")
    monkeypatch.setitem(nominees._SETTINGS, "hnsw.ef_search", "0200")
    with pytest.raises(Unavailable, match="0200"):
        ask(store, "ana", matrix[0])


def test_the_statements_after_a_search_are_planned_as_before(store: PostgresStore) -> None:
    matrix = fill(store, "ana", 5, 1)
    with store._connections.transaction(Scope("ana")) as session:
        before = session.execute(nominees._SHOW).fetchone()
        place = nominees.find_nominees(session)
        assert place is not None
        nominees.find_nearest(session, place, "ana", model_id=MODEL, vector=matrix[0].tolist(), limit=2)
        assert session.execute(nominees._SHOW).fetchone() == before


@pytest.fixture
def targets(tmp_path: Path, database: Database, indexed: Database) -> dict[str, str]:
    """Return an empty memory of each kind."""
    return {"sqlite": str(tmp_path / "m.db"), "postgres": database.url(), "pgvector": indexed.url()}


@pytest.mark.parametrize("backend", ["sqlite", "postgres", "pgvector"])
def test_a_memory_too_large_for_an_index_in_memory_is_searched_by_meaning(
    backend: str, targets: dict[str, str], indexed: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words that the question does not share are found by their vectors."""
    target = targets[backend]
    monkeypatch.setattr(cache.limits, "RESIDENT_DOCUMENTS", 1)
    with Credenda.open(target, user="ana", workers=False, embedder=Meanings(), llm=None) as memory:
        memory.remember([{"role": "user", "content": text} for text in ("My hound is called Rex.", "I like tea.")])
        memory.settle()
        if backend == "pgvector":
            assert copy_large_vectors(memory._parts)
        assert "Rex" in memory.search("dog", limit=1).hits[0].quote
    indexed.clear()


class Meanings:
    """An embedder that takes hounds and dogs for one thing."""

    model_id = "meanings"
    dims = DIMS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one of two directions for each text."""
        matrix = np.full((len(texts), DIMS), 0.01, np.float32)
        for row, text in enumerate(texts):
            matrix[row, 0 if {"hound", "dog", "rex"} & set(text.lower().strip(".").split()) else 1] = 1.0
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def test_the_description_names_a_missing_extension(database: Database, store: PostgresStore) -> None:
    bare = PostgresStore(database.url())
    try:
        assert "CREATE EXTENSION vector" in bare.describe_backend()["pgvector"]
    finally:
        bare.close()
    assert store.describe_backend()["pgvector"].startswith("in use")


def test_sqlite_compares_vectors_one_by_one(tmp_path: Path) -> None:
    file = SqliteStore(str(tmp_path / "memory.db"))
    try:
        found = measure_recall(file, 300, dims=DIMS, questions=5, nominated=50)
    finally:
        file.close()
    assert not found["indexed"]
    assert found["recall@10"] == 1.0
