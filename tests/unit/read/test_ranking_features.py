"""What lifts a hit beyond the question's own words."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from credenda.model.query import Query
from credenda.read.dense import embed_question
from credenda.read.plan import plan

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


def test_a_question_that_names_one_person_is_compared_between_their_name_and_you() -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        asked.extend(texts)
        return np.eye(3, dtype=np.float32)[: len(texts)]

    def vector_of(text: str) -> list[float]:
        return embed_question(embed, text, plan(Query(text=text), 0, ["Ana", "Ben"])).tolist()

    assert vector_of("Where does Ana paint?") == pytest.approx([0.5**0.5, 0.5**0.5, 0])
    assert asked == ["Where does Ana paint?", "Where does you paint?"]
    assert vector_of("Where do Ana and Ben paint?") == vector_of("Where do I paint?") == [1, 0, 0]


@pytest.mark.requirement("C-020")
@pytest.mark.parametrize("cold", [False, True])
def test_a_question_about_nobody_who_was_spoken_of_is_refused(world: World, *, cold: bool) -> None:
    for day in range(3):
        world.say("I paint boats in the harbour", at=day, speaker="Caroline")
    question = "Which boats did {} paint in the harbour?"
    sure = {who: answerable(world, question.format(who), cold=cold) for who in ("Caroline", "Carolina", "Bartholomew")}
    assert sure["Bartholomew"] < min(sure["Caroline"], sure["Carolina"]) / 2
    world.say("Bartholomew is my neighbour", speaker="Caroline")
    assert answerable(world, question.format("Bartholomew"), cold=cold) > sure["Bartholomew"]


def answerable(world: World, question: str, *, cold: bool) -> float:
    found = world.search(question, cold=cold).trace["answerable"]
    assert isinstance(found, float)
    return found
