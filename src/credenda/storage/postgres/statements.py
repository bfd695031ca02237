"""The named SQL statements of Postgres: the common ones, translated when they are compiled, and its own.

The translation knows four forms, and nothing else differs in the common statements:

* a parameter gets its type (`:topic` → `%(topic)s::text`), without which `:topic IS NULL` has none;
* `IN (SELECT value FROM json_each(:ids))`, a list in JSON, becomes `= ANY (ARRAY(…))`;
* `INDEXED BY …` is left out;
* `SELECT * FROM` a table names its columns: the result of a prepared statement may not change, and a newer version may
  have added columns.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Final

from credenda.storage.postgres.connections import Session
from credenda.storage.postgres.migrate import load_steps
from credenda.storage.sql.reader import compose_event_words, compose_memory_words, split_words
from credenda.storage.sql.statements import Dialect, StatementRunner, load_dialect
from credenda.storage.store import pack_code

_TEXTS: Final = """
actor after_user agent alias answer answers attribute attribute_key before besides cardinality cause causes changes
client codes contests context_id data_text delta entity entity_key error events external_id finished flags id_text label
idempotency_key ids issuer judge key key_begins kind kinds last_id last_space layer layers lease_owner
lifted_reason member memories memory_type message_id metadata model model_id name operation other_kinds outcome
over owner payload phrase pseudonym public_id question reader reason record relation resolution resource result
role scope scopes scores sealed session skill source source_session sources space speaker stance stances state states
status statuses subject tag tags term text token_id topic type type_class types user user_id vals
"""
_BYTES: Final = """
chain_hash claim_hash content_hmac data digest file_key hash hmac_key input_key ledger_key new_hash payload_hash
"""
_FLOATS: Final = """
base_importance confidence cost_usd decay_score emotional_valence importance scale score surprise trust
"""
_TYPES: Final = {
    **dict.fromkeys(_TEXTS.split(), "::text"),
    **dict.fromkeys(_BYTES.split(), "::bytea"),
    **dict.fromkeys(_FLOATS.split(), "::double precision"),
    **dict.fromkeys(("redacted", "worded"), "::boolean"),
    "value": "",  # that of the column
    "term_list": "::text[]",
    "code_list": "::bigint[]",
}
_WHOLE_NUMBER: Final = "::bigint"
_NUMBER_LISTS: Final = frozenset({"ids", "memories", "events", "changes"})
_LIST: Final = re.compile(r"(NOT )?IN \(SELECT value FROM json_each\(:(\w+)\)\)")
_INDEX: Final = re.compile(r" INDEXED BY \w+")
_WHOLE_ROWS: Final = re.compile(r"(?<=SELECT )\* FROM (\w+)")
_TABLE: Final = re.compile(r"^CREATE TABLE (\w+) \((.*?)^\)", re.DOTALL | re.MULTILINE)
_COLUMN: Final = re.compile(r"^    (\w+) ", re.MULTILINE)
_ADDED: Final = re.compile(r"^ALTER TABLE (\w+) ADD COLUMN (\w+)", re.MULTILINE)
_TOKEN: Final = re.compile(r"'[^']*'|::|%|:(\w+)")
_PARAMETER: Final = re.compile(r"%\(\w+\)s")


def _translate(statement: str) -> str:
    statement = _LIST.sub(_write_list, _INDEX.sub("", statement))
    return _TOKEN.sub(_write_token, _WHOLE_ROWS.sub(_write_columns, statement))


@cache
def _list_columns() -> dict[str, list[str]]:
    """Return the columns of each table, as the migrations define them."""
    columns: dict[str, list[str]] = {}
    for step in load_steps():
        for table, body in _TABLE.findall(step.script):
            columns[table] = [name for name in _COLUMN.findall(body) if name.islower()]
        for table, column in _ADDED.findall(step.script):
            columns[table].append(column)
    return columns


def _write_columns(found: re.Match[str]) -> str:
    return f"{', '.join(_list_columns()[found[1]])} FROM {found[1]}"


def _write_list(found: re.Match[str]) -> str:
    kind = "bigint" if found[2] in _NUMBER_LISTS else "text"
    values = f"json_array_elements_text(CAST(:{found[2]} AS json))"
    array = f"ARRAY(SELECT CAST(one.value AS {kind}) FROM {values} AS one)"  # noqa: S608 - our own names
    return f"<> ALL ({array})" if found[1] else f"= ANY ({array})"


def _write_token(found: re.Match[str]) -> str:
    name = found[1]
    if name is None:
        return found[0].replace("%", "%%")
    return f"%({name})s{_TYPES.get(name, _WHOLE_NUMBER)}"


DIALECT: Final = Dialect("credenda.storage.postgres", _translate)


@cache
def load_statements() -> dict[str, str]:
    """Load the named SQL of this backend: name → statement in the form of psycopg."""
    return load_dialect(DIALECT)


@cache
def get_positional_statement(name: str) -> str:
    """Return a statement with positional parameters, in the order in which their names occur in it."""
    return _PARAMETER.sub("%s", load_statements()[name])


# The table of words of one tenant, made afresh from its rows, and compared with them.


_PAGE: Final = 500
_BATCH: Final = 5_000
"""Rows of the table of words that one statement inserts."""
_LONGEST: Final = 128
"""Characters of a word that the table holds as it is: the key of an index has room for 2,700 bytes."""
_KEPT: Final = 64


def shorten_word(word: str) -> str:
    """Return the form in which the table holds a word: of a very long one the beginning, and a hash of all of it."""
    if len(word) <= _LONGEST:
        return word
    return f"{word[:_KEPT]}#{hashlib.blake2b(word.encode(), digest_size=16).hexdigest()}"


def list_words(body: str) -> frozenset[str]:
    """Return the words under which a document is found, in the form in which the table holds them."""
    return frozenset(map(shorten_word, split_words(body)))


class WordBatch:
    """Inserts words of many documents together."""

    def __init__(self, run: StatementRunner) -> None:
        self._run = run
        self._terms: list[str] = []
        self._codes: list[int] = []

    def add(self, code: int, terms: frozenset[str]) -> None:
        """Add the words of a document."""
        self._terms += terms
        self._codes += [code] * len(terms)
        if len(self._codes) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Insert what was added."""
        if self._codes:
            self._run("add_words", term_list=self._terms, code_list=self._codes)
        self._terms, self._codes = [], []


