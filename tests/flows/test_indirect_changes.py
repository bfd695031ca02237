"""Changes told from another side than that of the value, or in a word that leans on the statement before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.model.memory import Memory

Live = Callable[..., list[Memory]]


@pytest.fixture
def live(tmp_path: Path) -> Live:
    def heard(*said: str) -> list[Memory]:
        with Credenda.open(tmp_path / "m.db", user="ana", embedder="none", workers=False) as mem:
            for one in said:
                mem.remember(one)
                mem.settle()
            return list(mem.list(limit=50).items)

    return heard


@pytest.mark.requirement("R-077", "R-082")
@pytest.mark.parametrize(
    ("old", "new", "past"),
    [
        ("I run a bakery.", "I had to close my bakery down last spring.", "run a bakery"),
        ("I'm on call this week.", "My on-call stint is finally over.", "on call"),
        ("I shop at Aldi.", "I turned my back on Aldi, I shop at the market.", "Aldi"),
        ("My favourite poet is Rilke.", "Szymborska has dethroned Rilke as my favourite poet.", "Rilke"),
        ("My mentor is Paula.", "I've been assigned a new mentor, it's Henrik from this month.", "Paula"),
        ("I'm a junior analyst.", "I was made a senior analyst in June.", "junior"),
        ("I dislike beetroot.", "I've learned to love beetroot.", "dislike"),
        ("I prefer trains.", "I've come round to night buses, I like them better than trains.", "trains"),
        ("My aunt lives in Ghent.", "My aunt moved house, she's in Bruges now.", "Ghent"),
        ("We live in a flat in Mill Lane.", "We've moved into a cottage on Beck Road.", "Mill Lane"),
        ("My manager is Ines.", "Since Tuesday I report to Walter.", "Ines"),
        ("I work part-time.", "I've gone full-time at work.", "part-time"),
        ("I keep twelve hens.", "I'm down to five hens after the fox.", "twelve"),
        ("I'm with Orange for my mobile.", "I took my mobile number over to Proximus.", "Orange"),
        ("My birthday is 3 March.", "I must correct that: my birthday is 13 March.", "03-03"),
        ("My son studies physics.", "My son changed his subject, he studies music now.", "physics"),
        ("I'm engaged to Lukas.", "Lukas and I got married in May.", "engaged"),
        ("My landlord is Mr Novak.", "The house was sold, and Mrs Kral is my landlady.", "Novak"),
    ],
)
def test_a_change_told_from_another_side_ends_what_was(live: Live, old: str, new: str, past: str) -> None:
    held = live(old, new)
    assert held
    assert not any(past in f"{one.value}" for one in held if one.text == old)
    assert not any(one.text == old for one in held)


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize("expecting", ["I'm pregnant.", "My wife Pia is pregnant."])
@pytest.mark.parametrize(("told", "over"), [("Our son Piet was born yesterday.", True), ("Our son is Piet.", False)])
def test_nobody_is_expecting_after_the_birth(live: Live, expecting: str, told: str, *, over: bool) -> None:
    held = live("My sister Ada is pregnant.", expecting, told)
    owners = [one.entity for one in held if one.value == "pregnant"]
    assert "user's sister Ada" in owners
    assert len(owners) == (1 if over else 2)


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("I live in Gent.", "It's Namur now.", "Namur"),
        ("I use Vim.", "Make that Emacs.", "Emacs"),
        ("My favourite food is ramen.", "It used to be ramen, now it's pho.", "pho"),
        ("I drive a Fiat.", "Scratch Fiat, it's a Seat.", "Seat"),
        ("My name is Kristin.", "My name is not Kristin, but Kirsten.", "Kirsten"),
        ("I work at Nestle.", "I don't work at Nestle but at Lindt.", "Lindt"),
        ("Ich wohne in Kiel.", "Ich wohne nicht mehr in Kiel, sondern in Bonn.", "Bonn"),
    ],
)
def test_a_value_alone_takes_the_place_of_the_one_before(live: Live, old: str, new: str, value: str) -> None:
    assert [one.value for one in live(old, new)] == [value]


@pytest.mark.requirement("R-077")
def test_a_value_of_another_kind_replaces_nothing(live: Live) -> None:
    assert [one.value for one in live("I live in Gent.", "It's Friday now.") if one.attribute] == ["Gent"]


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I work at Nestle.", "I used to work at Nestle."),
        ("I play tennis.", "I used to play tennis."),
        ("I'm vegetarian.", "I used to be vegetarian."),
    ],
)
def test_what_one_used_to_do_is_no_longer_so(live: Live, old: str, new: str) -> None:
    assert old not in {one.text for one in live(old, new)}


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I work at Lindt.", "I used to work at Nestle."),
        ("I play tennis.", "I used to play football."),
        ("I have a food allergy.", "I'm allergic to pollen."),
        ("I'm allergic to nuts.", "I'm allergic to shellfish."),
        ("I play the cello.", "I play tennis."),
        ("I like music.", "I like pizza."),
        ("I have a pet.", "I have a car."),
    ],
)
def test_another_thing_that_was_or_is_ends_nothing(live: Live, old: str, new: str) -> None:
    assert old in {one.text for one in live(old, new)}


@pytest.mark.requirement("R-074")
@pytest.mark.parametrize(
    ("said", "value"), [("Schweinefleisch esse ich nicht.", "Schweinefleisch"), ("Ich mag Wein nicht.", "Wein")]
)
def test_a_denial_at_the_end_of_a_german_clause_is_one(live: Live, said: str, value: str) -> None:
    assert [(one.value, one.stance.value) for one in live(said)] == [(value, "negated")]


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("said", "slots"),
    [
        ("I don't do meetings.", {("avoids", "meetings", None, "asserted")}),
        ("I can't have dairy.", {("avoids", "dairy", None, "asserted")}),
        ("Ich vertrage keine Haselnüsse.", {("avoids", "Haselnüsse", None, "asserted")}),
        ("I don't avoid dairy.", {("avoids", "dairy", None, "negated")}),
        (
            "I get up at six, on Sundays at nine.",
            {("wake_time", "six", None, "asserted"), ("wake_time", "nine", "sundays", "asserted")},
        ),
        ("Maria left, Jonas is CTO now.", {("cto", "Jonas", None, "asserted")}),
    ],
)
def test_what_is_denied_scoped_and_told_together_is_read_as_meant(
    live: Live, said: str, slots: set[tuple[str | None, ...]]
) -> None:
    assert {(one.attribute, one.value, one.scope, one.stance.value) for one in live(said)} == slots


@pytest.mark.requirement("R-036")
def test_what_one_was_going_to_do_is_no_plan(live: Live) -> None:
    assert not any(one.attribute == "plan" for one in live("I was going to study law but chose medicine."))


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("I'm allergic to penicillin and to bee stings.", {"penicillin", "bee stings"}),
        ("I'm allergic to tree and grass pollen.", {"tree and grass pollen"}),
        ("We deploy with Argo but test with Jenkins.", {"Argo"}),
        ("My daughter Mia, who is nine, plays the violin.", {"nine", "violin"}),
        ("The project is called Falcon and its deadline is in June.", {"Falcon", "June"}),
        ("I prefer tea in the morning and coffee in the afternoon.", {"tea", "coffee"}),
        ("We adopted a puppy, she's called Luna.", {"Luna", "adopt a puppy"}),
    ],
)
def test_two_things_told_in_one_sentence_are_two(live: Live, said: str, values: set[str]) -> None:
    assert {one.value for one in live(said) if one.value} >= values


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        ("um so i live in uh york", "okay so um we moved last month we're in leeds now", "leeds"),
        ("so yeah i'm a uh i'm a vegan", "um i'm vegetarian now", "vegetarian"),
        ("um my sister she works at Esso", "my sister uh she quit Esso she's at Aral now", "Aral"),
        ("My phone number is 0664 555", "I have new number, is 0664 777", "0664 777"),
        ("My husband works nights.", "hubby's on days now", "days"),
        ("i use chrome", "been on firefox since the weekend", "firefox"),
        ("On-call: Dana", "on-call handed over to Luis", "Luis"),
        ("Team lead - Olga", "Team lead is now Piotr", "Piotr"),
    ],
)
def test_dictated_hasty_and_learned_english_changes_as_plain_english_does(
    live: Live, old: str, new: str, value: str
) -> None:
    assert [one.value for one in live(old, new) if one.stance.value == "asserted"] == [value]
