"""Read by the model that ships: ends and denials in plain words, and likings that go there and back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.model.change import ContestState
from credenda.model.memory import Stance, Status
from credenda.testing import ManualClock


@pytest.fixture
def mem(tmp_path: Path) -> Iterator[Credenda]:
    clock = ManualClock(datetime(2026, 12, 1, 9, tzinfo=UTC))
    path = tmp_path / "memory.db"
    with Credenda.open(path, user="ana", clock=clock, workers=False, settings={"reader": "learned"}) as memory:
        yield memory


def tell(mem: Credenda, *texts: str) -> list[str]:
    """Say each text by itself, and list what is held: a denial as "not …"."""
    for text in texts:
        mem.remember(text)
        mem.settle()
    held = [one for one in mem.list(limit=50).items if one.status is Status.ACTIVE and one.value]
    return sorted(f"not {one.value}" if one.stance is Stance.NEGATED else str(one.value) for one in held)


def list_questions(mem: Credenda) -> list[str]:
    return [one.question for one in mem.manage.contests() if one.state is ContestState.OPEN]


@pytest.mark.parametrize(
    ("held", "end", "denied"),
    [
        ("I take metformin 500mg", "I'm off metformin", "metformin"),
        ("I take ibuprofen 400", "I stopped taking ibuprofen", "ibuprofen"),
        ("I take prednisone 10", "I've come off prednisone", "prednisone"),
        ("I take lisinopril 20 mg", "I came off lisinopril last week", "lisinopril"),
        ("I'm on sertraline 50mg", "I don't take sertraline anymore", "sertraline"),
        ("I'm on warfarin 5mg", "I've been taken off warfarin", "warfarin"),
        ("I take levothyroxine 75 mcg", "I don't take levothyroxine any more", "levothyroxine"),
        ("I take Bayer aspirin", "I no longer take aspirin", "aspirin"),
        ("I take insulin glargine", "I'm off insulin", "insulin"),
        ("I use Ventolin inhaler", "I no longer use Ventolin", "Ventolin"),
    ],
)
def test_an_end_names_a_medicine_without_its_dose_or_brand(mem: Credenda, held: str, end: str, denied: str) -> None:
    assert len(tell(mem, held)) == 1
    assert tell(mem, end) == [f"not {denied}"]
    assert list_questions(mem) == []


def test_a_medicine_that_is_taken_again_is_denied_no_more(mem: Credenda) -> None:
    tell(mem, "I take metformin 500mg", "I'm off metformin")
    assert tell(mem, "I take metformin 850mg again") == ["850mg of metformin"]


@pytest.mark.parametrize(
    ("texts", "held"),
    [
        (("I'm allergic to tree nuts", "I'm not allergic to nuts anymore"), ["not nuts", "tree nuts"]),
        (("I'm allergic to cow's milk", "I'm not allergic to milk any more"), ["cow's milk", "not milk"]),
        (("I drive a red Golf and a blue Golf", "I sold the Golf"), ["blue Golf", "not Golf", "red Golf"]),
    ],
)
def test_an_end_that_may_mean_another_value_is_asked_about(
    mem: Credenda, texts: tuple[str, ...], held: list[str]
) -> None:
    assert tell(mem, *texts) == held
    assert len(list_questions(mem)) == 1
    assert all(one.contested for one in mem.list().items)


@pytest.mark.parametrize(
    ("held", "end", "left"),
    [
        ("I live with my flatmate Ivo", "my flatmate Ivo moved out", ["not Ivo"]),
        ("I live with my flatmate Ivo", "my flatmate moved out", ["not Ivo"]),
        ("I live with my roommate Dana", "My roommate Dana moved out last month", ["not Dana"]),
        ("I'm married to Tom", "Tom is now my ex husband", ["not Tom"]),
        ("We're flying to Lisbon on 20 December", "Lisbon trip is cancelled", []),
        ("We're going to Rome in March", "the Rome trip fell through", []),
        ("We're going to Rome in March", "We're not going to Rome after all", []),
        ("We're going to Rome in March", "the trip is off", []),
        ("We planned a visit to Vienna", "the Vienna visit was called off", []),
        ("I have a gym membership at FitX", "I cancelled my FitX membership", ["gym", "not FitX"]),
        ("I love chocolate", "I cut chocolate out of my diet", ["chocolate", "not chocolate"]),
        ("I love coffee", "I've cut out coffee completely since my ulcer", ["coffee", "not coffee", "ulcer"]),
    ],
)
def test_words_of_leaving_end_what_they_name(mem: Credenda, held: str, end: str, left: list[str]) -> None:
    assert tell(mem, held)
    assert tell(mem, end) == left


def test_whoever_moved_out_was_never_held_to_live_here(mem: Credenda) -> None:
    assert tell(mem, "my flatmate Ivo moved out") == []


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ("I live with my flatmate Ivo", "I'm off to Berlin"),
        ("I live with my flatmate Ivo", "I moved out of my comfort zone"),
        ("I live with Ivo", "Ivo moved out of his comfort zone"),
        ("I live with Ivo", "Ivo didn't move out"),
        ("My husband Tom is a baker", "my ex husband Tom still lives here"),
        ("I'm married to Ben", "Tom is my ex husband"),
        ("I'm going to Paris in May", "the trip is off the beaten path"),
        ("I'm going to Paris in May", "the trip to Rome is cancelled"),
        ("I love coffee", "I cut out a coupon for coffee"),
        ("I take vitamin C", "I stopped taking vitamin D"),
        ("I take ibuprofen 400", "I don't take ibuprofen on an empty stomach"),
    ],
)
def test_words_like_those_of_an_end_end_nothing_else(mem: Credenda, held: str, said: str) -> None:
    before = tell(mem, held)
    assert before
    assert set(before) <= set(tell(mem, said))


def test_of_two_trips_none_is_called_off_without_its_name(mem: Credenda) -> None:
    before = tell(mem, "We're going to Rome in March", "We fly to Oslo in May")
    assert set(before) <= set(tell(mem, "the trip is cancelled"))


# Likings that go there and back.


@pytest.mark.parametrize(
    ("texts", "thing"),
    [
        (("I like tea", "I don't like tea", "I like tea"), "tea"),
        (("I don't like jazz", "I like jazz", "I don't like jazz"), "jazz"),
        (("I love olives", "I hate olives", "I love olives"), "olives"),
        (("I like tea", "I don't like tea any more", "I like tea again"), "tea"),
    ],
)
def test_a_liking_that_goes_there_and_back_is_a_question(mem: Credenda, texts: tuple[str, ...], thing: str) -> None:
    tell(mem, *texts)
    (question,) = list_questions(mem)
    assert question.startswith(f"I have heard that you like “{thing}”, and the opposite.")
    tell(mem, texts[1])
    assert list_questions(mem) == [question]


def test_the_answer_to_a_liking_is_held(mem: Credenda) -> None:
    tell(mem, "I like tea", "I don't like tea", "I like tea")
    (contest,) = mem.manage.contests()
    mem.manage.resolve(contest.id, keep="not tea")
    (held,) = mem.list().items
    assert (held.attribute, held.value) == ("dislikes", "tea")


def test_a_liking_of_something_else_asks_nothing(mem: Credenda) -> None:
    assert tell(mem, "I like tea", "I don't like coffee", "I like tea") == ["coffee", "tea"]
    assert list_questions(mem) == []


def test_the_reasons_of_a_liking_tell_the_two_apart(mem: Credenda) -> None:
    tell(mem, "I like tea", "I don't like tea")
    (old,) = [one for one in mem.list(status=None).items if one.status is Status.SUPERSEDED]
    assert [one.reason for one in mem.why(old.id).changes][-1] == "“not tea” replaces “tea”, which was true until then"


def test_an_earlier_value_of_another_attribute_is_not_named(mem: Credenda) -> None:
    tell(mem, "I work for Siemens", "I got laid off", "I'm freelancing for Bosch")
    shown = mem.context("Where do I work?").text
    assert "employer: Bosch (told 1 Dec 2026; previously Siemens)" in shown
