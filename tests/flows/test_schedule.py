"""Duties: due when their time has come, run by one leader, caught up once, and honest about how they went."""

from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, Invalid, MemoryUnit, Unavailable
from credenda.model.report import ScheduleReport
from credenda.services import scheduled_tasks
from credenda.storage.store import SchedulerLease
from credenda.testing import ManualClock

HOUR = timedelta(hours=1)


def names(report: ScheduleReport) -> list[str]:
    return [run.name for run in report.ran]


@pytest.mark.requirement("R-095", "R-226", "R-231")
def test_duties_run_at_their_own_pace(mem: Credenda, clock: ManualClock) -> None:
    mem.store(MemoryUnit(text="Saw an owl.", layer="episodic"))
    first = ["audit", "consolidate", "core", "decay", "dream", "lifecycle"]
    assert sorted(names(mem.manage.schedule(run=True))) == first
    again = mem.manage.schedule(run=True)
    assert (again.ran, again.reason) == ((), "nothing is due")
    clock.advance(HOUR)
    assert sorted(names(mem.manage.schedule(run=True))) == ["consolidate", "decay"]
    clock.advance(timedelta(days=1))
    assert sorted(names(mem.manage.schedule(run=True))) == ["consolidate", "core", "decay", "dream", "lifecycle"]


@pytest.mark.requirement("R-217")
def test_the_audit_of_loops_is_a_monthly_duty(mem: Credenda, clock: ManualClock) -> None:
    mem.manage.schedule(run=True)
    clock.advance(timedelta(days=29))
    assert "audit" not in names(mem.manage.schedule(run=True))
    clock.advance(timedelta(days=1))
    assert "audit" in names(mem.manage.schedule(run=True))
    assert names(mem.manage.schedule(only=["audit"])) == ["audit"]


def test_what_was_missed_is_caught_up_once(mem: Credenda, clock: ManualClock) -> None:
    mem.manage.schedule(run=True)
    clock.advance(timedelta(days=10))
    late = {duty.name: duty.overdue for duty in mem.manage.schedule().duties}
    every = dict.fromkeys(("decay", "lifecycle", "dream", "consolidate", "core"), True)
    assert late == every | {"audit": False}
    assert len(mem.manage.schedule(run=True).ran) == 5
    assert not any(duty.overdue for duty in mem.manage.schedule(run=True).duties)


def list_scores(path: Path, pace: timedelta) -> list[float | None]:
    """Let the duties run when they are due; return the score of a memory at the end of each of 23 hours."""
    clock, found = ManualClock("2026-03-01T09:00:00Z"), list[float | None]()
    settings = {"decay_interval": int(pace.total_seconds())}
    with Credenda.open(path, user="ana", clock=clock, embedder="none", workers=False, settings=settings) as mem:
        owl = mem.store(MemoryUnit(text="Saw an owl.", layer="episodic"))
        mem.manage.schedule(run=True)
        for _ in range(23):
            clock.advance(HOUR)
            mem.manage.schedule(run=True)
            found.append(mem.get(owl.id).decay_score)
    return found


@pytest.mark.requirement("R-009", "R-232")
def test_scores_move_by_themselves_and_a_longer_interval_makes_them_stale_and_never_wrong(tmp_path: Path) -> None:
    hourly, slowly = list_scores(tmp_path / "a.db", HOUR), list_scores(tmp_path / "b.db", 12 * HOUR)
    assert len(set(hourly)) == 23  # nobody asked for it, and it never stands still
    assert hourly == sorted(hourly, key=lambda score: -(score or 0.0))
    assert slowly == [1.0] * 11 + [hourly[11]] * 12  # older than it could be, and right for its own time


def test_one_process_leads_until_its_lease_ends(mem: Credenda, clock: ManualClock) -> None:
    mem.remember("I live in Linz.")
    now_us = clock.now_us()
    lead = SchedulerLease(owner="elsewhere:1:abcde1", now_us=now_us, until_us=now_us + 600_000_000)
    mem._parts.store.commit("ana", lambda writer: writer.put(lead))  # noqa: SLF001 - what another process would file
    refused = mem.manage.schedule(run=True)
    assert refused.ran == ()
    assert "another process runs" in refused.reason
    clock.advance(timedelta(minutes=10))
    assert len(mem.manage.schedule(run=True).ran) == 6


def test_a_duty_that_fails_is_named_and_the_others_go_on(mem: Credenda, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> str:
        raise Unavailable("the disk is full of secrets")

    monkeypatch.setattr(scheduled_tasks, "_DUTIES", {**scheduled_tasks._DUTIES, "decay": broken})  # noqa: SLF001 - to break one
    ran = {run.name: run for run in mem.manage.schedule(run=True).ran}
    assert (ran["decay"].failed, ran["decay"].result) == (True, "unavailable")
    assert not ran["lifecycle"].failed
    assert {duty.name for duty in mem.manage.schedule().duties if duty.failed} == {"decay"}


def test_a_duty_that_does_not_exist_is_named(mem: Credenda) -> None:
    with pytest.raises(Invalid, match="no scheduled task 'dekay'"):
        mem.manage.schedule(only=["dekay"])


def test_how_duties_went_outlives_the_process(path: Path, mem: Credenda, clock: ManualClock) -> None:
    mem.manage.schedule(run=True)
    with Credenda.open(path, user="ana", clock=clock, workers=False) as other:
        assert {duty.last_us for duty in other.manage.schedule().duties} == {clock.now_us()}
        assert other.manage.schedule(run=True).ran == ()
