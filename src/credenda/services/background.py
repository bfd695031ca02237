"""Calls of operations that run in the background, as durable jobs: start one, and run those that are due.

A call is a job of the kind `call`. It outlives the process that started it: any worker on the database leases it, and
takes it over where the process that ran it is gone. So an operation may run twice, as every job may.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from threading import Event, Thread
from typing import Any, Final, NamedTuple, Protocol

from credenda import limits
from credenda.clock import DAY_US, SECOND_US, has_ended
from credenda.deadline import allow_stop
from credenda.errors import CredendaError, LimitExceeded
from credenda.model.change import ChangeKind
from credenda.model.job import JobInfo
from credenda.private import cut_private_fields
from credenda.runtime import Parts
from credenda.services.jobs import describe_job, run_in_job
from credenda.storage.job_kinds import CALL
from credenda.storage.store import ChangeFilter, Job, JobFilter, JobStatus, Writer
from credenda.workers.leases import is_abandoned

__all__ = ["Call", "Run", "run_due_call", "start_call"]

_log: Final = logging.getLogger(__name__)
_WAITING: Final = frozenset({JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED})
_CALLS: Final = JobFilter(statuses=_WAITING, kinds=frozenset({CALL}))
_WATCH_SECONDS: Final = 1.0
_ERROR_CHARACTERS: Final = 300


class Call(NamedTuple):
    """What to call: an operation by its name in the table, and its inputs as JSON has them."""

    operation: str
    inputs: Mapping[str, object]


class Run(Protocol):
    """Calls an operation on a user's memory, and returns its result as JSON has it."""

    def __call__(self, parts: Parts, call: Call, progress: Callable[[int, int | None], None]) -> Any:  # noqa: ANN401 - JSON
        """Call it; `progress` takes how much is done, and of how much in all where that is known."""
        ...


def start_call(parts: Parts, call: Call) -> JobInfo:
    """Queue a call, durably, and return its job; raises `LimitExceeded` where too many wait already."""
    payload = json.dumps(cut_private_fields(call._asdict()), ensure_ascii=False)

    def work(writer: Writer) -> Job:
        if len(writer.jobs(replace(_CALLS, limit=limits.CALLS_WAITING))) >= limits.CALLS_WAITING:
            why = f"{limits.CALLS_WAITING} are waiting, which is the maximum"
            raise LimitExceeded("no more calls are taken", why=why, fix="wait until some of them have run")
        _drop_old_results(writer, parts.clock.now_us())
        job_id = writer.put(Job(kind=CALL, payload=payload))
        return writer.jobs(JobFilter(id=job_id))[0]

    return describe_job(parts.store.commit(parts.user_id, work))


def _drop_old_results(writer: Writer, now_us: int) -> None:
    done = JobFilter(
        statuses=frozenset({JobStatus.COMPLETE}), kinds=frozenset({CALL}), newest_first=True, limit=limits.CALLS_WAITING
    )
    for job in writer.jobs(done):
        if job.outcome and has_ended(job.updated_us + limits.CALL_KEPT_DAYS * DAY_US, now_us):
            writer.put(replace(job, outcome=""))


def run_due_call(parts: Parts, run: Run, stop: Event | None = None) -> int:
    """Run the call that has been due the longest, and return how many ran: 0 or 1.

    A call that fails with an error that may pass is tried again later, as other jobs are. It stops when it is
    cancelled, and when `stop` is set; then it stays queued for the next process.
    """
    job = _lease(parts)
    if job is None:
        return 0
    watch = _Watch(parts, job, stop or Event())
    try:
        call = Call(**json.loads(job.payload))
        with watch, allow_stop(watch.ended):
            result = run(parts, call, watch.note)
    except Exception as error:  # noqa: BLE001 - the job boundary: any failure is filed with the job
        _file_failure(parts, job, watch, error)
    else:
        _file_result(parts, job, watch, result)
    return 1


def _lease(parts: Parts) -> Job | None:
    with parts.store.reader(parts.user_id) as reader:
        if not any(_is_due(parts, job) for job in reader.jobs(_CALLS)):
            return None

    def work(writer: Writer) -> Job | None:
        for job in writer.jobs(_CALLS):
            if _is_due(parts, job):
                until_us = parts.clock.now_us() + limits.JOB_LEASE_SECONDS * SECOND_US
                leased = replace(
                    job,
                    status=JobStatus.PROCESSING,
                    attempts=job.attempts + 1,
                    lease_owner=parts.owner,
                    lease_until_us=until_us,
                    error="",
                )
                writer.put(leased)
                return leased
        return None

    return parts.store.commit(parts.user_id, work)


