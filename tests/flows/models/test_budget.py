"""What models may cost, have cost and would cost."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, Invalid
from credenda.testing import ManualClock, ScriptedModel

from .build import BEES, BUSY, CLAIM, CUT, Reopen, held, say, use_of


def test_each_call_is_booked_to_its_day(mem: Credenda, model: ScriptedModel, clock: ManualClock) -> None:
    model.say("certainly!", [CLAIM, CLAIM | {"value": "fifty"}, CLAIM | {"quote": "twelve bees"}])
    say(mem, BEES)
    assert (use_of(mem).calls, use_of(mem).tokens) == (2, 240)
    assert (use_of(mem).messages, use_of(mem).tokens_a_message) == (1, 240.0)
    assert use_of(mem).claims == {
        "refused: the value does not occur in the quoted sentence": 1,
        "refused: the quote does not occur in a message": 1,
    }
    clock.advance(timedelta(days=1))
    assert (use_of(mem).calls, use_of(mem).tokens, use_of(mem).messages, use_of(mem).claims) == (0, 0, 0, {})


def test_a_price_makes_tokens_a_cost(reopen: Reopen) -> None:
    mem = reopen(llm=ScriptedModel([[CLAIM]], tokens=(1_000_000, 100_000)), llm_price="2/30", llm_daily_tokens=10**9)
    say(mem, BEES)
    assert use_of(mem).cost_usd == pytest.approx(5.0)


def test_a_failed_call_costs_what_it_says(mem: Credenda, model: ScriptedModel) -> None:
    model.say(CUT)
    say(mem, BEES)
    assert (use_of(mem).calls, use_of(mem).tokens) == (1, 120)


@pytest.mark.parametrize("tokens", [0, 500])
def test_over_the_budget_the_rules_read_alone_until_the_next_day(
    reopen: Reopen, clock: ManualClock, tokens: int
) -> None:
    model = ScriptedModel()
    mem = reopen(llm=model, llm_daily_tokens=tokens)
    say(mem, "I live in Graz.", BEES)
    assert model.asked == []
    assert held(mem) == [("residence", "Graz")]
    assert use_of(mem).waiting == {"over the day's budget": 2}
    assert (use_of(mem).tokens, use_of(mem).tokens_max) == (0, tokens)
    assert mem.stats().pending_extractions == 0
    mem.close()
    richer = reopen(llm=model)
    clock.advance(timedelta(hours=14, minutes=59))
    richer.settle()
    assert model.asked == []
    model.say([], [CLAIM])
    clock.advance(timedelta(minutes=1))
    richer.settle()
    assert held(richer) == [("hives", "forty"), ("residence", "Graz")]
    assert use_of(richer).waiting == {}


def test_the_budget_of_one_is_not_that_of_another(reopen: Reopen) -> None:
    model = ScriptedModel(tokens=(8_000, 0))
    ana = reopen(llm=model, llm_daily_tokens=10_000)
    say(ana, BEES, BEES.replace("forty", "fifty"))
    assert len(model.asked) == 1
    ben = reopen(user="ben", llm=model, llm_daily_tokens=10_000)
    say(ben, BEES)
    assert len(model.asked) == 2
    assert use_of(ben).tokens == 8_000


def test_a_second_reading_now_on_request(mem: Credenda, model: ScriptedModel) -> None:
    model.say(BUSY)
    say(mem, BEES)
    model.say([CLAIM])
    report = mem.manage.extract()
    assert (report.turns, report.waiting, report.dry_run) == (1, 0, False)
    assert held(mem) == [("hives", "forty")]
    assert mem.manage.extract().turns == 0


def test_a_dry_run_asks_nobody_and_writes_nothing(mem: Credenda, model: ScriptedModel, tmp_path: Path) -> None:
    mem.remember(BEES)
    mem.remember("Thanks!")
    before = mem.stats()
    queue = mem.manage.extract(dry_run=True)
    assert (queue.turns, queue.calls, queue.skipped, queue.cost_usd) == (2, 1, {"empty": 1}, None)
    named = mem.manage.extract(text=BEES, dry_run=True, model="anthropic:claude-haiku-4-5-20251001")
    assert named.cost_usd == pytest.approx((named.tokens_in + 5 * named.tokens_out) / 1e6)
    assert named.cost_usd is not None
    assert named.cost_usd_most is not None
    assert named.cost_usd_most > named.cost_usd > 0
    talk = tmp_path / "talk.jsonl"
    turns = [{"id": "1", "speaker": "user", "text": BEES}, {"id": "2", "speaker": "assistant", "text": "Ok."}]
    sessions = [{"id": "s", "time": "2026-01-01", "turns": turns}]
    talk.write_text(json.dumps({"conv": "c", "speakers": ["user", "assistant"], "sessions": sessions}))
    file = mem.manage.extract(talk, dry_run=True)
    assert (file.turns, file.calls, file.skipped) == (2, 1, {"speaker": 1})
    assert mem.stats() == before
    assert model.asked == []


@pytest.mark.parametrize("given", [{"text": "x"}, {"path": "x.txt"}, {"model": "openai:x"}])
def test_what_is_to_be_believed_is_said_first(mem: Credenda, given: dict[str, str]) -> None:
    with pytest.raises(Invalid, match="dry run"):
        mem.manage.extract(**given)  # type: ignore[arg-type]


def test_without_a_model_there_is_nothing_to_read_or_price_with(reopen: Reopen) -> None:
    mem = reopen(llm=None)
    assert mem.stats().model is None
    for dry_run in (True, False):
        with pytest.raises(Invalid, match="no LLM"):
            mem.manage.extract(dry_run=dry_run)
