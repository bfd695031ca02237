"""Insertion of values into Postgres."""

from __future__ import annotations

from credenda.clock import Clock
from credenda.storage.postgres import nominees
from credenda.storage.postgres.connections import Session
from credenda.storage.postgres.reader import PostgresReader
from credenda.storage.postgres.statements import get_positional_statement
from credenda.storage.postgres.words import list_words
from credenda.storage.sql.writer import NextIds, SqlWriter
from credenda.storage.store import TenantRecord, VectorCopies

__all__ = ["PostgresWriter"]


class PostgresWriter(SqlWriter, PostgresReader):
    """A `Writer` inside a write transaction of its tenant."""

    def __init__(
        self, session: Session, tenant: TenantRecord, tips: NextIds, clock: Clock, *, key: bytes = b""
    ) -> None:
        """Bind a transaction to a tenant with these next ids; `key` is that of the tombstone key file."""
        SqlWriter.__init__(self, tenant, tips, clock)
        self._session = session
        self._key = key

    def _insert(self, name: str, cells: tuple[object, ...]) -> None:
        self._session.execute_prepared(get_positional_statement(name), cells)

    def _copy_vectors(self, copies: VectorCopies) -> str:
        place = nominees.find_nominees(self._session)
        if place is not None:
            nominees.put_nominees(self._session, place, self._tenant.user_id, copies)
        return ""

    def put_words(self, name: str, code: int, body: str) -> None:
        """Add the words of a document to the table of words, or take them out."""
        terms = sorted(list_words(body))
        if name == "delete_words":
            self._run("drop_words", term_list=terms, code=code)
        else:
            self._run("add_words", term_list=terms, code_list=[code] * len(terms))
