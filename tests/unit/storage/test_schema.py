"""The schema of the SQLite file: its tables, columns, keys and indexes, the rules it enforces, and how it is opened."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from credenda.model.change import ChangeKind
from credenda.storage.sqlite.store import SqliteStore, load_migrations, load_statements
from credenda.storage.store import Redaction

from .build import ANA, events, held, logged, opened, put, said, writer_of

NOT_OF_A_TENANT = {"schema_version", "erasures", "backups", "identity", "owed_ledgers", "audit_records", "audit_head"}
FOR_ALL_TENANTS = {
    "user_of_tag",
    "next_tenant_number",
    "insert_words",
    "delete_words",
    "matching_words",
    "users",
    "users_with_due_jobs",
    "oldest_waiting",
}
"""Statements that name no user: who the tenants are, and the word index, which is bound by tag and range."""
OF_THE_SERVER = {
    "append_audit",
    "audit_after",
    "audit_chain",
    "audit_head",
    "audit_names",
    "audit_of_user",
    "drop_expired_secrets",
    "enter_erasure",
    "keyed_audit_names",
    "list_erasures",
    "list_memberships",
    "move_audit_head",
    "revoke_token",
    "secret_by_digest",
    "spend_secret",
    "token_by_id",
    "use_token",
}
"""Statements on the tables of a server that find the user, by the id of a token, a digest, a person or a pseudonym."""
READ_WHOLE = {
    "audit_chain": ["audit_records"],
    "audit_head": ["audit_head"],
    "audit_names": ["audit_subjects", "audit_names"],
    "keyed_audit_names": ["audit_subjects", "n"],
    "list_erasures": ["erasures"],
    "list_members": ["members"],
    "list_tokens": ["api_tokens"],
}
"""Tables of a server that are listed or verified as a whole."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with opened(tmp_path / "memory.db") as made:
        yield made


@pytest.fixture
def connection(store: SqliteStore) -> sqlite3.Connection:
    return writer_of(store)


def columns(connection: sqlite3.Connection, table: str) -> dict[str, dict[str, Any]]:
    return {row["name"]: dict(row) for row in connection.execute(f"PRAGMA table_info({table})")}


def tables(connection: sqlite3.Connection) -> set[str]:
    """Name the tables that hold rows of ours; those behind the word index belong to it."""
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search_index%'")
    return {row["name"] for row in found}


def one(connection: sqlite3.Connection, sql: str) -> Any:  # noqa: ANN401 - whatever the pragma gives
    return connection.execute(sql).fetchone()[0]


@pytest.mark.parametrize(
    ("name", "kind", "default", "needed"),
    [
        pytest.param("id", "INTEGER", None, True, marks=pytest.mark.requirement("R-138")),
        pytest.param("user_id", "TEXT", None, True, marks=pytest.mark.requirement("R-139")),
        pytest.param("text", "TEXT", None, True, marks=pytest.mark.requirement("R-140", "R-218")),
        pytest.param("type", "TEXT", None, True, marks=pytest.mark.requirement("R-141", "R-218")),
        pytest.param("topic", "TEXT", None, False, marks=pytest.mark.requirement("R-142", "R-218")),
        pytest.param("importance", "REAL", "0.5", True, marks=pytest.mark.requirement("R-143", "R-218")),
        pytest.param("confidence", "REAL", "0.8", True, marks=pytest.mark.requirement("R-144", "R-218")),
        pytest.param("source_session", "TEXT", "''", True, marks=pytest.mark.requirement("R-145", "R-218")),
        pytest.param("created_at", "INTEGER", None, True, marks=pytest.mark.requirement("R-146", "R-218")),
        pytest.param("last_accessed", "INTEGER", None, False, marks=pytest.mark.requirement("R-147")),
        pytest.param("access_count", "INTEGER", "0", True, marks=pytest.mark.requirement("R-148")),
        pytest.param("decay_score", "REAL", None, False, marks=pytest.mark.requirement("R-149", "R-164")),
        pytest.param("superseded_by", "INTEGER", None, False, marks=pytest.mark.requirement("R-150", "R-164", "R-212")),
        pytest.param("entity", "TEXT", None, False, marks=pytest.mark.requirement("R-152")),
        pytest.param("attribute", "TEXT", None, False, marks=pytest.mark.requirement("R-152")),
        pytest.param("value", "TEXT", None, False, marks=pytest.mark.requirement("R-152")),
        pytest.param("valid_from", "INTEGER", None, False, marks=pytest.mark.requirement("R-153", "R-164")),
        pytest.param("valid_until", "INTEGER", None, False, marks=pytest.mark.requirement("R-154", "R-164", "R-212")),
    ],
)
def test_the_memories_table_has_the_column_before_the_first_write(
    connection: sqlite3.Connection, name: str, kind: str, default: str | None, *, needed: bool
) -> None:
    found = columns(connection, "memories")[name]
    assert (found["type"], found["dflt_value"], bool(found["notnull"])) == (kind, default, needed)
    assert one(connection, "SELECT count(*) FROM memories") == 0


