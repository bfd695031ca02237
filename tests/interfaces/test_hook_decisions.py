"""What a user decided is recalled when it is asked for in other words, and prompts about other things bring nothing."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda
from credenda.agents.recall import find_for_prompt

DATA = tomllib.loads((Path(__file__).parents[1] / "data" / "hook_decisions.toml").read_text("utf-8"))
DECISIONS: list[dict[str, str]] = DATA["decisions"]
UNRELATED: list[str] = DATA["unrelated"]["prompts"]
DATED = ("Which files changed since yesterday?", "Who touched the parser today?", "What did the release change today?")
"""Prompts about other things that name a day on which everything was told."""


@pytest.fixture(scope="module", params=[False, True], ids=["told", "told and asked before"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Credenda]:
    """Sessions in which the decisions were told, and others with the prompts of this test."""
    with Credenda.open(
        tmp_path_factory.mktemp("decisions") / "memory.db", user="ana", workers=False, embedder="minilm"
    ) as opened:
        said = [one["told"] for one in DECISIONS]
        said += [one["asked"] for one in DECISIONS] + UNRELATED if request.param else UNRELATED[::4]
        for number, text in enumerate(said):
            opened.remember(text, session=f"s{number // 5}")
            opened.remember([{"role": "assistant", "content": "Understood."}], session=f"s{number // 5}")
        opened.settle(600)
        yield opened


def _recall(memory: Credenda, prompt: str) -> str:
    return find_for_prompt(memory, prompt, session="now").text.casefold()


def test_four_of_five_decisions_are_recalled_in_other_words(memory: Credenda) -> None:
    missed: list[Any] = [
        one["asked"] for one in DECISIONS if one["needs"].casefold() not in _recall(memory, one["asked"])
    ]
    assert len(missed) <= len(DECISIONS) // 5, missed


def test_at_most_two_of_a_hundred_unrelated_prompts_bring_something(memory: Credenda) -> None:
    needless = [prompt for prompt in UNRELATED if _recall(memory, prompt)]
    assert len(UNRELATED) == 100
    assert len(needless) <= 2, needless


def test_a_day_on_which_everything_was_told_brings_nothing_by_itself(memory: Credenda) -> None:
    assert [prompt for prompt in DATED if _recall(memory, prompt)] == []
    assert "celery" in _recall(memory, "What did we decide today about the invoice exporter?")
