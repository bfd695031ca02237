"""Reading conversation files, mapping hits to turns, and what counts for which figure."""

import gzip
import json
from pathlib import Path

import pytest

from benchmarks.locomo import load_conversations, load_questions, run_locomo
from credenda import Invalid

CONVERSATION = {
    "conv": "c1",
    "speakers": ["Ana", "assistant"],
    "sessions": [
        {
            "id": "S1",
            "time": "2024-05-08T13:56:00",
            "turns": [
                {"id": "D1:1", "speaker": "Ana", "text": "I bought a violin.", "image_caption": "a violin case"},
                {
                    "id": "D1:2",
                    "speaker": "assistant",
                    "text": "How is the greenhouse?",
                    "time": "2024-05-08T14:00:00Z",
                },
                {"id": "D1:3", "speaker": "Ana", "text": "My greenhouse is full of tomatoes."},
            ],
        }
    ],
}
QUESTIONS: list[dict[str, object]] = [
    {"qid": "1", "conv": "c1", "category": "single", "question": "Who has a violin?", "evidence": ["D1:1"]},
    {
        "qid": "2",
        "conv": "c1",
        "category": "single",
        "question": "What grows in the greenhouse?",
        "evidence": ["D1:1"],
        "evidence_audited": ["D1:3"],
    },
    {"qid": "3", "conv": "c1", "category": "adversarial", "question": "Who sold a violin?", "evidence": ["D1:1"]},
    {"qid": "4", "conv": "c1", "category": "single", "question": "Which zebra?", "evidence": []},
]


def silent(text: str) -> None:
    del text


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    data, questions = tmp_path / "data.jsonl.gz", tmp_path / "questions.jsonl"
    data.write_bytes(gzip.compress(json.dumps(CONVERSATION).encode()))
    questions.write_text("\n".join(map(json.dumps, QUESTIONS)), encoding="utf-8")
    return data, questions


def test_turns_become_messages_with_roles_times_and_captions(files: tuple[Path, Path]) -> None:
    (found,) = load_conversations(files[0])
    assert found.name == "c1"
    ((session, messages),) = found.sessions
    assert session == "S1"
    assert messages[0] == {
        "role": "person",
        "name": "Ana",
        "content": "I bought a violin. [image: a violin case]",
        "timestamp": "2024-05-08T13:56:00",
        "id": "D1:1",
    }
    assert (messages[1]["role"], messages[1]["timestamp"]) == ("assistant", "2024-05-08T14:00:00Z")
    assert found.turns["D1:3"] == "My greenhouse is full of tomatoes."


def test_audited_gold_turns_count_where_present(files: tuple[Path, Path]) -> None:
    found = load_questions(files[1])
    assert [sorted(question.gold) for question in found] == [["D1:1"], ["D1:3"], ["D1:1"], []]
    assert [question.answerable for question in found] == [True, True, False, False]


def test_a_run_stores_searches_and_measures_as_the_contract_says(files: tuple[Path, Path]) -> None:
    notes: list[str] = []
    found = run_locomo(*files, embedder="none", note=notes.append)
    assert found["n"] == 2
    assert found["overall"]["any@10"] == 1  # type: ignore[index]
    assert found["with_adversarial"]["n"] == 3  # type: ignore[index]
    assert found["bm25"]["mrr"] == 0.75  # the shorter turn about a greenhouse comes first  # type: ignore[index]
    assert found["abstention"]["n_absent"] == 2  # type: ignore[index]
    assert set(found["categories"]) == {"adversarial", "single"}  # type: ignore[arg-type]
    assert notes == ["c1: 3 turns, 4 questions"]


def test_a_limit_asks_only_the_first_questions(files: tuple[Path, Path]) -> None:
    assert run_locomo(*files, limit=1, note=silent)["n"] == 1


@pytest.mark.parametrize("text", ["[1, 2", '{"conv": "c1"}', "[]"])
def test_a_file_of_something_else_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Invalid, match=r"odd\.jsonl"):
        load_conversations(path)
    with pytest.raises(Invalid, match=r"odd\.jsonl"):
        load_questions(path)


def test_a_question_about_a_conversation_that_is_missing_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({**QUESTIONS[0], "conv": "c9"}), encoding="utf-8")
    with pytest.raises(Invalid, match="c9"):
        run_locomo(files[0], other, note=silent)
