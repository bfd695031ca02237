"""Durable jobs: what was acknowledged is read in the end, whatever fails, and only once."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from os import getppid
from pathlib import Path
from threading import Condition, Event, Thread

import pytest

from credenda import Credenda, Invalid, Unavailable
from credenda.bootstrap import build_parts
from credenda.model.claim import Claim, Span, Turn
from credenda.model.memory import MemoryType
from credenda.runtime import Parts
from credenda.storage.store import Job, JobFilter, JobStatus, MemoryFilter, Store
from credenda.testing import ManualClock
from credenda.workers.loop import run_due_jobs
from tests.waiting import PATIENCE_SECONDS

NOBODY = 2**31 - 1
"""A process number that no system gives out."""
HOST = socket.gethostname()


def _nothing(_: str) -> None:
    """Do nothing before a text is read."""


class Scripted:
    """Reads every event as one fact about a slot of its own; raises what it is told to, oldest first."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.read: list[str] = []
        self.before: Callable[[str], None] = _nothing

    def extract(self, turn: Turn) -> list[Claim]:
        text = turn.event.text
        self.read.append(text)
        self.before(text)
        if self.errors:
            raise self.errors.pop(0)
        span = Span(turn.event.id, 0, len(text))
        return [Claim(text=text, type=MemoryType.FACT, span=span, entity="user", attribute=text, value=text)]


@pytest.fixture
def reader() -> Scripted:
    return Scripted()


@pytest.fixture
def parts(path: Path, clock: ManualClock, reader: Scripted) -> Parts:
    return build_parts(path, user="ana", clock=clock, extractor=reader)


@pytest.fixture
def mem(parts: Parts) -> Iterator[Credenda]:
    with Credenda(parts, workers=False) as opened:
        yield opened


def _jobs(parts: Parts) -> list[Job]:
    with parts.store.reader(parts.user_id) as rows:
        return sorted(rows.jobs(JobFilter()), key=lambda job: int(job.id[1:].partition("-")[0]))


def _held(mem: Credenda) -> set[str]:
    return {memory.text for memory in mem.list(limit=50).items}


def _down(times: int = 1) -> list[Exception]:
    return [Unavailable("the model is away", why="it sleeps", fix="wait") for _ in range(times)]


@pytest.mark.requirement("R-071")
def test_a_job_is_queued_then_processing_then_complete(mem: Credenda, parts: Parts, reader: Scripted) -> None:
    seen: list[dict[str, int]] = []
    reader.before = lambda _: seen.append(dict(mem.stats().jobs))
    mem.remember("One")
    seen.append(dict(mem.stats().jobs))
    mem.settle()
    seen.append(dict(mem.stats().jobs))
    assert seen == [{"queued": 1}, {"processing": 1}, {"complete": 1}]
    (job,) = _jobs(parts)
    assert (job.attempts, job.error, job.lease_owner, job.lease_until_us) == (1, "", "", 0)


@pytest.mark.requirement("R-071")
def test_a_failed_job_waits_twice_as_long_each_time(
    mem: Credenda, parts: Parts, reader: Scripted, clock: ManualClock
) -> None:
    mem.remember("One")
    reader.errors = _down(4)
    for attempt, wait in enumerate((2, 4, 8, 16), start=1):
        assert run_due_jobs(parts) == 1
        (job,) = _jobs(parts)
        assert (job.status, job.attempts) == (JobStatus.FAILED, attempt)
        assert job.error == "Unavailable: the model is away: it sleeps; wait"
        assert run_due_jobs(parts) == 0
        clock.advance(timedelta(seconds=wait, microseconds=-1))
        assert run_due_jobs(parts) == 0
        clock.advance(timedelta(microseconds=1))
    assert run_due_jobs(parts) == 1
    assert [job.status for job in _jobs(parts)] == [JobStatus.COMPLETE]
    assert _held(mem) == {"One"}


def test_settle_does_not_wait_for_the_delay(mem: Credenda, parts: Parts, reader: Scripted, clock: ManualClock) -> None:
    mem.remember("One")
    reader.errors = _down(2)
    before = clock.now()
    mem.settle()
    assert clock.now() == before
    assert _held(mem) == {"One"}
    assert [(job.status, job.attempts, job.error) for job in _jobs(parts)] == [("complete", 3, "")]


