"""When a run is due, which memories are grouped, and how marks move."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from credenda.clock import HOUR_US
from credenda.manage.consolidation_guards import EXACT_KEY, NearestNeighbours, Pair, SharedKeyIndex, compute_floor
from credenda.manage.consolidation_judge import Trigger, cluster_pairs, explain_skip
from credenda.services.consolidation_progress import ATTEMPTS, Marks


@pytest.mark.requirement("S-028", "S-029", "S-083", "S-084")
@given(
    st.integers(0, 100), st.one_of(st.none(), st.integers(0, 100)), st.integers(0, 60), st.integers(0, 3), st.booleans()
)
def test_the_gate(  # noqa: PLR0917 - what is drawn
    now: int,
    last: int | None,
    new: int,
    retries: int,
    force: bool,  # noqa: FBT001 - drawn
) -> None:
    said = explain_skip(
        Trigger(),
        now_us=now * HOUR_US,
        last_us=None if last is None else last * HOUR_US,
        new=new,
        retries=retries,
        force=force,
    )
    waited = last is None or now - last >= 24 or last > now + 1  # the clock was put back
    assert (said == "") == ((new > 0 or retries > 0) and (force or retries > 0 or (waited and new >= 20)))


numbers = st.integers(1, 40)
pairs = st.lists(
    st.tuples(st.floats(0, 1), numbers, numbers).filter(lambda one: one[1] < one[2]).map(lambda one: Pair(*one)),
    max_size=80,
)


@pytest.mark.requirement("S-038", "S-087", "S-088")
@given(pairs, st.integers(2, 25), st.randoms(use_true_random=False))
def test_each_memory_is_in_one_group_at_most(given: list[Pair], most: int, order: object) -> None:
    found = cluster_pairs(given, most)
    members = [one for group in found for one in group]
    assert len(set(members)) == len(members)
    assert all(2 <= len(group) <= most for group in found)
    shuffled = list(given)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert cluster_pairs(shuffled, most) == found
    near = {(pair.one, pair.other) for pair in given}
    for group in found:
        assert any((one, other) in near for one in group for other in group)


@pytest.mark.requirement("S-037", "S-087")
def test_the_k_nearest_are_found_block_by_block() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 16)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    seeds = [3, 17, 44]
    near = NearestNeighbours(seeds, rows[seeds], k=4, floor=-1.0)
    for start in range(0, 60, 7):
        block = list(range(start, min(start + 7, 60)))
        near.show(block, rows[block])
    expected: set[tuple[int, int]] = set()
    for seed in seeds:
        cosines = rows @ rows[seed]
        cosines[seed] = -2
        best = [int(one) for one in np.argsort(-cosines)[:4]]
        expected |= {(min(seed, one), max(seed, one)) for one in best if cosines[one] > 0}
    assert {(pair.one, pair.other) for pair in near.pairs()} == expected


def _draw_pairs(count: int) -> tuple[list[int], NDArray[np.float32]]:
    """Return numbers and vectors: each even number and the next one are near each other, all others are not."""
    rng = np.random.default_rng(count)
    first = rng.normal(size=(count // 2, 32))
    rows = np.repeat(first, 2, axis=0) + 0.2 * rng.normal(size=(count, 32))
    return list(range(count)), (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def _compare_all(numbers: list[int], rows: NDArray[np.float32]) -> NearestNeighbours:
    near = NearestNeighbours(numbers, rows, k=8, floor=0.7)
    near.show(numbers, rows)
    return near


@pytest.mark.requirement("S-037")
def test_the_comparisons_of_a_backlog_are_not_quadratic_and_find_nearly_every_pair() -> None:
    small, large = (_compare_all(*_draw_pairs(count)) for count in (4_000, 16_000))
    assert large.compared < 10 * small.compared  # 4^1.5 is 8; all with all would be 16 times as many
    assert large.compared < 16_000**2 / 4
    found = {(pair.one, pair.other) for pair in large.pairs()}
    assert sum((one, one + 1) in found for one in range(0, 16_000, 2)) > 0.99 * 8_000


def test_equal_vectors_do_not_make_the_comparisons_quadratic() -> None:
    numbers = list(range(6_000))
    near = _compare_all(numbers, np.tile(np.eye(1, 8, dtype=np.float32), (len(numbers), 1)))
    assert near.compared < 6_000**2 / 2
    assert len(near.pairs([17])) == 8


def test_an_exact_key_is_nearer_than_any_cosine_and_needs_a_seed() -> None:
    keys = SharedKeyIndex([7])
    for number, key in ((1, 7), (2, 8), (5, 7), (9, 8), (3, 7)):
        keys.add(number, [key])
    assert keys.pairs() == [Pair(EXACT_KEY, 1, 3), Pair(EXACT_KEY, 1, 5)]


@pytest.mark.requirement("R-107")
def test_the_threshold_moves_the_floor_alone() -> None:
    assert [round(compute_floor(one), 2) for one in (1.0, 0.85, 0.7, 0.3)] == [0.55, 0.4, 0.25, 0.0]


@pytest.mark.requirement("S-047", "S-102", "D-033")
def test_marks_move_over_what_was_judged_and_wait_for_what_failed() -> None:
    marks = Marks()
    for attempt in range(1, ATTEMPTS + 1):
        marks.note([1, 2, 3, 4], {2: True})
        marks.top = 4
        assert marks.waiting == (frozenset({2}) if attempt < ATTEMPTS else frozenset())
        assert marks.low == (1 if attempt < ATTEMPTS else 4)
    assert marks.quarantined == {2}
    marks.note([2], {})
    assert (marks.quarantined, marks.low) == (frozenset(), 4)
    marks.note([5], {5: False})
    assert marks.failed == {5: 0}
    assert marks.low == 4
