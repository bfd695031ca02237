"""A message that has more of a question than its memories is a hit beside them, and reaches the context."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC

import pytest

from credenda import Credenda
from credenda.interfaces.mcp.results import describe_hits

Say = Callable[..., None]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is my wife allergic to?", "sulfa"),
        ("where is the Postgres connection string?", "in .env.local, port 6432"),
    ],
)
def test_a_memory_does_not_hide_the_rest_of_its_message(mem: Credenda, say: Say, question: str, answer: str) -> None:
    say("My wife's name is Ruth. I booked a table for two at Luigi's. She is allergic to sulfa.")
    say("I use Postgres 16. The connection string is in .env.local, port 6432, via pgbouncer.")
    assert mem.list().items
    assert any(answer in hit.quote for hit in mem.search(question).hits)
    assert answer in mem.context(question).text


def test_a_memory_stands_for_a_message_that_has_no_more_of_the_question(mem: Credenda, say: Say) -> None:
    say("I live in Linz. The weather is fine today.")
    assert [hit.quote for hit in mem.search("Where do I live?").hits] == ["I live in Linz."]


def test_words_that_were_forgotten_do_not_come_back_beside_a_memory(mem: Credenda, say: Say) -> None:
    say("My wife's name is Ruth. I live in Linz.")
    (home,) = [one for one in mem.list().items if one.attribute == "residence"]
    mem.forget(home.id)
    shown = mem.search("Does my wife Ruth live in Linz?").hits
    assert not any("Linz" in hit.text for hit in shown)


@pytest.mark.parametrize(
    ("text", "question", "words"),
    [
        ("I don't work at Zalando anymore, N26 hired me last Monday", "Where do I work?", "N26"),
        ("I'm vegetarian but my wife eats meat", "What does my wife eat?", "my wife eats meat"),
        ("I'm from Peru but I've lived in Lima, Ohio since 2012", "Where do I live?", "Lima, Ohio"),
        ("My wife is Jana, we met at a concert in Leipzig", "Where did I meet Jana?", "concert in Leipzig"),
    ],
)
def test_words_that_no_memory_tells_stand_in_the_context_and_beside_a_hit(  # noqa: PLR0917 - a case and two fixtures
    mem: Credenda, say: Say, text: str, question: str, words: str
) -> None:
    say(text)
    assert words in mem.context(question).text
    assert words in describe_hits(question, mem.search(question), UTC).text


@pytest.mark.parametrize("text", ["I live in Graz.", "My sister Eva lives in Oslo.", "I am allergic to peanuts."])
def test_a_sentence_that_its_memories_tell_is_no_line_of_its_own(mem: Credenda, say: Say, text: str) -> None:
    say(text)
    assert mem.list().items
    assert text not in mem.context("Where do I and Eva live, and what am I allergic to?").text
    assert text not in describe_hits(text, mem.search(text), UTC).text


def test_a_sentence_with_a_claim_that_has_ended_is_not_shown_as_said(mem: Credenda, say: Say) -> None:
    say("I work at Zalando and my mother bakes bread for weddings")
    say("I work at N26 now")
    assert "Zalando and my mother" not in mem.context("Where do I work?").text.partition("No longer true")[0]


def test_what_an_agent_claimed_needs_no_sentence(mem: Credenda) -> None:
    text = "I'm from Peru but I've lived in Lima, Ohio since 2012"
    claim = {"quote": text, "entity": "user", "attribute": "origin", "value": "Peru"}
    mem.remember(text, claims=[claim])
    mem.settle()
    assert "Lima, Ohio" not in mem.context("Which country am I from?").text
