"""What was told is found, whatever became of its claims."""

import pytest

from credenda.model.memory import Stance
from credenda.read.verbatim import fold_query, has_query

from .build import World, names


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


def test_a_single_word_is_no_quotation() -> None:
    assert not has_query("Linz", fold_query("Linz"))
    assert has_query("我住在柏林。", fold_query("住在柏林"))
