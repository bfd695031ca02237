"""Questions about all tenants of a SQLite file."""

from __future__ import annotations

import json
from collections.abc import Collection

from credenda.clock import LONGEST_WAIT_US
from credenda.storage.sqlite.connection import ReadPool
from credenda.storage.sqlite.statements import load_statements

__all__ = ["TenantQueries"]


class TenantQueries:
    """The part of a SQLite store that looks at every tenant."""

    _readers: ReadPool

    def user_of(self, tag: str) -> str | None:
        """Return the name of the tenant whose ids end with this tag."""
        with self._readers.take() as connection:
            row = connection.execute(load_statements()["user_of_tag"], {"tag": tag}).fetchone()
        return None if row is None else str(row[0])

    def users(self, *, after: str = "", limit: int) -> list[str]:
        """Return the names of tenants, in order of name, from `after` on."""
        with self._readers.take() as connection:
            found = connection.execute(load_statements()["users"], {"after": after, "limit": limit})
            return [str(row["user_id"]) for row in found]

    def find_oldest_waiting(self, kinds: Collection[str]) -> int | None:
        """Return when the oldest job of these kinds was filed that is not done and not given up; None without one."""
        with self._readers.take() as connection:
            given = {"kinds": json.dumps(sorted(kinds))}
            found = connection.execute(load_statements()["oldest_waiting"], given).fetchone()
            return found["created_at"]

    def users_with_due_jobs(
        self,
        now_us: int,
        *,
        limit: int,
        kinds: Collection[str] = (),
        other_kinds: Collection[str] = (),
        besides: Collection[str] = (),
    ) -> list[str]:
        """Return the names of tenants with a due job, those first whose job has been due the longest."""
        lists = {"kinds": kinds, "other_kinds": other_kinds, "besides": besides}
        given = {name: json.dumps(sorted(words)) for name, words in lists.items()}
        times = {"now_us": now_us, "far_us": now_us + LONGEST_WAIT_US}
        with self._readers.take() as connection:
            found = connection.execute(load_statements()["users_with_due_jobs"], times | given | {"limit": limit})
            return [str(row["user_id"]) for row in found]
