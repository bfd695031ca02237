"""Reading with a model, from what is said to what is held: every way that it can go."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, MemoryUnit, limits
from credenda.bootstrap import build_parts
from credenda.providers.llm.protocol import Question
from credenda.testing import ManualClock, ModelFailure, ScriptedModel, Trouble
from credenda.workers.loop import run_due_jobs

from .build import AWAY, BEES, BUSY, CLAIM, CUT, Reopen, held, only, say, use_of


def test_one_call_a_turn_and_what_it_found_is_held_by_the_model(mem: Credenda, model: ScriptedModel) -> None:
    model.say([CLAIM])
    say(mem, BEES)
    assert held(mem) == [("hives", "forty")]
    assert len(model.asked) == 1
    explained = mem.why(only(mem).id)
    assert [(change.kind, change.actor) for change in explained.changes] == [("add", "model")]
    ((event, start, stop),) = explained.evidence
    assert event.text[start:stop] == BEES


def test_evidence_names_the_prompt_and_the_model(path: Path, clock: ManualClock) -> None:
    parts = build_parts(path, user="ana", clock=clock, llm=ScriptedModel([[CLAIM]]), embedder="none")
    with Credenda(parts, workers=False) as mem:
        say(mem, BEES)
        with parts.store.reader("ana") as reader:
            readers = {item.reader for item in reader.evidence(memory_ids=[one.id for one in mem.list().items])}
    assert readers == {"extract-6 scripted:script"}


@pytest.mark.parametrize("text", ["Thanks a lot!", "How do I sort a list?", "Explain recursion.", "I'm tired today."])
def test_turns_that_hold_nothing_cost_no_call(mem: Credenda, model: ScriptedModel, text: str) -> None:
    say(mem, text)
    assert model.asked == []
    assert held(mem) == []


def test_an_assistant_is_never_read(mem: Credenda, model: ScriptedModel) -> None:
    mem.remember([{"role": "assistant", "content": BEES}, {"role": "user", "content": BEES}])
    mem.settle()
    (question,) = model.asked
    assert json.loads(question.prompt)["messages"] == [
        {"from": "assistant", "text": BEES},
        {"turn": "t1", "from": "user", "text": BEES},
    ]


def test_a_known_memory_is_shown_and_confirmed(mem: Credenda, model: ScriptedModel) -> None:
    mem.store(MemoryUnit(text="Forty hives", entity="user", attribute="beehives", value="forty"))
    model.say([CLAIM | {"effect": "repeats k1"}])
    say(mem, BEES)
    assert json.loads(model.asked[0].prompt)["known"] == {"2026-03-01": {"k1": "user beehives: forty"}}
    assert held(mem) == [("beehives", "forty")]
    assert only(mem).confirmations == 1


def test_a_memory_that_changed_meanwhile_is_looked_at_again_without_asking(reopen: Reopen) -> None:
    plain = reopen(llm=None)
    known = plain.store(MemoryUnit(text="Forty hives", entity="user", attribute="beehives", value="forty"))

    def answer(_: Question) -> list[dict[str, object]]:
        plain.correct(known.id, value="fifty")
        return [CLAIM | {"effect": "repeats k1"}]

    model = ScriptedModel(answer)
    mem = reopen(llm=model)
    say(mem, BEES)
    assert held(mem) == [("beehives", "fifty"), ("hives", "forty")]
    assert len(model.asked) == 1


def test_what_was_deleted_while_the_model_thought_stays_deleted(path: Path, clock: ManualClock) -> None:
    opened: list[Credenda] = []

    def answer(_: Question) -> list[dict[str, object]]:
        (hit,) = opened[0].search("hives honey", kinds=["event"]).hits
        opened[0].delete(hit.id)
        return [CLAIM]

    with Credenda.open(path, user="ana", clock=clock, llm=ScriptedModel(answer), embedder="none", workers=False) as mem:
        opened.append(mem)
        say(mem, BEES)
        assert held(mem, None) == []
        assert mem.stats().jobs == {"complete": 2}


@pytest.mark.requirement("R-050", "R-051", "R-052")
@pytest.mark.parametrize("failure", [BUSY, AWAY, CUT, ModelFailure(Trouble.REFUSED, "it refused"), "nonsense"])
def test_a_failure_keeps_the_words_and_the_next_reading_replaces_them(
    mem: Credenda, model: ScriptedModel, clock: ManualClock, failure: ModelFailure | str
) -> None:
    model.say(*[failure] * (2 if isinstance(failure, str) else 1))
    say(mem, BEES)
    kept = only(mem)
    assert (kept.provisional, kept.text, kept.confidence) == (True, BEES, 0.3)
    assert sum(use_of(mem).waiting.values()) == 1
    assert mem.data.doctor().ok
    model.say([CLAIM])
    clock.advance(timedelta(hours=1, seconds=1))
    mem.settle()
    assert held(mem) == [("hives", "forty")]
    gone = mem.get(kept.id)
    assert (gone.status, gone.relation, gone.superseded_by) == ("superseded", "refined", only(mem).id)
    calls = len(model.asked)
    clock.advance(timedelta(days=2))
    mem.settle()
    assert len(model.asked) == calls
    assert mem.data.doctor().ok


def test_words_that_turn_out_to_hold_nothing_give_way_to_nothing(
    mem: Credenda, model: ScriptedModel, clock: ManualClock
) -> None:
    model.say(BUSY)
    say(mem, BEES)
    kept = only(mem)
    clock.advance(timedelta(seconds=91))
    mem.settle()
    assert held(mem) == []
    assert (mem.get(kept.id).status, mem.get(kept.id).relation) == ("merged", "duplicate")
    assert [hit.kind for hit in mem.search("hives honey", include=["low_confidence"]).hits] == ["event"]


def test_what_the_rules_read_stands_in_while_the_model_is_away(
    mem: Credenda, model: ScriptedModel, clock: ManualClock
) -> None:
    model.say(BUSY)
    say(mem, "I live in Graz.")
    assert held(mem) == [("residence", "Graz")]
    model.say([{"quote": "I live in Graz", "attribute": "residence", "value": "Graz"}])
    clock.advance(timedelta(seconds=91))
    mem.settle()
    assert held(mem) == [("residence", "Graz")]
    assert only(mem).confirmations == 0
    assert len(model.asked) == 2


def test_where_the_model_answers_it_decides(mem: Credenda, model: ScriptedModel) -> None:
    model.say([])
    say(mem, "I live in Graz.")
    assert held(mem, None) == []


def test_waiting_messages_of_a_session_are_one_question(mem: Credenda, model: ScriptedModel) -> None:
    mem.remember("I keep bees in the shed.", session="one")
    mem.remember({"role": "assistant", "content": "How many?"}, session="one")
    mem.remember("We have forty hives by now.", session="one")
    mem.remember("I work at a brewery.", session="two")
    mem.remember("I have a small boat.")
    mem.remember("I have a tall ladder.")
    hives = {"turn": "t2", "quote": "forty hives", "attribute": "hives", "value": "forty hives"}
    model.say([{"turn": "t1", "quote": "I keep bees", "attribute": "keeps", "value": "bees"}, hives])
    mem.settle()
    asked = [[one["text"] for one in json.loads(one.prompt)["messages"] if "turn" in one] for one in model.asked]
    assert asked == [
        ["I keep bees in the shed.", "We have forty hives by now."],
        ["I work at a brewery."],
        ["I have a small boat."],
        ["I have a tall ladder."],
    ]
    assert '{"from":"assistant","text":"How many?"}' in model.asked[0].prompt
    assert held(mem) == [("hives", "forty hives"), ("keeps", "bees")]
    assert use_of(mem).messages == 5
    assert mem.data.doctor().ok


def test_a_passage_is_bounded_and_a_session_goes_on_with_the_next_one(mem: Credenda, model: ScriptedModel) -> None:
    for number in range(limits.LLM_PASSAGE_TURNS + 2):
        mem.remember(f"I have ladder number {number}.", session="one")
    mem.remember("I have a story: " + "we went on and on. " * 320, session="one")
    mem.settle()
    counted = [sum("turn" in one for one in json.loads(asked.prompt)["messages"]) for asked in model.asked]
    assert counted == [limits.LLM_PASSAGE_TURNS, 2, 1]


def test_a_failed_passage_is_asked_about_one_by_one(mem: Credenda, model: ScriptedModel, clock: ManualClock) -> None:
    mem.remember("I keep bees in the shed.", session="one")
    mem.remember(BEES, session="one")
    model.say(BUSY)
    mem.settle()
    assert sum(use_of(mem).waiting.values()) == 2
    model.say([], [CLAIM])
    clock.advance(timedelta(seconds=91))
    mem.settle()
    assert len(model.asked) == 3
    assert ("hives", "forty") in held(mem)


def test_a_busy_model_is_left_alone_as_long_as_it_asks(mem: Credenda, model: ScriptedModel, clock: ManualClock) -> None:
    model.say(BUSY)
    say(mem, BEES, "My uncle's tractor broke down again on the hill.")
    assert len(model.asked) == 1, "while it is left alone nobody else is asked about either"
    clock.advance(timedelta(seconds=90, microseconds=-1))
    mem.settle()
    assert len(model.asked) == 1
    clock.advance(timedelta(microseconds=1))
    mem.settle()
    assert len(model.asked) == 3


def test_without_a_word_from_it_the_wait_doubles(mem: Credenda, model: ScriptedModel, clock: ManualClock) -> None:
    model.say(AWAY, AWAY, AWAY, AWAY)
    say(mem, BEES)
    for calls, wait in ((1, 2), (2, 4), (3, 8)):
        clock.advance(timedelta(seconds=wait, microseconds=-1))
        mem.settle()
        assert len(model.asked) == calls
        clock.advance(timedelta(microseconds=1))
        mem.settle()
        assert len(model.asked) == calls + 1


def test_a_message_that_no_answer_fits_is_given_up_in_the_end(reopen: Reopen, clock: ManualClock) -> None:
    model = ScriptedModel(lambda _: CUT)
    mem = reopen(llm=model, job_attempts=3)
    say(mem, BEES)
    for _ in range(6):
        clock.advance(timedelta(hours=1, seconds=1))
        mem.settle()
    assert len(model.asked) == 1 + 3
    assert mem.stats().dead_jobs == 1
    assert only(mem).provisional
    report = mem.manage.extract()
    assert (report.turns, report.waiting) == (1, 1)


def test_an_outage_of_days_loses_nothing(reopen: Reopen, clock: ManualClock) -> None:
    away = True

    def answer(_: Question) -> ModelFailure | list[dict[str, object]]:
        return AWAY if away else [CLAIM]

    mem = reopen(llm=ScriptedModel(answer))
    say(mem, BEES)
    for _ in range(60):
        clock.advance(timedelta(hours=2))
        mem.settle()
    assert mem.stats().dead_jobs == 0
    away = False
    clock.advance(timedelta(hours=2))
    mem.settle()
    assert held(mem) == [("hives", "forty")]


def test_a_memory_opened_without_a_model_reads_by_rules_what_waited_for_one(
    path: Path, clock: ManualClock, reopen: Reopen
) -> None:
    parts = build_parts(path, user="ana", clock=clock, llm=ScriptedModel(), embedder="none")
    with Credenda(parts, workers=False) as mem:
        mem.remember("I live in Graz.")
        assert run_due_jobs(parts) == 1
        assert held(mem) == []
    plain = reopen(llm=None)
    plain.settle()
    assert held(plain) == [("residence", "Graz")]
