"""Many users of a benchmark on Postgres: each has a copy of all rows of one user, who was served in the usual way."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, LiteralString, cast

from credenda.lazy import import_on_use

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql

    from credenda.storage.postgres import connections as errors
else:
    errors = import_on_use("credenda.storage.postgres.connections")
    psycopg = import_on_use("psycopg")
    sql = import_on_use("psycopg.sql")

WAITING: Final = 100
"""Every so manieth copy has a message that waits to be read."""
_TOGETHER: Final = 50_000
"""Users who are copied in one transaction."""
_TABLES: Final = """
SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum)
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
GROUP BY c.relname HAVING bool_or(a.attname = 'user_id') ORDER BY c.relname
"""
_TAG: Final = "lpad(to_hex(n / 10), 5, '0') || n % 10"
_COPY: Final = """
INSERT INTO credenda.{table} ({columns}) SELECT {cells} FROM generate_series({first}::bigint, {last}) AS n
JOIN credenda.{table} AS t ON t.user_id = {template} ON CONFLICT DO NOTHING
"""
_WAIT: Final = """
UPDATE credenda.operations SET status = 'queued' WHERE kind = 'extract'
    AND user_id IN (SELECT 'copy ' || n FROM generate_series({first}::bigint, {last}) AS n WHERE n % {every} = 0)
"""


def copy_user(target: str, template: str, numbers: range, note: Callable[[str], None]) -> None:
    """Give the users `copy NUMBER` the rows of a user, in units of 50,000, and gather statistics.

    The login must own the schema, since it takes the walls down inside the transaction that writes. Raises
    `Unavailable` for any other one.
    """
    with errors.translate_errors(), psycopg.connect(target, autocommit=True) as connection:
        tables = connection.execute(_TABLES).fetchall()
        for start in range(0, len(numbers), _TOGETHER):
            page = numbers[start : start + _TOGETHER]
            span = {"first": sql.Literal(page[0]), "last": sql.Literal(page[-1])}
            with connection.transaction(), _drop_walls(connection, [table for table, _ in tables]):
                for table, columns in tables:
                    _run(connection, _COPY, **_name_cells(table, columns, template), **span)
                _run(connection, _WAIT, **span, every=sql.Literal(WAITING))
            note(f"{page[-1]:,} users")
        connection.execute("VACUUM (ANALYZE)")


def _name_cells(table: str, columns: Sequence[str], template: str) -> dict[str, sql.Composable]:
    """Return the parts of the statement that copies a table: the user and the tag are new, all else is the same."""
    new = {"user_id": sql.SQL("'copy ' || n"), "tag": sql.SQL(_TAG)}
    cells = [new.get(name, sql.SQL("t.{}").format(sql.Identifier(name))) for name in columns]
    return {
        "table": sql.Identifier(table),
        "columns": sql.SQL(", ").join(map(sql.Identifier, columns)),
        "cells": sql.SQL(", ").join(cells),
        "template": sql.Literal(template),
    }


@contextmanager
def _drop_walls(connection: psycopg.Connection[Any], tables: Sequence[str]) -> Generator[None]:
    """Let the owner write rows of every user inside the block, which lies inside a transaction."""
    for table in tables:
        _run(connection, "ALTER TABLE credenda.{table} NO FORCE ROW LEVEL SECURITY", table=sql.Identifier(table))
    yield
    for table in tables:
        _run(connection, "ALTER TABLE credenda.{table} FORCE ROW LEVEL SECURITY", table=sql.Identifier(table))


def _run(connection: psycopg.Connection[Any], statement: str, **parts: sql.Composable) -> None:
    connection.execute(sql.SQL(cast("LiteralString", statement)).format(**parts))
