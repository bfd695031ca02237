"""Sentences that name a value and not its slot: what holds the value is what they are about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda
from credenda.model.memory import Stance

Say = Callable[..., None]


def held(mem: Credenda) -> list[tuple[str | None, str | None]]:
    """What is held in slots; denials are left out."""
    firm = [one for one in mem.list().items if one.stance is not Stance.NEGATED and one.attribute is not None]
    return sorted((one.attribute, one.value) for one in firm)


def gone(mem: Credenda) -> list[tuple[str | None, str | None]]:
    return [(one.value, one.relation) for one in mem.list(status="superseded").items]


@pytest.mark.requirement("R-077", "R-082")
@pytest.mark.parametrize(
    ("said", "ended"),
    [
        (("I drive a Golf.", "I sold the Golf."), "Golf"),
        (("I play tennis.", "I gave up tennis."), "tennis"),
        (("I'm engaged to Lea.", "Lea and I broke up."), "Lea"),
        (("I have a landline.", "I cancelled the landline."), "landline"),
    ],
)
def test_an_ending_finds_the_slot_that_holds_its_value(
    mem: Credenda, say: Say, said: tuple[str, str], ended: str
) -> None:
    say(*said)
    assert (ended, "changed") in gone(mem)
    assert ended not in [value for _, value in held(mem)]


@pytest.mark.requirement("R-077")
def test_an_ending_of_what_nobody_held_changes_nothing(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I sold the Golf.")
    assert held(mem) == [("residence", "Linz")]


@pytest.mark.requirement("R-077")
def test_two_slots_with_the_same_value_are_left_alone(mem: Credenda, say: Say) -> None:
    say("My car is a Golf.", "My dog is called Golf.", "I sold the Golf.")
    assert [value for _, value in held(mem)] == ["Golf", "Golf"]


@pytest.mark.requirement("R-077", "R-082")
def test_a_change_goes_to_the_slot_that_held_the_old_value(mem: Credenda, say: Say) -> None:
    say("My laptop is a Dell.", "I replaced my Dell with a ThinkPad.")
    assert held(mem) == [("laptop", "ThinkPad")]
    assert gone(mem) == [("Dell", "changed")]


@pytest.mark.requirement("R-037", "R-082")
def test_a_correction_gives_the_one_named_thing_its_name(mem: Credenda, say: Say) -> None:
    say("My dog is called Rex.", "Sorry, my dog is called Max.")
    assert held(mem) == [("dog", "Max")]
    assert gone(mem) == [("Rex", "corrected")]


@pytest.mark.requirement("R-037")
def test_with_two_named_things_a_correction_replaces_neither(mem: Credenda, say: Say) -> None:
    say("I have a dog called Rex.", "I have a dog called Bo.", "Sorry, my dog is called Max.")
    assert [value for _, value in held(mem)] == ["Bo", "Max", "Rex"]


@pytest.mark.requirement("R-077")
def test_another_number_of_the_same_thing_replaces_it_when_it_is_said_to_be_new(mem: Credenda, say: Say) -> None:
    say("We're on Python 3.9.", "We upgraded to Python 3.12.")
    assert [value for _, value in held(mem)] == ["Python 3.12"]


@pytest.mark.requirement("R-077")
def test_a_named_one_makes_the_kind_more_exact(mem: Credenda, say: Say) -> None:
    say("I have a dog.", "I have a dog named Pluto.")
    assert held(mem) == [("dog", "Pluto")]
    assert gone(mem) == [("dog", "refined")]


@pytest.mark.requirement("R-037")
def test_only_one_language_of_answers_is_asked_for_at_a_time(mem: Credenda, say: Say) -> None:
    say("Please answer in English.", "Don't use emojis.", "Please answer in German from now on.")
    assert [value for _, value in held(mem)] == ["Do not use emojis", "answer in German"]


@pytest.mark.requirement("R-077")
def test_saying_it_again_after_an_ending_holds_it_anew(mem: Credenda, say: Say) -> None:
    say("I drink coffee.", "I stopped drinking coffee.", "I drink coffee again.")
    assert ("drinks", "coffee") in held(mem)
    assert len(mem.history(entity="user", attribute="drinks")) > 1


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("said", "left"),
    [
        (("I bank with Santander.", "I moved my account to ING."), "ING"),
        (("I'm learning Italian.", "I gave up on Italian and took up Greek."), "Greek"),
        (("My phone is a Pixel 6.", "I've upgraded to a Pixel 9."), "Pixel 9"),
        (("Our nanny is Greta.", "Greta left us, our new nanny is Yara."), "Yara"),
    ],
)
def test_a_value_takes_the_place_that_another_held(mem: Credenda, say: Say, said: tuple[str, str], left: str) -> None:
    say(*said)
    assert left in [value for _, value in held(mem)]
    assert len(gone(mem)) == 1


def test_an_ending_of_what_was_never_told_is_kept_in_its_words(mem: Credenda, say: Say) -> None:
    say("I sold the motorbike.")
    (one,) = mem.list().items
    assert (one.text, one.attribute) == ("I sold the motorbike.", None)
    assert one.confidence <= 0.5


def test_a_brother_is_not_replaced_by_who_takes_over_from_his_namesake(mem: Credenda, say: Say) -> None:
    say("My brother is called Theo.", "Theo stepped down, Mila leads the team now.")
    assert ("brother", "Theo") in held(mem)


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("said", "right", "wrong"),
    [
        (
            ("Joel's birthday is on 9 March, remind me to book something.", "sorry, 19 March not 9"),
            "--03-19",
            "--03-09",
        ),
        (("My sister lives in Porto.", "sorry, Faro not Porto"), "Faro", "Porto"),
        (("I work at Siemens and live in Ulm.", "sorry, Bosch, not Siemens"), "Bosch", "Siemens"),
        (("My sister is allergic to tree nuts.", "correction: peanuts, not tree nuts"), "peanuts", "tree nuts"),
        (("My rent is 900.", "no, 950 not 900"), "950", "900"),
        (("I take 20 mg of lisinopril.", "sorry, 40 mg not 20"), "40 mg of lisinopril", "20 mg of lisinopril"),
        (("The archive is in the cellar.", "I had that wrong, the archive is in the attic."), "attic", "cellar"),
        (("The code is in the drawer.", "My bad, the code is in the shed."), "shed", "drawer"),
    ],
)
def test_a_correction_in_few_words_goes_to_what_was_said_before(
    mem: Credenda, said: tuple[str, str], right: str, wrong: str
) -> None:
    for sentence in said:
        mem.remember(sentence, session="s")
        mem.settle()
    assert right in [value for _, value in held(mem)]
    assert gone(mem) == [(wrong, "corrected")]


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My flight is on 4 June and my hotel is booked from 5 June.", "sorry, 6 June"),
        ("My flight is on 4 June and my hotel is booked from 5 June.", "sorry, 6 June not 5"),
        ("I live in Leeds.", "Sorry, Bob, not now"),
        ("I live in Leeds.", "sorry, running late"),
        ("I live in Graz.", "The capital of Austria? It's Vienna, not Graz."),
        ("I work at Boots.", "Sorry, Leeds."),
        ("My rent is 900 euros.", "Sorry, 10 May."),
        ("I take 20 mg of lisinopril.", "Sorry, 40 ml, not 20."),
        ("The meeting is on 9 April.", "Sorry, 19 March, not 9."),
    ],
)
def test_a_correction_in_few_words_that_may_mean_another_value_changes_nothing(
    mem: Credenda, first: str, second: str
) -> None:
    mem.remember(first, session="s")
    mem.settle()
    before = held(mem)
    mem.remember(second, session="s")
    mem.settle()
    assert (held(mem), gone(mem)) == (before, [])


@pytest.mark.parametrize(
    ("said", "slot"),
    [
        ("My rent is 900. Sorry, 950, not 900.", ("rent", "950")),
        ("My sister lives in Porto. Sorry, Faro, not Porto.", ("residence", "Faro")),
    ],
)
def test_a_value_that_is_corrected_in_the_same_message_is_told_right(
    mem: Credenda, say: Say, said: str, slot: tuple[str, str]
) -> None:
    say(said)
    assert slot in held(mem)
    assert gone(mem) == []


@pytest.mark.parametrize(
    ("held_before", "message", "fragment"),
    [
        ("I'm allergic to penicillin.", "The article is about penicillin.", "Sorry, amoxicillin, not penicillin."),
        ("I live in Porto.", "Can you book a hotel in Porto?", "Sorry, Faro, not Porto."),
        ("I take ramipril.", "Look up the side effects of ramipril.", "Oops, losartan, not ramipril."),
    ],
)
def test_a_correction_in_few_words_corrects_nothing_but_the_message_before(
    mem: Credenda, held_before: str, message: str, fragment: str
) -> None:
    for session, sentence in (("a", held_before), ("b", message), ("b", fragment)):
        mem.remember(sentence, session=session)
        mem.settle()
    assert gone(mem) == []
