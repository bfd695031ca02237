"""Jobs: durable, found when due, leased, and one to an idempotency key within a tenant."""

from collections.abc import Collection
from dataclasses import replace

import pytest

from credenda.errors import Conflict, NotFound, Unavailable
from credenda.ids import IdKind, format_id
from credenda.storage.store import Job, JobFilter, JobStatus, Store, Writer

from .build import ANA, BEN, SetClock, held, put, said, see
from .conftest import StoreFactory

WAITING = frozenset({JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED})


def found(store: Store, wanted: JobFilter, user_id: str = ANA) -> list[Job]:
    return see(store, user_id, lambda reader: reader.jobs(wanted))


@pytest.mark.requirement("D-011", "R-158")
def test_a_job_outlives_the_process_with_all_it_needs_to_run(
    store: Store, store_factory: StoreFactory, clock: SetClock
) -> None:
    job = Job(kind="extract", first=1, last=4, run_after_us=7, idempotency_key="k1", payload_hash=b"p" * 16)
    (job_id,) = put(store, ANA, job)
    store.close()
    assert found(store_factory(), JobFilter(id=job_id)) == [
        replace(job, id=job_id, created_us=clock.us, updated_us=clock.us)
    ]


def test_a_lease_is_taken_renewed_and_given_back(store: Store, clock: SetClock) -> None:
    (job_id,) = put(store, ANA, Job(kind="extract"))
    (queued,) = found(store, JobFilter(id=job_id))
    clock.us += 1_000
    leased = replace(
        queued, status=JobStatus.PROCESSING, attempts=1, lease_owner="host:1", lease_until_us=clock.us + 60_000_000
    )
    assert put(store, ANA, leased) == [job_id]
    assert found(store, JobFilter(id=job_id)) == [replace(leased, updated_us=clock.us)]
    failed = replace(queued, status=JobStatus.FAILED, attempts=1, run_after_us=clock.us + 5, error="Unavailable")
    put(store, ANA, failed)
    assert found(store, JobFilter(id=job_id)) == [replace(failed, updated_us=clock.us)]
    done = replace(queued, status=JobStatus.COMPLETE, attempts=2)
    put(store, ANA, done)
    (seen,) = found(store, JobFilter(id=job_id))
    assert (seen.status, seen.error, seen.lease_owner, seen.lease_until_us) == (JobStatus.COMPLETE, "", "", 0)


def test_a_job_may_be_filed_with_its_lease(store: Store) -> None:
    leased = Job(kind="dream", status=JobStatus.PROCESSING, lease_owner="host:1", lease_until_us=9, error="before")
    (job_id,) = put(store, ANA, leased)
    (seen,) = found(store, JobFilter(id=job_id))
    assert (seen.lease_owner, seen.lease_until_us, seen.error) == ("host:1", 9, "before")


def test_a_job_that_never_was_cannot_be_moved_on(store: Store) -> None:
    (event_id,) = put(store, ANA, said("One."))
    with pytest.raises(NotFound):
        put(store, ANA, Job(id=format_id(IdKind.JOB, 3, event_id.rpartition("-")[2]), kind="extract"))


@pytest.fixture
def queue(store: Store) -> Store:
    """Seven jobs: due at 50, 40, … and one in each status from the third on."""
    statuses = (JobStatus.QUEUED, JobStatus.QUEUED, *JobStatus)
    put(
        store,
        ANA,
        *(
            Job(kind=str(place), status=status, run_after_us=max(0, 50 - 10 * place))
            for place, status in enumerate(statuses)
        ),
    )
    return store


@pytest.mark.parametrize(
    ("wanted", "kinds"),
    [
        (JobFilter(), "5643210"),
        (JobFilter(statuses=WAITING), "53210"),
        (JobFilter(statuses=WAITING, due_us=30), "532"),
        (JobFilter(statuses=frozenset({JobStatus.QUEUED}), due_us=40), "21"),
        (JobFilter(statuses=WAITING, limit=2), "53"),
        (JobFilter(statuses=frozenset({JobStatus.DEAD, JobStatus.COMPLETE})), "64"),
        (JobFilter(statuses=frozenset({JobStatus.DEAD, JobStatus.COMPLETE}), due_us=0), "6"),
        (JobFilter(due_us=10), "564"),
        (JobFilter(limit=3), "564"),
        (JobFilter(key="none"), ""),
    ],
)
def test_a_filter_names_jobs_in_the_order_they_are_due(queue: Store, wanted: JobFilter, kinds: str) -> None:
    assert "".join(job.kind for job in found(queue, wanted)) == kinds


def test_jobs_are_counted_by_status(queue: Store) -> None:
    counts = see(queue, ANA, lambda reader: reader.counts().jobs)
    assert counts == {"queued": 3, "processing": 1, "complete": 1, "failed": 1, "dead": 1}


@pytest.mark.requirement("D-010", "R-158")
def test_an_idempotency_key_is_unique_within_a_tenant_and_not_across_them(store: Store) -> None:
    (ana,) = put(store, ANA, Job(kind="extract", idempotency_key="same", payload_hash=b"a"))
    (ben,) = put(store, BEN, Job(kind="extract", idempotency_key="same", payload_hash=b"b"))
    assert [job.id for job in found(store, JobFilter(key="same"))] == [ana]
    assert [job.payload_hash for job in found(store, JobFilter(key="same"), BEN)] == [b"b"]
    assert ana != ben
    with pytest.raises(Conflict):
        put(store, ANA, said("Never kept."), Job(kind="extract", idempotency_key="same"))
    assert see(store, ANA, lambda reader: reader.counts().events) == 0


