"""What doctor says of the database, and what it finds where rows were changed behind its back."""

from __future__ import annotations

from typing import LiteralString, cast

import pytest

from credenda import Credenda
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.store import Tombstone
from tests.contract.store.build import ANA, add, because, held, put, said, see, vector
from tests.postgres_server import APP, Database


@pytest.mark.requirement("R-207")
def test_doctor_names_the_backend_its_version_and_the_state_of_the_walls(database: Database) -> None:
    with Credenda.open(database.url(), user="ana", workers=False) as memory:
        memory.remember("I moved to Linz.")
        memory.settle()
        report = memory.data.doctor()
    assert report.ok
    assert (report.backend["name"], report.backend["role"]) == ("PostgreSQL", "credenda_service")
    assert report.backend["version"].startswith("18.")
    assert report.backend["row_level_security"].startswith("forced on all")
    assert report.backend["login"] == "credenda, which owns the tables"
    assert "CREATE EXTENSION vector" in report.backend["pgvector"]
    with Credenda.open(database.url(APP), user="ana", workers=False) as memory:
        assert memory.data.doctor().backend["login"] == APP


def test_doctor_says_where_a_wall_is_missing(store: PostgresStore, database: Database) -> None:
    table = "ALTER TABLE credenda.contests {} ROW LEVEL SECURITY"
    with database.connect() as connection:
        connection.execute(table.format("NO FORCE"))
        try:
            assert store.describe_backend()["row_level_security"].startswith("MISSING")
        finally:
            connection.execute(table.format("FORCE"))
    assert store.describe_backend()["row_level_security"].startswith("forced on all")


DAMAGES = {
    "words": ("DELETE FROM credenda.words WHERE term = 'linz'", "full_text", True),
    "other words": ("INSERT INTO credenda.words VALUES ('ana', 'zebra', 4096)", "full_text", True),
    "a vector": ("UPDATE credenda.embeddings SET data = '\\x00000000'", "vector_checksums", True),
    "a tombstone": ("UPDATE credenda.tombstones SET kind = 'part'", "tombstone_checksums", False),
    "an event": ("UPDATE credenda.events SET text = 'I moved to Graz.'", "journal_text", False),
    "a gap": ("DELETE FROM credenda.events WHERE id = 1", "journal_numbers", False),
    "a change": ("UPDATE credenda.changes SET reason = 'forged'", "change_rows", False),
    "evidence": ("DELETE FROM credenda.memories", "evidence", True),
}


@pytest.mark.parametrize("damage", list(DAMAGES))
def test_a_check_finds_what_was_changed_and_repairs_what_is_derived(
    store: PostgresStore, database: Database, damage: str
) -> None:
    statement, check, is_repaired = DAMAGES[damage]
    events = put(store, ANA, *(said("I moved to Linz.") for _ in range(40)))
    (memory,) = add(store, ANA, held("Ana lives in Linz."))
    put(store, ANA, because(memory, events[0]), vector(4096))
    put(store, ANA, Tombstone(digest=b"t" * 32, kind="text", normaliser=1, created_us=5))
    assert store.check(ANA) == []
    with database.connect() as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(cast("LiteralString", statement))
    found = {finding.check: finding for finding in store.check(ANA)}
    assert check in found
    assert found[check].fix
    repaired = {finding.check: finding for finding in store.check(ANA, repair=True)}
    assert repaired[check].repaired == is_repaired
    if is_repaired:
        assert check not in {finding.check for finding in store.check(ANA)}
    if check == "full_text":
        assert len(see(store, ANA, lambda reader: reader.nominate(["linz"], 100))) == 41
