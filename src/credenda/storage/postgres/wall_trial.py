"""A live trial of the walls: rows of one made-up user, and the eyes of another, in a transaction that is undone.

Nothing has to be removed afterwards, whatever fails: no other transaction ever sees these rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, LiteralString, cast

from psycopg import sql

from credenda.storage.postgres.connections import Session
from credenda.storage.store import Finding

_TABLES: Final = """
SELECT c.relname AS name FROM pg_class AS c
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND has_table_privilege(c.oid, 'SELECT')
ORDER BY c.relname
"""
_FOREIGN: Final = "SELECT EXISTS (SELECT 1 FROM credenda.{} WHERE user_id <> %s) AS found"


class UndoneError(Exception):
    """Undoes the transaction of a trial."""


def list_leaks(session: Session, asker: str) -> Iterator[str]:
    """Yield each table that shows rows of another to a user, or to nobody, when it is asked without a filter."""
    for user_id in (asker, ""):
        session.execute("SELECT set_config('app.current_user_id', %s, true)", (user_id,))
        for row in session.execute(_TABLES).fetchall():
            table = sql.SQL(cast("LiteralString", _FOREIGN)).format(sql.Identifier(row["name"]))
            if any(found["found"] for found in session.execute(table, (user_id,))):
                yield f"table {row['name']}"


def make_leak_findings(leaks: Iterable[str]) -> list[Finding]:
    """Make a finding for each leak."""
    return [
        Finding(
            check="walls",
            detail="a made-up user reads rows of another user",
            where=name,
            fix="stop the servers of this database, mend the walls that are named here, or report this",
        )
        for name in sorted(set(leaks))
    ]
