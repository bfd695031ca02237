"""A block for a prompt is counted as the program says, and never exceeds its budget by that count."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from credenda import Credenda, Invalid
from credenda.testing import ManualClock

SAYINGS = (
    "Always answer in German.",
    "I live in Linz, where every plant is green.",
    "My sister plays the cello in a very large orchestra.",
    "我喜欢喝茶。 🍵🍵🍵",
)


def letters(text: str) -> int:
    return len(text)


def squares(text: str) -> int:
    return len(text) ** 2 // 50


@pytest.fixture
def told(path: Path, clock: ManualClock) -> Path:
    with Credenda.open(path, user="ana", clock=clock, workers=False) as mem:
        for saying in SAYINGS:
            mem.remember(saying)
        mem.settle()
    return path


@pytest.mark.requirement("R-122")
@pytest.mark.parametrize("count", [letters, squares])
@pytest.mark.parametrize("budget", [1, 60, 150, 250, 400, 4_000])
def test_no_block_exceeds_its_budget_by_the_programs_own_count(
    told: Path, clock: ManualClock, count: Callable[[str], int], budget: int
) -> None:
    settings = {"context_tokens": budget, "inject_tokens": budget, "core_tokens": max(50, budget)}
    with Credenda.open(told, user="ana", clock=clock, workers=False, tokenizer=count, settings=settings) as mem:
        question = "Where do I live, and what does my sister play?"
        blocks = (mem.context(), mem.context(question), mem.context(question, automatic=True))
        for block in blocks:
            assert block.counted_by == count.__name__
            assert block.tokens == (count(block.text) if block.text else 0) <= budget
        core = mem.manage.core()
        assert core.counted_by == count.__name__
        assert core.tokens == (count(core.text) if core.text else 0) <= max(50, budget)
        assert bool(blocks[1].text) >= (budget == 4_000)


def test_what_counts_is_said(told: Path, clock: ManualClock) -> None:
    with Credenda.open(told, user="ana", clock=clock, workers=False) as mem:
        assert mem.stats().counted_by == mem.context().counted_by == mem.manage.core().counted_by == "estimate"
    with Credenda.open(told, user="ana", clock=clock, workers=False, tokenizer=letters) as mem:
        assert mem.stats().counted_by == "letters"


def test_a_setting_names_a_file_and_an_argument_goes_before_it(told: Path, clock: ManualClock, tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    words = {"<?>": 0, "Linz": 1}
    model = {"type": "WordLevel", "vocab": words, "unk_token": "<?>"}
    file.write_text(json.dumps({"version": "1.0", "pre_tokenizer": {"type": "Whitespace"}, "model": model}))
    settings = {"tokenizer": str(file)}
    with Credenda.open(told, user="ana", clock=clock, workers=False, settings=settings) as mem:
        block = mem.context("Where do I live?")
        assert block.counted_by.endswith("/tokenizer.json")
        assert 0 < block.tokens <= 800
    with Credenda.open(told, user="ana", clock=clock, workers=False, settings=settings, tokenizer=letters) as mem:
        assert mem.context().counted_by == "letters"
    with Credenda.open(told, user="ana", clock=clock, workers=False, settings=settings, tokenizer="estimate") as mem:
        assert mem.context().counted_by == "estimate"


def test_a_file_that_is_not_there_opens_nothing(tmp_path: Path) -> None:
    target = tmp_path / "new.db"
    with pytest.raises(Invalid, match=r"nowhere\.json: it cannot be found; correct the path"):
        Credenda.open(target, user="ana", tokenizer=tmp_path / "nowhere.json")
    assert not target.exists()


def test_a_file_that_cannot_be_read_changes_nothing(told: Path, clock: ManualClock, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with Credenda.open(told, user="ana", clock=clock, workers=False, tokenizer=tmp_path) as mem:
        before = mem.stats()
        with pytest.raises(Invalid, match="cannot be read"):
            mem.context("Where do I live?")
        assert mem.search("Where do I live?").hits
        assert mem.stats() == before
