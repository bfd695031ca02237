"""What a user decided is recalled when it is asked for in other words, and prompts about other things bring nothing."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from credenda import Credenda
from credenda.agents.recall import find_for_prompt

FOLDER = Path(__file__).parents[1] / "data"
DATED = ("Which files changed since yesterday?", "Who touched the parser today?", "What did the release change today?")
"""Prompts about other things that name a day on which everything was told."""


class Told(NamedTuple):
    """What was told in sessions, and how it is asked for later."""

    decisions: list[dict[str, str]]
    own: list[str]
    unrelated: list[str]


def load(*names: str) -> Told:
    found = [tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8")) for name in names]
    return Told(
        [one for data in found for one in data["decisions"]],
        [one for data in found for one in data.get("own", {"told": []})["told"]],
        [one for data in found for one in data["unrelated"]["prompts"]],
    )


FIRST, SECOND = load("hook_decisions"), load("hook_decisions_2")
BOTH = load("hook_decisions", "hook_decisions_2")


def open_told(told: Told, folder: Path, *, asked: bool = False) -> Credenda:
    """Open a memory of sessions in which all was told, and a part of the prompts of this test."""
    opened = Credenda.open(folder / "memory.db", user="ana", workers=False, embedder="minilm")
    said = [one["told"] for one in told.decisions] + told.own
    said += [one["asked"] for one in told.decisions] + told.unrelated if asked else told.unrelated[::4]
    for number, text in enumerate(said):
        opened.remember(text, session=f"s{number // 5}")
        opened.remember([{"role": "assistant", "content": "Understood."}], session=f"s{number // 5}")
    opened.settle(600)
    return opened


@pytest.fixture(scope="module", params=[False, True], ids=["told", "told and asked before"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Credenda]:
    with open_told(FIRST, tmp_path_factory.mktemp("decisions"), asked=request.param) as opened:
        yield opened


def _recall(memory: Credenda, prompt: str) -> str:
    return find_for_prompt(memory, prompt, session="now").text.casefold()


def _list_missed(memory: Credenda, told: Told) -> list[str]:
    return [one["asked"] for one in told.decisions if one["needs"].casefold() not in _recall(memory, one["asked"])]


def test_four_of_five_decisions_are_recalled_in_other_words(memory: Credenda) -> None:
    missed = _list_missed(memory, FIRST)
    assert len(missed) <= len(FIRST.decisions) // 5, missed


def test_at_most_two_of_a_hundred_unrelated_prompts_bring_something(memory: Credenda) -> None:
    needless = [prompt for prompt in FIRST.unrelated if _recall(memory, prompt)]
    assert len(FIRST.unrelated) == 100
    assert len(needless) <= 2, needless


def test_a_day_on_which_everything_was_told_brings_nothing_by_itself(memory: Credenda) -> None:
    assert [prompt for prompt in DATED if _recall(memory, prompt)] == []
    assert "celery" in _recall(memory, "What did we decide today about the invoice exporter?")


def test_another_project_beside_facts_about_the_user_has_the_same_bounds(tmp_path: Path) -> None:
    with open_told(SECOND, tmp_path) as memory:
        missed = _list_missed(memory, SECOND)
        needless = [prompt for prompt in SECOND.unrelated if _recall(memory, prompt)]
    assert len(missed) <= len(SECOND.decisions) // 5, missed
    assert len(needless) <= len(SECOND.unrelated) // 50, needless


def test_more_decisions_make_each_of_them_little_harder_to_recall(tmp_path: Path) -> None:
    """The probability of an answer falls with the number of messages, and the best hit is the right one as before."""
    with open_told(BOTH, tmp_path) as memory:
        missed = _list_missed(memory, BOTH)
        needless = [prompt for prompt in BOTH.unrelated if _recall(memory, prompt)]
    assert len(missed) <= len(BOTH.decisions) * 3 // 10, missed
    assert len(needless) <= len(BOTH.unrelated) // 50, needless


def test_what_is_told_again_is_no_rival_of_itself(tmp_path: Path) -> None:
    said = ["The feature flags come from Unleash.", "We keep our feature flags in Unleash."]
    told = Told([{"told": one, "asked": one, "needs": "unleash"} for one in said], [], FIRST.unrelated)
    with open_told(told, tmp_path) as memory:
        assert "unleash" in _recall(memory, "What did we select for feature flags?")


def test_a_request_that_shares_a_word_with_a_belief_brings_nothing(memory: Credenda) -> None:
    assert _recall(memory, "Summarise the changes in this pull request.") == ""