@pytest.mark.requirement("R-050", "R-051", "R-052", "R-071")
def test_words_that_could_not_be_read_are_kept_as_they_are(mem: Credenda, reader: Scripted) -> None:
    words = "word " * 150
    mem.remember(words + "zorkmid")
    reader.errors = [ValueError(words) for _ in range(5)]
    mem.settle()
    mem.remember("Two")
    mem.settle()
    kept = next(memory for memory in mem.list().items if memory.provisional)
    assert kept.text == words[:500].strip()
    assert kept.type == "fact"
    assert kept.importance <= 0.5
    assert kept.confidence < 0.4
    assert (kept.entity, kept.attribute, kept.value) == (None, None, None)
    ((event, start, stop),) = mem.why(kept.id).evidence
    assert event.text[start:stop] == kept.text
    assert "Two" in _held(mem)
    assert mem.search("zorkmid").hits[0].event is not None


@pytest.mark.requirement("R-071")
def test_a_dead_job_is_reported_with_its_reason_and_blocks_nobody(
    mem: Credenda, parts: Parts, reader: Scripted
) -> None:
    mem.remember("One")
    reader.errors = [*_down(4), ValueError("One and other words of a person")]
    mem.settle()
    (job,) = _jobs(parts)
    assert (job.status, job.attempts, job.error) == (JobStatus.DEAD, 5, "ValueError")
    assert (mem.stats().dead_jobs, mem.stats().pending_extractions) == (1, 0)
    report = mem.data.doctor()
    assert not report.ok
    assert [finding.check for finding in report.findings] == ["dead_jobs"]
    mem.remember("Two")
    mem.settle()
    assert _held(mem) >= {"Two"}
    assert run_due_jobs(parts, respect_backoff=False) == 0


def test_the_number_of_attempts_is_a_setting(path: Path, reader: Scripted) -> None:
    reader.errors = _down(2)
    with Credenda.open(path, user="ana", extractor=reader, settings={"job_attempts": 2}, workers=False) as mem:
        mem.remember("One")
        mem.settle()
        assert mem.stats().dead_jobs == 1
    assert len(reader.read) == 2


def _lease(parts: Parts, owner: str) -> None:
    """Let someone else hold all jobs for a minute."""
    until_us = parts.clock.now_us() + 60_000_000
    for job in _jobs(parts):
        leased = replace(job, status=JobStatus.PROCESSING, attempts=1, lease_owner=owner, lease_until_us=until_us)
        parts.store.commit("ana", lambda writer, row=leased: writer.put(row))


def test_the_jobs_of_a_dead_process_are_taken_back_at_once(mem: Credenda, parts: Parts) -> None:
    mem.remember("One")
    _lease(parts, f"{HOST}:{NOBODY}:abcde1")
    mem.settle()
    assert _held(mem) == {"One"}
    assert [job.attempts for job in _jobs(parts)] == [2]


@pytest.mark.parametrize("owner", [f"{HOST}:{getppid()}:abcde1", f"elsewhere:{NOBODY}:abcde1", "nonsense"])
def test_the_jobs_of_a_living_or_distant_process_are_left_until_its_lease_ends(
    mem: Credenda, parts: Parts, clock: ManualClock, owner: str
) -> None:
    mem.remember("One")
    _lease(parts, owner)
    assert run_due_jobs(parts) == 0
    with pytest.raises(Unavailable, match="settle"):
        mem.settle(timeout=0.02)
    clock.advance(timedelta(seconds=59))
    assert run_due_jobs(parts) == 0
    clock.advance(timedelta(seconds=1))
    assert run_due_jobs(parts) == 1
    assert _held(mem) == {"One"}


def test_who_lost_its_lease_cannot_undo_what_another_has_done(
    mem: Credenda, parts: Parts, reader: Scripted, clock: ManualClock
) -> None:
    mem.remember("One")
    reader.errors = _down(3)
    run_due_jobs(parts, respect_backoff=False)

    def overtaken(_: str) -> None:
        reader.before = _nothing
        clock.advance(timedelta(seconds=61))
        reader.errors.clear()
        assert run_due_jobs(parts) == 1
        reader.errors = _down(1)

    reader.before = overtaken
    assert run_due_jobs(parts, respect_backoff=False) == 1
    assert [job.status for job in _jobs(parts)] == [JobStatus.COMPLETE]
    assert _held(mem) == {"One"}


def test_a_job_run_twice_changes_nothing(path: Path, clock: ManualClock) -> None:
    parts = build_parts(path, user="ana", clock=clock)
    with Credenda(parts, workers=False) as mem:
        mem.remember("I live in Graz. I'm allergic to dust. I work at Siemens.")
        mem.remember("I've moved to Linz.")
        mem.settle()

        def everything() -> object:
            with parts.store.reader("ana") as rows:
                held = rows.find(MemoryFilter())
                ids = [memory.id for memory in held]
                return rows.versions(ids), rows.evidence(memory_ids=ids), rows.counts()

        before = everything()
        for job in _jobs(parts):
            queued = replace(job, status=JobStatus.QUEUED)
            parts.store.commit("ana", lambda writer, row=queued: writer.put(row))
        clock.advance(timedelta(days=1))
        mem.settle()
        assert everything() == before
        assert [job.status for job in _jobs(parts)] == ["complete", "complete"]


