"""An in-memory copy of a tenant's journal, for trial reconciliations that are discarded."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from credenda.clock import Clock
from credenda.storage.sql.writer import NextIds
from credenda.storage.sqlite.connection import prepare_connection
from credenda.storage.sqlite.dump import load_rows
from credenda.storage.sqlite.migrate import create_schema
from credenda.storage.sqlite.reader import read_tenant
from credenda.storage.sqlite.writer import SqliteWriter
from credenda.storage.tenant_transfer import ExportHeader, ImportRow, TableRow

__all__ = ["SCRATCH_TABLES", "open_scratch"]

SCRATCH_TABLES: Final = ("events", "passages", "tombstones")
"""The journal and the tombstones; no memories."""


def open_scratch(
    origin: ExportHeader, rows: Iterator[tuple[str, TableRow]], clock: Clock, key: bytes = b""
) -> tuple[sqlite3.Connection, SqliteWriter]:
    """Copy the journal and the tombstones of a tenant into an in-memory database; nothing of it reaches a disk."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        return connection, _fill_scratch(connection, origin, rows, clock, key=key)
    except BaseException:
        connection.close()
        raise


def _fill_scratch(
    connection: sqlite3.Connection,
    origin: ExportHeader,
    rows: Iterator[tuple[str, TableRow]],
    clock: Clock,
    *,
    key: bytes,
) -> SqliteWriter:
    prepare_connection(connection, key=key)
    create_schema(connection)
    placed = (ImportRow(0, table, row) for table, row in rows if table in SCRATCH_TABLES)
    load_rows(connection, origin.user_id, origin, placed)
    tenant = read_tenant(connection, origin.user_id)
    assert tenant is not None, "a tenant with events has a row of its own"  # noqa: S101 - told to the type checker
    return SqliteWriter(connection, tenant, NextIds(), clock)
