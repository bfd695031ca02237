"""The table of words of one tenant, made afresh from its rows, and compared with them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Final

from credenda.storage.postgres.connections import Session
from credenda.storage.postgres.statements import load_statements
from credenda.storage.sql.match_words import compose_event_words, compose_memory_words, split_words
from credenda.storage.sql.run import StatementRunner
from credenda.storage.store import pack_code

__all__ = ["WordBatch", "is_agreeing", "list_words", "rebuild_words", "shorten_word"]

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
        """Start empty."""
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
