"""Read by the model that ships: of two standing orders about one matter the later holds, and one can be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.model.change import ChangeKind


@pytest.fixture
def mem(tmp_path: Path) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False, settings={"reader": "learned"}) as memory:
        yield memory


def tell(mem: Credenda, *texts: str) -> list[str]:
    """Say each text by itself, and list the lines of the block of a prompt, without ids and days."""
    for text in texts:
        mem.remember(text)
        mem.settle()
    lines = [one for one in mem.context().text.splitlines() if one.startswith("- [m")]
    return [one.partition("] ")[2].rpartition(" (told")[0] for one in lines]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("Respond in German from now on", "please go back to English"),
        ("Respond in German from now on", "English please"),
        ("Always answer in French", "from now on answer in Spanish"),
        ("Always use metric units", "actually use imperial units"),
        ("Please always use metric units", "switch to imperial units"),
        ("Keep answers short", "no more short answers please, be detailed"),
        ("Keep your answers short", "give me longer answers from now on"),
        ("Always use emojis", "stop using emojis please"),
        ("Answer in bullet points", "no more bullet points, write in prose"),
        ("Always use 24-hour time", "use am/pm from now on"),
        ("Always remind me to drink water", "stop reminding me to drink water"),
    ],
)
def test_the_later_order_takes_the_place_of_the_earlier(mem: Credenda, first: str, later: str) -> None:
    assert tell(mem, first) == [first]
    assert tell(mem, later) == [later]


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ("Always answer in French", "you can stop answering in French"),
        ("Always answer in French", "You no longer need to answer in French"),
        ("Keep your answers short", "you don't have to keep it short any more"),
        ("Keep your answers short", "forget what I said about short answers"),
        ("Never use emojis", "you can use emojis again"),
        ("Never mention my weight", "you can mention my weight again"),
    ],
)
def test_an_order_that_is_taken_back_is_over_and_leaves_no_other(mem: Credenda, order: str, words: str) -> None:
    assert tell(mem, order) == [order]
    assert tell(mem, words) == []


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ("Respond in German from now on", "I speak English at work"),
        ("Respond in German from now on", "Please write this email in English"),
        ("Respond in German from now on", "My boss wants short answers in English"),
        ("Respond in German from now on", "When I ask about code, answer in English"),
        ("Respond in German from now on", "Can you speak English?"),
        ("Keep answers short", "be detailed when I ask about medicine"),
        ("Keep answers short", "Always answer in German"),
        ("Keep answers short", "This book is long and detailed"),
        ("Always use metric units", "use Celsius"),
        ("Always use metric units", "We switched to imperial units at work"),
    ],
)
def test_an_order_stays_beside_words_of_another_matter(mem: Credenda, order: str, said: str) -> None:
    tell(mem, order)
    assert order in tell(mem, said)


def test_words_of_another_language_open_no_order_where_none_was_given(mem: Credenda) -> None:
    assert tell(mem, "please go back to English") == []


def test_an_order_about_more_is_in_doubt_behind_the_later_one(mem: Credenda) -> None:
    first, later = "Keep answers short and answer in German", "please answer in English"
    assert tell(mem, first, later) == [later, first]
    (line,) = [one for one in mem.context().text.splitlines() if first in one]
    assert line.endswith("; in doubt)")


def test_a_replaced_order_says_why_and_can_be_brought_back(mem: Credenda) -> None:
    tell(mem, "Respond in German", "Respond in English")
    (change,) = [one for one in mem.changes(limit=20) if one.kind is ChangeKind.SUPERSEDE]
    assert change.reason == "“Respond in English” replaces “Respond in German”, which was true until then"
    mem.manage.undo(change.id)
    assert "Respond in German" in tell(mem)


def test_an_order_may_come_back_without_a_question(mem: Credenda) -> None:
    orders = ("Respond in German", "Respond in English", "Respond in German again")
    assert tell(mem, *orders) == [orders[-1]]
    assert mem.manage.contests() == []
