"""A sentence that says more than what was read from it stands beside its memories."""

from collections.abc import Sequence
from datetime import UTC

import pytest

from credenda import Credenda
from credenda.interfaces.mcp.results import describe_hits


def tell(mem: Credenda, *texts: str) -> None:
    for text in texts:
        mem.remember(text)
        mem.settle()


@pytest.mark.parametrize(
    ("texts", "question", "words"),
    [
        (["I work at Zalando", "I don't work at Zalando anymore, N26 hired me last Monday"], "Where do I work?", "N26"),
        (["I'm vegetarian but my wife eats meat"], "What does my wife eat?", "my wife eats meat"),
        (["I'm from Peru but I've lived in Lima, Ohio since 2012"], "Where do I live?", "Lima, Ohio"),
        (["My wife is Jana, we met at a concert in Leipzig"], "Where did I meet Jana?", "concert in Leipzig"),
    ],
)
def test_words_that_no_memory_tells_stand_in_the_context_and_beside_a_hit(
    mem: Credenda, texts: Sequence[str], question: str, words: str
) -> None:
    tell(mem, *texts)
    assert words in mem.context(question).text
    assert words in describe_hits(question, mem.search(question), UTC).text


@pytest.mark.parametrize("text", ["I live in Graz.", "My sister Eva lives in Oslo.", "I am allergic to peanuts."])
def test_a_sentence_that_its_memories_tell_is_no_line_of_its_own(mem: Credenda, text: str) -> None:
    tell(mem, text)
    assert mem.list().items
    assert text not in mem.context("Where do I and Eva live, and what am I allergic to?").text
    assert text not in describe_hits(text, mem.search(text), UTC).text


def test_a_sentence_with_a_claim_that_has_ended_is_not_shown_as_said(mem: Credenda) -> None:
    tell(mem, "I work at Zalando and my mother bakes bread for weddings", "I work at N26 now")
    assert "Zalando and my mother" not in mem.context("Where do I work?").text.partition("No longer true")[0]


def test_what_an_agent_claimed_needs_no_sentence(mem: Credenda) -> None:
    text = "I'm from Peru but I've lived in Lima, Ohio since 2012"
    claim = {"quote": text, "entity": "user", "attribute": "origin", "value": "Peru"}
    mem.remember(text, claims=[claim])
    mem.settle()
    assert "Lima, Ohio" not in mem.context("Which country am I from?").text
