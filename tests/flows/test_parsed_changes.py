"""Changes that a parsed clause tells: only the value that it names or moves gives way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.model.memory import Stance
from credenda.testing import ManualClock

pytestmark = pytest.mark.usefixtures("with_parser")
Say = Callable[..., None]


def list_slots(mem: Credenda, status: str = "active") -> set[tuple[str | None, str | None, Stance]]:
    return {(one.attribute, one.value, one.stance) for one in mem.list(status=status, limit=50).items}


def test_whoever_quits_and_starts_elsewhere_has_no_employer_until_the_day(mem: Credenda, say: Say) -> None:
    say("I work at Nordlicht.", "I quit, next week I start at Siemens.")
    assert ("employer", "Nordlicht", Stance.ASSERTED) in list_slots(mem, "superseded")
    assert ("employer", "Siemens", Stance.PLANNED) in list_slots(mem)
    say("I work at Siemens.")
    assert ("employer", "Siemens", Stance.ASSERTED) in list_slots(mem)
    assert ("employer", "Siemens", Stance.PLANNED) not in list_slots(mem)


@pytest.mark.parametrize("parser", ["spacy", "none"])
@pytest.mark.parametrize(
    "text",
    [
        "I quit Nordlicht, next week I start at DeepL.",
        "I've resigned from Nordlicht; on Monday I begin at DeepL.",
        "I left Nordlicht and I'm joining DeepL next month.",
    ],
)
def test_an_end_and_a_plan_of_one_sentence_are_both_held(
    path: Path, monkeypatch: pytest.MonkeyPatch, parser: str, text: str
) -> None:
    monkeypatch.setenv("CREDENDA_PARSER", parser)
    with Credenda.open(path, user="ana", clock=ManualClock("2026-03-04T12:00:00Z"), workers=False) as mem:
        for said in ("I work at Nordlicht.", text):
            mem.remember(said)
            mem.settle()
        assert ("employer", "Nordlicht", Stance.ASSERTED) in list_slots(mem, "superseded")
        assert ("employer", "DeepL", Stance.PLANNED) in list_slots(mem)


@pytest.mark.parametrize(
    "text",
    ["How do you say I am vegetarian in Spanish?", "Write a story where I live in Paris.", "I'm married to my job."],
)
def test_what_is_only_put_into_words_fills_no_slot_of_a_person(mem: Credenda, say: Say, text: str) -> None:
    say(text)
    assert not list_slots(mem) & {
        ("diet", "vegetarian", Stance.REPORTED),
        ("residence", "Paris", Stance.ASSERTED),
        ("spouse", "job", Stance.ASSERTED),
    }


@pytest.mark.parametrize(
    "text",
    [
        "I didn't quit my job.",
        "I want to quit my job next year.",
        "I will quit my job.",
        "My sister quit her job and starts at Bosch.",
    ],
)
def test_nobody_elses_and_no_planned_leaving_ends_a_job(mem: Credenda, say: Say, text: str) -> None:
    say("I work at Nordlicht.", text)
    assert ("employer", "Nordlicht", Stance.ASSERTED) in list_slots(mem)


def test_a_planned_move_leaves_the_home(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I'm moving to Graz next month.")
    assert {("residence", "Linz", Stance.ASSERTED), ("residence", "Graz", Stance.PLANNED)} <= list_slots(mem)


def test_a_moved_day_takes_the_place_of_the_only_one(mem: Credenda, say: Say) -> None:
    say("My visa interview on June 10 scares me.", "My visa interview was moved to July 5.")
    assert ("date", "July 5", Stance.ASSERTED) in list_slots(mem)
    assert ("date", "June 10", Stance.ASSERTED) in list_slots(mem, "superseded")


def test_a_moved_day_leaves_two_days_alone(mem: Credenda, say: Say) -> None:
    say("My visa interview on June 10 scares me.", "My visa interview on June 19 scares me too.")
    say("My visa interview was moved to July 5.")
    dates = {value for attribute, value, _ in list_slots(mem) if attribute == "date"}
    assert dates == {"June 10", "June 19", "July 5"}


def test_it_moves_the_only_thing_that_was_named(mem: Credenda, say: Say) -> None:
    say("I have a Zoom meeting with Eva on May 3.")
    say("I'm worried about missing the Zoom meeting with Eva, so can you remind me that it's rescheduled to May 5?")
    assert ("date", "May 5", Stance.ASSERTED) in list_slots(mem)
    assert ("date", "May 3", Stance.ASSERTED) in list_slots(mem, "superseded")


def test_it_moves_an_owned_thing_of_the_sentence_before_and_no_other(mem: Credenda, say: Say) -> None:
    say("My interview is on June 10. It was moved to July 5.")
    say("The meeting is on May 3. It was moved to May 9.")
    dates = {value for attribute, value, _ in list_slots(mem) if attribute == "date"}
    assert dates >= {"July 5", "May 3"}
    assert list_slots(mem, "superseded") == {("date", "June 10", Stance.ASSERTED)}


def test_what_one_turn_tells_settles_no_plan_of_the_same_turn(mem: Credenda, say: Say) -> None:
    say("I'm trying to update my budget plan after it was submitted.")
    assert ("goal", "update my budget plan", Stance.PLANNED) in list_slots(mem)


def test_a_change_that_is_told_twice_ends_nothing_new(mem: Credenda, say: Say) -> None:
    say("I improved my accuracy from 60% to 85%.", "I improved my accuracy from 60% to 85% over two weeks.")
    assert {one for one in list_slots(mem) if one[0] == "accuracy"} == {("accuracy", "85%", Stance.ASSERTED)}
    assert {one for one in list_slots(mem, "superseded") if one[0] == "accuracy"} == {
        ("accuracy", "60%", Stance.ASSERTED)
    }


def test_another_journey_settles_no_plan(mem: Credenda, say: Say) -> None:
    say("I'm looking forward to my trip to Boston.", "My trip to Japan was incredible.")
    assert ("plan", "trip to Boston", Stance.PLANNED) in list_slots(mem)
