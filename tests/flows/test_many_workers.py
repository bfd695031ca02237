"""Several workers on one database: jobs of a user run in order and once, and no user waits for another's import."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Event, Thread

import pytest

from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.model.claim import Claim, Span, Turn
from credenda.model.memory import MemoryType
from credenda.runtime import Parts
from credenda.services.jobs import get_job, retry_job
from credenda.services.scheduled_tasks import take_users
from credenda.storage.store import Job, JobFilter, JobStatus
from credenda.testing import ManualClock
from credenda.workers.loop import run_due_jobs
from credenda.workers.tenants import AllUsers
from tests.waiting import PATIENCE_SECONDS

IMPORTED = 100_000
BATCH = 16


class Recorder:
    """Reads every event as one fact, and does something before, once."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.before: Callable[[], object] | None = None

    def extract(self, turn: Turn) -> list[Claim]:
        self.read.append(turn.event.text)
        before, self.before = self.before, None
        if before is not None:
            before()
        span = Span(turn.event.id, 0, len(turn.event.text))
        return [Claim(text=turn.event.text, type=MemoryType.FACT, span=span, entity="user", attribute="word")]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def parts(path: Path, clock: ManualClock, recorder: Recorder) -> Iterator[Parts]:
    """The database as a process on one machine has it open."""
    made = build_parts(path, user="ana", clock=clock, embedder="none", extractor=recorder)
    yield replace(made, owner="here:7:abcde1")
    made.release()


@pytest.fixture
def other(path: Path, clock: ManualClock, recorder: Recorder) -> Iterator[Parts]:
    """The same database, as a process on another machine has it open."""
    made = build_parts(path, user="ana", clock=clock, embedder="none", extractor=recorder)
    yield replace(made, owner="elsewhere:7:abcde1")
    made.release()


def say(parts: Parts, *texts: str) -> None:
    with Credenda(parts.for_user(parts.user_id), workers=False) as memory:
        for text in texts:
            memory.remember(text)


def jobs(parts: Parts) -> list[Job]:
    with parts.store.reader(parts.user_id) as reader:
        return reader.jobs(JobFilter())


def test_while_one_process_runs_jobs_of_a_user_no_other_takes_later_ones(
    parts: Parts, other: Parts, recorder: Recorder
) -> None:
    words = [f"word {number:02}" for number in range(BATCH * 2)]
    say(parts, *words)
    taken: list[int] = []
    recorder.before = lambda: taken.append(run_due_jobs(other))
    assert run_due_jobs(parts) == BATCH
    assert taken == [0]
    assert run_due_jobs(other) == BATCH
    assert recorder.read == words


def test_another_user_is_free_meanwhile(parts: Parts, other: Parts, recorder: Recorder) -> None:
    say(parts, "one")
    bob = other.for_user("bob")
    say(bob, "two")
    taken: list[int] = []
    recorder.before = lambda: taken.append(run_due_jobs(bob))
    run_due_jobs(parts)
    assert taken == [1]
    bob.release()


def test_who_lost_its_lease_files_nothing(parts: Parts, other: Parts, recorder: Recorder, clock: ManualClock) -> None:
    say(parts, "one")

    def overtaken() -> None:
        clock.advance(timedelta(seconds=61))
        assert run_due_jobs(other) == 1

    recorder.before = overtaken
    run_due_jobs(parts)
    assert [(job.status, job.attempts) for job in jobs(parts)] == [(JobStatus.COMPLETE, 2)]
    with Credenda(parts.for_user("ana"), workers=False) as memory:
        assert [held.text for held in memory.list().items] == ["one"]
        assert memory.list().items[0].confirmations == 0


@pytest.fixture
def always_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credenda.workers.loop._RENEW_SECONDS", -1.0)


@pytest.mark.usefixtures("always_renewed")
def test_leases_are_renewed_while_a_long_batch_runs(
    parts: Parts, other: Parts, recorder: Recorder, clock: ManualClock
) -> None:
    say(parts, "one", "two", "three")
    taken: list[int] = []

    def wait() -> None:
        clock.advance(timedelta(seconds=40))
        recorder.before = wait_more

    def wait_more() -> None:
        clock.advance(timedelta(seconds=40))
        taken.append(run_due_jobs(other))

    recorder.before = wait
    assert run_due_jobs(parts) == 3
    assert taken == [0]
    assert recorder.read == ["one", "two", "three"]


def test_a_dead_letter_is_replayed(parts: Parts, recorder: Recorder) -> None:
    say(parts, "one")
    (job,) = jobs(parts)
    dead = replace(job, status=JobStatus.DEAD, attempts=5, error="Unavailable: away")
    parts.store.commit("ana", lambda writer: writer.put(dead))
    assert run_due_jobs(parts) == 0
    retry_job(parts, job.id)
    assert run_due_jobs(parts) == 1
    assert [job.status for job in jobs(parts)] == [JobStatus.COMPLETE]
    assert recorder.read == ["one"]


def say_for(parts: Parts, users: Sequence[str]) -> None:
    """Store a message for each user; Ana, who has the place in the pass among her rows, is one of them."""
    for user in users:
        view = parts.for_user(user)
        say(view, "one")
        view.release()


def test_processes_share_the_users_of_a_pass_and_the_next_one_begins_a_minute_later(
    parts: Parts, other: Parts, clock: ManualClock
) -> None:
    users = ["ana", *(f"user {number:02}" for number in range(39))]
    say_for(parts, users)
    for _ in range(2):
        claimed = [take_users(parts), take_users(other), take_users(parts)]
        assert claimed == [users[:16], users[16:32], users[32:]]
        assert [take_users(other), take_users(parts)] == [[], []]
        clock.advance(timedelta(seconds=59))
        assert take_users(parts) == []
        clock.advance(timedelta(seconds=1))


