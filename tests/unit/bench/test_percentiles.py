"""Percentiles by nearest rank, and the units in the names."""

import pytest

from benchmarks.stats import compute_median, compute_ratio, find_percentile, spread_ms


def test_percentiles_are_values_that_were_measured() -> None:
    values = [float(value) for value in range(1, 101)]
    assert find_percentile(values, 0.95) == 95
    assert find_percentile(values, 0.99) == 99
    assert find_percentile([7.0], 0.99) == 7


def test_the_median_lies_between_the_two_in_the_middle() -> None:
    assert compute_median([3.0, 1.0, 2.0]) == 2
    assert compute_median([4.0, 1.0, 2.0, 3.0]) == 2.5


def test_nothing_has_no_percentile() -> None:
    with pytest.raises(ValueError, match="no values"):
        find_percentile([], 0.5)
    with pytest.raises(ValueError, match="no values"):
        compute_median([])


def test_seconds_come_out_as_milliseconds() -> None:
    found = spread_ms([0.001, 0.002, 0.003])
    assert found == {"n": 3, "median_ms": 2.0, "p95_ms": 3.0, "p99_ms": 3.0, "max_ms": 3.0}
    assert compute_ratio(found, spread_ms([0.004])) == 0.5