def rebuild_words(run: StatementRunner) -> None:
    """Make the table of words of a tenant afresh, inside the caller's transaction, and drop the images of indexes."""
    run("drop_all_words")
    batch = WordBatch(run)
    for code, terms in _list_documents(run):
        batch.add(code, terms)
    batch.flush()
    run("delete_snapshots")


def is_agreeing(session: Session, run: StatementRunner, user_id: str) -> bool:
    """Return whether the table of words holds the words of the rows, and no others; both are read in order of code."""
    rows = session.stream(load_statements()["all_words"], {"user_id": user_id}, _BATCH)
    held = ((code, frozenset(row["term"] for row in group)) for code, group in groupby(rows, itemgetter("code")))
    return all(next(held, None) == document for document in _list_documents(run)) and next(held, None) is None


def _list_documents(run: StatementRunner) -> Iterator[tuple[int, frozenset[str]]]:
    """Yield code and words of every document that the table should hold."""
    after = 0
    while found := run("listed_events", after=after, limit=_PAGE).fetchall():
        after = found[-1]["id"]
        for row in found:
            spans = [(0, 0, len(row["text"]))]
            if row["passages"] > 1:
                spans = [tuple(one) for one in run("passages_of", event=row["id"])] or spans
            for ordinal, start, stop in spans:
                body = compose_event_words(row["role"], row["speaker"], row["occurred_at"], row["text"][start:stop])
                if terms := list_words(body):
                    yield pack_code(row["id"], ordinal, memory=False), terms
    after = 0
    while found := run("first_versions", after=after, limit=_PAGE).fetchall():
        after = found[-1]["id"]
        for row in found:
            body = compose_memory_words(row["text"], row["entity"], row["attribute"], row["value"])
            if terms := list_words(body):
                yield pack_code(row["id"], memory=True), terms
