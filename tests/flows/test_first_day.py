"""The first day: what a newcomer says to an agent, with the base install."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from credenda import Credenda
from credenda.model.memory import Memory, Stance, Status
from credenda.testing import ManualClock

Say = Callable[..., None]


def held(mem: Credenda, status: str = "active") -> list[Memory]:
    return list(mem.list(status=status, limit=50).items)


def slots(mem: Credenda) -> list[tuple[str | None, str | None, Stance]]:
    return sorted((one.attribute, one.value, one.stance) for one in held(mem))


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]


def test_a_new_employer_ends_the_old_one(mem: Credenda, say: Say) -> None:
    say("I work at Nordlicht.", "I quit Nordlicht, I'm at DeepL now.")
    assert slots(mem) == [("employer", "DeepL", Stance.ASSERTED)]
    assert [(one.value, one.relation) for one in held(mem, "superseded")] == [("Nordlicht", "changed")]


@pytest.mark.parametrize(
    "text",
    [
        "I quit Nordlicht, starting at DeepL on November 1st.",
        "I left Nordlicht. I start my new job at DeepL on November 1st.",
    ],
)
def test_a_job_that_begins_later_is_planned_until_its_day(
    mem: Credenda, say: Say, clock: ManualClock, text: str
) -> None:
    say("I work at Nordlicht.", text)
    assert slots(mem) == [("employer", "DeepL", Stance.PLANNED), ("employer", "Nordlicht", Stance.NEGATED)]
    for _ in range(2):
        block = mem.context("Where do I work?").text
        assert "planned for 2026-11-01" in block
        assert not any("I work at Nordlicht" in line for line in lines(block))
        assert [line for line in lines(mem.manage.core().text) if "DeepL" in line and "quit" not in line] == []
        clock.advance(timedelta(days=300))
    say("I work at DeepL.")
    assert ("employer", "DeepL", Stance.ASSERTED) in slots(mem)
    assert ("employer", "DeepL", Stance.PLANNED) not in slots(mem)


def test_an_allergy_that_is_gone_ends_alone(mem: Credenda, say: Say) -> None:
    say("I'm allergic to pollen.", "I'm allergic to penicillin.", "My pollen allergy is gone.")
    assert slots(mem) == [("allergy", "penicillin", Stance.ASSERTED), ("allergy", "pollen", Stance.NEGATED)]


def test_a_choice_instead_of_another_is_for_one_and_against_the_other(mem: Credenda, say: Say) -> None:
    say(
        "We use FastAPI for the backend.",
        "I decided to use Litestar instead of FastAPI because it has better dependency injection.",
    )
    (chosen,) = held(mem)
    assert (chosen.type, chosen.attribute, chosen.value, chosen.stance) == (
        "decision",
        "framework",
        "Litestar",
        Stance.ASSERTED,
    )
    assert [one.value for one in held(mem, "challenged")] == ["FastAPI"]


def test_never_mind_takes_the_number_back_and_not_what_was_said_since(mem: Credenda, say: Say) -> None:
    say("My phone number is 555 1234.", "My sister lives in Graz.", session="s", days=0.001)
    say("Never mind, forget that number.", session="s", days=0.001)
    assert [one.value for one in held(mem)] == ["Graz"]
    assert [one.value for one in held(mem, "forgotten")] == ["555 1234"]
    assert not any("555" in hit.text for hit in mem.search("What is my phone number?").hits)


def test_a_kind_that_nobody_mentioned_takes_nothing_back(mem: Credenda, say: Say) -> None:
    say("My sister lives in Graz.", "Never mind, forget that number.", session="s", days=0.001)
    assert [one.value for one in held(mem)] == ["Graz"]


def test_the_age_of_a_known_child_is_updated(mem: Credenda, say: Say) -> None:
    say("My daughter Mila is 4.", "Mila is 5 now.", days=200)
    assert [(one.entity, one.attribute, one.value) for one in held(mem)] == [("user's daughter Mila", "age", "5")]
    assert [one.value for one in held(mem, "superseded")] == ["4"]


def test_what_an_agent_says_of_the_user_is_not_the_users_word(mem: Credenda) -> None:
    mem.remember([{"role": "assistant", "content": "You work at Initech and you are allergic to nuts."}], session="s")
    mem.remember("The user is allergic to peanuts.")
    mem.remember("I'm allergic to bees.", source="ai")
    mem.settle()
    trust = {one.value: one.trust for one in held(mem)}
    assert trust == {"peanuts": 0.7, "bees": 0.7}
    (line,) = [line for line in lines(mem.context("peanuts").text) if "peanuts" in line]
    assert "] note: user's allergy: peanuts" in line
    mem.remember("I live in Graz.")
    mem.remember("The user lives in Vienna now.")
    mem.settle()
    assert [one.value for one in held(mem) if one.attribute == "residence"] == ["Graz"]
    assert [one.status for one in held(mem, "challenged")] == [Status.CHALLENGED]


def test_a_line_of_a_context_that_is_pasted_back_asserts_nothing(mem: Credenda, say: Say) -> None:
    say("My employer is Bosch.")
    block = mem.context("Where do I work?").text
    say(block, "\n".join(lines(block)), "Employer: Initech [m1-c92ae7]")
    assert [one.value for one in held(mem)] == ["Bosch"]
