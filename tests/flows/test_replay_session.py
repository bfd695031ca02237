"""Contexts of the past, rebuilt from the log with and without a memory."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, Invalid, NotFound
from credenda.testing import ManualClock

PROMPTS = ("Where do I work?", "What do I drink in the morning?", "What am I allergic to?")


@pytest.fixture(params=["apart", "at once"])
def told(request: pytest.FixtureRequest, mem: Credenda, clock: ManualClock) -> dict[str, str]:
    """Talk in a session, and keep the context that each prompt got."""
    step = timedelta(days=1) if request.param == "apart" else timedelta(0)
    got: dict[str, str] = {}
    for fact, prompt in zip(("I work at Acme.", "I drink tea.", "I am allergic to nuts."), PROMPTS, strict=True):
        mem.remember(fact)
        mem.settle()
        clock.advance(step)
        got[prompt] = mem.context(prompt, record_access=False).text
        mem.remember(prompt, session="s1")
        mem.settle()
        clock.advance(step)
    for fact in ("I work at Brixen now.", "I no longer drink tea.", "I like rain.", "I live in Graz."):
        mem.remember(fact)
        mem.settle()
        clock.advance(step)
    return got


def test_each_context_is_rebuilt_byte_for_byte(mem: Credenda, told: dict[str, str]) -> None:
    report = mem.inspect.replay("s1")
    assert {one.prompt: one.with_text for one in report.prompts} == told
    assert all(told.values())
    assert mem.inspect.replay("s1") == report


def test_a_context_without_a_memory_lacks_it_and_nothing_else(mem: Credenda, told: dict[str, str]) -> None:
    (acme,) = (one for one in mem.list(status="superseded").items if one.value == "Acme")
    report = mem.inspect.replay("s1", without=acme.id)
    first, *others = report.prompts
    assert first.changed
    assert "Acme" in first.with_text
    assert "Acme" not in (first.without_text or "")
    assert report.changed >= 1
    assert {one.prompt: one.with_text for one in report.prompts} == told
    assert mem.get(acme.id).text == "I work at Acme."
    assert [one.event_id for one in others] == [one.event_id for one in report.prompts[1:]]


def test_a_memory_that_was_not_known_yet_changes_nothing(mem: Credenda, told: dict[str, str]) -> None:
    assert told
    (home,) = mem.list(attribute="residence").items
    report = mem.inspect.replay("s1", without=home.id)
    assert report.changed == 0
    assert all(one.without_text == one.with_text for one in report.prompts)


def test_a_replay_changes_nothing(mem: Credenda, told: dict[str, str], tmp_path: Path) -> None:
    assert told
    mem.data.export(tmp_path / "before.jsonl")
    (home,) = mem.list(attribute="residence").items
    mem.inspect.replay("s1", without=home.id, limit=1)
    mem.data.export(tmp_path / "after.jsonl")
    assert (tmp_path / "before.jsonl").read_bytes() == (tmp_path / "after.jsonl").read_bytes()


def test_what_was_deleted_since_is_in_no_past(mem: Credenda, told: dict[str, str]) -> None:
    assert "nuts" in told[PROMPTS[2]]
    (nuts,) = mem.list(attribute="allergy").items
    mem.delete(nuts.id)
    report = mem.inspect.replay("s1")
    assert not any("nuts" in one.with_text for one in report.prompts)
    with pytest.raises(Invalid, match="was deleted"):
        mem.inspect.replay("s1", without=nuts.id)


def test_the_last_prompts_are_taken_and_the_others_counted(mem: Credenda, told: dict[str, str]) -> None:
    assert told
    report = mem.inspect.replay("s1", limit=1, automatic=True, token_budget=60)
    assert ([one.prompt for one in report.prompts], report.left_out) == ([PROMPTS[2]], 2)
    for wrong in (0, 51):
        with pytest.raises(Invalid):
            mem.inspect.replay("s1", limit=wrong)
    with pytest.raises(NotFound):
        mem.inspect.replay("unknown")
    with pytest.raises(NotFound):
        mem.inspect.replay("s1", without="m99-000000")
