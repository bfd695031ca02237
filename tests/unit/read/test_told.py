"""What was told is found, whatever became of its claims."""

import pytest

from credenda.model.event import DENIED
from credenda.model.memory import Stance
from credenda.read.filters import fold_query, has_query

from .build import World, names, unit


@pytest.mark.requirement("C-020")
def test_a_question_is_not_refused_where_a_rare_word_of_it_was_told(world: World) -> None:
    for at in range(40):
        world.say(f"Report {at}: the quarterly review of finance went on, with budgets and forecasts")
    bike = world.say("My bike is red")
    found = world.search("Does anybody in this whole wide world own something like a unicycle, a scooter or a bike?")
    assert not found.abstained
    assert bike in names(found)


def test_words_of_a_message_are_found_verbatim_whatever_became_of_its_claims(world: World) -> None:
    text = "I was wondering if it helps, but so be it."
    said = world.say(text)
    world.hold("I was wondering if it helps", event=said, confidence=0.3, stance=Stance.HYPOTHETICAL)
    for at in range(60):
        world.say(f"I was wondering again, number {at}, if it helps me and helps you")
    found = world.search("it helps, BUT so be it")
    assert not found.abstained
    assert names(found)[0] == said


def test_words_of_a_replaced_value_are_found_verbatim_right_after_the_current_one(world: World) -> None:
    said = world.say("Hmmm I love soup!")
    old = world.hold("I love soup", event=said, attribute="food", value="soup")
    new = world.hold("Any kind of soup", attribute="food", value="any kind of soup")
    world.supersede(old, new)
    for at in range(30):
        world.hold(f"They love a soup of kind {at}, cooked with love")
    assert names(world.search("I love soup!"))[:2] == [new, said]


def test_words_that_no_index_holds_are_found_verbatim(world: World) -> None:
    said = world.say("No, I didn't. But a dog brightens my days.")
    hidden = world.say("No, I didn't. It is a secret", flags=(DENIED,))
    for at in range(30):
        world.say(f"No, I did, and that was number {at}")
    found = world.search("no, I DIDN'T")
    assert (names(found), found.abstained) == ([said], False)
    assert hidden not in names(found)
    assert world.search("to be or not to be").abstained


def test_a_single_word_is_no_quotation() -> None:
    assert not has_query("Linz", fold_query("Linz"))
    assert has_query("我住在柏林。", fold_query("住在柏林"))


@pytest.mark.requirement("C-020")
def test_a_weak_match_is_returned_with_its_low_probability(world: World) -> None:
    name = world.say("Your bike is red", speaker="assistant")
    found = world.search(
        "Does the quarterly review meeting of our finance department concern budgets, forecasts or a bike?"
    )
    assert (names(found), found.abstained, found.nearest) == ([name], False, ())
    assert 0 < found.probability < 0.05
    assert world.search("Is your bike red?").probability > found.probability


@pytest.mark.requirement("C-020")
def test_the_nearest_texts_come_with_an_empty_answer(world: World) -> None:
    near, far, gone = world.say("Grüner Tee am Morgen"), world.say("The launch is on Friday"), world.hold("Secret tea")
    world.embed({near: unit(1, 1), far: unit(-1, 0.3), gone: unit(1, 1)})
    world.delete(gone)
    found = world.search("beverages", vector=unit(0.1, 0, 1))
    assert (found.hits, found.abstained) == ((), True)
    assert [hit.id for hit in found.nearest] == [near, far]


@pytest.mark.requirement("C-020")
def test_without_vectors_a_misspelt_word_finds_its_near_misses(world: World) -> None:
    name, gone = world.say("We adopted a beagle in May"), world.hold("The other beagle is a secret")
    world.forget(gone)
    found = world.search("Which begle do I own?")
    assert (found.hits, found.abstained, found.probability) == ((), True, 0.0)
    assert [hit.id for hit in found.nearest] == [name]
    assert world.search("Which harbour?").nearest == ()
