"""What `bench beliefs` counts as right, and how it refuses files that it cannot judge."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks import cli
from benchmarks.belief_figures import compute_wilson_interval
from benchmarks.beliefs import load_pairs, load_utterances, run_beliefs
from benchmarks.locomo import load_conversations, load_questions
from benchmarks.poisoning import load_cases
from credenda import Invalid

SENTENCES: list[dict[str, Any]] = [
    {"text": "I live in Linz.", "label": "store", "type": "fact"},
    {"text": "I live in Graz.", "label": "store", "type": "preference"},
    {"text": "I live in Wels.", "label": "skip"},
    {"text": "Thanks!", "label": "skip"},
    {"text": "Thanks a lot!", "label": "store", "type": "fact"},
    {"text": "What if I were a doctor?", "label": "uncertain"},
    {"text": "I live in Rome.", "label": "skip", "about": "other"},
    {"text": "I live in Bern.", "label": "skip", "role": "assistant"},
]
PAIRS: list[dict[str, Any]] = [
    {"old": "I live in Graz.", "new": "I moved to Linz.", "relation": "supersede", "current": "Linz", "past": "Graz"},
    {"old": "I live in Graz.", "new": "I moved to Linz.", "relation": "coexist", "both": ["Graz", "Linz"]},
    {"old": "I live in Graz.", "new": "Thanks!", "relation": "supersede", "current": "Linz", "past": "Graz"},
    {"old": "I live in Graz.", "new": "As I said, I live in Graz.", "relation": "same", "count": 1},
    {"old": "I live in Graz.", "new": "I work at Acme.", "relation": "same"},
    {"old": "I live in Rome.", "new": "What if I lived in Bern?", "relation": "coexist_low", "current": "Rome"},
    {"old": "Thanks!", "new": "I live in Graz.", "relation": "coexist", "both": ["Graz"]},
    {
        "old": "I live in Lyon.",
        "new": "I live in Nantes.",
        "relation": "late",
        "old_at": "2026-02-10T12:00:00Z",
        "new_at": "2025-11-10T12:00:00Z",
    },
    {"earlier": ["I live in Ulm."], "old": "I moved to Bonn.", "new": "I moved to Kiel.", "relation": "supersede"},
]


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def silent(text: str) -> None:
    del text


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    tmp_path = tmp_path_factory.mktemp("beliefs")
    said = write(tmp_path / "said.jsonl", SENTENCES)
    return run_beliefs(said, write(tmp_path / "pairs.jsonl", PAIRS), note=silent)


def test_decisions_are_counted_by_label(document: dict[str, Any]) -> None:
    said = document["utterances"]
    assert said["confusion"] == {
        "store": {"store": 2, "skip": 1, "uncertain": 0},
        "skip": {"store": 2, "skip": 2, "uncertain": 0},
        "uncertain": {"store": 0, "skip": 0, "uncertain": 1},
    }
    assert (said["decisions"]["hits"], said["decisions"]["n"]) == (5, 8)
    assert (said["kinds"]["hits"], said["kinds"]["n"], said["kinds_of_all"]["n"]) == (1, 2, 3)
    assert (said["misattributed"], said["highest_hypothetical"]) == (1, 0.3)


def test_pairs_are_judged_by_what_became_of_the_old_sentence(document: dict[str, Any]) -> None:
    pairs = document["pairs"]
    right = {name: (found["hits"], found["n"]) for name, found in pairs["by_relation"].items()}
    assert right == {"coexist": (0, 2), "coexist_low": (1, 1), "late": (1, 1), "same": (1, 2), "supersede": (2, 3)}
    assert (pairs["supersession_recall"]["hits"], pairs["supersession_recall"]["n"]) == (2, 3)
    assert (pairs["supersession_precision"]["hits"], pairs["supersession_precision"]["n"]) == (2, 3)
    assert (pairs["false_invalidation"]["hits"], pairs["false_invalidation"]["n"]) == (1, 3)
    assert (pairs["duplicates"]["hits"], pairs["duplicates"]["n"]) == (1, 2)


def test_every_error_is_listed_with_what_is_held(document: dict[str, Any]) -> None:
    wrong = [error.get("text") or error["new"] for error in document["errors"]]
    assert "I live in Graz." in wrong
    assert len(wrong) == 4 + 4
    listed = next(error for error in document["errors"] if error.get("text") == "I live in Wels.")
    assert listed["kept"] == ["fact 0.85 user / residence = Wels"]


def test_an_interval_lies_around_its_share_and_is_none_without_cases() -> None:
    low, high = compute_wilson_interval(94, 100)["ci95"]
    assert low < 0.94 < high
    assert compute_wilson_interval(0, 0)["value"] is None
    assert compute_wilson_interval(5, 5)["ci95"][1] == 1.0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"text": "a"}', "label"),
        ('{"text": "a", "label": "perhaps"}', "perhaps"),
        ("[1]", "as strings"),
        ("{", "not JSON"),
        ('{"text": 3, "label": "skip"}', "as strings"),
    ],
)
def test_a_line_that_cannot_be_judged_is_refused_by_its_number(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "said.jsonl"
    path.write_text(f'{{"text": "Hi", "label": "skip"}}\n{line}\n', "utf-8")
    with pytest.raises(Invalid, match=r"line 2") as caught:
        load_utterances(path)
    assert said in str(caught.value)


def test_a_line_may_accept_several_types(tmp_path: Path) -> None:
    file = tmp_path / "said.jsonl"
    line = {"text": "I live in Linz.", "label": "store", "type": ["preference", "fact"]}
    wrong = {"text": "I live in Graz.", "label": "store", "type": ["decision", "procedure"]}
    file.write_text("\n".join(map(json.dumps, [line, wrong])), encoding="utf-8")
    document = run_beliefs(file, None, note=lambda _: None)
    assert document["utterances"]["kinds_of_all"]["value"] == 0.5
    assert [error["wanted"] for error in document["errors"]] == ["store decision|procedure"]
    file.write_text(json.dumps({**line, "type": ["opinion", 3]}), encoding="utf-8")
    with pytest.raises(Invalid, match="'opinion'"):
        run_beliefs(file, None, note=lambda _: None)


def test_an_unknown_relation_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.jsonl", [{"old": "a", "new": "b", "relation": "near"}])
    with pytest.raises(Invalid, match="near"):
        load_pairs(path)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Invalid, match="cannot read"):
        load_utterances(path)


@pytest.mark.parametrize("read", [load_utterances, load_pairs, load_cases, load_conversations, load_questions])
def test_a_file_that_holds_nothing_is_refused(tmp_path: Path, read: Callable[[Path], object]) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text("\n \n", "utf-8")
    with pytest.raises(Invalid, match="has no lines"):
        read(path)


def test_what_is_packed_and_damaged_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}")[:-6])
    with pytest.raises(Invalid, match="cannot read"):
        load_cases(path)


def test_the_command_prints_shares_confusion_and_errors(tmp_path: Path) -> None:
    said = write(tmp_path / "said.jsonl", SENTENCES[:3])
    pairs = write(tmp_path / "pairs.jsonl", PAIRS[:2])
    done = CliRunner().invoke(cli.bench, ["beliefs", "--utterances", str(said), "--pairs", str(pairs)])
    assert done.exit_code == 0
    assert "decisions" in done.stdout
    assert "supersession_recall" in done.stdout
    assert "ERROR skip | store: I live in Wels." in done.stdout
    assert "ERROR coexist: I live in Graz. / I moved to Linz." in done.stdout


def test_the_command_takes_either_file_alone_and_none_is_a_usage_error(tmp_path: Path) -> None:
    said = write(tmp_path / "said.jsonl", SENTENCES[:1])
    done = CliRunner().invoke(cli.bench, ["beliefs", "--utterances", str(said), "--json"])
    assert json.loads(done.stdout)["pairs"]["n"] == 0
    assert CliRunner().invoke(cli.bench, ["beliefs"]).exit_code == 2
