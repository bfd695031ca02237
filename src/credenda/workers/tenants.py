"""One worker for every tenant of a store: each tenant with due jobs has one batch of them run in turn."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from threading import Event
from typing import Final

from credenda import limits
from credenda.clock import seconds
from credenda.errors import Conflict, CredendaError
from credenda.runtime import Parts
from credenda.storage.job_kinds import CALL
from credenda.workers.expiry import apply_policies
from credenda.workers.idle_tasks import flush_accesses, save_index
from credenda.workers.loop import list_excluded_kinds, run_due_jobs, run_llm_jobs

__all__ = ["AllUsers"]

_log = logging.getLogger(__name__)
_PAGE: Final = 64
"""Tenants that are listed at a time."""
_OPEN_MAX: Final = 16
"""Tenants whose views stay open between two rounds."""
_DUTY_SECONDS: Final = 60.0


class AllUsers:
    """Runs the jobs and duties of every tenant of a store, one tenant after the other, in the caller's thread."""

    def __init__(
        self,
        parts: Parts,
        *,
        duties: Callable[[Parts], object],
        calls: Callable[[Parts, Event | None], int] | None = None,
        open_max: int = _OPEN_MAX,
    ) -> None:
        """Share the store, embedder and model of `parts`; at most `open_max` tenants stay open.

        With `calls`, which returns how many it ran, the jobs that call operations are run, and no others.
        """
        self._calls = calls
        self._parts = parts
        self._duties = duties
        self._open_max = open_max
        self._open: OrderedDict[str, Parts] = OrderedDict()
        self._duties_at = 0.0
        self._served: set[str] = set()
        self.jobs = 0
        """How many jobs were run."""

    @property
    def users(self) -> int:
        """How many tenants had jobs run."""
        return len(self._served)

    @property
    def open(self) -> list[str]:
        """The tenants whose views are open, the least recently used first."""
        return list(self._open)

    def run_round(self, stop: Event | None = None) -> int:
        """Run one batch of each tenant that has due jobs, and return how many jobs were run.

        A tenant has one batch in a round, however much of its work waits. A tenant whose jobs cannot be run is passed
        over, and the others go on.
        """
        ran, had_turn = 0, set[str]()
        while found := self._due(had_turn):
            for user in found:
                if stop is not None and stop.is_set():
                    return ran
                had_turn.add(user)
                ran += self._run(user, stop)
        self.jobs += ran
        return ran

    def look_after(self, stop: Event | None = None) -> None:
        """Run the duties of every tenant that are due, and delete what its policies say, at most once a minute."""
        if seconds() < self._duties_at:
            return
        self._duties_at = seconds() + _DUTY_SECONDS
        after = ""
        while page := self._parts.store.users(after=after, limit=_PAGE):
            for user in page:
                if stop is not None and stop.is_set():
                    return
                self._attempt(user, self._look_after)
            after = page[-1]

    def close(self) -> None:
        """Close every view; closing twice does nothing."""
        while self._open:
            self._leave(self._open.popitem(last=False)[1])

    def _due(self, had_turn: set[str]) -> list[str]:
        now_us = self._parts.clock.now_us()
        found = self._parts.store.users_with_due_jobs
        if self._calls is not None:
            return found(now_us, limit=_PAGE, kinds={CALL}, besides=had_turn)
        kinds = list_excluded_kinds(self._parts)
        return found(now_us, limit=_PAGE, other_kinds=kinds, besides=had_turn)

    def _run(self, user: str, stop: Event | None) -> int:
        def work(parts: Parts) -> int:
            if self._calls is not None:
                return self._calls(parts, stop)
            ran = run_due_jobs(parts, yield_to_callers=True, stop=stop)
            return ran + run_llm_jobs(parts, yield_to_callers=True, stop=stop)

        ran = self._attempt(user, work) or 0
        if ran:
            self._served.add(user)
        return ran

    def _look_after(self, parts: Parts) -> None:
        with suppress(Conflict):  # a legal hold
            apply_policies(parts, batches_max=limits.POLICY_BATCHES)
        self._duties(parts)

    def _attempt(self, user: str, work: Callable[[Parts], int | None]) -> int | None:
        """Work for a tenant; a failure is logged without its name and does not keep the others waiting."""
        try:
            return work(self._view(user))
        except CredendaError as error:
            _log.warning("a user is passed over", extra={"code": error.code})
            return None

    def _view(self, user: str) -> Parts:
        """Return the tenant's view, opened if need be; the least recently used one beyond the bound is closed."""
        view = self._open.pop(user, None) or self._parts.for_user(user)
        self._open[user] = view
        while len(self._open) > self._open_max:
            self._leave(self._open.popitem(last=False)[1])
        return view

    @staticmethod
    def _leave(view: Parts) -> None:
        try:
            flush_accesses(view)
            save_index(view)
        except CredendaError as error:
            _log.warning("closing without saving the index", extra={"code": error.code})
        finally:
            view.release()
