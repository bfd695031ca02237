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


@pytest.mark.parametrize("text", ["I quit Nordlicht, I'm at DeepL now.", "I quit Nordlicht and joined DeepL."])
def test_a_new_employer_ends_the_old_one(mem: Credenda, say: Say, text: str) -> None:
    say("I work at Nordlicht.", text)
    assert slots(mem) == [("employer", "DeepL", Stance.ASSERTED)]
    assert [(one.value, one.relation) for one in held(mem, "superseded")] == [("Nordlicht", "changed")]


@pytest.mark.parametrize(
    "text",
    [
        "I quit Nordlicht, starting at DeepL on November 1st.",
        "I quit Nordlicht and start at DeepL on November 1st.",
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


def test_items_of_a_list_about_oneself_are_facts_without_a_subject(mem: Credenda, say: Say) -> None:
    say("About me:\n- vegetarian\n* two kids\n2. live in Graz\n- Works at Siemens\n- 34 years old")
    assert {(one.attribute, one.value, one.text) for one in held(mem)} == {
        ("diet", "vegetarian", "vegetarian"),
        ("child_count", "two kids", "two kids"),
        ("residence", "Graz", "live in Graz"),
        ("employer", "Siemens", "Works at Siemens"),
        ("age", "34", "34 years old"),
    }


def test_an_introduction_tells_a_name_a_job_and_where_from(mem: Credenda, say: Say) -> None:
    say("I'm Crystal, a TV producer from East Janethaven, can you help me plan a trip?")
    assert [(attribute, value) for attribute, value, _ in slots(mem)] == [
        ("job_title", "TV producer"),
        ("name", "Crystal"),
        ("origin", "East Janethaven"),
    ]


def test_a_nation_or_diet_in_front_of_a_job_is_no_name(mem: Credenda, say: Say) -> None:
    say("I'm Spanish, a teacher from Lugo.", "I'm Vegan, a lifestyle I love.")
    assert "name" not in {attribute for attribute, _, _ in slots(mem)}


@pytest.mark.parametrize(
    "text",
    [
        "I quit Nordlicht, next week I start at DeepL.",
        "I've resigned from Nordlicht; on Monday I begin at DeepL.",
        "I left Nordlicht and I'm joining DeepL next month.",
    ],
)
def test_an_end_and_a_plan_of_one_sentence_are_both_held(mem: Credenda, say: Say, text: str) -> None:
    say("I work at Nordlicht.", text, days=0)
    assert ("Nordlicht", Stance.ASSERTED) in {(one.value, one.stance) for one in held(mem, "superseded")}
    assert ("employer", "DeepL", Stance.PLANNED) in slots(mem)


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
    assert ("employer", "Nordlicht", Stance.ASSERTED) in slots(mem)


@pytest.mark.parametrize(
    "text",
    ["How do you say I am vegetarian in Spanish?", "Write a story where I live in Paris.", "I'm married to my job."],
)
def test_what_is_only_put_into_words_fills_no_slot_of_a_person(mem: Credenda, say: Say, text: str) -> None:
    say(text)
    assert not {attribute for attribute, _, _ in slots(mem)} & {"diet", "residence", "spouse"}


@pytest.mark.parametrize("end", ["My pollen allergy is gone.", "My pollen allergy went away."])
def test_an_allergy_that_is_gone_ends_alone(mem: Credenda, say: Say, end: str) -> None:
    say("I'm allergic to pollen.", "I'm allergic to penicillin.", end)
    assert slots(mem) == [("allergy", "penicillin", Stance.ASSERTED), ("allergy", "pollen", Stance.NEGATED)]


@pytest.mark.parametrize("text", ["I live in the moment.", "I'm allergic to Mondays."])
def test_a_figure_of_speech_fills_no_slot_that_can_hurt(mem: Credenda, say: Say, text: str) -> None:
    say(text)
    assert not {"residence", "allergy"} & {attribute for attribute, _, _ in slots(mem)}


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("I work at Acme, building rockets.", ("employer", "Acme")),
        ("I left Acme, burning a bridge.", ("employer", "Acme")),
        ("I'm from Los Angeles, born and raised.", ("origin", "Los Angeles")),
        ("I live in Houston, Texas.", ("residence", "Houston, Texas")),
        ("I go by they/them.", ("pronouns", "they/them")),
        ("I study at NYU, a bit away from home but totally worth it.", ("school", "NYU")),
    ],
)
def test_a_value_is_whole_and_nothing_more(mem: Credenda, say: Say, text: str, slot: tuple[str, str]) -> None:
    say(text)
    assert [(one.attribute, one.value) for one in held(mem)] == [slot]