def _is_due(parts: Parts, job: Job) -> bool:
    if job.status is JobStatus.PROCESSING:
        return is_abandoned(job, parts)
    return has_ended(job.run_after_us, parts.clock.now_us())


class _Watch:
    """Watches over a call that runs: renews its lease, files its progress, and notices that it was cancelled."""

    def __init__(self, parts: Parts, job: Job, stop: Event) -> None:
        self.ended = Event()
        """Set once the call is to stop."""
        self.cancelled = False
        self._parts = parts
        self._job = job
        self._stop = stop
        self._over = Event()
        self._progress: tuple[int, int | None] = (0, None)
        with parts.store.reader(parts.user_id) as reader:
            self._change_head = reader.duties.heads.change
        self._thread = Thread(target=self._run, name="credenda-watch", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def note(self, done: int, total: int | None) -> None:
        """Note how much is done."""
        self._progress = (done, total)

    def has_deleted(self, writer: Writer) -> bool:
        """Return whether anything was deleted since the call began, which its result may quote."""
        deletions = ChangeFilter(kinds=frozenset({ChangeKind.DELETE}), after=self._change_head, limit=1)
        return bool(writer.changes(deletions))

    def make_outcome(self) -> Mapping[str, object]:
        """Return the progress so far, as a row stores it."""
        done, total = self._progress
        return {"done": done, "total": total, **({"cancelled": True} if self.cancelled else {})}

    def _run(self) -> None:
        while not self._over.wait(_WATCH_SECONDS):
            with suppress(CredendaError):  # the lease outlasts some failures
                if self._stop.is_set() or not run_in_job(self._parts, self._job, self._renew):
                    self.ended.set()
                    return

    def _renew(self, _: Writer, now: Job) -> Job | None:
        if json.loads(now.outcome or "{}").get("cancelled"):
            self.cancelled = True
            return None
        until_us = self._parts.clock.now_us() + limits.JOB_LEASE_SECONDS * SECOND_US
        return replace(now, lease_until_us=until_us, outcome=json.dumps(self.make_outcome()))


def _file_result(parts: Parts, job: Job, watch: _Watch, result: object) -> None:
    def finish(writer: Writer, now: Job) -> Job:
        kept = None if watch.has_deleted(writer) else result
        outcome = json.dumps({**watch.make_outcome(), "result": kept}, ensure_ascii=False)
        if len(outcome) > limits.CALL_RESULT_CHARACTERS:
            outcome = json.dumps(watch.make_outcome())
        return replace(now, status=JobStatus.COMPLETE, lease_owner="", lease_until_us=0, error="", outcome=outcome)

    if watch.ended.is_set() and not watch.cancelled:
        _file_failure(parts, job, watch, None)
        return
    run_in_job(parts, job, finish)


def _file_failure(parts: Parts, job: Job, watch: _Watch, error: Exception | None) -> None:
    """File why a call ended without a result: the reason never contains memory text."""

    def finish(_: Writer, now: Job) -> Job:
        free = replace(now, lease_owner="", lease_until_us=0, outcome=json.dumps(watch.make_outcome()))
        if watch.cancelled:
            return replace(free, status=JobStatus.DEAD, error="")
        if watch.ended.is_set() or error is None:  # the process ends
            return replace(free, status=JobStatus.QUEUED, attempts=now.attempts - 1)
        reason = f"{type(error).__name__}: {error}" if isinstance(error, CredendaError) else type(error).__name__
        passes = not isinstance(error, CredendaError) or error.retryable
        again = passes and now.attempts < parts.settings.job_attempts
        wait_us = limits.JOB_BACKOFF_SECONDS * SECOND_US * 2 ** (now.attempts - 1)
        return replace(
            free,
            status=JobStatus.FAILED if again else JobStatus.DEAD,
            run_after_us=parts.clock.now_us() + wait_us,
            error=reason[:_ERROR_CHARACTERS],
        )

    run_in_job(parts, job, finish)
    if error is not None:
        _log.warning("a call failed", extra={"job_id": job.id, "error": type(error).__name__})