@pytest.mark.parametrize(
    ("table", "needed"),
    [
        pytest.param(
            "embeddings",
            {"user_id", "model_id", "code", "dims", "bits", "scale", "data"},
            marks=pytest.mark.requirement("R-151", "R-164"),
        ),
        pytest.param(
            "operations",
            {"id", "idempotency_key", "user_id", "status", "created_at", "updated_at", "first", "last"},
            marks=pytest.mark.requirement("R-158", "D-011"),
        ),
        pytest.param(
            "schema_version", {"version", "applied_at", "description"}, marks=pytest.mark.requirement("R-162")
        ),
    ],
)
def test_a_table_has_its_columns(connection: sqlite3.Connection, table: str, needed: set[str]) -> None:
    assert needed <= set(columns(connection, table))


@pytest.mark.requirement("R-162")
def test_the_schema_says_which_version_it_is_since_when_and_what_it_brought(connection: sqlite3.Connection) -> None:
    rows = connection.execute("SELECT version, applied_at, description FROM schema_version").fetchall()
    assert [row["version"] for row in rows] == [version for version, _, _ in load_migrations()]
    assert all(row["applied_at"] > 0 and row["description"] for row in rows)


@pytest.mark.requirement("R-139", "R-156", "R-201")
def test_the_user_comes_first_in_the_primary_key_of_every_tenant_table(connection: sqlite3.Connection) -> None:
    found = tables(connection)
    assert found > NOT_OF_A_TENANT
    for table in found - NOT_OF_A_TENANT:
        key = sorted((row["pk"], name) for name, row in columns(connection, table).items() if row["pk"])
        assert key[0] == (1, "user_id"), table
        assert columns(connection, table)["user_id"]["notnull"], table


def unique_keys(connection: sqlite3.Connection, table: str) -> set[tuple[str, ...]]:
    return {
        tuple(column["name"] for column in connection.execute(f"PRAGMA index_info('{index['name']}')"))
        for index in connection.execute(f"PRAGMA index_list({table})").fetchall()
        if index["unique"]
    }


@pytest.mark.requirement("D-010", "R-158")
def test_an_idempotency_key_is_unique_beside_its_user(connection: sqlite3.Connection) -> None:
    assert unique_keys(connection, "operations") == {("user_id", "id"), ("user_id", "idempotency_key")}


def plan(connection: sqlite3.Connection, name: str) -> list[str]:
    sql = load_statements()[name]
    parameters = dict.fromkeys(re.findall(r":(\w+)", sql))
    return [row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]


@pytest.mark.requirement("R-156", "R-167")
@pytest.mark.parametrize("name", sorted(load_statements()))
def test_no_statement_reads_a_whole_table(connection: sqlite3.Connection, name: str) -> None:
    lines = plan(connection, name)
    scanned = [line for line in lines if line.startswith("SCAN") and line.split()[1] in tables(connection)]
    whole = [f"SCAN {table}" for table in READ_WHOLE.get(name, []) if table in tables(connection)]
    assert [line.partition(" USING")[0] for line in scanned] == whole


@pytest.mark.requirement("R-156", "R-167")
@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("memories_of_pair", "user_id=? AND entity_key=? AND attribute_key=?"),
        ("memories_of_text", "user_id=? AND text_hash=?"),
        ("memories_by_id", "user_id=? AND id=?"),
        ("evidence", "user_id=? AND event=?"),
        ("evidence", "user_id=? AND memory=?"),
        ("changes_of", "user_id=? AND memory=? AND id>?"),
        ("changed_memories", "user_id=? AND id=?"),
        ("redacted_events", "user_id=? AND id=?"),
        ("events_by_id", "user_id=? AND id=?"),
        ("vectors_after", "user_id=? AND number>? AND number<?"),
        ("vectors_by_code", "user_id=? AND model_id=? AND code=?"),
        ("job_by_key", "user_id=? AND idempotency_key=?"),
        ("waiting_jobs", "user_id=? AND run_after<?"),
        ("tombstoned", "user_id=? AND digest=?"),
    ],
)
def test_a_look_up_reads_only_the_rows_it_names(connection: sqlite3.Connection, name: str, key: str) -> None:
    searches = [line for line in plan(connection, name) if line.startswith("SEARCH")]
    assert any(line.endswith(f"({key})") for line in searches), searches


