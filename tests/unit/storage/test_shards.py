"""The shard lint: a statement that could touch two tenants is found, and every statement of both backends is sound."""

import re
from pathlib import Path

import pytest

import citus
import shards
from tests.postgres_server import get_server

TENANTS = {"events", "memories", "tenants"}
NONE = shards.Exceptions(statements={}, tables={})


def wrong(sql: str, dialect: str = "postgres") -> str:
    return shards.check_statement(shards.Statement("a", sql, dialect), TENANTS)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM other",
        "SELECT text FROM events WHERE user_id = :user_id AND id = :id",
        "SELECT text FROM events WHERE user_id = %s AND id = %s",
        "SELECT text FROM events WHERE user_id = %(user_id)s::text",
        "SELECT text FROM events AS e WHERE (e.user_id = :u) AND (e.id > 1 OR e.id < 0)",
        "SELECT 1 FROM events AS e JOIN memories AS m ON m.user_id = e.user_id AND m.id = e.id WHERE e.user_id = :u",
        "SELECT 1 FROM tenants AS t LEFT JOIN events AS e ON e.user_id = t.user_id WHERE t.user_id = :u",
        "SELECT 1 FROM tenants AS t LEFT JOIN events AS e ON e.user_id = :u AND e.id = 1 WHERE t.user_id = :u",
        "SELECT 1 FROM events AS e WHERE e.user_id = :u AND EXISTS (SELECT 1 FROM tenants AS t WHERE t.user_id = :u)",
        "WITH found AS (SELECT id FROM events WHERE user_id = :u) SELECT 1 FROM found",
        "INSERT INTO events (user_id, id) VALUES (:u, 1)",
        "INSERT INTO events (user_id, id) SELECT :u, max(id) FROM events WHERE user_id = :u",
        "INSERT INTO events (user_id, id) VALUES (:u, 1) ON CONFLICT (user_id, id) DO UPDATE SET id = excluded.id",
        "UPDATE events SET id = 1 WHERE user_id = :u",
        "DELETE FROM events WHERE user_id = :u RETURNING id",
    ],
)
def test_a_statement_of_one_tenant_passes(sql: str) -> None:
    assert wrong(sql) == ""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT text FROM events",
        "SELECT text FROM events WHERE id = :user_id",
        "SELECT text FROM events WHERE user_id = :u OR id = 1",
        "SELECT text FROM events WHERE user_id <> :u",
        "SELECT text FROM events WHERE NOT user_id = :u",
        "SELECT text FROM events WHERE user_id = user_id",
        "SELECT 1 FROM events AS e JOIN memories AS m ON m.id = e.id WHERE e.user_id = :u",
        "SELECT 1 FROM events AS e JOIN memories AS m ON m.user_id = e.user_id",
        "SELECT 1 FROM events AS e, memories AS m WHERE user_id = :u",
        "SELECT 1 FROM tenants AS t LEFT JOIN events AS e ON e.user_id = t.user_id AND t.user_id = :u",
        "SELECT 1 FROM events AS e WHERE e.user_id = :u AND e.id IN (SELECT m.id FROM memories AS m)",
        "SELECT 1 FROM events AS e WHERE e.user_id = :u AND EXISTS (SELECT 1 FROM memories AS e WHERE e.id = 1)",
        "WITH found AS (SELECT id FROM events) SELECT 1 FROM found",
        "SELECT 1 FROM events WHERE user_id = :u UNION ALL SELECT 1 FROM memories",
        "INSERT INTO events (id) VALUES (1)",
        "INSERT INTO events (user_id, id) SELECT :u, max(id) FROM events",
        "INSERT INTO events (user_id, id) VALUES (:u, 1) ON CONFLICT (id) DO NOTHING",
        "UPDATE events SET user_id = :u",
        "DELETE FROM events USING memories AS m WHERE events.user_id = :u AND m.id = events.id",
        "DELETE FROM events",
        "SELECT name FROM {} WHERE id = %s",
        "SELECT FROM WHERE",
    ],
)
def test_a_statement_that_could_touch_two_tenants_is_found(sql: str) -> None:
    assert wrong(sql)