def test_jobs_without_a_key_do_not_stand_in_each_others_way(store: Store) -> None:
    assert len(set(put(store, ANA, Job(kind="extract"), Job(kind="extract")))) == 2


@pytest.mark.requirement("D-011")
def test_a_job_and_its_events_are_filed_together_or_not_at_all(store: Store) -> None:
    def work(writer: Writer) -> None:
        writer.put(said("One."))
        writer.put(Job(kind="extract", idempotency_key="k"))
        writer.put(held("Two."))
        raise Unavailable("the queue is full")

    with pytest.raises(Unavailable):
        store.commit(ANA, work)
    counts = see(store, ANA, lambda reader: reader.counts())
    assert (counts.events, counts.jobs, counts.memories) == (0, {}, {})
    assert found(store, JobFilter(key="k")) == []


def due(store: Store, at_us: int = 100, limit: int = 10, after: str = "", **given: Collection[str]) -> list[str]:
    return store.users_with_due_jobs(at_us, limit=limit, after=after, **given)


def test_users_are_listed_by_name_a_page_at_a_time(store: Store) -> None:
    assert store.users(limit=10) == []
    for name in ("cem", "ana", "ben"):
        put(store, name, said("One."))
    assert store.users(limit=2) == ["ana", "ben"]
    assert store.users(after="ben", limit=2) == ["cem"]
    assert store.users(after="cem", limit=2) == []


def test_users_with_due_jobs_are_listed_by_name_a_page_at_a_time(store: Store) -> None:
    put(store, BEN, Job(kind="extract"))
    put(store, ANA, Job(kind="extract"), Job(kind="extract"))
    put(store, "cem", Job(kind="embed", run_after_us=15, status=JobStatus.FAILED))
    assert due(store) == [ANA, BEN, "cem"]
    assert due(store, limit=2) == [ANA, BEN]
    assert due(store, after=BEN) == ["cem"]
    assert due(store, after="cem") == []
    assert due(store, other_kinds={"extract"}) == ["cem"]
    assert due(store, kinds={"extract"}) == [ANA, BEN]


def test_many_jobs_of_one_user_hide_no_other_user(store: Store) -> None:
    """A page reads so many jobs only, so that it may be short; the next one goes on after it."""
    put(store, ANA, *(Job(kind="extract") for _ in range(100)))
    put(store, BEN, Job(kind="extract"))
    assert due(store, limit=3) == [ANA]
    assert due(store, limit=3, after=ANA) == [BEN]
    assert due(store, limit=3, after=BEN) == []


def test_the_oldest_waiting_job_counts_until_it_is_done_or_given_up(store: Store, clock: SetClock) -> None:
    assert store.find_oldest_waiting({"extract"}) is None
    clock.us = 10
    put(store, BEN, Job(kind="embed"))
    clock.us = 20
    put(store, ANA, Job(kind="extract", status=JobStatus.FAILED, run_after_us=500), Job(kind="extract"))
    put(store, BEN, Job(kind="extract", status=JobStatus.COMPLETE), Job(kind="extract", status=JobStatus.DEAD))
    clock.us = 30
    put(store, BEN, Job(kind="think", status=JobStatus.PROCESSING, lease_owner="host:1", lease_until_us=101))
    assert store.find_oldest_waiting({"extract", "think"}) == 20
    assert store.find_oldest_waiting({"think"}) == 30
    assert store.find_oldest_waiting({"embed"}) == 10


def test_messages_wait_until_their_job_is_done_or_given_up(store: Store, clock: SetClock) -> None:
    clock.us = 20
    put(store, ANA, Job(kind="extract", first=1, last=3, status=JobStatus.FAILED, run_after_us=500))
    put(store, ANA, Job(kind="extract", first=4, last=4, status=JobStatus.COMPLETE))
    put(store, ANA, Job(kind="extract", first=5, last=9, status=JobStatus.DEAD), Job(kind="embed", first=1, last=9))
    put(store, BEN, Job(kind="extract", first=1, last=7))
    clock.us = 30
    put(store, ANA, Job(kind="think", first=10, last=11, status=JobStatus.PROCESSING, lease_owner="host:1"))
    with store.reader(ANA) as reader:
        assert reader.duties.count_waiting({"extract", "think"}) == (5, 20)
        assert reader.duties.count_waiting({"think"}) == (2, 30)
        assert reader.duties.count_waiting({"call"}) == (0, None)


@pytest.mark.parametrize(
    ("job", "is_due"),
    [
        (Job(kind="extract", run_after_us=101), False),
        (Job(kind="extract", run_after_us=100), True),
        (Job(kind="extract", status=JobStatus.COMPLETE), False),
        (Job(kind="extract", status=JobStatus.DEAD), False),
        (Job(kind="extract", status=JobStatus.PROCESSING, lease_owner="host:1", lease_until_us=101), False),
        (Job(kind="extract", status=JobStatus.PROCESSING, lease_owner="host:1", lease_until_us=100), True),
    ],
)
def test_a_job_is_due_when_its_delay_is_over_and_nobody_holds_it(store: Store, job: Job, *, is_due: bool) -> None:
    put(store, ANA, job)
    assert due(store) == ([ANA] if is_due else [])
