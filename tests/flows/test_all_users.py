"""One worker for every user of a store: fair turns, a bounded number of open users, and nobody waits for a failure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.interfaces.call_worker import run_lanes_beside
from credenda.model.claim import Claim, Turn
from credenda.runtime import Parts
from credenda.storage.store import JobFilter, JobStatus
from credenda.testing import ManualClock
from credenda.workers.tenants import MESSAGES, AllUsers
from tests.waiting import PATIENCE_SECONDS

USERS = ("ana", "bob", "cem")


@pytest.fixture
def parts(path: Path, clock: ManualClock) -> Iterator[Parts]:
    made = build_parts(path, user="nobody", clock=clock, embedder="none")
    yield made
    made.release()


@pytest.fixture
def worker(parts: Parts) -> Iterator[AllUsers]:
    made = AllUsers(parts, duties=str, open_max=2)
    yield made
    made.close()


def say(parts: Parts, user: str, *texts: str) -> None:
    with Credenda(parts.for_user(user), workers=False) as memory:
        for text in texts:
            memory.remember(text)


def waiting(parts: Parts, user: str) -> int:
    with parts.store.reader(user) as reader:
        return len(reader.jobs(JobFilter(statuses=frozenset({JobStatus.QUEUED, JobStatus.FAILED}))))


def residence(parts: Parts, user: str) -> list[str | None]:
    with Credenda(parts.for_user(user), workers=False) as memory:
        return [held.value for held in memory.list(attribute="residence").items]


def test_the_jobs_of_every_user_are_run_and_each_gets_only_what_was_said_by_it(parts: Parts, worker: AllUsers) -> None:
    for user, place in zip(USERS, ("Linz", "Graz", "Wels"), strict=True):
        say(parts, user, f"I live in {place}.")
    assert worker.run_round() == 3
    assert [residence(parts, user) for user in USERS] == [["Linz"], ["Graz"], ["Wels"]]
    assert (worker.run_round(), worker.users, worker.jobs) == (0, 3, 3)


def test_a_user_with_much_to_do_has_one_batch_a_round(parts: Parts, worker: AllUsers) -> None:
    say(parts, "ana", *(f"I like tea number {number}." for number in range(40)))
    say(parts, "bob", "I live in Graz.")
    worker.run_round()
    assert waiting(parts, "ana") > 0
    assert waiting(parts, "bob") == 0
    while worker.run_round():
        pass
    assert waiting(parts, "ana") == 0


def test_at_most_so_many_users_stay_open(parts: Parts, worker: AllUsers) -> None:
    for user in USERS:
        say(parts, user, "I live in Linz.")
    worker.run_round()
    assert len(worker.open) == 2  # a process begins at a user of its own
    assert set(worker.open) < set(USERS)


class FailsForBob:
    """An extractor that fails on what Bob says."""

    def extract(self, turn: Turn) -> list[Claim]:
        if "bob" in turn.event.text:
            raise ValueError("no")
        return []


def test_a_job_that_fails_keeps_nobody_else_waiting(path: Path, clock: ManualClock) -> None:
    parts = build_parts(path, user="nobody", clock=clock, embedder="none", extractor=FailsForBob())
    for user in USERS:
        say(parts, user, f"I am {user}.")
    worker = AllUsers(parts, duties=str)
    worker.run_round()
    assert [waiting(parts, user) for user in USERS] == [0, 1, 0]
    assert worker.run_round() == 0  # its next try waits for its time
    worker.close()
    parts.release()


def test_duties_run_for_every_user_that_wrote_and_once_a_minute(parts: Parts) -> None:
    for user in USERS:
        say(parts, user, "I live in Linz.")
    seen: list[str] = []
    worker = AllUsers(parts, duties=lambda view: seen.append(view.user_id), open_max=1)
    worker.look_after()
    worker.look_after()
    worker.close()
    assert seen == list(USERS)


def test_a_stopped_worker_ends_its_duties_in_the_middle_of_a_portion(parts: Parts) -> None:
    for user in USERS:
        say(parts, user, "I live in Linz.")
    seen: list[str] = []
    stop = Event()

    def run_duties(view: Parts) -> None:
        seen.append(view.user_id)
        if len(seen) == 2:
            stop.set()

    portions: list[list[str]] = [[], [*USERS]]
    worker = AllUsers(parts, duties=run_duties, claim=portions.pop)
    worker.look_after(stop)
    worker.close()
    assert seen == ["ana", "bob"]


def test_no_message_waits_for_the_duties_of_a_user(parts: Parts) -> None:
    """The tasks of Ana do not end before the message of Bob is read."""
    say(parts, "ana", "I live in Linz.")
    stop, begun, go_on = Event(), Event(), Event()
    worker = AllUsers(parts, duties=str, lane=MESSAGES)

    def run_duties(_: Parts) -> None:
        begun.set()
        go_on.wait(PATIENCE_SECONDS)

    with run_lanes_beside(parts, stop, run_duties, once=False):
        try:
            assert begun.wait(PATIENCE_SECONDS), "the other call has not begun"
            say(parts, "bob", "I live in Graz.")
            worker.run_round()
            assert residence(parts, "bob") == ["Graz"]
            assert not go_on.is_set()
        finally:
            go_on.set()
    worker.close()


def test_a_stopped_worker_begins_no_other_user(parts: Parts, worker: AllUsers) -> None:
    for user in USERS:
        say(parts, user, "I live in Linz.")
    stop = Event()
    stop.set()
    assert worker.run_round(stop) == 0
    assert [waiting(parts, user) for user in USERS] == [1, 1, 1]
