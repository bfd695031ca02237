"""The baseline of the latency benchmark: a plain FTS5 table, with one durable insert per text, queried by its bm25."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

from credenda.text.tokens import extract_query_terms

__all__ = ["BareTable"]

_WORD: Final = re.compile(r"\w+")


class BareTable:
    """Texts in an FTS5 table. The file is beside the memory that it is compared with."""

    def __init__(self, path: Path) -> None:
        """Create the table: write-ahead log, one fsync per commit."""
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (body, tokenize = 'porter unicode61')")

    def insert(self, text: str) -> None:
        """Insert one text in its own transaction."""
        self._connection.execute("INSERT INTO texts (body) VALUES (?)", (text,))

    def fill(self, texts: Iterable[str]) -> None:
        """Insert many texts in one transaction."""
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO texts (body) VALUES (?)", ((text,) for text in texts))
        self._connection.execute("COMMIT")

    def search(self, question: str, limit: int) -> list[str]:
        """Return the best texts by bm25 for any of the question's words, without stop words."""
        return self._search_any({word for term in extract_query_terms(question) for word in _WORD.findall(term)}, limit)

    def search_all_words(self, question: str, limit: int) -> list[str]:
        """Do the same with all words of the question, stop words included."""
        return self._search_any(set(_WORD.findall(question.lower())), limit)

    def _search_any(self, words: Collection[str], limit: int) -> list[str]:
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in sorted(words))
        statement = "SELECT body FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?"
        return [row[0] for row in self._connection.execute(statement, (match, limit))]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
