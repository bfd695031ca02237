"""Natural talk: a slot holds only a value that it can have, and nobody's past."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from credenda import Credenda
from credenda.model.memory import Memory, Stance
from credenda.testing import ManualClock

Say = Callable[..., None]
Slots = set[tuple[str, str | None]]


def held(mem: Credenda) -> list[Memory]:
    return [one for one in mem.list(limit=50).items if one.attribute and one.stance is Stance.ASSERTED]


def slots(mem: Credenda) -> Slots:
    return {(one.attribute or "", one.value) for one in held(mem) if one.entity == "user"}


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    "text",
    ["So we are six.", "We are four.", "we're three now since the baby came!", "my kids are 3, 7 and 11"],
)
def test_an_age_is_of_one_person(mem: Credenda, say: Say, text: str) -> None:
    say(text)
    assert [one for one in held(mem) if one.attribute == "age"] == []


@pytest.mark.requirement("R-035")
def test_the_age_of_one_person_is_held(mem: Credenda, say: Say) -> None:
    say("I am 34.", "My daughter is 7.")
    assert {(one.entity, one.value) for one in held(mem) if one.attribute == "age"} == {
        ("user", "34"),
        ("user's daughter", "7"),
    }


@pytest.mark.requirement("R-040")
@pytest.mark.parametrize(
    "text",
    [
        "I thought I was allergic to cats but the test came back negative",
        "I was allergic to eggs as a kid but grew out of it",
        "I thought I have celiac disease but it's IBS",
        "I was convinced I'm diabetic",
        "I was afraid I have cancer",
    ],
)
def test_what_somebody_once_thought_is_no_state_of_health(mem: Credenda, say: Say, text: str) -> None:
    say(text)
    assert [one for one in held(mem) if one.attribute in {"allergy", "condition"}] == []
    assert mem.search(text).hits


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        ("I live in my head", {"residence"}),
        ("I live in my own little world", {"residence"}),
        ("I'm the designated driver tonight", {"job_title"}),
        ("i sell falafel", {"owns"}),
        ("I think I finally picked right", {"considering", "decision"}),
        ("Ich arbeite an einem Roman", {"employer"}),
        ("Trabajo como un burro", {"job_title"}),
        ("Je travaille comme un fou", {"job_title"}),
    ],
)
def test_a_turn_of_speech_fills_no_slot(mem: Credenda, say: Say, text: str, attributes: set[str]) -> None:
    say(text)
    assert [one.value for one in mem.list(limit=50).items if one.attribute in attributes] == []


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("phone: 555-0101, no sorry 555-0110", {("phone", "555-0110")}),
        ("my email is a@example.com, sorry I mean c@example.com", {("email", "c@example.com")}),
        ("I'm vegan lol i just moved here", {("diet", "vegan")}),
        ("decision: we're going with NATS, not kafka.", {("message_broker", "NATS")}),
        ("I can't have gluten", {("avoids", "gluten")}),
        ("I'm a mother of three", {("family_status", "mother of three")}),
        ("I avoid salt, doctor's orders", {("avoids", "salt")}),
        ("Ich lerne Spanisch, 3. Semester", {("learning", "Spanisch")}),
        ("Je suis allergique au gluten, enfin intolérante", {("allergy", "gluten")}),
        ("Ich habe eine Nussallergie.", {("has", "Nussallergie")}),
        ("Ich arbeite an der Uni Wien", {("employer", "Uni Wien")}),
        (
            "I'm Tomasz, backend dev at Fintrak",
            {("name", "Tomasz"), ("job_title", "backend dev"), ("employer", "Fintrak")},
        ),
        (
            "hey so im Marisol, 34, icu nurse at St. Luke's",
            {("name", "Marisol"), ("age", "34"), ("job_title", "icu nurse"), ("employer", "St. Luke's")},
        ),
    ],
)
def test_a_slot_holds_the_value_alone(mem: Credenda, say: Say, text: str, expected: Slots) -> None:
    say(text)
    assert slots(mem) == expected
    assert {one.entity for one in held(mem)} == {"user"}


@pytest.mark.requirement("R-037")
def test_a_move_with_its_purpose_replaces_the_old_home(mem: Credenda, say: Say) -> None:
    say("I live in Vienna.", "I moved from Vienna to Zurich to be closer to Anna.")
    assert [one.value for one in held(mem) if one.attribute == "residence"] == ["Zurich"]


@pytest.mark.requirement("S-016")
def test_a_job_until_the_end_of_a_month_leaves_the_core_then(mem: Credenda, clock: ManualClock, say: Say) -> None:
    say("I'm a barista at Café Extrablatt until end of august")
    assert "barista" in mem.manage.core().text
    clock.advance(timedelta(days=250))
    assert "barista" not in mem.manage.core().text


@pytest.mark.requirement("S-016")
def test_an_order_of_work_stands_in_the_core(mem: Credenda, say: Say) -> None:
    say("Never force push. I mean it.", "use pnpm, never npm", "Always wash the rice three times.")
    lines = [line.text for line in mem.manage.core().lines if line.section == "instruction"]
    assert ["force push" in lines[0], "pnpm" in lines[1], len(lines)] == [True, True, 2]
