"""Questions that were asked and the assistant's repetitions stand behind memories and what was told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.model.query import Hit
from credenda.testing import ManualClock

TALK = (
    ("user", "Which locksmith do I use?"),
    ("assistant", "I don't know your locksmith yet."),
    ("user", "My locksmith is Wren & Daughters on Tallow Lane."),
    ("assistant", "Understood. Your locksmith is Wren & Daughters on Tallow Lane."),
    ("user", "what's my locksmith called again"),
    ("assistant", "Your locksmith is Wren & Daughters."),
    ("user", "The loom in the attic has 24 shafts for the damask."),
    ("assistant", "Noted, the loom in the attic has 24 shafts for the damask."),
    ("user", "How many shafts does the loom in the attic have for damask?"),
    ("assistant", "Understood."),
    ("user", "ok thanks"),
)
TOLD = {TALK[2][1], TALK[6][1]}


@pytest.fixture(params=["none", "hashed"])
def talked(request: pytest.FixtureRequest, path: Path, clock: ManualClock) -> Iterator[Credenda]:
    with Credenda.open(path, user="ana", clock=clock, embedder=request.param, workers=False) as opened:
        yield hold_talk(opened, clock)


def hold_talk(mem: Credenda, clock: ManualClock) -> Credenda:
    for number, (role, text) in enumerate(TALK):
        mem.remember([{"role": role, "content": text}], session=f"s{number // 4}")
        clock.advance(timedelta(hours=3))
    mem.settle()
    return mem


def is_told(hit: Hit) -> bool:
    return hit.memory is not None or hit.quote in TOLD


@pytest.mark.parametrize(
    "question",
    [
        "Which locksmith do I use?",
        "Where is my locksmith?",
        "How many shafts does the loom have for damask?",
        "loom attic shafts damask",
    ],
)
def test_what_was_told_stands_above_questions_and_repetitions(talked: Credenda, question: str) -> None:
    hits = talked.search(question).hits
    thing = "locksmith" if "locksmith" in question else "loom"
    about = [is_told(hit) for hit in hits if thing in hit.quote and hit.quote != TALK[1][1]]
    assert about == sorted(about, reverse=True), [hit.quote for hit in hits]
    assert {True, False} == set(about)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    lines = [line for line in talked.context(question).text.splitlines() if line.startswith("- ")]
    answer = "Wren" if thing == "locksmith" else "24 shafts"
    assert answer in lines[0]
    assert "assistant" not in lines[0]


def test_a_question_about_the_talk_finds_what_was_asked(talked: Credenda) -> None:
    best = talked.search("What did I ask about the loom and its shafts for damask?").hits
    assert TALK[8][1] in [hit.quote for hit in best[:5]]
    assert "Understood." in [hit.quote for hit in talked.search("Understood").hits[:3]]


def test_a_question_that_tells_a_fact_stays_where_it_is(mem: Credenda) -> None:
    text = "Can you plan a walk for my three-legged greyhound Juniper?"
    mem.remember(
        text, claims=[{"quote": "my three-legged greyhound Juniper", "attribute": "pet", "value": "greyhound Juniper"}]
    )
    mem.remember("Could you find a muzzle for a greyhound?")
    mem.remember("The three-legged stool is green.")
    hits = mem.search("greyhound Juniper walk three-legged").hits
    assert "Juniper" in hits[0].text
    assert "muzzle" in mem.search("Is there a muzzle for a greyhound?").hits[1].text


def test_a_statement_of_another_person_is_no_repetition(mem: Credenda) -> None:
    mem.remember([{"role": "person", "name": "Ulla", "content": "Have you seen the comet over Visby?"}])
    mem.remember([{"role": "person", "name": "Per", "content": "The ferry to Visby is blue."}])
    assert "comet" in mem.search("comet over Visby").hits[0].text


REQUESTS = (
    "Draft a card for the locksmith, please.",
    "Can you make me a list of locksmiths?",
    "Translate to Danish: My locksmith is called Mads.",
)


@pytest.mark.parametrize("request_text", REQUESTS)
def test_a_request_takes_no_line_of_a_context(mem: Credenda, request_text: str) -> None:
    mem.remember("My locksmith is Wren & Daughters on Tallow Lane.")
    mem.remember(request_text, session="other")
    mem.settle()
    block = mem.context("Who is my locksmith?").text
    assert "Wren & Daughters" in block
    assert request_text not in block


def test_a_request_that_tells_something_keeps_its_line(mem: Credenda) -> None:
    mem.remember("Draft a card for the neighbours: we've sold the mangle to the museum.")
    mem.settle()
    assert "mangle" in mem.context("What became of the mangle?").text


def test_a_text_to_translate_answers_nothing(mem: Credenda) -> None:
    mem.remember("Translate to Danish: My name is Ove and I mend clocks.")
    mem.settle()
    found = mem.search("What is my name?")
    assert found.probability < 0.5


def test_a_question_that_was_asked_often_is_shown_once(mem: Credenda) -> None:
    question = "What did we choose for the pricing service?"
    mem.remember("For the pricing service we decided to use Celery.", session="s0")
    for session in ("s1", "s2", "s3"):
        asked = [{"role": "user", "content": question}, {"role": "assistant", "content": "Understood."}]
        mem.remember(asked, session=session)
    mem.settle()
    texts = [hit.text for hit in mem.search(question).hits]
    assert "Celery" in texts[0]
    assert texts.count(question) == 1
    assert texts.count("Understood.") == 1
    assert [hit.text for hit in mem.search(question, kinds=["event"], session="s3").hits].count(question) == 1
