"""What lifts a hit beyond the question's own words: looking like an answer, and the words of the first hits."""

import pytest

from .build import World, hit_of, names


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("When did I paint the fence?", "I painted the fence yesterday", "I painted the fence green"),
        ("How many fences do I have?", "I have two fences", "I have nice fences"),
    ],
)
def test_a_text_that_looks_like_an_answer_goes_before_one_that_does_not(
    world: World, question: str, answer: str, other: str
) -> None:
    wanted, unwanted = world.say(answer, at=1), world.say(other, at=2)
    found = world.search(question, explain=True)
    assert names(found) == [wanted, unwanted]
    assert hit_of(found, wanted).terms["answers"] > hit_of(found, unwanted).terms["answers"] == 0
    assert hit_of(world.search("fence", explain=True), wanted).terms["answers"] == 0


def test_the_words_of_the_first_hits_lead_on_and_take_no_place_from_them(world: World) -> None:
    for number in range(220):
        world.say(f"Errand number {number} took a while", session=f"e{number}")
    for at in range(5):
        world.say("My sister plays the marimba in an orchestra", session=f"s{at}")
    led = world.say("The orchestra with its marimba is no friend of sisters", session="c")
    unled = world.say("The harbour with its seagulls is no friend of sisters", session="d")
    question = "Tell me how my sister plays and of the voyage"
    found = world.search(question, explain=True)
    placed = names(found)
    hops = {hit.id: hit.terms.get("hop", 0.0) for hit in found.hits}
    assert placed.index(led) < placed.index(unled)
    assert hops[led] > hops[unled]
    assert hops[placed[0]] == 0.0


def test_where_the_words_of_a_question_are_found_nothing_leads_on(world: World) -> None:
    for at in range(8):
        world.say(f"My sister plays the marimba {at}", session=f"s{at}")
    found = world.search("Does my sister play the marimba?", explain=True)
    assert found.hits
    assert not any("hop" in hit.terms for hit in found.hits)
