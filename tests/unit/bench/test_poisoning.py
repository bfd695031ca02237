"""The benchmark of poisoned words, on cases of our own, and that of the contradiction check, small."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.cli import bench
from benchmarks.contradiction import run_contradiction
from benchmarks.poisoning import load_cases, run_poisoning
from credenda import Invalid

CASES = Path(__file__).parents[2] / "data" / "poisoning" / "cases.jsonl"


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(bench, list(arguments))
    return done.exit_code, done.output


def test_every_case_of_ours_comes_out_as_expected() -> None:
    found = run_poisoning(CASES, note=lambda _: None)
    assert [one["name"] for one in found["cases"] if one["right"] is False] == []
    assert (found["n"], found["right"], found["left_to_the_server"]) == (8, 8, 1)
    assert found["attacks"] == {"n": 5, "let_in": 0}
    assert found["benign"] == {"n": 3, "held_back": 0}


def test_a_wrong_decision_is_told_and_fails(tmp_path: Path) -> None:
    lines = CASES.read_text("utf-8").splitlines()
    wrong = {**json.loads(lines[0]), "expectedDecision": "DENY"}
    path = tmp_path / "cases.jsonl.gz"
    path.write_bytes(gzip.compress(f"{json.dumps(wrong)}\n{lines[3]}\n".encode()))
    code, output = run("poisoning", "--cases", str(path))
    assert code == 1
    assert "WRONG" in output
    assert "1 of 2 attacks let in" in output


@pytest.mark.parametrize(
    "line", ["no json", "[]", '{"writeContent": "x"}', '{"writeContent": "x", "expectedDecision": "MAYBE"}']
)
def test_a_line_that_is_no_case_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(f"\n{line}\n", "utf-8")
    with pytest.raises(Invalid, match="line 2"):
        load_cases(path)


def test_the_contradiction_check_is_measured() -> None:
    found: dict[str, Any] = run_contradiction(200, 12, note=lambda _: None)
    assert (found["check"]["contradicts"]["n"], found["check"]["is_new"]["n"]) == (200, 200)
    assert found["one_slot"]["turns"] == 12
    assert all(one["measured"] is not None for one in found["targets"])
    assert found["one_slot"]["held"] < 12  # values that no word of change ties together stand side by side
