"""Read by the model that ships: plans called off or moved, ends that name no value, and whose a denial is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.model.memory import Stance
from credenda.testing import ManualClock


@pytest.fixture
def mem(tmp_path: Path) -> Iterator[Credenda]:
    clock = ManualClock(datetime(2026, 11, 30, 9, tzinfo=UTC))
    path = tmp_path / "memory.db"
    with Credenda.open(path, user="ana", clock=clock, workers=False, settings={"reader": "learned"}) as memory:
        yield memory


def tell(mem: Credenda, *texts: str) -> list[tuple[str | None, str | None, str | None]]:
    """Say each text by itself, and return owner, attribute and value of what is held and not denied."""
    for text in texts:
        mem.remember(text)
        mem.settle()
    held = [one for one in mem.list(limit=50).items if one.stance is not Stance.NEGATED]
    return sorted((one.entity, one.attribute, one.value) for one in held if one.attribute)


def test_an_appointment_that_is_called_off_is_held_no_more(mem: Credenda) -> None:
    assert tell(mem, "My dentist appointment is on Wednesday 9 December 2026.") == [
        ("user", "appointment", "dentist appointment")
    ]
    assert tell(mem, "My dentist appointment is cancelled.") == []


def test_an_appointment_that_is_moved_has_its_new_day_alone(mem: Credenda) -> None:
    held = tell(mem, "I have a dentist appointment on Wednesday 9 December 2026.")
    assert tell(mem, "My dentist appointment is moved to Thursday 10 December 2026.") == held
    (moved,) = mem.list().items
    assert moved.valid_from is not None
    assert moved.valid_from.date().isoformat() == "2026-12-10"


def test_a_second_appointment_of_the_same_kind_moves_none(mem: Credenda) -> None:
    held = tell(mem, "I have a dentist appointment on Wednesday.", "I have another dentist appointment on Friday.")
    assert held == [("user", "appointment", "dentist appointment")] * 2
    assert tell(mem, "My dentist appointment is cancelled.") == held  # nobody said which


def test_a_plan_that_is_given_up_before_it_began_is_over(mem: Credenda) -> None:
    assert tell(mem, "We are going to Rome in May.") == [("user", "plan", "Rome")]
    assert tell(mem, "We're not going to Rome any more.") == []
    tell(mem, "I start at Halden on Thursday.")
    assert tell(mem, "I'm not starting at Halden after all.") == []


def test_a_job_that_begins_today_is_held_and_one_that_begins_later_is_planned(mem: Credenda) -> None:
    tell(mem, "I start at Halden on Thursday.")
    assert [one.stance for one in mem.list().items] == [Stance.PLANNED]
    tell(mem, "I start at Corvan today.")
    assert {one.value: one.stance for one in mem.list().items}["Corvan"] is Stance.ASSERTED


@pytest.mark.parametrize("said", ["I no longer have a dog.", "I no longer have a dog, Karl has him."])
def test_who_has_no_dog_any_more_has_not_the_one_that_was_named(mem: Credenda, said: str) -> None:
    assert tell(mem, "I have a dog called Bello.") == [("user", "dog", "Bello")]
    assert tell(mem, said) == []


def test_who_has_no_partner_any_more_has_not_the_one_that_was_named(mem: Credenda) -> None:
    assert tell(mem, "I have a boyfriend, Tim.") == [("user", "boyfriend", "Tim")]
    assert tell(mem, "I no longer have a boyfriend.") == []


def test_an_end_that_names_neither_of_two_pets_ends_none_and_denies_none(mem: Credenda) -> None:
    held = tell(mem, "I have two cats, Mia and Tom.")
    assert tell(mem, "I no longer have a cat.") == held
    assert not [one for one in mem.list(limit=50).items if one.stance is Stance.NEGATED]


def test_what_somebody_earns_has_one_slot_however_it_is_told(mem: Credenda) -> None:
    assert tell(mem, "I earn 42k.", "I got a raise, I earn 47k now.") == [("user", "salary", "47k")]


def test_who_is_no_longer_somebody_gives_the_place_to_the_next(mem: Credenda) -> None:
    assert tell(mem, "Dana is our cleaner.", "Dana is no longer our cleaner, Mia is.") == [("user", "colleague", "Mia")]


def test_a_denial_of_the_speaker_is_none_of_the_sister(mem: Credenda) -> None:
    assert tell(mem, "My sister is vegan, I'm not.") == [("user's sister", "diet", "vegan")]
    assert [(one.entity, one.value) for one in mem.list().items if one.stance is Stance.NEGATED] == [("user", "vegan")]


@pytest.mark.parametrize(
    ("said", "attribute"),
    [
        ("I love science fiction.", "likes"),
        ("I like crime novels.", "book"),
        ("I love horror movies.", "film"),
        ("I love homemade spaghetti.", "food"),
    ],
)
def test_a_genre_is_no_title(mem: Credenda, said: str, attribute: str) -> None:
    assert [one[1] for one in tell(mem, said)] == [attribute]


def test_what_was_watched_is_no_place_that_was_visited(mem: Credenda) -> None:
    assert tell(mem, "I watched Dune last night.") == [("user", "experience", "watched Dune")]
    assert ("user", "visited", "Rome") in tell(mem, "I went to Rome last year.")


@pytest.mark.parametrize(
    ("held", "left", "still"),
    [
        (["I work at Lumen Bakery."], "left the bakery last week. starting at Arup on monday", []),
        (["I work at the city library."], "I no longer work at the library.", []),
        (["I work at Lumen Bakery."], "I left the brewery.", ["Lumen Bakery"]),
        (["My sister Mara works at Lumen Bakery."], "I left the bakery.", ["Lumen Bakery"]),
    ],
)
def test_who_leaves_an_employer_may_name_what_it_is(
    mem: Credenda, held: list[str], left: str, still: list[str]
) -> None:
    for text in [*held, left]:
        mem.remember(text)
        mem.settle()
    now = [one for one in mem.list(attribute="employer").items if one.stance == "asserted"]
    assert [one.value for one in now] == still


@pytest.mark.parametrize(
    ("told", "held"),
    [
        (["I was born on July 19, 1992."], ["1992-07-19"]),
        (["My birthday is July 19.", "I was born on July 19, 1992."], ["1992-07-19"]),
        (["I was born on July 19, 1992.", "My birthday is July 19."], ["1992-07-19"]),
        (["I was born in 1992.", "My birthday is on 19 July."], ["--07-19", "1992"]),
    ],
)
def test_the_parts_of_a_birthday_are_one_day_and_no_question(mem: Credenda, told: list[str], held: list[str]) -> None:
    tell(mem, *told)
    assert sorted(one.value or "" for one in mem.list(attribute="birthday").items) == held
    assert mem.manage.contests() == []


def test_two_birthdays_are_asked_about_in_words(mem: Credenda) -> None:
    tell(mem, "My birthday is on 3 May.", "My birthday is on 4 May.")
    (case,) = mem.manage.contests()
    assert "\u201c3 May\u201d and \u201c4 May\u201d" in case.question


@pytest.mark.parametrize(
    "moved",
    [
        "got moved to 26 September 2027",
        "got pushed back to 26 September 2027",
        "has been postponed to 26 September 2027",
        "was brought forward to 26 September 2027",
        "is rescheduled to 26 September 2027",
        "is now on 26 September 2027",
    ],
)
def test_a_thing_that_is_moved_has_its_new_day_alone(mem: Credenda, moved: str) -> None:
    tell(mem, "the wedding is on 12 September 2027", "the party is on 13 September 2027", f"the wedding {moved}")
    days = {(one.entity, one.value) for one in mem.list(attribute="date").items}
    assert days == {("wedding", "2027-09-26"), ("party", "2027-09-13")}
    old, new = mem.history(entity="wedding", attribute="date")
    assert (old.relation, old.superseded_by) == ("changed", new.memory_id)


@pytest.mark.parametrize(
    "told",
    [
        "the wedding is on 26 September 2027",
        "the wedding is on 26 September 2027 and the party got moved to 27 September 2027",
    ],
)
def test_a_second_day_of_a_thing_that_is_not_moved_stands_beside_the_first(mem: Credenda, told: str) -> None:
    tell(mem, "the wedding is on 12 September 2027", told)
    days = {one.value for one in mem.list(attribute="date").items if one.entity == "wedding"}
    assert days == {"2027-09-12", "2027-09-26"}


@pytest.mark.parametrize(
    "told",
    [
        "I handed in my notice at Arup, my last day is December 31st",
        "I quit my job at Arup, I'll be there until 31 December",
        "I resigned from Arup. My last day is December 31st",
        "I'm leaving Arup on 31 December",
    ],
)
def test_an_end_whose_day_is_told_comes_on_that_day(mem: Credenda, told: str) -> None:
    tell(mem, "I work at Arup", told)
    (held,) = mem.list(attribute="employer").items
    assert (held.value, str(held.valid_until)[:10]) == ("Arup", "2026-12-31")
    assert [one.value for one in mem.list(attribute="employer", as_of="2027-01-01T00:00:00Z").items] == []
    assert [one.value for one in mem.list(attribute="employer", as_of="2026-12-31T12:00:00Z").items] == ["Arup"]


def test_an_end_on_a_day_that_has_passed_was_that_day(mem: Credenda) -> None:
    mem.remember("I work at Arup", occurred_at="2026-03-01")
    mem.remember("I handed in my notice at Arup, my last day is March 31st", occurred_at="2026-03-02")
    mem.settle()
    old = mem.history(entity="user", attribute="employer")[0]
    assert (old.status, str(old.valid_until)[:10]) == ("superseded", "2026-03-31")
