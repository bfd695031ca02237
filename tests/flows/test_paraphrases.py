"""A fact said again in other words confirms the first; one said more exactly takes its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda

Say = Callable[..., None]


def active(mem: Credenda) -> list[str]:
    return sorted(one.text for one in mem.list().items)


@pytest.mark.requirement("D-008")
@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("I live in Utrecht.", "Utrecht is where I live."),  # value first
        ("I hate liver.", "Liver is something I hate."),
        ("I report to Vivienne.", "Vivienne is who I report to."),
        ("We rehearse on Thursdays.", "As I told you, our rehearsals are on Thursdays."),  # opening, noun for verb
        ("I teach the trumpet.", "I'm a trumpet teacher."),
        ("I'm allergic to cats.", "As I mentioned, I have a cat allergy."),
        ("I can't swim.", "Like I said before, I don't know how to swim."),  # ability
        ("I prefer baths to showers.", "I'd rather have a bath than a shower."),  # preference
        ("I like Kotlin more than Java.", "Kotlin beats Java for me."),
        ("I don't like beer.", "I dislike beer."),  # the opposite denied
        ("Rania leads the infrastructure team.", "The infrastructure team is led by Rania."),  # passive
        ("Our containers are built with Podman.", "We build our containers using Podman."),
        ("I'm an only child.", "I've no brothers or sisters."),  # words of another kind
        ("My car is a Volvo.", "I drive a Volvo."),
        ("Please don't use abbreviations.", "Just a reminder, no abbreviations, please."),  # instruction
        ("I get my pension on the first of the month.", "My pension arrives on the first of each month."),
        ("My son is seven.", "My boy is seven years old."),
    ],
)
def test_the_same_in_other_words_confirms(mem: Credenda, say: Say, first: str, again: str) -> None:
    say(first)
    held = active(mem)
    say(again)
    assert active(mem) == held
    assert len(mem.history(id=mem.list().items[0].id)) == 1
    assert mem.list().items[0].confirmations == 1


@pytest.mark.requirement("D-008", "R-075")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I like Anna.", "Anna likes me."),  # another role
        ("I teach Anna.", "My teacher is Anna."),
        ("The frontend calls the backend.", "The backend calls the frontend."),
        ("We book the flight from Rome to Oslo.", "We book the flight from Oslo to Rome."),  # another direction
        ("I prefer tea to coffee.", "I prefer coffee to tea."),
        ("My sister plays the harp.", "My brother plays the harp."),  # another owner
        ("I sing in the choir on Mondays.", "I sing in the quartet on Mondays."),
        ("I have a cat.", "I have cats in the barn."),
        ("I go to work by tram.", "I go to work by bike on Fridays."),
        ("I mend clocks.", "I repair radios on top of that."),
        ("I play tennis.", "I play table tennis."),  # another thing
        ("I like tea.", "I like green tea."),
        ("I work out on Mondays.", "I work out on Mondays and Fridays."),
        ("We deploy on Fridays.", "We never deploy on Fridays."),  # a denial
        ("My dog is a beagle.", "My neighbour's dog is a beagle."),
    ],
)
def test_what_differs_is_never_taken_for_the_same(mem: Credenda, say: Say, first: str, second: str) -> None:
    say(first)
    before = mem.list().items
    say(second)
    assert all(one.confirmations == 0 for one in mem.list().items)
    assert all(one.relation != "refined" for one in mem.list(status="superseded").items)
    assert before


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("vague", "exact"),
    [
        ("We have a dog.", "Our dog is a beagle."),
        ("I'm allergic to nuts.", "The nuts I'm allergic to are hazelnuts."),
        ("I collect coins.", "The coins I collect are Roman ones."),
        ("I play an instrument.", "The instrument I play is the oboe."),
        ("My daughter plays an instrument.", "The instrument my daughter plays is the oboe."),
        ("I play the guitar.", "I play the twelve-string guitar."),
        ("My train leaves in the morning.", "My train leaves at 8:05 in the morning."),
        ("My brother lives abroad.", "My brother lives abroad, in Canada."),
        ("We test in the browser.", "We test in the browser with Playwright."),
        ("I drive an electric car.", "My electric car is a Renault Zoe."),
    ],
)
def test_the_same_more_exactly_takes_its_place(mem: Credenda, say: Say, vague: str, exact: str) -> None:
    say(vague)
    (old,) = mem.list().items
    say(exact)
    assert active(mem) == [exact]
    (gone,) = mem.list(status="superseded").items
    assert (gone.id, gone.relation) == (old.id, "refined")


@pytest.mark.requirement("D-008", "R-077")
def test_both_say_why_and_can_be_taken_back(mem: Credenda, say: Say) -> None:
    say("I live in Utrecht.", "I teach the trumpet.", "We have a dog.")
    taught = next(one for one in mem.list().items if "trumpet" in one.text)
    dog = next(one for one in mem.list().items if "dog" in one.text)
    say("I'm a trumpet teacher.", "Our dog is a beagle.")
    confirmed = mem.why(taught.id).changes[-1]
    refined = mem.why(dog.id).changes[-1]
    assert confirmed.reason == "restated in other words (trumpet, teach)"
    assert refined.reason.endswith("same statement with “a beagle” added")
    mem.manage.undo(confirmed.id)
    mem.manage.undo(refined.id)
    assert next(one for one in mem.list().items if one.id == taught.id).confirmations == 0
    assert dog.id in {one.id for one in mem.list().items}


@pytest.mark.requirement("D-006")
@pytest.mark.parametrize("source", ["ingest", "interaction", "code_scan"])
@pytest.mark.parametrize("second", ["Our dog is a beagle.", "A dog is what we have."])
def test_what_is_trusted_less_neither_repeats_nor_refines(mem: Credenda, source: str, second: str) -> None:
    mem.remember("We have a dog.")
    mem.settle()
    mem.remember(second, source=source)
    mem.settle()
    (held,) = [one for one in mem.list().items if one.trust == 1.0]
    assert (held.text, held.confirmations) == ("We have a dog.", 0)
