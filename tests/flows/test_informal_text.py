"""Changes typed in haste, dictated, jotted under a heading, written in business mail, or in learned English."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda

Say = Callable[..., None]


def values(mem: Credenda, status: str = "active") -> set[str]:
    return {one.value or one.text for one in mem.list(status=status, limit=50).items}


CHANGES = [
    # in haste
    ("i play tennis on saturdays", "so yeah i've i've stopped the tennis um i do padel now", "padel"),
    ("we bank with barclays", "we left barclays we are with monzo now", "Monzo"),
    ("im doing keto", "im on paleo now", "paleo"),
    ("Wake-up 6:30", "Wake-up 7:15", "7:15"),
    ("Node version pinned to 18.", "Node pinned to 20.", "20"),
    ("We use npm.", "Repo switched to pnpm.", "pnpm"),
    ("CI runs on Jenkins.", "CI migrated to GitHub Actions.", "GitHub Actions"),
    # under a heading
    ("Phone plan: Vodafone 20 GB, 25/mo", "Phone plan: Lebara, 15 GB, number kept", "Lebara, 15 GB, number kept"),
    ("Emergency contact: Jules (ex-flatmate)", "Emergency contact: sister Camille, 06 55", "sister Camille, 06 55"),
    ("gym - Tue evenings", "gym - only Sun mornings", "only Sun mornings"),
    ("Dentist: Dr. Kim", "Dentist: Dr. Lee", "Dr. Lee"),
    ("Answers: bullets, max 5", "Answers: full sentences, no bullets", "full sentences, no bullets"),
    # in business mail
    ("Our office hours are 8 to 4.", "Please be advised that our office hours are now 9 to 5.", "9 to 5"),
    ("My phone number is 0221 5550.", "You can now reach me on 0221 7770.", "0221 7770"),
    # in learned English
    ("I am working as cook in hotel.", "I changed the work, I am working now as driver.", "driver"),
    ("My daughter is going in kindergarten.", "My daughter is starting the school now.", "the school"),
    ("My chief is Mister Lindqvist.", "We have a new chief, she is called Amira Haddad.", "Amira Haddad"),
    # of oneself, and what others change
    ("I work the early shift.", "They moved me to the late shift.", "the late shift"),
    ("I take the 7:52 train.", "The timetable changed, I take the 8:05 now.", "take the 8:05 train"),
    ("My desk is by the window.", "They moved my desk next to the kitchen.", "next to the kitchen"),
    ("Our sprint is two weeks long.", "We changed to three-week sprints.", "three weeks long"),
    ("I prefer short answers.", "I'd like longer answers from now on.", "longer answers"),
    ("I can't swim.", "I learned to swim.", "swim"),
    # of others
    ("My brother works for the council.", "My brother got made redundant from the council.", "made redundant"),
    ("I work at Bosch.", "I was let go last week.", "let go"),
]


@pytest.mark.requirement("R-077", "R-082")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change[1])
def test_a_change_in_any_register_is_understood(mem: Credenda, say: Say, change: tuple[str, str, str]) -> None:
    old, new, value = change
    say(old)
    before = {one.id for one in mem.list(limit=50).items}
    say(new)
    after = mem.list(limit=50).items
    assert before
    assert before.isdisjoint({one.id for one in after})
    assert value in {one.value or one.text for one in after}


@pytest.mark.requirement("R-074", "R-082")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Gym: Tuesdays", "Choir: Thursdays"),
        ("Car: blue Skoda", "Bike: red Trek"),
        ("Idea: a garden shed", "Idea: a pond"),
        ("Groceries: oat milk", "Groceries: rye bread"),
        ("I work at Bosch.", "I was fired from my first job at sixteen."),
        ("I work at Bosch.", "My friend Tom was fired from his band."),
        ("My mum is staying with us.", "My brother went back home on Sunday."),
        ("The design review is on Monday.", "The budget review was moved to Friday."),
    ],
)
def test_what_stands_beside_stays(mem: Credenda, say: Say, old: str, new: str) -> None:
    say(old)
    before = values(mem)
    say(new)
    assert before <= values(mem)


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("I moved to Leeds in September.", "Leeds"),
        ("we moved to leeds in march", "Leeds"),
        ("I live in York since september.", "York"),
        ("I moved to Leeds in the summer.", "Leeds"),
        ("i switched to monzo in may", "Monzo"),
    ],
)
def test_when_it_began_is_no_part_of_a_value(mem: Credenda, say: Say, said: str, value: str) -> None:
    say(said)
    assert {one.casefold() for one in values(mem)} == {value.casefold()}


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("said", "slot"),
    [
        ("I don't like to fly, it makes me nervous.", ("dislikes", "fly", "asserted")),
        ("I never like to fly.", ("dislikes", "fly", "asserted")),
        ("Peanut is for me forbidden because of the allergy.", ("avoids", "Peanut", "asserted")),
        ("I don't can eat peanuts.", ("eats", "peanuts", "negated")),
        ("Our third child was born in May.", ("birthday", "May", "asserted")),
    ],
)
def test_what_is_denied_is_never_liked(mem: Credenda, say: Say, said: str, slot: tuple[str, str, str]) -> None:
    say(said)
    assert [(one.attribute, one.value, one.stance) for one in mem.list(limit=5).items] == [slot]
