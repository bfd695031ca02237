"""The simulated year: what is said is the same for a seed, and what is believed in the end is true."""

from __future__ import annotations

import pytest

from benchmarks.year import make_year
from benchmarks.year_run import run_year


def _silent(_: str) -> None: ...


def _unsaid(*_: object) -> None: ...


def _never(_: object) -> bool:
    return False


def test_a_seed_gives_one_year_and_another_seed_another() -> None:
    assert make_year(300, seed=5) == make_year(300, seed=5)
    assert make_year(300, seed=5).turns != make_year(300, seed=6).turns


def test_a_year_holds_every_kind_of_turn_and_a_truth_that_was_said() -> None:
    year = make_year(2_000, seed=1)
    said = " ".join(one.text for one in year.turns if one.role == "user")
    assert year.supposed > 10
    assert year.plans > 10
    assert any(one.late for one in year.turns)
    assert {one.role for one in year.turns} == {"user", "assistant"}
    assert all(value in said for truth in year.truths for value in truth.current)
    assert any(truth.gone for truth in year.truths if truth.single)
    assert any(truth.gone for truth in year.truths if not truth.single)


@pytest.mark.requirement("R-077", "D-008")
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long_load)])
def test_a_year_ends_with_what_is_true(seed: int) -> None:
    document = run_year(140, seed=seed, note=_silent)
    assert document["two_live_values"] == []
    assert document["retired_wrongly"]["found"] == []
    assert document["others_as_own"] == []
    assert document["too_sure"] == []
    assert document["duplicates"]["share"] < 0.03
    assert document["retired_wrongly"]["checked"] > 10
    assert document["kept"]


@pytest.mark.requirement("S-016", "S-045")
def test_the_core_keeps_its_cap_and_every_standing_instruction_on_every_day() -> None:
    core = run_year(140, seed=3, note=_silent)["core"]
    assert core["days"] > 100
    assert core["instructions"] + core["taken_back"] == 10
    assert core["over_the_cap"] == []
    assert core["instructions_missing"] == []
    assert core["taken_back_and_shown"] == []
    assert core["rewrites"] > 10


def test_a_core_that_lacks_an_instruction_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credenda.read.core_memories.is_standing_instruction", _never)
    document = run_year(60, seed=1, note=_silent)
    assert document["core"]["instructions_missing"] != []
    assert not document["kept"]


def test_what_is_believed_wrongly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge can tell a bad memory from a good one: one that is told only instructions knows nothing else."""
    monkeypatch.setattr("benchmarks.year_run._say", _unsaid)
    document = run_year(150, seed=1, note=_silent)
    assert document["memories"] == document["core"]["instructions"]
    assert document["missed"] != []


@pytest.mark.requirement("D-033", "S-043", "R-010")
def test_weekly_consolidation_loses_nothing_of_a_year() -> None:
    plain = run_year(140, seed=2, note=_silent)
    weekly = run_year(140, seed=2, note=_silent, consolidate_days=7)
    assert weekly["consolidations"] > 30
    assert weekly["consolidated"] > 0
    assert set(plain["held_facts"]) <= set(weekly["held_facts"])
    assert weekly["duplicates"]["share"] < 0.02
    assert weekly["kept"]
