"""Use, judgements and old rows of operational logs: what a store tells of them, and what it takes away."""

import pytest

from credenda.model.evaluation import FeedbackCounts
from credenda.storage.store import Access, Job, JobFilter, JobStatus, Prune, Store

from .build import ANA, add, held, put, said, see

LATE = 1 << 60


def use(store: Store, memory_id: str, *days: tuple[str, int, int, int]) -> None:
    for session, day, shown, useful in days:
        put(store, ANA, Access(memory_id=memory_id, session=session, day=day, at_us=day, shown=shown, useful=useful))


@pytest.mark.requirement("C-009")
def test_judgements_are_counted_by_session_and_day_and_the_last_word_stands(store: Store) -> None:
    one, other = add(store, ANA, held("One."), held("Other."))
    use(store, one, ("s", 1, 1, 0), ("s", 1, 0, 1), ("s", 1, 0, -1), ("t", 1, 1, 1), ("s", 2, 1, 0))
    use(store, other, ("s", 1, 1, 0))
    assert see(store, ANA, lambda reader: reader.usage.regards([one, other])) == {one: FeedbackCounts(1, 1, 1)}
    assert see(store, ANA, lambda reader: reader.usage.occasions()) == {("t", 1)}
    use(store, one, ("s", 1, 0, 1))
    assert see(store, ANA, lambda reader: reader.usage.regards([one])) == {one: FeedbackCounts(2, 0, 1)}


def test_a_showing_does_not_take_a_judgement_back(store: Store) -> None:
    (one,) = add(store, ANA, held("One."))
    use(store, one, ("s", 1, 0, -1), ("s", 1, 1, 0))
    assert see(store, ANA, lambda reader: reader.usage.regards([one])) == {one: FeedbackCounts(0, 1, 0)}


@pytest.mark.requirement("E-072")
def test_pruning_takes_old_showings_and_old_embedding_jobs_a_few_at_a_time(store: Store) -> None:
    (one,) = add(store, ANA, held("One."))
    put(store, ANA, said("One."))
    use(store, one, ("s", 1, 1, 0), ("s", 2, 1, 0), ("s", 3, 1, 1), ("s", 9, 1, 0))
    done = JobStatus.COMPLETE
    put(
        store,
        ANA,
        Job(kind="embed", status=done),
        Job(kind="extract", status=done),
        Job(kind="embed", status=done, idempotency_key="k"),
        Job(kind="embed", status=JobStatus.DEAD),
        Job(kind="embed", status=done),
        Job(kind="embed", status=done),
    )
    assert see(store, ANA, lambda reader: reader.duties.prunable(9, 0)) == {"showings": 2, "jobs": 0}
    assert see(store, ANA, lambda reader: reader.duties.prunable(LATE, LATE)) == {"showings": 3, "jobs": 2}
    put(store, ANA, Prune(showings_before_us=LATE, jobs_before_us=LATE, limit=1))
    assert see(store, ANA, lambda reader: reader.duties.prunable(LATE, LATE)) == {"showings": 2, "jobs": 1}
    put(store, ANA, Prune(showings_before_us=LATE, jobs_before_us=LATE, limit=500))
    assert see(store, ANA, lambda reader: reader.duties.prunable(LATE, LATE)) == {"showings": 0, "jobs": 0}
    left = see(store, ANA, lambda reader: reader.jobs(JobFilter(statuses=frozenset(JobStatus))))
    assert [(job.kind, job.status) for job in left] == [
        ("extract", done),
        ("embed", done),
        ("embed", JobStatus.DEAD),
        ("embed", done),
    ]
    assert [access.day for access in see(store, ANA, lambda reader: reader.usage.accesses([one]))] == [3]
    (job,) = put(store, ANA, Job(kind="embed"))
    assert job.startswith("j7-"), "no number is given twice"
    assert [found.check for found in store.check(ANA)] == ["dead_jobs"]
