"""Scores of responses, and costs of models."""

from __future__ import annotations

from credenda.model.faithfulness import ScoreRecord
from credenda.storage.sql.run import Record, StatementRunner
from credenda.storage.sql.server_tables import ServerTables
from credenda.storage.store import Spend

__all__ = ["ReportRows"]


class ReportRows(ServerTables):
    """The part of a store that keeps scores and costs."""

    def add_score(self, user_id: str, score: ScoreRecord) -> int:
        """Store a score under the next number of its tenant."""

        def work(run: StatementRunner) -> int:
            number = int(run("next_score", user_id=user_id).fetchone()[0])
            run(
                "insert_score",
                user_id=user_id,
                id=number,
                at_us=score.at_us,
                session=score.session,
                judge=score.judge,
                score=score.score,
                supported=score.supported,
                contradicted=score.contradicted,
                not_found=score.not_found,
            )
            return number

        return self._change_tables(work, user_id, alone="scores")

    def list_scores(
        self, user_id: str, *, below: int | None = None, session: str | None = None, limit: int
    ) -> list[ScoreRecord]:
        """Return at most `limit` scores of a tenant, the newest first."""
        with self._view_tables(user_id) as run:
            found = run("list_scores", user_id=user_id, below=below, session=session, limit=limit)
            return [_to_score(row) for row in found]

    def list_spends(self, user_id: str, first_day: int, last_day: int) -> list[Spend]:
        """Return what models cost a tenant on these days, oldest first."""
        with self._view_tables(user_id) as run:
            found = run("spends_of_days", user_id=user_id, first_day=first_day, last_day=last_day)
            return [Spend(**row) for row in found]


def _to_score(row: Record) -> ScoreRecord:
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