def test_of_two_processes_that_claim_at_once_each_gets_users_of_its_own(
    parts: Parts, other: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one claims while the first one has looked at the place, and not moved it yet."""
    users = ["ana", *(f"user {number:02}" for number in range(19))]
    say_for(parts, users)
    taken: list[list[str]] = []
    find = parts.store.users

    def look(*, after: str = "", limit: int) -> list[str]:
        found = find(after=after, limit=limit)
        if not taken:
            taken.append([])
            taken[0] = take_users(other)
        return found

    monkeypatch.setattr(parts.store, "users", look)
    assert take_users(parts) == users[16:]
    assert taken == [users[:16]]


def test_a_pass_goes_on_when_its_last_user_was_erased(parts: Parts) -> None:
    users = ["ana", *(f"user {number:02}" for number in range(19))]
    say_for(parts, users)
    assert take_users(parts) == users[:16]
    parts.store.erase(users[15])
    left = [one for one in users if one != users[15]]
    assert [take_users(parts), take_users(parts), take_users(parts)] == [left[:16], left[16:], []]


def test_workers_run_the_tasks_of_each_user_once_in_a_pass(parts: Parts, other: Parts) -> None:
    users = ["ana", *(f"user {number:02}" for number in range(39))]
    say_for(parts, users)
    seen: list[str] = []
    made = [
        AllUsers(one, duties=lambda view: seen.append(view.user_id), claim=partial(take_users, one))
        for one in (parts, other)
    ]
    threads = [Thread(target=worker.look_after) for worker in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for worker in made:
        worker.close()
    assert sorted(seen) == users


def remember_at_once(parts: Parts, count: int) -> list[str]:
    """Store messages by one call, and so by one job."""
    texts = [f"word {number:03}" for number in range(count)]
    with Credenda(parts.for_user(parts.user_id), workers=False) as memory:
        memory.remember([{"role": "user", "content": text} for text in texts])
    return texts


def test_a_long_call_is_read_in_portions_in_its_order(parts: Parts, other: Parts, recorder: Recorder) -> None:
    words = remember_at_once(parts, 40)
    say(parts, "after it")
    job_id = jobs(parts)[0].id
    seen: list[tuple[str, int, int, int | None]] = []
    while run_due_jobs(parts if len(seen) % 2 else other):
        job = get_job(parts, job_id)
        seen.append((job.state.value, job.attempts, job.done, job.total))
    assert recorder.read == [*words, "after it"]
    assert seen[:3] == [("queued", 0, 16, 40), ("queued", 0, 32, 40), ("complete", 1, 0, None)]
    with Credenda(parts.for_user("ana"), workers=False) as memory:
        assert len(memory.list(limit=50).items) == 41


def test_another_user_has_a_turn_between_two_portions(parts: Parts, recorder: Recorder) -> None:
    remember_at_once(parts, 40)
    bob = parts.for_user("bob")
    say(bob, "mine")
    worker = AllUsers(parts, duties=str)
    worker.run_round()
    worker.close()
    bob.release()
    assert sorted(recorder.read) == ["mine", *(f"word {number:03}" for number in range(BATCH))]


def test_of_a_long_call_that_is_given_up_the_rest_is_kept_verbatim(
    parts: Parts, recorder: Recorder, clock: ManualClock
) -> None:
    words = remember_at_once(parts, 40)
    run_due_jobs(parts)

    def fail() -> None:
        recorder.before = fail
        raise ValueError("no")

    recorder.before = fail
    while jobs(parts)[0].status is not JobStatus.DEAD:
        run_due_jobs(parts)
        clock.advance(timedelta(hours=1))
    with Credenda(parts.for_user("ana"), workers=False) as memory:
        held = {one.text: one.attribute for one in memory.list(limit=50).items}
    assert sorted(held) == words
    assert [held[word] for word in words] == ["word"] * BATCH + [None] * (40 - BATCH)


@pytest.mark.parametrize("together", [1, 1_000], ids=["each by a call", "a thousand by a call"])
def test_an_import_of_100_000_turns_delays_the_word_of_another_user_by_a_batch_or_two(
    parts: Parts, recorder: Recorder, together: int
) -> None:
    remember_at_once(parts, together)
    queued = replace(jobs(parts)[0], id="")
    parts.store.commit("ana", lambda writer: [writer.put(queued) for _ in range(IMPORTED // together)])
    stop, read = Event(), Event()
    bob = parts.for_user("bob")

    def work() -> None:
        worker = AllUsers(parts, duties=str)
        while not stop.is_set():
            worker.run_round(stop)
            if "mine" in recorder.read:
                read.set()
        worker.close()

    thread = Thread(target=work)
    thread.start()
    try:
        while len(recorder.read) < BATCH:  # the import is under way
            stop.wait(0.001)
        before = len(recorder.read)
        say(bob, "mine")
        assert read.wait(PATIENCE_SECONDS), "the import was not read"
        between = recorder.read.index("mine") - before
    finally:
        stop.set()
        thread.join()
        bob.release()
    assert between <= 3 * BATCH, "the messages of a batch or two, of which each takes some milliseconds"
    with parts.store.reader("ana") as reader:
        assert reader.counts().jobs["queued"] > IMPORTED // together // 2
