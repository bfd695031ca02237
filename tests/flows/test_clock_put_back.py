"""A clock that jumps a year ahead and back stops no task, job or lease for a year."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.clock import DAY_US, SECOND_US
from credenda.manage.consolidation_judge import Trigger, explain_skip
from credenda.storage.store import Job, JobFilter, JobStatus
from credenda.testing import ManualClock
from credenda.workers.loop import HeldError, hold_lock

YEAR = timedelta(days=365)


def test_scheduled_tasks_run_when_the_clock_is_put_back(mem: Credenda, clock: ManualClock) -> None:
    mem.remember("I live in Linz.")
    mem.settle()
    clock.advance(YEAR)
    assert mem.manage.schedule(run=True).ran
    clock.put_back(YEAR)
    report = mem.manage.schedule(run=True)
    assert {run.name for run in report.ran} >= {"decay", "lifecycle", "core", "dream", "audit"}
    assert all(state.next_us is None or state.next_us <= clock.now_us() + 31 * DAY_US for state in report.duties)
    assert not mem.manage.schedule(run=True).ran


def test_the_trigger_of_consolidation_ignores_a_run_that_lies_ahead() -> None:
    assert explain_skip(Trigger(), now_us=0, last_us=365 * DAY_US, new=30, retries=0, force=False) == ""
    assert "hours ago" in explain_skip(Trigger(), now_us=0, last_us=-SECOND_US, new=30, retries=0, force=False)


def test_a_lock_taken_a_year_ahead_does_not_hold_for_a_year(path: Path, clock: ManualClock) -> None:
    one = build_parts(path, user="ana", embedder="none", clock=clock)
    two = build_parts(path, user="ana", embedder="none", clock=clock)
    try:
        clock.advance(YEAR)
        with hold_lock(one, "consolidation", 300):
            with pytest.raises(HeldError), hold_lock(two, "consolidation", 300):
                pass
            clock.put_back(YEAR)
            with hold_lock(two, "consolidation", 300):
                pass
    finally:
        one.store.close()
        two.store.close()


def test_a_job_that_was_delayed_or_leased_a_year_ahead_is_due(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", embedder="none", clock=clock, workers=False) as mem:
        mem.remember("I live in Linz.")
        far = clock.now_us() + 365 * DAY_US
        parts = build_parts(path, user="ana", embedder="none", clock=clock)
        try:
            with parts.store.reader("ana") as reader:
                (job,) = reader.jobs(JobFilter())
            delayed = Job(
                kind=job.kind, first=job.first, last=job.last, id=job.id, status=JobStatus.FAILED, run_after_us=far
            )
            parts.store.commit("ana", lambda writer: writer.put(delayed))
            assert parts.store.users_with_due_jobs(clock.now_us(), limit=5) == ["ana"]
            with parts.store.reader("ana") as reader:
                assert [one.id for one in reader.jobs(JobFilter(due_us=clock.now_us()))] == [job.id]
        finally:
            parts.store.close()
        mem.settle()
        assert [one.value for one in mem.list(attribute="residence").items] == ["Linz"]
