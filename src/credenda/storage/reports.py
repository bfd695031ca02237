"""The storage of scores of responses, so that their trend can be read, and the costs of models over any time."""

from __future__ import annotations

from typing import Protocol

from credenda.model.faithfulness import ScoreRecord
from credenda.storage.records import Spend

__all__ = ["ReportStore"]


class ReportStore(Protocol):
    """The scores and costs of a database. Erasing a tenant deletes its rows in the same transaction."""

    def add_score(self, user_id: str, score: ScoreRecord) -> int:
        """Store a score under the next number of its tenant, and return that; `id` of the score is ignored."""
        ...

    def list_scores(
        self, user_id: str, *, below: int | None = None, session: str | None = None, limit: int
    ) -> list[ScoreRecord]:
        """Return at most `limit` scores of a tenant with numbers below one, the newest first."""
        ...

    def list_spends(self, user_id: str, first_day: int, last_day: int) -> list[Spend]:
        """Return what models cost a tenant on these days (since 1970-01-01 UTC), oldest first, both included."""
        ...