@pytest.mark.parametrize(
    "text",
    [
        "I'm not the best cook to be honest so maybe I will have to tell my mother to make it!",
        "My friends love to party and it is always nice to let loose every once in a while with the friend group.",
    ],
)
def test_a_sentence_whose_slot_does_not_fit_is_kept_in_its_words_at_most(mem: Credenda, text: str) -> None:
    mem.remember({"role": "person", "name": "Ben", "content": f"Hey there! {text}"}, session="s")
    mem.settle()
    assert {(one.text, one.attribute) for one in held(mem)} <= {(text, None)}


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


def test_a_choice_between_unknown_things_is_no_denial_of_one(mem: Credenda, say: Say) -> None:
    say("I decided to study law instead of medicine.")
    assert [(one.type, one.value, one.stance) for one in held(mem)] == [("decision", None, Stance.ASSERTED)]


def test_never_mind_takes_the_number_back_and_not_what_was_said_since(mem: Credenda, say: Say) -> None:
    say("My phone number is 555 1234.", "My sister lives in Graz.", session="s", days=0.001)
    say("Never mind, forget that number.", session="s", days=0.001)
    assert [one.value for one in held(mem)] == ["Graz"]
    assert [one.value for one in held(mem, "forgotten")] == ["555 1234"]
    assert not any("555" in hit.text for hit in mem.search("What is my phone number?").hits)


def test_a_kind_that_nobody_mentioned_takes_nothing_back(mem: Credenda, say: Say) -> None:
    say("My sister lives in Graz.", "Never mind, forget that number.", session="s", days=0.001)
    assert [one.value for one in held(mem)] == ["Graz"]


@pytest.mark.parametrize(("mark", "gap"), [("1.", "\n"), ("-", "\n"), ("*", "\n"), ("1.", " ")])
def test_a_list_of_six_facts_gives_six_with_the_allergy(mem: Credenda, say: Say, mark: str, gap: str) -> None:
    facts = (
        "I live in Leipzig",
        "I work as a nurse",
        "I'm allergic to penicillin",
        "My daughter is called Mila",
        "I drive a 2019 VW ID.3",
        "My birthday is 4 May",
    )
    told = [f"{mark if mark != '1.' else f'{n}.'} {fact}" for n, fact in enumerate(facts, 1)]
    say(gap.join(["Some facts about me:", *told]))
    assert [(attribute, value) for attribute, value, _ in slots(mem)] == [
        ("allergy", "penicillin"),
        ("birthday", "--05-04"),
        ("daughter", "Mila"),
        ("drives", "2019 VW ID.3"),
        ("job_title", "nurse"),
        ("residence", "Leipzig"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Mila is 5 now.",
        "Car: 2019 VW ID.3",
        "Bike: Canyon Endurace 2021",
        "My camera is a Canon R5 2020.",
        "34, in Linz",
    ],
)
def test_an_age_and_a_vehicle_are_no_dates(mem: Credenda, say: Say, text: str) -> None:
    say(text)
    assert [one.attribute for one in held(mem) if one.attribute == "date" or (one.entity or "").startswith("34")] == []


def test_the_age_of_a_known_child_is_updated(mem: Credenda, say: Say) -> None:
    say("My daughter Mila is 4.", "Mila is 5 now.", days=200)
    assert [(one.entity, one.attribute, one.value) for one in held(mem)] == [("user's daughter Mila", "age", "5")]
    assert [one.value for one in held(mem, "superseded")] == ["4"]


@pytest.mark.parametrize(
    "text",
    [
        "I wonder where my keys are",
        "I was wondering what my sister likes.",
        "I'd like to know how my mortgage works.",
        "What is my sister's name?",
    ],
)
def test_a_question_is_no_memory(mem: Credenda, say: Say, text: str) -> None:
    say(text)
    assert held(mem) == []


def test_what_an_agent_says_of_the_user_is_not_the_users_word(mem: Credenda) -> None:
    mem.remember([{"role": "assistant", "content": "You work at Initech and you are allergic to nuts."}], session="s")
    mem.remember("The user is allergic to peanuts.")
    mem.remember("I'm allergic to bees.", source="ai")
    mem.settle()
    trust = {one.value: one.trust for one in held(mem)}
    assert trust == {"peanuts": 0.7, "bees": 0.7}
    (line,) = [line for line in lines(mem.context("peanuts").text) if "peanuts" in line]
    assert "] note: The user is allergic to peanuts." in line
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
