"""Belief probing: what is doubted and why, that a doubt gives nothing up, and that a person has the last word."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, MemoryUnit
from credenda.model.change import Actor, Add, SetStatus
from credenda.model.memory import Draft, Memory, MemoryType
from credenda.model.report import DreamReport, DreamStep
from credenda.storage.store import Writer
from credenda.testing import Answer, ManualClock, Question, ScriptedModel
from credenda.write.apply import Application, apply
from credenda.write.forget.scope import Blanker

YEAR = timedelta(days=366)


def probe(mem: Credenda, *, dry_run: bool = False) -> DreamStep:
    report: DreamReport = mem.manage.dream(["probe"], dry_run=dry_run)
    return report.steps[0]


def hold(mem: Credenda, text: str, **parts: object) -> Memory:
    return mem.store(MemoryUnit(text=text, **parts))  # type: ignore[arg-type]


@pytest.mark.requirement("E-070", "D-028")
def test_what_is_old_and_was_never_confirmed_is_flagged_and_not_given_up(mem: Credenda, clock: ManualClock) -> None:
    held = hold(mem, "My office is in Graz.", entity="user", attribute="office", value="Graz")
    mem.manage.decay()
    clock.advance(YEAR)
    planned = probe(mem, dry_run=True)
    assert mem.get(held.id).status == "active"
    done = probe(mem)
    assert done.changes == planned.changes
    (change,) = done.changes
    assert isinstance(change, SetStatus)
    found = mem.get(held.id)
    assert (found.status, found.valid_until, found.importance) == ("challenged", None, held.importance)
    assert found.decay_score == pytest.approx(0.7)
    (hit, *_) = mem.search("Where is my office?").hits
    assert (hit.id, "challenged" in hit.flags) == (held.id, True)
    mem.manage.decay()
    assert mem.get(held.id).decay_score == pytest.approx(0.7)
    assert mem.manage.status_history(held.id)[-1].actor == "dream"


@pytest.mark.requirement("E-070")
@pytest.mark.parametrize("kept", ["confirmed", "shown", "pinned", "ageless", "young"])
def test_what_there_is_no_reason_to_doubt_is_left_alone(mem: Credenda, clock: ManualClock, kept: str) -> None:
    attribute = "birthday" if kept == "ageless" else "office"
    held = hold(mem, "It is in Graz.", entity="user", attribute=attribute, value="Graz", pinned=kept == "pinned")
    clock.advance(YEAR if kept != "young" else timedelta(days=300))
    if kept == "confirmed":
        hold(mem, "It is in Graz.", entity="user", attribute=attribute, value="Graz")
    if kept == "shown":
        assert mem.search("Graz").hits
        mem.settle()
        clock.advance(timedelta(days=5))
    assert probe(mem).changes == ()
    assert mem.get(held.id).status == "active"


@pytest.mark.requirement("E-070")
@pytest.mark.parametrize(("days", "asked"), [(13, 0), (15, 1)])
def test_a_belief_is_probed_that_was_not_shown_for_fourteen_days(
    path: Path, clock: ManualClock, *, days: int, asked: int
) -> None:
    model = ScriptedModel(lambda _: verdicts(still_valid=True))
    with Credenda.open(path, user="ana", clock=clock, workers=False, llm=model) as mem:
        hold(mem, "The bridge closes in spring.", entity="bridge", attribute="state", value="closing")
        clock.advance(timedelta(days=days))
        hold(mem, "The bridge is open again.", entity="bridge", attribute="news", value="open")
        assert probe(mem).counts["drawn"] == asked
        assert len(model.asked) == asked


@pytest.mark.requirement("E-070")
def test_five_a_night_and_no_more_on_the_same_night(mem: Credenda, clock: ManualClock) -> None:
    for at in range(12):
        hold(mem, f"Room {at} is blue.", entity=f"room {at}", attribute="colour", value="blue")
    clock.advance(YEAR)
    assert len(probe(mem).changes) == 5
    assert probe(mem).changes == ()
    clock.advance(timedelta(days=1))
    assert len(probe(mem).changes) == 5
    clock.advance(timedelta(days=1))
    assert len(probe(mem).changes) == 2
    clock.advance(timedelta(days=1))
    assert probe(mem).changes == ()


@pytest.mark.parametrize("way", ["undo", "said again", "set by the user"])
def test_who_lifts_a_doubt_is_not_asked_again_on_the_same_ground(mem: Credenda, clock: ManualClock, way: str) -> None:
    held = hold(mem, "My office is in Graz.", entity="user", attribute="office", value="Graz")
    clock.advance(YEAR)
    probe(mem)
    match way:
        case "undo":
            mem.manage.undo(mem.why(held.id).changes[-1].id)
        case "said again":
            hold(mem, "My office is in Graz.", entity="user", attribute="office", value="Graz")
        case _:
            mem.manage.set_status(held.id, "active", "it is so")
    assert mem.get(held.id).status == "active"
    clock.advance(YEAR)
    assert probe(mem).changes == ()


@pytest.mark.requirement("E-070")
def test_what_a_later_memory_speaks_against_is_doubted(mem: Credenda, clock: ManualClock) -> None:
    old = hold(mem, "The office is in Graz.", entity="user", attribute="office", value="Graz")
    clock.advance(timedelta(days=3))
    draft = Draft(text="The office is in Wien.", type=MemoryType.FACT, entity="user", attribute="office", value="Wien")
    add = Add(key="new:late", draft=draft, support=(), reason="by a way that reconciles nothing")

    def file(writer: Writer) -> str:
        return apply(writer, [add], Application(actor=Actor.RULE, now_us=clock.now_us())).ids["new:late"]

    later = mem._parts.store.commit("ana", file)  # noqa: SLF001 - no public way leaves two values side by side
    (change,) = probe(mem).changes
    assert isinstance(change, SetStatus)
    assert (change.memory_id, change.reason) == (old.id, f"probe: contradicted by {later}")
    assert mem.get(later).status == "active"


def test_what_has_no_words_left_to_rest_on_is_doubted(mem: Credenda, clock: ManualClock) -> None:
    held = hold(mem, "My office is in Graz.", entity="user", attribute="office", value="Graz")
    ((event, start, stop),) = mem.why(held.id).evidence
    assert probe(mem).changes == ()

    def blank(writer: Writer) -> None:
        Blanker(writer, clock.now_us(), Actor.RULE, set()).blank(event.id, [(start, stop)])

    mem._parts.store.commit("ana", blank)  # noqa: SLF001 - as deleting a neighbour does
    (change,) = probe(mem).changes
    assert isinstance(change, SetStatus)
    assert change.reason == "probe: its source is gone"
    assert mem.get(held.id).status == "challenged"


def verdicts(**given: object) -> Answer:
    return {"still_valid": False, "confidence": 0.9, "reason": "outdated", "because": ""} | given


@pytest.mark.requirement("E-070")
@pytest.mark.parametrize(
    ("answer", "doubted"),
    [
        (verdicts(), True),
        (verdicts(still_valid=True), False),
        (verdicts(confidence=0.4), False),
        (verdicts(confidence=7), False),
        (verdicts(reason="I just feel so"), False),
        (verdicts(reason="contradicted"), False),
        (verdicts(reason="contradicted", because="s1"), True),
        ("no JSON at all", False),
        ({"claims": []}, False),
    ],
)
def test_a_model_may_raise_a_doubt_and_nothing_else(
    path: Path, clock: ManualClock, answer: Answer, *, doubted: bool
) -> None:
    model = ScriptedModel(lambda _: answer)
    with Credenda.open(path, user="ana", clock=clock, workers=False, llm=model) as mem:
        held = hold(mem, "The bridge closes in spring.", entity="bridge", attribute="state", value="closing")
        clock.advance(timedelta(days=20))
        later = hold(mem, "The bridge is open again.", entity="bridge", attribute="news", value="open")
        done = probe(mem)
        assert (mem.get(held.id).status == "challenged") is doubted
        assert mem.get(later.id).status == "active"
        (question,) = model.asked
        assert held.id not in question.prompt
        assert json.loads(question.prompt)["since"][0]["text"] == "The bridge is open again."
        asked = len(model.asked)
        assert probe(mem).changes == ()
        assert len(model.asked) == asked
        assert all(isinstance(change, SetStatus) for change in done.changes)


def test_a_model_is_asked_about_five_a_night_within_its_budget(path: Path, clock: ManualClock) -> None:
    def never(_: Question) -> Answer:
        return verdicts(still_valid=True)

    model = ScriptedModel(never)
    with Credenda.open(path, user="ana", clock=clock, workers=False, llm=model) as mem:
        for at in range(9):
            hold(mem, f"Room {at} is blue.", entity=f"room {at}", attribute="colour", value="blue")
        clock.advance(timedelta(days=15))
        probe(mem)
        assert len(model.asked) == 5
        spent = mem.stats().model
        assert spent is not None
        assert spent.calls == 5
    broke = {"llm_daily_tokens": 1}
    with Credenda.open(path, user="ana", clock=clock, workers=False, llm=model, settings=broke) as mem:
        clock.advance(timedelta(days=1))
        assert "budget" in " ".join(probe(mem).told)
        assert len(model.asked) == 5


@pytest.mark.requirement("D-028", "D-029")
def test_a_card_leaves_out_what_the_same_night_doubts(mem: Credenda, clock: ManualClock) -> None:
    for at in range(7):
        hold(mem, f"Ada owns the Marlin {at}.", entity="Ada", attribute=f"boat {at}", value=f"Marlin {at}")
    clock.advance(YEAR)
    first = mem.manage.dream()
    doubted = {one.id for one in mem.list(status="challenged").items}
    assert len(doubted) == 5
    assert {step.name: step.counts for step in first.steps}["cards"]["ended"] == 1
    assert not [one for one in mem.list().items if one.attribute == "peer_card"]
    assert mem.manage.dream().changed == 0
    assert mem.data.rebuild(dry_run=True).differences == ()
