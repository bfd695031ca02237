"""Questions about the whole are answered from slots and the history of changes, in an order of their own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.clock import parse_time
from credenda.testing import ManualClock

STORY = {
    "2026-01-10": [
        "In books I mostly like old westerns.",
        "For music I prefer string quartets.",
        "My favourite films are the silent ones.",
        "I like spicy dishes.",
    ],
    "2026-03-02": ["I'm Marit and I live in Deventer with my husband Joost.", "I earn 3200 euros a month."],
    "2026-04-10": ["My sister Hanne lives in Utrecht.", "We have a dog called Bobbie."],
    "2026-07-02": ["I've moved to Zwolle."],
    "2026-08-10": ["I'm learning Swedish."],
    "2026-11-03": ["I got a raise, I earn 3600 euros a month now."],
    "2026-11-14": ["My sister Hanne moved to Groningen."],
    "2026-11-20": ["We'll visit Sweden in July.", "I have a dentist appointment on 9 December."],
}
NOVEMBER = ["Groningen", "3600 euros a month"]
TOLD_IN_NOVEMBER = [*NOVEMBER, "dentist", "visit Sweden"]
SINCE_JUNE = [*NOVEMBER, "Zwolle"]
PLANS = ["dentist", "visit Sweden"]
FAMILY = ["Joost", "Hanne", "Groningen"]
PROFILE = ["Marit", "Zwolle", "Joost", "Hanne", "Bobbie"]


@pytest.fixture(scope="module")
def mem(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Credenda]:
    clock = ManualClock("2026-01-01T09:00:00Z")
    path: Path = tmp_path_factory.mktemp("whole") / "m.db"
    with Credenda.open(path, user="marit", workers=False, clock=clock) as memory:
        for day, texts in STORY.items():
            clock.advance(timedelta(microseconds=parse_time(f"{day}T09:00:00Z") - clock.now_us()))
            for text in texts:
                memory.remember(text)
                memory.settle()
        clock.advance(timedelta(days=8))
        yield memory


def list_values(mem: Credenda, question: str, count: int) -> list[str | None]:
    hits = mem.search(question, limit=20, record_access=False).hits
    return [hit.memory.value if hit.memory else None for hit in hits][:count]


WAYS = {
    "What changed this month?": NOVEMBER,
    "What happened in November?": NOVEMBER,
    "Anything new this month?": TOLD_IN_NOVEMBER,
    "What did I tell you this month?": TOLD_IN_NOVEMBER,
    "What is new since June?": SINCE_JUNE,
    "Which things have changed since July?": SINCE_JUNE,
    "What has changed about me since June?": SINCE_JUNE,
    "Any changes since we last spoke?": SINCE_JUNE,
    "Catch me up, please.": SINCE_JUNE,
    "What's new with me?": SINCE_JUNE,
    "What do I have planned?": PLANS,
    "What are my plans?": PLANS,
    "What's coming up?": PLANS,
    "Which plans do I have in December?": PLANS[:1],
    "What's on my calendar next month?": PLANS[:1],
    "What am I doing in July?": PLANS[1:],
    "Tell me about my family.": FAMILY,
    "Who is in my family?": FAMILY,
    "What have I told you about my family?": FAMILY,
    "Who are my siblings?": FAMILY[1:],
    "What pets do I have?": ["Bobbie"],
    "What do you know about me?": PROFILE,
    "Give me a summary of what you know about me.": PROFILE,
    "Describe me.": PROFILE,
}


@pytest.mark.parametrize("question", WAYS)
def test_the_whole_is_answered_in_order(mem: Credenda, question: str) -> None:
    found = mem.search(question, limit=20, record_access=False)
    assert list_values(mem, question, len(WAYS[question])) == WAYS[question]
    assert found.probability > 0.8


@pytest.mark.parametrize(
    "question",
    ["What happened?", "What did you say?", "What do I do?", "What changed at the inn?", "What do I have?"],
)
def test_another_question_is_none_for_the_whole(mem: Credenda, question: str) -> None:
    assert "whole" not in mem.search(question, record_access=False).trace


def test_where_nothing_changed_nothing_is_told_as_a_change(mem: Credenda) -> None:
    assert mem.search("What changed yesterday?", record_access=False).probability < 0.8


def test_a_change_is_told_with_what_was_before(mem: Credenda) -> None:
    first = mem.search("What changed this month?", record_access=False).hits[0]
    assert first.text.endswith("before: Utrecht")


def test_a_context_keeps_the_order_of_the_answer(mem: Credenda) -> None:
    for question in ("What is new since June?", "Tell me about my family.", "What do I have planned?"):
        text = mem.context(question).text
        places = [text.index(value) for value in WAYS[question]]
        assert places == sorted(places), question


def test_an_earlier_time_has_its_own_answer(mem: Credenda) -> None:
    found = mem.search("What do you know about me?", as_of="2026-05-01", limit=20, record_access=False)
    values = [hit.memory.value for hit in found.hits if hit.memory]
    assert values[:2] == ["Marit", "Deventer"]
    assert "Zwolle" not in values


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What do I read?", "old westerns"),
        ("Which novels do I like?", "old westerns"),
        ("What do I listen to?", "string quartets"),
        ("What do I like to watch?", "the silent ones"),
        ("Which movies are my favourites?", "the silent ones"),
        ("What food do I like?", "spicy dishes"),
    ],
)
def test_a_liking_is_found_by_other_words_for_its_topic(mem: Credenda, question: str, value: str) -> None:
    found = mem.search(question, record_access=False)
    assert (found.hits[0].memory.value if found.hits[0].memory else None) == value
    assert found.probability > 0.5


def test_a_trifle_is_news_and_no_change(tmp_path: Path) -> None:
    said = "I keep my passwords in Bitwarden."
    claim = {"quote": said, "attribute": "password manager", "value": "Bitwarden"}
    with Credenda.open(tmp_path / "m.db", user="ana", embedder="none", workers=False) as memory:
        memory.remember(said, claims=[claim])
        assert "whole" not in memory.search("What changed this month?", record_access=False).trace
        assert memory.search("Anything new this month?", record_access=False).trace["whole"] == 1
