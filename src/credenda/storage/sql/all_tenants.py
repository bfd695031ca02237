"""Questions about all tenants of a database."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Final, TypeVar

from credenda.clock import LONGEST_WAIT_US
from credenda.storage.sql.server_tables import ServerTables
from credenda.storage.store import Finding, Writer

__all__ = ["TenantQueries"]

_JOBS_A_TENANT: Final = 8
"""Due jobs that are read for each tenant that is asked for; where tenants have more, fewer tenants are found."""


T = TypeVar("T")


class TenantQueries(ServerTables):
    """The part of a store that looks at every tenant."""

    def check_server(self, users: tuple[str, str], fill: Callable[[Writer], object]) -> list[Finding]:
        """Find nothing, because a file has no server, and no walls beside the conditions of statements."""
        del users, fill
        return []

    def user_of(self, tag: str) -> str | None:
        """Return the name of the tenant whose ids end with this tag."""
        with self._view_tables() as run:
            row = run("user_of_tag", tag=tag).fetchone()
        return None if row is None else str(row[0])

    def users(self, *, after: str = "", limit: int) -> list[str]:
        """Return the names of tenants, in order of name, from `after` on."""
        with self._view_tables() as run:
            return [str(row["user_id"]) for row in run("users", after_user=after, limit=limit)]

    def find_oldest_waiting(self, kinds: Collection[str]) -> int | None:
        """Return when the oldest job of these kinds was filed that is not done and not given up; None without one."""
        with self._view_tables() as run:
            return run("oldest_waiting", kinds=json.dumps(sorted(kinds))).fetchone()["created_at"]

    def users_with_due_jobs(
        self,
        now_us: int,
        *,
        limit: int,
        after: str = "",
        kinds: Collection[str] = (),
        other_kinds: Collection[str] = (),
    ) -> list[str]:
        """Return the names of tenants with a due job, in order of name, from `after` on."""
        lists = {"kinds": kinds, "other_kinds": other_kinds}
        given: dict[str, object] = {name: json.dumps(sorted(words)) for name, words in lists.items()}
        given |= {"now_us": now_us, "far_us": now_us + LONGEST_WAIT_US, "after_user": after}
        with self._view_tables() as run:
            found = run("users_with_due_jobs", limit=limit, window=limit * _JOBS_A_TENANT, **given)
            return [str(row["user_id"]) for row in found]
