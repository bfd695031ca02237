"""The rows of one tenant in Postgres, and the documents that its table of words finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice, product
from typing import Any, Final

import psycopg

from credenda.clock import seconds
from credenda.storage.postgres import nominees
from credenda.storage.postgres.connections import Session
from credenda.storage.postgres.rows import Row
from credenda.storage.postgres.statements import load_statements
from credenda.storage.postgres.words import shorten_word
from credenda.storage.sql.duties import ViewStart
from credenda.storage.sql.match_words import analyse_term
from credenda.storage.sql.reader import SqlReader, to_tenant
from credenda.storage.store import TenantRecord, pack_code

__all__ = ["PostgresReader", "run_statement"]

_PREFIXED: Final = 64
"""Words that begin with a character, of which the documents are looked up."""
_COMBINATIONS: Final = 128
"""Combinations of words and stems of one term that are looked up."""
_LAST_CHARACTER: Final = chr(0x10FFFF)


def run_statement(session: Session, name: str, parameters: dict[str, object], key: bytes = b"") -> psycopg.Cursor[Row]:
    """Run a named statement; `key` is that of the tombstone key file."""
    parameters["file_key"] = key
    return session.execute_prepared(load_statements()[name], parameters)


class PostgresReader(SqlReader):
    """A `Reader` inside a transaction of its tenant."""

    def __init__(self, session: Session, tenant: TenantRecord, key: bytes = b"") -> None:
        """Bind a transaction to a tenant; `key` is that of the tombstone key file."""
        super().__init__(tenant)
        self._session = session
        self._key = key

    @classmethod
    def of_view(cls, session: Session, user_id: str, key: bytes) -> PostgresReader:
        """Read a tenant and the first rows of every search, inside a read transaction."""
        before = seconds()
        row = run_statement(session, "view", {"user_id": user_id}, key).fetchone()
        nobody = TenantRecord(user_id=user_id, number=0, tag="", key=b"")
        view = cls(session, nobody if row is None else to_tenant(row), key)
        view._start = ViewStart.of(row, (before, seconds()))
        return view

    def _run(self, name: str, /, **parameters: object) -> psycopg.Cursor[Row]:
        parameters["user_id"] = self._tenant.user_id
        return run_statement(self._session, name, parameters, self._key)

    def _list_codes(self, asked: Mapping[str, str], limit: int, *, memories: bool) -> list[list[int]]:
        low = pack_code(0, memory=memories)
        wanted = [self._list_combinations(term) for term in asked.values()]
        single = {next(iter(one)) for combinations in wanted for one in combinations if len(one) == 1}
        first: dict[str, list[int]] = {term: [] for term in single}
        if single:
            for row in self._run("first_codes", term_list=sorted(single), low=low, limit=limit):
                first[row["term"]].append(row["code"])
        lists: list[list[int]] = []
        for combinations in wanted:
            codes: set[int] = set()
            for one in combinations:
                codes.update(first[next(iter(one))] if len(one) == 1 else self._list_common(one, low, limit))
            lists.append(sorted(codes)[:limit])
        return lists

    @property
    def by_vector(self) -> nominees.PostgresVectorView:
        """The vectors, for a search without an index in memory."""
        return nominees.PostgresVectorView(self._run, self._session, self._tenant.user_id)

    def _list_combinations(self, term: str) -> list[frozenset[str]]:
        """Return the sets of indexed words, of which a document with the term holds one whole."""
        choices: list[Sequence[frozenset[str]]] = []
        for word, stems, is_prefix in analyse_term(term):
            if is_prefix:
                bounds = {"term": word, "before": word + _LAST_CHARACTER, "limit": _PREFIXED}
                choices.append([frozenset({row["term"]}) for row in self._run("terms_between", **bounds)])
            else:
                choices.append([frozenset(map(shorten_word, one)) for one in ({word}, stems) if one])
        return [frozenset[str]().union(*chosen) for chosen in islice(product(*choices), _COMBINATIONS)]

    def _list_common(self, terms: frozenset[str], low: int, limit: int) -> list[int]:
        found = self._run("common_codes", term_list=sorted(terms), low=low, limit=limit)
        return [row["code"] for row in found]

    def _fetch_tuples(self, found: Any) -> tuple[list[str], list[tuple[Any, ...]]]:  # noqa: ANN401 - the cursor of `_run`
        return [column.name for column in found.description], found.fetchall()
