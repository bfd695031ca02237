"""Scores of responses, and costs of models, in SQLite."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from typing import Final

from credenda.model.faithfulness import ScoreRecord
from credenda.storage.sqlite.connection import ReadPool
from credenda.storage.sqlite.group import GroupCommit
from credenda.storage.store import Spend

__all__ = ["ReportRows"]

_NEXT: Final = "SELECT coalesce(max(id), 0) + 1 FROM eval_scores WHERE user_id = ?"
_INSERT: Final = """INSERT INTO eval_scores
(user_id, id, at, session_id, judge, score, supported, contradicted, not_found) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_LIST: Final = """SELECT * FROM eval_scores
WHERE user_id = :user AND (:below IS NULL OR id < :below) AND (:session IS NULL OR session_id = :session)
ORDER BY id DESC LIMIT :limit"""
_SPENDS: Final = """SELECT day, operation, model_id, tokens_in, tokens_out, calls, cost_usd FROM budgets
WHERE user_id = ? AND day BETWEEN ? AND ? ORDER BY day, operation, model_id"""


class ReportRows(ABC):
    """The part of a SQLite store that keeps scores and costs."""

    _readers: ReadPool

    @abstractmethod
    def _writable(self) -> tuple[sqlite3.Connection, GroupCommit]:
        """Return the connection that writes, and the commits that it shares."""

    def add_score(self, user_id: str, score: ScoreRecord) -> int:
        """Store a score under the next number of its tenant."""
        connection, commits = self._writable()

        def work() -> int:
            number = int(connection.execute(_NEXT, (user_id,)).fetchone()[0])
            figures = (score.score, score.supported, score.contradicted, score.not_found)
            connection.execute(_INSERT, (user_id, number, score.at_us, score.session, score.judge, *figures))
            return number

        return commits.run(work)

    def list_scores(
        self, user_id: str, *, below: int | None = None, session: str | None = None, limit: int
    ) -> list[ScoreRecord]:
        """Return at most `limit` scores of a tenant, the newest first."""
        given = {"user": user_id, "below": below, "session": session, "limit": limit}
        with self._readers.take() as connection:
            return [_to_score(row) for row in connection.execute(_LIST, given)]

    def list_spends(self, user_id: str, first_day: int, last_day: int) -> list[Spend]:
        """Return what models cost a tenant on these days, oldest first."""
        with self._readers.take() as connection:
            return [Spend(**row) for row in connection.execute(_SPENDS, (user_id, first_day, last_day))]


def _to_score(row: sqlite3.Row) -> ScoreRecord:
    return ScoreRecord(
        id=row["id"],
        at_us=row["at"],
        score=row["score"],
        supported=row["supported"],
        contradicted=row["contradicted"],
        not_found=row["not_found"],
        judge=row["judge"],
        session=row["session_id"],
    )
