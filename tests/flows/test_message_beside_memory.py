"""A message that has more of a question than its memories is a hit beside them, and reaches the context."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda

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
