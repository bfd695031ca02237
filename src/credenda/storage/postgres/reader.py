"""The rows of one tenant in Postgres, and the documents that its table of words finds."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice, product
from threading import Lock
from typing import Any, Final

import psycopg

from credenda.clock import Clock, seconds
from credenda.errors import Unavailable
from credenda.storage.postgres import nominees
from credenda.storage.postgres.connections import Connections, Row, Scope, Session, connect, translate_errors
from credenda.storage.postgres.migrate import check_service, read_login
from credenda.storage.postgres.statements import get_positional_statement, list_words, load_statements, shorten_word
from credenda.storage.sql.duties import ViewStart
from credenda.storage.sql.reader import SqlReader, analyse_term, to_tenant
from credenda.storage.sql.writer import NextIds, SqlWriter
from credenda.storage.store import IndexPosition, Reader, TenantRecord, VectorCopies, pack_code

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


# Which reads a replica may serve: those of a user of whom it has everything that this process has written or seen.


_log = logging.getLogger(__name__)

_STATE: Final = "SELECT extract(epoch FROM now() - pg_last_xact_replay_timestamp())::bigint"
_USERS_MAX: Final = 10_000
"""Users of whom it is known how far their rows have grown; any other one reads the primary first."""


def open_replica(url: str) -> Connections | None:
    """Open a replica whose login the walls bind; None, with a warning, where it cannot be reached.

    Raises `Forbidden` for a login with too much power, as the primary does.
    """
    try:
        with translate_errors(), connect(url) as connection:
            role = check_service(connection, read_login(connection))
    except Unavailable as error:
        _log.warning("the replica is not used", extra={"error": error.code})
        return None
    return Connections(url, role)


def describe_replica(connections: Connections | None) -> str:
    """Say for a person whether a replica serves searches, and how old its last change is."""
    if connections is None:
        return "was not reachable when this process began: not used"
    try:
        with connections.transaction(Scope()) as session:
            row = session.execute(_STATE).fetchone()
    except Unavailable as error:
        return f"not reachable: {error.code}"
    return "in use" if row is None or row[0] is None else f"in use; its last change is {row[0]} s old"


@dataclass(slots=True)
class _Known:
    """How far the rows of a user have grown; None after a write of this process, until the primary was read again."""

    writes: int
    heads: IndexPosition | None = None
    tag: str = ""
    """That of the tenant: a user who was erased has another one, or none."""


class SeenRows:
    """How far the rows of users had grown when this process last read or wrote them. Safe to call from any thread."""

    def __init__(self, *, users_max: int = _USERS_MAX) -> None:
        self._users_max = users_max
        self._lock = Lock()
        self._numbers = count(1)
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def begin(self, user_id: str) -> int:
        """Return what to give to `note` after a read of the primary that begins now."""
        with self._lock:
            return self._find(user_id).writes

    def note(self, user_id: str, begun: int, view: Reader) -> None:
        """Note what the primary has shown, unless this process has written since the read began."""
        with self._lock:
            known = self._known.get(user_id)
            if known is not None and known.writes == begun:
                known.heads, known.tag = view.duties.heads, view.tenant.tag

    def mark_written(self, user_id: str) -> None:
        """Let the next read of a user go to the primary: this process has written."""
        with self._lock:
            known = self._find(user_id)
            known.writes, known.heads = next(self._numbers), None

    def is_covered(self, user_id: str, view: Reader) -> bool:
        """Return whether a view has everything that is known of a user."""
        with self._lock:
            known = self._known.get(user_id)
            if known is None or known.heads is None or known.tag != view.tenant.tag:
                return False
            least, heads = known.heads, view.duties.heads
        return heads.event >= least.event and heads.change >= least.change and heads.vector >= least.vector

    def _find(self, user_id: str) -> _Known:
        if user_id not in self._known:
            self._known[user_id] = _Known(next(self._numbers))
        self._known.move_to_end(user_id)
        if len(self._known) > self._users_max:
            self._known.popitem(last=False)
        return self._known[user_id]


# Insertion of values into Postgres.


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
