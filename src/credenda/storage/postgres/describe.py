"""The facts for a person who looks after the database: version, roles, walls and extensions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from credenda.storage.postgres.connections import Session
from credenda.storage.postgres.rows import Row

__all__ = ["describe_server", "is_standby"]

_SERVER: Final = """
SELECT current_setting('server_version') AS version, current_user::text AS role, session_user::text AS login,
    (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace AS n WHERE n.nspname = 'credenda') AS owner,
    (SELECT max(version) FROM credenda.schema_version) AS schema,
    (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS vector,
    (SELECT installed_version FROM pg_available_extensions WHERE name = 'vector') AS installed,
    pg_database_size(current_database()) AS bytes,
    to_regclass('credenda.nominees') IS NOT NULL AS indexed
"""
_WALLS: Final = """
SELECT count(*) AS tables,
    count(*) FILTER (WHERE c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (
        SELECT 1 FROM pg_policy AS p
        WHERE p.polrelid = c.oid AND p.polcmd = '*' AND p.polqual IS NOT NULL AND p.polwithcheck IS NOT NULL
    )) AS walled
FROM pg_class AS c
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p') AND EXISTS (
    SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
)
"""


def is_standby(session: Session) -> bool:
    """Return whether the server only repeats what another one writes."""
    row = session.execute("SELECT pg_is_in_recovery()").fetchone()
    return row is not None and bool(row[0])


def describe_server(session: Session) -> Mapping[str, str]:
    """Read version, roles, the state of row-level security and the presence of pgvector."""
    server, walls = session.execute(_SERVER).fetchone(), session.execute(_WALLS).fetchone()
    assert server is not None, "one row"  # noqa: S101 - told to the type checker
    assert walls is not None, "one row"  # noqa: S101 - as above
    whole = walls["walled"] == walls["tables"]
    return {
        "name": "PostgreSQL",
        "version": f"{server['version']}{', a standby, which only reads' if is_standby(session) else ''}",
        "schema": str(server["schema"]),
        "bytes": str(server["bytes"]),
        "row_level_security": f"{'forced on all' if whole else 'MISSING: forced on ' + str(walls['walled']) + ' of'} "
        f"{walls['tables']} tables and partitions of users",
        "role": str(server["role"]),
        "login": f"{server['login']}{', which owns the tables' if server['login'] == server['owner'] else ''}",
        "owner": str(server["owner"]),
        "pgvector": _describe_pgvector(server),
    }


def _describe_pgvector(server: Row) -> str:
    """Say whether the vectors of memories too large for an index in memory have one, and what to do if not."""
    if server["indexed"]:
        return f"in use, {server['installed']}"
    if server["installed"]:
        return f"installed, {server['installed']}; used once the owner of the schema has opened the database"
    missing = "the vectors of very large memories are compared one by one"
    if server["vector"]:
        return f"not installed: {missing}; let an administrator run `CREATE EXTENSION vector`"
    return f"not on this server: {missing}"