def test_two_clients_settle_at_once_and_read_everything_once(
    mem: Credenda, path: Path, reader: Scripted, clock: ManualClock
) -> None:
    said = {f"Number {number}" for number in range(40)}
    for text in sorted(said):
        mem.remember(text)
    with Credenda.open(path, user="ana", extractor=reader, clock=clock, workers=False) as other:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(Credenda.settle, (mem, other)))
        assert sorted(reader.read) == sorted(said)
        assert _held(mem) == _held(other) == said
    assert mem.data.doctor().ok


def announce_commits(store: Store, monkeypatch: pytest.MonkeyPatch) -> Condition:
    """Let a store tell those who wait that something was committed."""
    committed, honest = Condition(), store.commit

    def commit(user_id: str, work: Callable[..., object]) -> object:
        result = honest(user_id, work)
        with committed:
            committed.notify_all()
        return result

    monkeypatch.setattr(store, "commit", commit)
    return committed


@pytest.mark.requirement("R-063")
def test_a_background_worker_reads_without_being_asked(
    path: Path, clock: ManualClock, reader: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = build_parts(path, user="ana", clock=clock, extractor=reader, embedder="hashed")
    committed = announce_commits(parts.store, monkeypatch)
    with Credenda(parts, workers=True) as mem:
        for text in ("One", "Two", "Three"):
            mem.remember(text)
        with committed:
            assert committed.wait_for(lambda: mem.stats().jobs == {"complete": 6}, timeout=PATIENCE_SECONDS)
        assert _held(mem) == {"One", "Two", "Three"}
        assert mem.stats().vectors == 3


def test_a_worker_may_start_after_the_memory_was_opened(
    path: Path, clock: ManualClock, reader: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = build_parts(path, user="ana", clock=clock, extractor=reader)
    committed = announce_commits(parts.store, monkeypatch)
    with Credenda(parts, workers=False) as mem:
        mem.remember("One")
        assert _held(mem) == set()
        mem.start_worker()
        mem.start_worker()
        with committed:
            assert committed.wait_for(lambda: mem.stats().jobs == {"complete": 1}, timeout=PATIENCE_SECONDS)
        assert _held(mem) == {"One"}
    mem.start_worker()
    with Credenda.open(path, user="ana", workers=False, read_only=True) as mem:
        mem.start_worker()
        assert _held(mem) == {"One"}


def test_closing_leaves_jobs_for_whoever_opens_next(path: Path, clock: ManualClock, reader: Scripted) -> None:
    said = {f"Number {number}" for number in range(12)}
    started, go_on = Event(), Event()

    def hold(_: str) -> None:
        started.set()
        assert go_on.wait(PATIENCE_SECONDS), "nobody let it go on"

    reader.before = hold
    first = Credenda.open(path, user="ana", clock=clock, extractor=reader, workers=True)
    for text in sorted(said):
        first.remember(text)
    assert started.wait(PATIENCE_SECONDS), "it has not started"
    closing = Thread(target=first.close)
    closing.start()
    go_on.set()
    closing.join(PATIENCE_SECONDS)
    assert not closing.is_alive()
    with Credenda.open(path, user="ana", clock=clock, extractor=reader, workers=False) as second:
        left = second.stats().jobs
        assert set(left) <= {"queued", "complete"}
        assert sum(left.values()) == 12
        second.settle()
        assert _held(second) == said
    assert sorted(reader.read) == sorted(said)


def test_an_interrupt_gives_back_what_was_not_done(mem: Credenda, parts: Parts, reader: Scripted) -> None:
    for text in ("One", "Two", "Three"):
        mem.remember(text)

    def interrupt(text: str) -> None:
        if text == "Two":
            raise KeyboardInterrupt

    reader.before = interrupt
    with pytest.raises(KeyboardInterrupt):
        mem.settle()
    assert [(job.status, job.attempts, job.lease_owner) for job in _jobs(parts)] == [("queued", 0, "")] * 3
    reader.before = _nothing
    mem.settle()
    assert _held(mem) == {"One", "Two", "Three"}


def test_a_job_of_a_kind_that_newer_code_filed_is_set_aside_with_a_reason(mem: Credenda, parts: Parts) -> None:
    parts.store.commit("ana", lambda writer: writer.put(Job(kind="telepathy")))
    mem.settle()
    (job,) = _jobs(parts)
    assert job.status is JobStatus.DEAD
    assert "telepathy" in job.error


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_timeout_must_be_positive(mem: Credenda, timeout: float) -> None:
    with pytest.raises(Invalid, match="timeout"):
        mem.settle(timeout)
