"""Figures are held against their bars, and what was not measured is said to be so."""

from benchmarks.stats import check_targets


def document(median_ms: float, hits: float) -> dict[str, object]:
    return {
        "write": {"commits_per_ack": 1.0},
        "search": {"10000": {"search": {"median_ms": median_ms}, "hit_at_10": hits}},
        "start": {"one_shot_search_cpu_s": None},
    }


def verdicts(figures: dict[str, object]) -> dict[str, bool | None]:
    return {one["what"]: one["met"] for one in check_targets(figures)}


def test_a_bar_is_met_missed_or_was_not_measured() -> None:
    found = verdicts(document(1.9, 0.96))
    assert found["search of 10,000 in ms, median"] is True
    assert found["hit@10 of 10,000"] is False
    assert found["commits of one ack"] is True
    assert found["CPU seconds of `credenda search`"] is None
    assert found["search of 100,000 in ms of CPU, median"] is None


def test_a_bar_itself_meets_it() -> None:
    found = verdicts(document(2.0, 0.97))
    assert found["search of 10,000 in ms, median"] is True
    assert found["hit@10 of 10,000"] is True
