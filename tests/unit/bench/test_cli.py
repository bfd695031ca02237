"""The commands: what they print, where, and how they end."""

import json
import random
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from benchmarks import cli, tables
from benchmarks.crash.kills import CrashReport, plan_kill
from benchmarks.locomo import MEASURES
from credenda import Credenda
from credenda.bootstrap import open_store
from credenda.errors import Conflict


def test_sizes_are_read_with_and_without_a_k() -> None:
    assert cli.parse_sizes("1k, 10K,250") == [1000, 10_000, 250]
    assert cli.parse_sizes("1m") == [1_000_000]


@pytest.mark.parametrize("text", ["", "k", "1k,", "ten", "0", "-5"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        cli.parse_sizes(text)


@pytest.mark.parametrize("command", ["nodes", "scale", "neighbour", "vectors"])
def test_a_database_in_use_is_not_measured(command: str, tmp_path: Path) -> None:
    target = str(tmp_path / "mine.db")
    with Credenda.open(target, user="ana", embedder="none", workers=False) as memory:
        memory.remember("I live in Linz.")
    done = CliRunner().invoke(cli.bench, [command, "--db", target])
    assert isinstance(done.exception, Conflict)
    with closing(open_store(target, read_only=True)) as store:
        assert store.users(limit=9) == ["ana"]


def with_report(monkeypatch: pytest.MonkeyPatch, report: CrashReport) -> None:
    def run(rounds: int, **_: object) -> CrashReport:
        report.rounds = rounds
        return report

    monkeypatch.setattr(cli, "run_crash", run)


def test_a_crash_run_without_violations_exits_with_0(monkeypatch: pytest.MonkeyPatch) -> None:
    with_report(monkeypatch, CrashReport(seed=4))
    done = CliRunner().invoke(cli.bench, ["crash", "--rounds", "2", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["rounds"] == 2


def test_a_broken_promise_is_printed_with_its_seed_and_exits_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    with_report(monkeypatch, CrashReport(seed=4, violations=["lost: event e7-aaaaa1"], kept="somewhere"))
    done = CliRunner().invoke(cli.bench, ["crash", "--seed", "4"])
    assert done.exit_code == 1
    assert "1 lost" in done.stdout
    assert "(seed 4)" in done.stdout
    assert "VIOLATION lost: event e7-aaaaa1" in done.stdout
    assert "somewhere" in done.stdout


def test_the_same_seed_draws_the_same_kills() -> None:
    one, other = random.Random(9), random.Random(9)
    assert [plan_kill(one) for _ in range(5)] == [plan_kill(other) for _ in range(5)]


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    name = str(tmp_path / "none.jsonl")
    done = CliRunner().invoke(cli.bench, ["locomo", "--data", name, "--questions", name])
    assert done.exit_code == 2


def test_a_table_has_a_line_for_each_category_in_per_cent() -> None:
    measures: Mapping[str, float] = dict.fromkeys(MEASURES, 0.5)
    text = tables.format_locomo(
        {
            "embedder": "none",
            "n": 3,
            "overall": measures,
            "overall_ci95": dict.fromkeys(MEASURES, (0.4, 0.6)),
            "with_adversarial": {"n": 4, **measures},
            "categories": {"temporal": {"n": 3, **measures}},
            "bm25": {"n": 3, **measures},
            "abstention": {"auroc": None, "answered_when_absent": 0.25},
            "seconds": {"store": 1.0, "search_median": 0.002},
        }
    )
    assert "temporal" in text
    assert "50.0" in text
    assert "40.0 to 60.0" in text
    assert "2.00 ms" in text


def test_the_latency_table_says_of_each_target_whether_it_is_met() -> None:
    targets = [
        {"what": "one", "bar": 1.0, "measured": 0.5, "met": True},
        {"what": "two", "bar": 1.0, "measured": 2.0, "met": False},
        {"what": "three", "bar": 1.0, "measured": None, "met": None},
    ]
    lines = tables.format_judged({"write": {"bare_insert": {"median_ms": 0.25}}, "targets": targets}).splitlines()
    assert lines[0].split() == ["write.bare_insert.median_ms", "0.25"]
    assert lines[-3].endswith("  met")
    assert lines[-2].endswith("NOT MET")
    assert lines[-1].endswith("not measured")