def test_statements_are_read_from_files_and_from_code() -> None:
    text = "-- name: a$\n-- Why.\nSELECT 1;\n\n-- name: b\nSELECT 2;\n"
    assert [one.name for one in shards.read_named(text, "sqlite", "sqlite")] == ["sqlite:a", "sqlite:b"]
    code = '''
"""Delete nothing at all: a docstring."""
_FIND: Final = f"SELECT {_COLUMNS} FROM events WHERE id = ?"
class Rows:
    """Select rows of a table, and delete them."""
    def drop(self, table):
        """Delete rows from a table."""
        run(f"DELETE FROM {table}" " WHERE id = 1")
'''
    found = list(shards.read_python(code, "postgres/a.py", "postgres"))
    assert [one.name for one in found] == ["postgres/a.py:_FIND", "postgres/a.py:drop"]
    assert shards.find_problems(found, TENANTS, NONE) == [
        "postgres/a.py:_FIND: events is not pinned to a tenant",
        "postgres/a.py:drop: filled_in is not pinned to a tenant",
    ]


def test_an_exception_that_no_longer_fits_is_an_error() -> None:
    loose = shards.Statement("postgres:users", "SELECT user_id FROM tenants", "postgres")
    sound = shards.Statement("postgres:one", "SELECT 1", "postgres")
    excepted = shards.Exceptions(statements={"postgres:users": "listed", "postgres:one": "listed"}, tables={})
    assert shards.find_problems([loose, sound], TENANTS, excepted) == [
        "postgres:one: is sound or gone; take it off the list"
    ]


def test_a_schema_that_spans_two_tenants_is_found() -> None:
    sound = "CREATE TABLE a (\n user_id TEXT NOT NULL,\n id bigint,\n PRIMARY KEY (user_id, id)\n);"
    assert shards.check_schema(sound) == []
    bad = """CREATE TABLE a (
    id bigint GENERATED ALWAYS AS IDENTITY,
    user_id TEXT NOT NULL,
    b bigint REFERENCES b (id),
    PRIMARY KEY (id, user_id)
);
CREATE UNIQUE INDEX a_by_id ON a (id);"""
    assert shards.check_schema(bad) == [
        "a: its primary key does not begin with user_id",
        "a: refers to b",
        "a_by_id: unique over a without user_id",
        "a sequence as identity: GENERATED ALWAYS AS IDENTITY",
    ]


@pytest.mark.requirement("R-201", "R-224")
def test_every_statement_and_table_of_both_backends_is_sound() -> None:
    exceptions = shards.load_exceptions(Path(shards.__file__).with_name("shards_exceptions.toml"))
    schemas = {dialect: shards.read_schema(shards.STORAGE, dialect) for dialect in shards.DIALECTS}
    optional = shards.read_optional_schema(shards.STORAGE)
    tenants = {table for schema in (*schemas.values(), optional) for table in shards.list_tenant_tables(schema)}
    assert {"nominees", "nominee_heads"} <= tenants
    statements = list(shards.read_statements(shards.STORAGE))
    assert len(statements) > 100
    assert len(tenants) > 20
    assert shards.find_problems(statements, tenants, exceptions) == []
    assert shards.check_schema(schemas["postgres"] + optional, exceptions.tables) == []
    assert all(reason for reason in [*exceptions.statements.values(), *exceptions.tables.values()])


def test_the_statements_for_citus_are_those_of_the_schema() -> None:
    text = citus.render()
    assert citus.TARGET.read_text("utf-8") == text, "run scripts/citus.py"
    distributed = re.findall(r"create_distributed_table\('(\w+)', 'user_id'(.*)\);", text)
    assert distributed[0] == ("tenants", "")
    assert {beside for _, beside in distributed[1:]} == {", colocate_with => 'tenants'"}
    named = [name for name, _ in distributed] + re.findall(r"create_reference_table\('(\w+)'\)", text)
    tables = shards.list_tables(shards.read_schema(shards.STORAGE, "postgres"))
    assert sorted(named) == sorted(tables)
    assert {"events", "memories", "words", "operations"} <= {name for name, _ in distributed}


def test_no_table_is_missing_from_those_of_a_real_server() -> None:
    """The schema as text names the same tables as the catalogue of a server on which it was run."""
    server = get_server()
    database = server.lend()
    with database.connect() as connection:
        found = connection.execute(
            """SELECT relname FROM pg_class WHERE relnamespace = 'credenda'::regnamespace AND relkind IN ('r', 'p')
            AND NOT relispartition AND relname <> 'schema_version'"""
        ).fetchall()
    server.take_back(database)
    assert {name for (name,) in found} == set(shards.list_tables(shards.read_schema(shards.STORAGE, "postgres")))