@pytest.mark.requirement("R-139", "R-201")
@pytest.mark.parametrize("name", sorted(set(load_statements()) - FOR_ALL_TENANTS - OF_THE_SERVER))
def test_every_statement_is_bound_to_a_user(name: str) -> None:
    assert ":user_id" in load_statements()[name]


def test_the_exceptions_exist() -> None:
    assert set(load_statements()) > FOR_ALL_TENANTS | OF_THE_SERVER


@pytest.mark.requirement("R-165")
@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),
        ("foreign_keys", 1),
        ("secure_delete", 1),
        ("recursive_triggers", 1),
        ("busy_timeout", 0),
    ],
)
def test_the_write_connection_is_set(connection: sqlite3.Connection, pragma: str, value: object) -> None:
    assert one(connection, f"PRAGMA {pragma}") == value


def test_a_read_connection_cannot_write(store: SqliteStore) -> None:
    with store._readers.take() as reading:  # noqa: SLF001 - readers are handed out with no such statement
        assert one(reading, "PRAGMA query_only") == 1
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reading.execute("DELETE FROM tenants")


@pytest.fixture
def recorded(store: SqliteStore) -> sqlite3.Connection:
    (memory_id,) = put(store, held("Ana likes tea."))
    put(store, said("I like tea."), logged(ChangeKind.ADD, memory_id))
    put(store, said("I like jam."), user_id="ben")
    return writer_of(store)


ALTERATIONS = [
    "UPDATE events SET text = 'forged'",
    "UPDATE events SET recorded_at = 0",
    "DELETE FROM events",
    "INSERT OR REPLACE INTO events SELECT * FROM events",
    "UPDATE changes SET reason = 'forged'",
    "DELETE FROM changes",
    "INSERT OR REPLACE INTO changes SELECT * FROM changes",
]


@pytest.mark.parametrize("alteration", ALTERATIONS)
def test_journal_and_log_cannot_be_altered(recorded: sqlite3.Connection, alteration: str) -> None:
    before = recorded.execute("SELECT * FROM events").fetchall(), recorded.execute("SELECT * FROM changes").fetchall()
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        recorded.execute(alteration)
    after = recorded.execute("SELECT * FROM events").fetchall(), recorded.execute("SELECT * FROM changes").fetchall()
    assert [tuple(row) for part in after for row in part] == [tuple(row) for part in before for row in part]


@pytest.mark.parametrize("alteration", ALTERATIONS)
def test_a_permit_of_one_user_opens_nothing_of_another(recorded: sqlite3.Connection, alteration: str) -> None:
    recorded.execute("INSERT INTO redaction_permits VALUES ('ben', 'delete')")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        recorded.execute(alteration)


def test_a_redaction_leaves_no_permit_behind(store: SqliteStore) -> None:
    (event_id,) = put(store, said("I like tea."))
    put(store, Redaction(id=event_id, at_us=1))
    assert one(writer_of(store), "SELECT count(*) FROM redaction_permits") == 0
    assert events(store) == []


def test_what_ended_has_an_end(recorded: sqlite3.Connection) -> None:
    for status in ("superseded", "merged", "invalidated"):
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            recorded.execute("UPDATE memories SET status = ? WHERE user_id = ?", (status, ANA))


def test_the_oldest_waiting_job_is_looked_for_among_ten_thousand(store: SqliteStore) -> None:
    """The first ones by user; a scrape of the metrics must not read a whole import."""
    connection = writer_of(store)
    connection.execute(
        """INSERT INTO operations (user_id, id, kind, first, last, status, created_at, updated_at)
        WITH RECURSIVE count (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < 10000)
        SELECT 'ana', n, 'extract', 1, 1, 'queued', 5, 5 FROM count
        UNION ALL SELECT 'ben', 1, 'extract', 1, 1, 'queued', 1, 1"""
    )
    assert store.find_oldest_waiting({"extract"}) == 5
    connection.execute("DELETE FROM operations WHERE user_id = 'ana' AND id = 10000")
    assert store.find_oldest_waiting({"extract"}) == 1
