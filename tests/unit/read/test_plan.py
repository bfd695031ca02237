"""What a question asks for."""

import pytest

from credenda.clock import DAY_US
from credenda.model.query import Query
from credenda.read.plan import Ask, Plan, SlotGuess, plan

from .build import day

SPEAKERS = ("Caroline", "Melanie", "Will", "user", "assistant")


def made(text: str, now: float = 0) -> Plan:
    return plan(Query(text=text), day(now), SPEAKERS)


def slots(text: str) -> list[tuple[str, str]]:
    return [(slot.entity, slot.attribute) for slot in made(text).slots]


@pytest.mark.parametrize(
    ("question", "slot"),
    [
        ("Where do I live?", ("user", "residence")),
        ("where do i live now", ("user", "residence")),
        ("Which city do I live in?", ("user", "residence")),
        ("Where does Caroline work?", ("caroline", "employer")),
        ("Who do I work for?", ("user", "employer")),
        ("What is my job title?", ("user", "job_title")),
        ("What's my name?", ("user", "name")),
        ("user's name", ("user", "name")),
        ("What is the user's birthday?", ("user", "birthday")),
        ("When is my birthday?", ("user", "birthday")),
        ("What am I allergic to?", ("user", "allergy")),
        ("preferred language", ("user", "favourite_language")),
        ("What is my time zone?", ("user", "timezone")),
        ("What's my favorite colour?", ("user", "favourite_colour")),
        ("What is my blood type?", ("user", "blood_type")),
        ("When do I prefer to have meetings?", ("user", "meetings")),
        ("What is Caroline's hobby?", ("caroline", "hobby")),
        ("What is my dog's name?", ("user", "dog")),
        ("Which editor do I use?", ("user", "editor")),
        ("What snack do I prefer?", ("user", "favourite_snack")),
        ("What is my preferred airline?", ("user", "airline")),
    ],
)
def test_a_question_leads_to_its_slot(question: str, slot: tuple[str, str]) -> None:
    assert slot in slots(question)


@pytest.mark.parametrize("question", ["Why did we move the launch?", "Tell me about the trip to Rome", "thanks!"])
def test_other_questions_lead_to_no_slot_of_the_lexicon(question: str) -> None:
    assert all(attribute not in {"residence", "employer", "name"} for _, attribute in slots(question))


def test_only_a_few_slots_are_looked_up() -> None:
    assert len(made("What is my current home city?").slots) <= 5


@pytest.mark.parametrize(
    ("question", "ask"),
    [
        ("Where do I live?", Ask.VALUE),
        ("Where did I use to live?", Ask.PAST),
        ("Where did I used to live?", Ask.PAST),
        ("When did Melanie paint a sunrise?", Ask.WHEN),
        ("Who supports Caroline?", Ask.WHO),
        ("How many children does Melanie have?", Ask.COUNT),
        ("List the books", Ask.LIST),
        ("Tell me about the trip", Ask.OTHER),
    ],
)
def test_the_kind_of_answer_is_read_from_the_question(question: str, ask: Ask) -> None:
    assert made(question).ask is ask
    assert made(question).history is (ask is Ask.PAST)


def test_speakers_are_recognised_by_name_and_set_apart_from_the_subject() -> None:
    asked = made("What did caroline's mentor teach Caroline?")
    assert asked.people == ("Caroline",)
    assert "carolin" in asked.terms
    assert asked.subject == ("mentor", "teach")


def test_a_name_that_is_a_common_word_must_be_capitalised_inside() -> None:
    assert made("Will it rain?").people == ()
    assert made("What does Will drink?").people == ("Will",)


def test_a_question_of_a_name_alone_is_about_that_person() -> None:
    (subject,) = made("Caroline").subject
    assert subject.split("|")[0] == "carolin"


def test_times_become_intervals_and_leave_the_subject() -> None:
    asked = made("What did I paint yesterday?", now=3.2)
    (interval,) = asked.intervals
    assert interval.from_us is not None
    assert interval.until_us is not None
    assert interval.from_us <= day(2) < interval.until_us
    assert interval.until_us - interval.from_us == DAY_US
    assert asked.subject == ("paint",)


def test_times_count_from_as_of() -> None:
    past = plan(Query(text="what happened yesterday", as_of_us=day(-100)), day(0), ())
    assert past.intervals[0].from_us is not None
    assert past.intervals[0].from_us < day(-100)


def test_a_slot_guess_is_in_normal_form() -> None:
    assert made("What is my  Favourite   Colour?").slots[0] == SlotGuess("user", "favourite_colour")


@pytest.mark.parametrize(
    ("text", "broad", "advice"),
    [
        ("Can you summarize how my project went?", True, False),
        ("In what order did I bring up the topics?", True, False),
        ("How has my budget changed over time?", True, False),
        ("What specific criteria did I use?", False, False),
        ("How should I format my resume?", False, True),
        ("Where do you think I should work?", False, True),
        ("Where do I live?", False, False),
    ],
)
def test_what_a_question_asks_for(text: str, *, broad: bool, advice: bool) -> None:
    made = plan(Query(text=text), 0, [])
    assert (made.broad, made.advice) == (broad, advice)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("What does Ana paint?", "What does you paint?"),
        ("What colour is ANA's bike?", "What colour is your bike?"),
        ("Does Ana know Ben?", ""),
        ("What do I paint?", ""),
        ("Welche Bilder malt Ana gerne?", ""),
        ("Does will power help?", ""),
        ("Does the advice of Will help?", "Does the advice of you help?"),
    ],
)
def test_a_question_about_one_person_is_also_put_to_them(text: str, said: str) -> None:
    assert plan(Query(text=text), 0, ["Ana", "Ben", "Will"]).addressed == said


@pytest.mark.parametrize(
    ("text", "proper"),
    [
        ("What does Ana like about Lisbon?", ("ana", "lisbon")),
        ("Where is the CV that I wrote?", ()),
        ("What Is My Blood Type?", ()),
        ("Welche Farben hat das Haus von Petra?", ()),
        ("What did I do in March?", ()),
    ],
)
def test_names_of_a_question_have_a_capital_inside(text: str, proper: tuple[str, ...]) -> None:
    assert plan(Query(text=text), 0, ()).proper == proper
