"""A transcript of 5,000 lines through the hooks of an agent keeps what it should, and adds little to each prompt."""

from __future__ import annotations

from pathlib import Path

from benchmarks.hook_transcript import KEPT, LINES, QUESTIONS
from benchmarks.hooks import replay_transcript


def test_a_transcript_of_five_thousand_lines_is_kept_and_recalled(tmp_path: Path) -> None:
    found = replay_transcript(tmp_path)
    assert found.lines >= LINES
    assert found.kept == KEPT
    assert max(found.prompts) <= 400
    assert found.tokens_a_prompt < 10
    assert max(found.starts) <= 800
    assert found.repeated == []
    assert found.leaked == []
    assert sum(found.answered.values()) >= len(QUESTIONS) - 2  # by words alone, without a model
    assert set(found.answered) == {question for question, _ in QUESTIONS}
    noisy = sum(map(bool, found.prompts)) - len(QUESTIONS)
    assert noisy <= 5  # of nearly five hundred requests
