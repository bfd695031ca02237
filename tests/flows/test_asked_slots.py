"""The value of a slot comes first for a question that asks for it in other words, also where its sentence has none."""

from __future__ import annotations

import pytest

from credenda import Credenda

Claim = tuple[str, str, str, str]
HELD: list[Claim] = [
    ("signed at Quarry, 51k to start", "user", "salary", "51k"),
    ("Greta is strict but fair", "user", "manager", "Greta"),
    ("Quarry it is then", "user", "employer", "Quarry"),
    ("It follows two lighthouse keepers", "second novel", "plot", "two lighthouse keepers"),
    ("Nora moved on, to Linden Bank", "Nora", "employer", "Linden Bank"),
    ("my sister Nora is visiting", "user", "sister", "Nora"),
    ("I took the flat over the bakery in Passau", "user", "residence", "Passau"),
    ("ramipril 5 it is, each morning", "user", "medication", "ramipril 5"),
    ("got a refurbished Nokia G42", "user", "phone", "Nokia G42"),
    ("signed up for Finnish on Mondays", "user", "learning", "Finnish"),
    ("Dr Amsel pulled my wisdom tooth", "user", "dentist", "Dr Amsel"),
    ("two goats now, poor garden", "user", "pet", "two goats"),
]
NOISE = (
    "I work hard on the allotment.",
    "What do I earn at the flea market?",
    "The boss of the circus was here.",
    "My novel club met again.",
)


@pytest.mark.requirement("R-120")
@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How much do I earn?", "51k"),
        ("What's my salary?", "51k"),
        ("What do I get paid?", "51k"),
        ("Who is my boss?", "Greta"),
        ("Who do I report to?", "Greta"),
        ("Who is in charge of me?", "Greta"),
        ("Which firm employs me?", "Quarry"),
        ("What city am I based in?", "Passau"),
        ("Where do I work?", "Quarry"),
        ("Which company do I work for?", "Quarry"),
        ("What is the second novel about?", "two lighthouse keepers"),
        ("Where does my sister work?", "Linden Bank"),
        ("Where do I live?", "Passau"),
        ("What's my dose of ramipril?", "ramipril 5"),
        ("Which mobile do I use?", "Nokia G42"),
        ("Which language course am I doing?", "Finnish"),
        ("Do we keep any pets?", "two goats"),
    ],
)
def test_the_asked_slot_comes_first(mem: Credenda, question: str, value: str) -> None:
    for sentence in NOISE:
        mem.remember(sentence)
    for quote, entity, attribute, held in HELD:
        mem.remember(quote, claims=[{"quote": quote, "entity": entity, "attribute": attribute, "value": held}])
    mem.settle()
    first = mem.search(question).hits[0]
    assert first.memory is not None
    assert first.memory.value == value


def test_a_question_with_a_word_of_its_own_does_not_ask_for_the_slot(mem: Credenda) -> None:
    mem.remember("I pay 38 euros for the gym.")
    quote = "signed at Quarry, 51k to start"
    mem.remember(quote, claims=[{"quote": quote, "entity": "user", "attribute": "salary", "value": "51k"}])
    mem.settle()
    assert "gym" in mem.search("What do I pay for the gym?").hits[0].text


@pytest.mark.requirement("R-120")
@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("how old is my tortoise?", "19"),
        ("Who do I report to at the clinic?", "Ines Ferro"),
        ("What does my brother do for a living?", "welder"),
        ("who's our intern?", "Cody Blake"),
    ],
)
def test_what_is_asked_of_a_thing_by_its_kind_or_at_a_place_comes_first(
    mem: Credenda, question: str, value: str
) -> None:
    told: list[Claim] = [
        ("got a tortoise called Biscuit", "user", "pet tortoise", "Biscuit"),
        ("19, older than my marriage", "Biscuit", "age", "19"),
        ("Ines Ferro runs things now", "user", "manager", "Ines Ferro"),
        ("Cody Blake started at the clinic", "user", "clinic intern", "Cody Blake"),
        ("Lucien is my brother", "user", "brother", "Lucien"),
        ("Lucien is a welder these days", "Lucien", "occupation", "welder"),
    ]
    for sentence in NOISE:
        mem.remember(sentence)
    for quote, entity, attribute, held in told:
        mem.remember(quote, claims=[{"quote": quote, "entity": entity, "attribute": attribute, "value": held}])
    mem.settle()
    first = mem.search(question).hits[0]
    assert first.memory is not None
    assert first.memory.value == value
