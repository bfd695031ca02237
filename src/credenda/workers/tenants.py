"""One worker for every tenant of a store: each tenant with due jobs has one batch of them run in turn.

Kinds of jobs have slots of their own, so that none waits for another: a slot is a `Lane`, and each lane of a process
has a thread. Any number of processes may work on one store. Each begins a round at another tenant.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from threading import Event
from typing import Final, NamedTuple
from zlib import crc32

from credenda import limits
from credenda.clock import seconds
from credenda.errors import Conflict, CredendaError
from credenda.runtime import Parts
from credenda.storage.records import CALL, REREAD, THINK
from credenda.workers.handlers import apply_policies
from credenda.workers.loop import (
    copy_large_vectors,
    flush_accesses,
    list_excluded_kinds,
    run_due_jobs,
    run_llm_jobs,
    save_index,
)

_log = logging.getLogger(__name__)
_PAGE: Final = 64
"""Tenants that are listed at a time."""
_OPEN_MAX: Final = 16
"""Tenants whose views stay open between two rounds."""
_DUTY_SECONDS: Final = 60.0

Run = Callable[[Parts, Event | None], int]
"""Runs a batch of due jobs of one tenant, until the event is set, and returns how many."""


class Lane(NamedTuple):
    """The kinds of jobs that have a slot of their own.

    Without `kinds` they are all kinds of messages that this process can run; where it has a model, `other_kinds` are
    left out.
    """

    run: Run
    kinds: frozenset[str] = frozenset()
    other_kinds: frozenset[str] = frozenset()


def _run_messages(parts: Parts, stop: Event | None) -> int:
    return run_due_jobs(parts, yield_to_callers=True, stop=stop)


def _run_model(parts: Parts, stop: Event | None) -> int:
    return run_llm_jobs(parts, yield_to_callers=True, stop=stop)


def _run_both(parts: Parts, stop: Event | None) -> int:
    return _run_messages(parts, stop) + _run_model(parts, stop)


MESSAGES: Final = Lane(_run_messages, other_kinds=frozenset({THINK, REREAD}))
MODEL: Final = Lane(_run_model, kinds=frozenset({THINK, REREAD}))
CALLS: Final = frozenset({CALL})
ALL: Final = Lane(_run_both)
"""Messages, with and without a model."""


class AllUsers:
    """Runs the jobs and duties of every tenant of a store, one tenant after the other, in the caller's thread."""

    def __init__(
        self,
        parts: Parts,
        *,
        duties: Callable[[Parts], object],
        lane: Lane = ALL,
        claim: Callable[[], list[str]] | None = None,
        open_max: int = _OPEN_MAX,
    ) -> None:
        """Share the store, embedder and model of `parts`; at most `open_max` tenants stay open.

        Only the jobs of `lane` are run. `claim` gives the next tenants whose duties this process looks after, and none
        at the end; without it, all are.
        """
        self._lane = lane
        self._claim = claim or self._next_page
        self._last = ""
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
        ran, after = 0, ""
        while found := self._due(after):
            # Begin at another place than other processes: two that go through one list would wait for each other.
            at = crc32(self._parts.owner.encode()) % len(found)
            for user in found[at:] + found[:at]:
                if stop is not None and stop.is_set():
                    return ran
                ran += self._run(user, stop)
            after = found[-1]
        self.jobs += ran
        return ran

    def look_after(self, stop: Event | None = None) -> None:
        """Run the duties that are due, and delete what policies say, of all tenants that no other process has claimed.

        At most once a minute.
        """
        if seconds() < self._duties_at:
            return
        while page := self._claim():
            for user in page:
                if stop is not None and stop.is_set():
                    return
                self._attempt(user, self._look_after)
        self._duties_at = seconds() + _DUTY_SECONDS

    def _next_page(self) -> list[str]:
        page = self._parts.store.users(after=self._last, limit=_PAGE)
        self._last = page[-1] if page else ""
        return page

    def close(self) -> None:
        """Close every view; closing twice does nothing."""
        while self._open:
            self._leave(self._open.popitem(last=False)[1])

    def _due(self, after: str) -> list[str]:
        lane = self._lane
        others = frozenset[str]() if lane.kinds else list_excluded_kinds(self._parts)
        if self._parts.llm is not None:
            others |= lane.other_kinds
        find, now_us = self._parts.store.users_with_due_jobs, self._parts.clock.now_us()
        return find(now_us, limit=_PAGE, kinds=lane.kinds, other_kinds=others, after=after)

    def _run(self, user: str, stop: Event | None) -> int:
        ran = self._attempt(user, lambda parts: self._lane.run(parts, stop)) or 0
        if ran:
            self._served.add(user)
        return ran

    def _look_after(self, parts: Parts) -> None:
        with suppress(Conflict):  # a legal hold
            apply_policies(parts, batches_max=limits.POLICY_BATCHES)
        copy_large_vectors(parts)
        self._duties(parts)

    def _attempt(self, user: str, work: Callable[[Parts], int | None]) -> int | None:
        """Work for a tenant; a failure is logged without its name and does not keep the others waiting."""
        try:
            # The tenant's view, opened if need be; the least recently used one beyond the bound is closed.
            view = self._open.pop(user, None) or self._parts.for_user(user)
            self._open[user] = view
            while len(self._open) > self._open_max:
                self._leave(self._open.popitem(last=False)[1])
            return work(view)
        except CredendaError as error:
            _log.warning("a user is passed over", extra={"code": error.code})
            return None

    @staticmethod
    def _leave(view: Parts) -> None:
        try:
            flush_accesses(view)
            save_index(view)
        except CredendaError as error:
            _log.warning("closing without saving the index", extra={"code": error.code})
        finally:
            view.release()
