"""Rows of two tenants in every table of a real server, and the statements of an attacker who has one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import psycopg
from psycopg import sql

from tests.postgres_server import Database

__all__ = ["ANA", "BOB", "SECRET", "fill", "list_columns", "list_tables"]

ANA: Final = "ana"
BOB: Final = "bob"
SECRET: Final = "Rosebud"
"""What Bob's rows say."""
_WORDS: Final = {"role": "user", "type": "fact", "memory_type": "fact", "state": "open"}
_NUMBERS: Final = {"bits": 16, "version": 1}
_STATUS: Final = {"operations": "queued", "memories": "active"}
_TABLES: Final = """
SELECT c.relname FROM pg_class AS c
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
ORDER BY c.relname
"""
_COLUMNS: Final = """
SELECT a.attname, format_type(a.atttypid, NULL) FROM pg_attribute AS a
WHERE a.attrelid = ('credenda.' || %s)::regclass AND a.attnum > 0 AND NOT a.attisdropped
    AND (a.attnotnull AND NOT a.atthasdef)
ORDER BY a.attnum
"""


def list_tables(connection: psycopg.Connection) -> list[str]:
    """Return the tables with a column `user_id`."""
    return [str(name) for (name,) in connection.execute(_TABLES)]


def list_columns(connection: psycopg.Connection, table: str) -> list[tuple[str, str]]:
    """Return the name and type of each column of a table that a row must have."""
    return [(str(name), str(kind)) for name, kind in connection.execute(_COLUMNS, (table,))]


def fill(database: Database, tables: Sequence[str] = ()) -> list[str]:
    """File a row of Ana and a row of Bob, with his secret, in every table; return the names of the tables."""
    with database.connect() as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("SET search_path = credenda")
        tables = tables or list_tables(connection)
        for table in tables:
            for user, text in ((ANA, "mine"), (BOB, SECRET)):
                columns = list_columns(connection, table)
                cells = [user if name == "user_id" else _make_cell(table, name, kind, text) for name, kind in columns]
                statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
                    sql.Identifier(table),
                    sql.SQL(", ").join(sql.Identifier(name) for name, _ in columns),
                    sql.SQL(", ").join([sql.Placeholder()] * len(cells)),
                )
                connection.execute(statement, cells)
    return list(tables)


def _make_cell(table: str, name: str, kind: str, text: str) -> object:
    if name == "status":
        return _STATUS[table]
    if kind == "text":
        return _WORDS.get(name, text)
    if kind == "bytea":
        return text.encode()
    return _NUMBERS.get(name, 1)
