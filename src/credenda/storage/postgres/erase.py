"""Erasure of a tenant from Postgres: every row in one transaction, then a proof that none is left.

The catalogue lists the tables with tenant rows, so that a new table cannot be forgotten. The proof looks for rows of
the tenant in each of them once more, after the transaction. It says nothing about bytes: those of deleted rows stay in
the files of the server until it needs the room, and in its archived log; see the guide to Postgres.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from credenda.errors import Conflict, Corrupt
from credenda.ids import draw_key
from credenda.storage.erasure_ledger import hash_tenant_name
from credenda.storage.postgres.connections import AUDIT_TURN, Session, compute_lock
from credenda.storage.sql.row_loader import TABLES

_KEPT_TO_THE_END: Final = ("tenants", "redaction_permits")
_NOT_SHOWN: Final = frozenset({"tenant_tags", "words"})
"""Tables that a receipt leaves out, as SQLite has none of them."""
_TENANT_TABLES: Final = """
SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id'
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY c.relname
"""


def delete_rows(
    session: Session, user_id: str, now_us: int, exported: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Delete every row of a tenant, inside the caller's transaction; return the number of rows per table.

    Raises `Conflict` under a legal hold, and when rows were added after an export. Then nothing has happened.
    """
    row = session.execute(
        "SELECT reason FROM legal_holds WHERE user_id = %s AND lifted_at IS NULL", (user_id,)
    ).fetchone()
    if row is not None:
        raise Conflict(
            "this user is under a legal hold", why=str(row[0]), fix="lift the hold first; nothing was erased"
        )
    session.execute("SELECT pg_advisory_xact_lock(%s)", (compute_lock(AUDIT_TURN),))  # a record may name the user
    # Delete the name of a user from the memories of others, and the tokens for them.
    session.execute("DELETE FROM members WHERE issuer = '' AND subject = %s", (user_id,))
    session.execute(
        "DELETE FROM server_secrets WHERE token_id IN (SELECT id FROM api_tokens WHERE subject = %s)", (user_id,)
    )
    session.execute("DELETE FROM api_tokens WHERE subject = %s", (user_id,))
    tenant = session.execute("SELECT tag FROM tenants WHERE user_id = %s", (user_id,)).fetchone()
    tables = _list_tenant_tables(session)
    counts = {table: _count_rows(session, table, user_id) for table in tables}
    if exported is not None and any(counts[table] != exported.get(table, 0) for table in TABLES):
        raise Conflict(
            "something was written after the export",
            why="erasing now would lose it",
            fix="erase again: the export is written afresh; nothing was erased",
        )
    session.execute("INSERT INTO redaction_permits (user_id, reason) VALUES (%s, 'erase')", (user_id,))
    for table in (*(one for one in tables if one not in _KEPT_TO_THE_END), *_KEPT_TO_THE_END):
        session.execute(f"DELETE FROM {table} WHERE user_id = %s", (user_id,))  # noqa: S608 - names of our schema
    if tenant is None:
        return {}
    for table in tables:
        if _count_rows(session, table, user_id):
            raise Corrupt("the erasure is not complete", why=f"rows are left in {table}", fix="nothing was erased")
    _record_erasure(session, user_id, str(tenant["tag"]), now_us)
    return {table: count for table, count in counts.items() if count and table not in _NOT_SHOWN}


def count_left(session: Session, user_id: str) -> int:
    """Count the rows of a tenant in all tables."""
    return sum(_count_rows(session, table, user_id) for table in _list_tenant_tables(session))


def _list_tenant_tables(session: Session) -> list[str]:
    return [str(row["relname"]) for row in session.execute(_TENANT_TABLES)]


def _count_rows(session: Session, table: str, user_id: str) -> int:
    row = session.execute(f"SELECT count(*) FROM {table} WHERE user_id = %s", (user_id,)).fetchone()  # noqa: S608 - as above
    return 0 if row is None else int(row[0])


def _record_erasure(session: Session, user_id: str, tag: str, now_us: int) -> None:
    """Add the tenant to the ledger."""
    known = session.execute("SELECT ledger_key FROM erasures LIMIT 1").fetchone()
    key = draw_key() if known is None else bytes(known[0])
    session.execute(
        """INSERT INTO erasures (digest, tag, ledger_key, erased_at) VALUES (%s, %s, %s, %s)
        ON CONFLICT (digest, tag) DO UPDATE SET erased_at = excluded.erased_at""",
        (hash_tenant_name(key, user_id), tag, key, now_us),
    )
