"""Questions to the model as files: any reader can answer, and a run goes on with the answers that are there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from benchmarks import cli

from .gold import CLAIM, MOVE

SESSIONS = {"S1": {"1": "I live in Graz.", "3": "I love chess."}, "S2": {"2": "I moved to Linz."}}
GRAZ = {"turn": "t1", "quote": "I live in Graz", "entity": "user", "attribute": "residence", "value": "Graz"}
LINZ = GRAZ | {"quote": "I moved to Linz", "value": "Linz", "effect": "replaces k1"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sessions = [
        {
            "id": name,
            "time": "2026-05-08T13:56:00Z",
            "turns": [{"id": at, "speaker": "user", "text": text} for at, text in texts.items()],
        }
        for name, texts in SESSIONS.items()
    ]
    conversation = {"conv": "c1", "speakers": ["user", "assistant"], "sessions": sessions}
    (tmp_path / "talk.jsonl").write_text(json.dumps(conversation))
    (tmp_path / "c1.claims.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (CLAIM, MOVE)))
    return tmp_path


def run(folder: Path, *more: str) -> Result:
    data, reader = str(folder / "talk.jsonl"), str(folder / "reader")
    return CliRunner().invoke(cli.bench, ["live", "--data", data, "--gold", str(folder), "--folder", reader, *more])


def waiting(folder: Path) -> list[Path]:
    answers = folder / "reader" / "answers"
    questions = (folder / "reader" / "questions").glob("*.md")
    return [path for path in questions if not (answers / f"{path.stem}.json").exists()]


def answer(folder: Path, *claims: Mapping[str, object]) -> str:
    """Answer the one question that waits, and return it."""
    (question,) = waiting(folder)
    text = f"Here you are:\n{json.dumps({'claims': claims, 'more': False})}"
    (folder / "reader" / "answers" / f"{question.stem}.json").write_text(text)
    return question.read_text()


def test_a_run_waits_for_each_answer_and_goes_on_with_it(folder: Path) -> None:
    first = run(folder)
    assert (first.exit_code, "1 questions wait" in first.output) == (4, True)
    asked = answer(folder, GRAZ)
    assert "I love chess." in asked, "the messages of a session are one question"
    assert "Answer with one JSON document" in asked
    assert run(folder).exit_code == 4
    assert "user residence: Graz" in answer(folder, LINZ)
    done = run(folder, "--json")
    assert done.exit_code == 0
    document = json.loads(done.output[done.output.index("{") :])
    assert document["figures"]["weight-2 claims held"]["count"] == 2
    assert document["figures"]["updates carried out"] == {"count": 1, "of": 1, "share": 1.0}
    assert [row["right"] for row in document["retirements"]] == [True]
    assert document["waiting"] == []
    assert 100 < document["tokens_a_turn"] < 1_500
    assert "weight-2 claims held" in run(folder).output


def test_a_question_that_is_not_asked_any_more_is_deleted_unless_it_was_answered(folder: Path) -> None:
    run(folder)
    old = folder / "reader" / "questions" / "0123456789ab.md"
    old.write_text("a question of an earlier version")
    run(folder)
    assert not old.exists()
    assert len(waiting(folder)) == 1


def test_an_answer_without_json_waits_for_a_better_one(folder: Path) -> None:
    run(folder)
    (question,) = waiting(folder)
    (folder / "reader" / "answers" / f"{question.stem}.json").write_text("nothing to keep")
    result = run(folder)
    assert result.exit_code == 4
    assert question.name in result.output
