"""Vectors of tenants that are too large for an index in memory, nominated by pgvector where the server has it.

The table `nominees` copies the vectors of such tenants alone, so that few tenants share an index. The search names its
tenant and model, and reads on in the order of distance until it has found enough of them (`hnsw.iterative_scan`).

A setting of an extension that is not loaded yet takes any value, and a wrong one is then dropped without an error. So
each connection loads the library before the first search, and every transaction reads its settings back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final, LiteralString, NamedTuple, cast

import psycopg
from psycopg import sql

from credenda.errors import Unavailable
from credenda.storage.postgres.connections import Session
from credenda.storage.sql.reader import SqlVectorView
from credenda.storage.sql.statements import StatementRunner
from credenda.storage.store import VectorCopies

SIZES: Final = (256, 384, 512, 768, 1024, 1536, 3072)
"""Dimensions of vectors that have an index: those of the usual models."""
_PLANNING: Final = {"plan_cache_mode": "force_custom_plan", "enable_sort": "off"}
"""A plan of its own reads the partition of the tenant alone, and one without a sort reads the index of vectors."""
_SETTINGS: Final = {
    "hnsw.ef_search": "1000",
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.max_scan_tuples": "200000",
    **_PLANNING,
}
_EXTENSION: Final = """
SELECT to_regclass('credenda.nominees') IS NOT NULL,
    (SELECT n.nspname FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector')
"""
_LOAD: Final = sql.SQL("SELECT '[1]'::{vector}.halfvec(1)")
_SHOW: Final = "SELECT current_setting('plan_cache_mode'), current_setting('enable_sort')"
_HEAD: Final = "SELECT number FROM nominee_heads WHERE user_id = %(user_id)s AND model_id = %(model_id)s"
_NEAREST: Final = sql.SQL(
    """SELECT code FROM nominees WHERE user_id = %(user_id)s AND model_id = %(model_id)s AND dims = {dims}
    ORDER BY (vector::{vector}.halfvec({dims})) OPERATOR({vector}.<=>) %(near)s::{vector}.halfvec({dims})
    LIMIT %(limit)s"""
)
_PUT: Final = sql.SQL(
    """INSERT INTO nominees (user_id, model_id, code, dims, vector)
    SELECT v.user_id, v.model_id, v.code, v.dims, %(near)s::{vector}.halfvec FROM embeddings AS v
    WHERE v.user_id = %(user_id)s AND v.model_id = %(model_id)s AND v.code = %(code)s
    ON CONFLICT (user_id, model_id, code) DO UPDATE SET dims = excluded.dims, vector = excluded.vector"""
)
_MOVE: Final = """
INSERT INTO nominee_heads (user_id, model_id, number) VALUES (%(user_id)s, %(model_id)s, %(number)s)
ON CONFLICT (user_id, model_id) DO UPDATE SET number = excluded.number
"""


class Nominees(NamedTuple):
    """Where the extension is: `schema` holds its types."""

    schema: str


def create_nominees(connection: psycopg.Connection[Any]) -> bool:
    """Create the tables as the owner where the extension is installed, in a transaction; return whether it did so."""
    row = connection.execute(cast("LiteralString", _EXTENSION)).fetchone()
    if row is None or row[0] or row[1] is None:
        return False
    script = (files("credenda.storage.postgres") / "nominees.sql").read_text("utf-8")
    vector = sql.Identifier(row[1]).as_string(connection)
    sizes = f"ARRAY[{', '.join(map(str, SIZES))}]"
    filled = script.replace("{vector}", vector).replace("{sizes}", sizes)
    connection.execute("SET LOCAL search_path = credenda, pg_temp")
    connection.execute(cast("LiteralString", filled))
    return True


def find_nominees(session: Session) -> Nominees | None:
    """Return where the extension is; None where its tables do not exist."""
    row = session.execute(_EXTENSION).fetchone()
    return Nominees(row[1]) if row is not None and row[0] and row[1] is not None else None


def find_nearest(
    session: Session, place: Nominees, user_id: str, *, model_id: str, vector: Sequence[float], limit: int
) -> tuple[list[int], int]:
    """Return the codes of the documents that the index holds to be nearest, and the number up to which it has read."""
    given = {"user_id": user_id, "model_id": model_id}
    head = session.execute(_HEAD, given).fetchone()
    if head is None or (limit and len(vector) not in SIZES):
        return [], 0
    if not limit:
        return [], int(head[0])
    vectors = sql.Identifier(place.schema)
    session.execute(_LOAD.format(vector=vectors))
    before = session.execute(_SHOW).fetchone()
    _set(session, _SETTINGS)
    statement = _NEAREST.format(vector=vectors, dims=sql.Literal(len(vector)))
    found = session.execute(statement, {**given, "near": _write_vector(vector), "limit": limit}).fetchall()
    _set(session, dict(zip(_PLANNING, before or (), strict=True)))
    return [row["code"] for row in found], int(head[0])


class PostgresVectorView(SqlVectorView):
    """A `VectorView` that asks pgvector where the server has it."""

    def __init__(self, run: StatementRunner, session: Session, user_id: str) -> None:
        super().__init__(run)
        self._session = session
        self._user_id = user_id

    @property
    def is_indexed(self) -> bool:
        """Whether the server has pgvector, and the tables for it exist."""
        return find_nominees(self._session) is not None

    def nearest(self, model_id: str, vector: Sequence[float], limit: int) -> tuple[list[int], int]:
        """Return the codes of documents with the nearest vectors, and the number up to which the index has read."""
        place = find_nominees(self._session)
        if place is None:
            return [], 0
        return find_nearest(self._session, place, self._user_id, model_id=model_id, vector=vector, limit=limit)


def _set(session: Session, settings: Mapping[str, str]) -> None:
    """Set what holds for this transaction; raises `Unavailable` where a setting reads back otherwise."""
    calls = [sql.SQL("set_config({}, {}, true)").format(*map(sql.Literal, one)) for one in settings.items()]
    row = session.execute(sql.SQL("SELECT ") + sql.SQL(", ").join(calls)).fetchone()
    if row is None or list(row) != list(settings.values()):
        raise Unavailable(
            "the index of vectors cannot be searched",
            why=f"its settings are {list(row or ())}, not {list(settings.values())}",
            fix="bring the extension vector to 0.8 or later",
        )


def _write_vector(vector: Sequence[float]) -> str:
    """Write a vector as pgvector reads it."""
    return f"[{','.join(f'{number:.6g}' for number in vector)}]"


def put_nominees(session: Session, place: Nominees, user_id: str, copies: VectorCopies) -> None:
    """Copy vectors that still exist, and note how far the copy has come."""
    given = {"user_id": user_id, "model_id": copies.model_id}
    indexed = [(code, vector) for code, vector in copies.vectors if len(vector) in SIZES]
    if indexed:
        statement = _PUT.format(vector=sql.Identifier(place.schema))
        rows = [{**given, "code": code, "near": _write_vector(vector)} for code, vector in indexed]
        session.execute_many(statement, rows)
    session.execute(_MOVE, {**given, "number": copies.head})
