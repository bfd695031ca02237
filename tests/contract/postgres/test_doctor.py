"""What doctor says of the database, and what it finds where rows were changed behind its back."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import LiteralString, cast

import pytest
from psycopg import sql

from credenda import Credenda
from credenda.model.job import Finding
from credenda.services.stats import PROBES, fill_probe
from credenda.storage.postgres import health
from credenda.storage.postgres.connections import PooledConnection, Session, make_rows
from credenda.storage.postgres.health import describe_risk, find_problems
from credenda.storage.postgres.migrate import UndoneError
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.store import Tombstone, Writer
from tests.contract.store.build import ANA, add, because, contested, held, put, said, see, vector
from tests.postgres_server import APP, Database, get_server


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


BROKEN = {
    "not forced": (
        "ALTER TABLE credenda.contests NO FORCE ROW LEVEL SECURITY",
        ("walls", "contests", "ALTER TABLE credenda.contests ENABLE"),
    ),
    "a partition without a wall": (
        "ALTER TABLE credenda.events_3 DISABLE ROW LEVEL SECURITY",
        ("walls", "events_3", "ALTER TABLE credenda.events_3 ENABLE"),
    ),
    "no policy": (
        "DROP POLICY tenant ON credenda.items",
        ("walls", "items", "CREATE POLICY tenant ON credenda.items USING (user_id = NULLIF("),
    ),
    "an altered policy": (
        "ALTER POLICY tenant ON credenda.memories USING (true)",
        ("walls", "memories", "CREATE POLICY tenant ON credenda.memories"),
    ),
    "another policy": (
        "CREATE POLICY open ON credenda.words USING (true)",
        ("walls", "words", 'DROP POLICY "open" ON credenda.words'),
    ),
    "a right to empty a table": (
        "GRANT TRUNCATE ON credenda.words TO credenda_service",
        ("walls", "words", "REVOKE TRUNCATE"),
    ),
    "a role with BYPASSRLS": ("ALTER ROLE credenda_service BYPASSRLS", ("walls", "credenda_service", "administrator")),
    "a missing right": (
        "REVOKE INSERT ON credenda.duties FROM credenda_service",
        ("permissions", "duties", "GRANT INSERT ON credenda.duties"),
    ),
    "a missing index": (
        "DROP INDEX credenda.memories_pair",
        ("indexes", "memories_pair", "CREATE INDEX memories_pair ON credenda.memories (user_id, entity_key"),
    ),
    "an index that was not completed": (
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'credenda.items_by_source'::regclass",
        ("indexes", "items_by_source", "REINDEX INDEX credenda.items_by_source"),
    ),
    "no primary key": ("ALTER TABLE credenda.budgets DROP CONSTRAINT budgets_pkey", ("indexes", "budgets", "restore")),
}


@pytest.fixture(scope="module")
def lent() -> Database:
    """A database whose schema the tests break; each of them undoes that by itself."""
    return get_server().lend()


@pytest.mark.requirement("R-208", "R-209")
@pytest.mark.parametrize("fault", list(BROKEN))
def test_doctor_finds_what_is_wrong_with_the_schema_and_how_to_mend_it(lent: Database, fault: str) -> None:
    """The fault is made in a transaction that is undone, in which the catalogue is read."""
    statement, wanted = BROKEN[fault]
    opened = PooledConnection.connect(lent.url("postgres"), row_factory=make_rows)
    with opened as connection, suppress(UndoneError), connection.transaction():
        connection.execute("SET LOCAL allow_system_table_mods = on")
        session = Session(connection)
        take_role(connection, "credenda_service")
        assert find_problems(session) == []
        take_role(connection, "none")
        connection.execute(cast("LiteralString", statement))
        take_role(connection, "credenda_service")
        found = find_problems(session)
        assert [(one.check, one.where) for one in found] == [wanted[:2]]
        assert wanted[2] in found[0].fix
        raise UndoneError


def take_role(connection: PooledConnection, role: str) -> None:
    connection.execute("SELECT set_config('role', %s, true), set_config('search_path', 'credenda', true)", (role,))


def test_the_statement_that_mends_a_wall_does_so(store: PostgresStore, database: Database) -> None:
    with database.connect() as connection:
        connection.execute("DROP POLICY tenant ON credenda.items")
        (found,) = ask_doctor(store)
        assert found.where == "items"
        connection.execute(cast("LiteralString", found.fix.split("`")[-2]))
    assert ask_doctor(store) == []


def ask_doctor(store: PostgresStore) -> list[Finding]:
    return store.check_server(PROBES, fill_probe)


def test_a_trial_shows_a_table_that_lets_another_user_read(store: PostgresStore, database: Database) -> None:
    """Rows of a made-up user are seen by another one, by statements with a filter and without; nothing stays."""
    wall = "ALTER TABLE credenda.contests {} ROW LEVEL SECURITY"
    put(store, ANA, contested())
    with database.connect() as connection:
        connection.execute(wall.format("DISABLE"))
        try:
            found = ask_doctor(store)
        finally:
            connection.execute(wall.format("ENABLE"))
    assert {(one.check, one.where) for one in found} == {("walls", "contests"), ("walls", "table contests")}
    assert ask_doctor(store) == []
    assert store.users(limit=10) == [ANA]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_trial_that_fails_leaves_nothing(store: PostgresStore, error: type[BaseException]) -> None:
    put(store, ANA, said("I moved to Linz."))

    def fail(writer: Writer) -> None:
        fill_probe(writer)
        raise error

    with pytest.raises(error):
        store.check_server(PROBES, fail)
    assert store.users(limit=10) == [ANA]
    for probe in PROBES:
        with store.dump(probe) as dump:
            assert (dump.origin.tag, list(dump.rows)) == ("", [])
    assert ask_doctor(store) == []


def test_doctor_counts_a_missing_index_as_a_problem(database: Database) -> None:
    with Credenda.open(database.url(), user="ana", workers=False) as memory, database.connect() as connection:
        assert memory.data.doctor().ok
        connection.execute("DROP INDEX credenda.items_by_source")
        try:
            report = memory.data.doctor()
        finally:
            connection.execute(
                "CREATE INDEX items_by_source ON credenda.items (user_id, source) WHERE source IS NOT NULL"
            )
        assert (report.ok, [one.check for one in report.findings]) == (False, ["indexes"])


@pytest.mark.parametrize("verb", ["INSERT", "SELECT"])
def test_doctor_names_a_lost_right_instead_of_failing_by_it(database: Database, verb: str) -> None:
    with Credenda.open(database.url(), user="ana", workers=False) as memory, database.connect() as connection:
        connection.execute(cast("LiteralString", f"REVOKE {verb} ON credenda.evidence FROM credenda_service"))
        try:
            report = memory.data.doctor()
        finally:
            connection.execute(cast("LiteralString", f"GRANT {verb} ON credenda.evidence TO credenda_service"))
        assert [(one.check, one.where, one.detail) for one in report.findings] == [
            ("permissions", "evidence", f"the service lacks {verb}")
        ]
        assert memory.data.doctor().ok


def test_doctor_tells_dead_rows_and_missing_statistics(store: PostgresStore, database: Database) -> None:
    """The counters of the test server are not emptied by a background process."""
    with database.connect() as connection:
        connection.execute("SELECT pg_stat_reset_single_table_counters('credenda.watermarks'::regclass)")
        connection.execute(
            "INSERT INTO credenda.watermarks (user_id, name, value, updated_at)"
            " SELECT 'ana', n::text, 1, 1 FROM generate_series(1, 12000) AS n"
        )
        connection.execute("SELECT pg_stat_force_next_flush()")
        assert "run ANALYZE: watermarks has no statistics" in store.describe_backend()["upkeep"]
        connection.execute("UPDATE credenda.watermarks SET value = 2")
        connection.execute("SELECT pg_stat_force_next_flush()")
        told = store.describe_backend()["upkeep"]
        assert "run VACUUM: watermarks has 12,000 dead rows beside 12,000 live ones" in told
        assert "autovacuum is off" in told
        connection.execute("TRUNCATE credenda.watermarks")
        connection.execute("VACUUM ANALYZE credenda.watermarks")
        connection.execute("SELECT pg_stat_force_next_flush()")
    assert "watermarks" not in store.describe_backend()["upkeep"]


def test_doctor_names_an_index_that_is_mostly_empty_until_it_is_made_anew(
    store: PostgresStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All words of a user lie in one partition; most of them go, and `VACUUM` leaves the pages."""
    monkeypatch.setattr(health, "_MANY_BYTES", 1 << 20)
    with database.connect() as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            "INSERT INTO credenda.words (user_id, term, code)"
            " SELECT 'ana', 'word', n << 12 FROM generate_series(1, 100000) AS n"
        )
        connection.execute("SELECT pg_stat_force_next_flush()")  # or it would be added to what VACUUM counts
        connection.execute("VACUUM ANALYZE credenda.words")
        assert "REINDEX" not in store.describe_backend()["upkeep"]
        connection.execute("DELETE FROM credenda.words WHERE (code >> 12) % 50 <> 0")
        connection.execute("SELECT pg_stat_force_next_flush()")
        connection.execute("VACUUM ANALYZE credenda.words")
        found = re.search(
            r"REINDEX INDEX CONCURRENTLY: (words_\d+_pkey) has (\d+) MB, .* for 2,000 entries", told(store)
        )
        assert found is not None
        assert int(found[2]) >= 1
        connection.execute(sql.SQL("REINDEX INDEX CONCURRENTLY credenda.{}").format(sql.Identifier(found[1])))
    assert "REINDEX" not in told(store)


def told(store: PostgresStore) -> str:
    return store.describe_backend()["upkeep"]


def test_doctor_tells_whether_an_acknowledged_message_survives_a_crash(
    store: PostgresStore, database: Database
) -> None:
    told = store.describe_backend()["durability"]
    assert told.startswith("fsync off, full_page_writes off, synchronous_commit off: UNSAFE")
    durable = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
    assert describe_risk(durable) == ""
    assert "damage the database" in describe_risk({**durable, "full_page_writes": "off"})
    assert "lose acknowledged messages" in describe_risk({**durable, "synchronous_commit": "off"})
    with database.connect() as connection:
        assert connection.execute("SHOW fsync").fetchone() == ("off",)


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
