"""List jobs, retry dead ones, and cancel those that call an operation."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Event, Thread
from typing import Any, Final, NamedTuple, Protocol

from credenda import limits
from credenda.clock import DAY_US, SECOND_US, has_ended
from credenda.current_call import allow_stop
from credenda.errors import Conflict, CredendaError, Invalid, LimitExceeded, NotFound
from credenda.ids import IdKind, format_id, parse_id_number
from credenda.model.change import ChangeKind
from credenda.model.job import JobInfo, JobState
from credenda.model.query import Page
from credenda.private import cut_private_fields
from credenda.runtime import Parts
from credenda.services.browse import read_cursor, read_expectation, resolve_id_in, write_cursor
from credenda.services.search import check_limit
from credenda.storage.records import CALL, KINDS
from credenda.storage.store import ChangeFilter, Job, JobFilter, JobStatus, Reader, Writer
from credenda.validation import check_member
from credenda.workers.loop import is_abandoned

Outcome = dict[str, Any]
"""Progress, result and cancellation of a call, as its row stores them."""
_LIST: Final = "jobs"
_KINDS: Final = {
    JobState.CANCELLED: JobStatus.DEAD,
    **{JobState(status.value): status for status in JobStatus},
}


def list_jobs(
    parts: Parts, *, state: str | None = None, kind: str | None = None, limit: int = 20, cursor: str | None = None
) -> Page[JobInfo]:
    """Return jobs, the newest first, one page at a time; `state` and `kind` select some."""
    check_limit(limit, limits.LIST_LIMIT)
    wanted = None if state is None else check_member(JobState, state, "state")
    if kind is not None and kind not in KINDS:
        raise Invalid(f"{kind!r} is not a kind of job", fix=f"choose one of {', '.join(KINDS)}")
    below = read_cursor(_LIST, parts.user_id, cursor)
    found: list[JobInfo] = []
    with parts.store.reader(parts.user_id) as reader:
        statuses = frozenset[JobStatus]() if wanted is None else frozenset({_KINDS[wanted]})
        kinds = None if kind is None else frozenset({kind})
        while len(found) <= limit:
            page = JobFilter(statuses=statuses, kinds=kinds, newest_first=True, below=below, limit=limit + 1)
            jobs = reader.jobs(page)
            shown = [describe_job(job) for job in jobs]
            found += [job for job in shown if wanted is None or job.state is wanted]
            if len(jobs) <= limit:
                break
            below = _parse_number(jobs[-1].id, reader)
        more = (
            write_cursor(_LIST, parts.user_id, _parse_number(found[limit - 1].id, reader))
            if len(found) > limit
            else None
        )
    return Page(items=tuple(found[:limit]), next_cursor=more)


def get_job(parts: Parts, job_id: str) -> JobInfo:
    """Return a job; raises `NotFound`."""
    with parts.store.reader(parts.user_id) as reader:
        return describe_job(_find_job(reader, job_id))


def retry_job(parts: Parts, job_id: str) -> JobInfo:
    """Queue a dead or cancelled job again, with all of its attempts; raises `Conflict` for any other job."""

    def renew(job: Job) -> Job:
        state = describe_job(job).state
        if state not in {JobState.DEAD, JobState.CANCELLED}:
            raise Conflict(
                f"{job.id} cannot be retried", why=f"it is {state}", fix="only dead and cancelled jobs are retried"
            )
        return replace(job, status=JobStatus.QUEUED, attempts=0, run_after_us=0, error="", outcome="")

    found = _update_job(parts, job_id, renew)
    parts.jobs_ready.set()
    parts.llm_jobs_ready.set()
    return found


def cancel_job(parts: Parts, job_id: str) -> JobInfo:
    """Cancel a call of an operation: one that runs stops at its next statement, and what it has committed stays.

    Raises `Conflict` for a job that has ended, and for one that processes messages, which are acknowledged.
    """

    def cancel(job: Job) -> Job:
        info = describe_job(job)
        if job.kind != CALL:
            why = "it processes messages that were acknowledged"
            raise Conflict(f"{job.id} cannot be cancelled", why=why, fix="delete the messages instead")
        if info.state not in {JobState.QUEUED, JobState.PROCESSING, JobState.FAILED}:
            raise Conflict(f"{job.id} cannot be cancelled", why=f"it is {info.state}")
        outcome = json.dumps({**_read_outcome(job), "cancelled": True})
        if job.status is JobStatus.PROCESSING:
            return replace(job, outcome=outcome)  # the process that runs it ends it
        return replace(job, status=JobStatus.DEAD, error="", outcome=outcome)

    return _update_job(parts, job_id, cancel)


def run_in_job(parts: Parts, job: Job, work: Callable[[Writer, Job], Job | None]) -> bool:
    """Change a job that this process has leased; return False where it has the lease no longer."""

    def unit(writer: Writer) -> bool:
        for now in writer.jobs(JobFilter(id=job.id)):
            held = (now.status, now.lease_owner, now.attempts) == (job.status, job.lease_owner, job.attempts)
            changed = work(writer, now) if held else None
            if changed is not None:
                writer.put(changed)
                return True
        return False

    return parts.store.commit(parts.user_id, unit)


def describe_job(job: Job) -> JobInfo:
    """Describe a job for callers."""
    outcome = _read_outcome(job)
    state = JobState(job.status.value)
    if outcome.get("cancelled") and state is JobState.DEAD:
        state = JobState.CANCELLED
    waits = state in {JobState.QUEUED, JobState.FAILED} and job.run_after_us
    return JobInfo(
        id=job.id,
        kind=job.kind,
        state=state,
        operation=json.loads(job.payload)["operation"] if job.payload else None,
        messages=job.last - job.first + 1 if job.first else 0,
        attempts=job.attempts,
        done=int(outcome.get("done", 0)),
        total=outcome.get("total"),
        error=job.error,
        result=outcome.get("result"),
        created_us=job.created_us,
        updated_us=job.updated_us,
        next_attempt_us=job.run_after_us if waits else None,
    )


def _read_outcome(job: Job) -> Outcome:
    return json.loads(job.outcome) if job.outcome else {}


def _find_job(reader: Reader, job_id: str) -> Job:
    number = _parse_number(resolve_id_in(reader, job_id), reader)
    found = reader.jobs(JobFilter(id=format_id(IdKind.JOB, number, reader.tenant.tag)))
    if not found:
        raise NotFound(f"there is no job {job_id[:64]}", fix="copy an id from `jobs`")
    return found[0]


def _update_job(parts: Parts, job_id: str, change: Callable[[Job], Job]) -> JobInfo:
    expected = read_expectation()

    def work(writer: Writer) -> Job:
        job = _find_job(writer, job_id)
        expected.check(job.id, describe_job(job))
        writer.put(change(job))
        return _find_job(writer, job_id)

    return describe_job(parts.store.commit(parts.user_id, work))


def _parse_number(job_id: str, reader: Reader) -> int:
    return parse_id_number(job_id, IdKind.JOB, reader.tenant.tag)


# Calls of operations that run in the background, as durable jobs: start one, and run those that are due.


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
        now_us = parts.clock.now_us()
        done = JobFilter(
            statuses=frozenset({JobStatus.COMPLETE}),
            kinds=frozenset({CALL}),
            newest_first=True,
            limit=limits.CALLS_WAITING,
        )
        for job in writer.jobs(done):
            if job.outcome and has_ended(job.updated_us + limits.CALL_KEPT_DAYS * DAY_US, now_us):
                writer.put(replace(job, outcome=""))
        job_id = writer.put(Job(kind=CALL, payload=payload))
        return writer.jobs(JobFilter(id=job_id))[0]

    return describe_job(parts.store.commit(parts.user_id, work))


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


# The processes that work on a memory, as their leases on jobs and scheduled tasks tell.


_JOBS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerInfo:
    """A process that holds leases: its host and number, the jobs that it works on, and the tasks that it leads.

    `leads` has "" for the schedule of this memory, else the name of a task. A process with nothing to do holds no
    lease, and is not known.
    """

    host: str
    process: str
    is_here: bool
    """Whether it is this process."""
    jobs: tuple[str, ...]
    leads: tuple[str, ...]
    until_us: int
    """When the last of its leases ends, unless it is renewed."""


@dataclass(slots=True)
class _Leases:
    jobs: list[str] = field(default_factory=list[str])
    leads: list[str] = field(default_factory=list[str])
    until_us: int = 0


def list_workers(parts: Parts) -> list[WorkerInfo]:
    """Return the processes that hold a lease on a job or task of this memory."""
    now_us = parts.clock.now_us()
    with parts.store.reader(parts.user_id) as reader:
        running = JobFilter(statuses=frozenset({JobStatus.PROCESSING}), newest_first=True, limit=_JOBS)
        jobs, leases = reader.jobs(running), reader.duties.leases(now_us)
    here = _cut_owner(parts.owner)
    held: defaultdict[tuple[str, str], _Leases] = defaultdict(_Leases)
    for job in jobs:
        if job.lease_owner and job.lease_until_us > now_us:
            one = held[_cut_owner(job.lease_owner)]
            one.jobs.append(job.id)
            one.until_us = max(one.until_us, job.lease_until_us)
    for lease in leases:
        one = held[_cut_owner(lease.owner)]
        one.leads.append(lease.name)
        one.until_us = max(one.until_us, lease.until_us)
    return [
        WorkerInfo(
            host=host,
            process=process,
            is_here=(host, process) == here,
            jobs=tuple(one.jobs),
            leads=tuple(one.leads),
            until_us=one.until_us,
        )
        for (host, process), one in sorted(held.items())
    ]


def _cut_owner(owner: str) -> tuple[str, str]:
    """Return the host and the number of a process from its name in leases, `HOST:NUMBER:…`."""
    host, _, rest = owner.partition(":")
    return host, rest.partition(":")[0]
