"""No word of a deleted message is left in a rendered text, a table or the search index, whatever was made of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.testing import ManualClock

from .deleted_words import check_gone

TOLD = {
    "quillon": ("I work at Quillon.", "I've changed jobs, I'm at Acme now."),
    "brasova": ("I live in Brasova.", "I've moved to Ghent."),
    "yvaine": ("My sister Yvaine lives in Utrecht.", "She is a nurse."),
    "plumeria": ("I'm allergic to plumeria.", "I'm also allergic to cats."),
    "zorbo": ("My dog is called Zorbo.", "My dog is ill."),
    "halvorsen": ("I have an appointment with Dr Halvorsen on 9 December.", "It has moved to 12 December."),
    "kettering": ("Always sign my letters with Kettering.", "Sign my letters with Ana instead."),
    "tiree": ("We're planning a trip to Tiree in July.", "The trip is off."),
    "ombeline": ("My boss is Ombeline.", "Owain is my boss now."),
    "theremin": ("My theremin teacher is Bea.", "Bea lives in Gent."),
    "cetirizine": ("I take 20 mg of cetirizine in the morning.", "My doctor raised it to 40 mg."),
    "isolde": ("I'm at Isolde's this week.", "I'm staying there until Friday."),
}
"""A message with the word that is deleted, and one after it that builds on it."""
QUESTIONS = (
    "What do you know about me?",
    "What changed this year?",
    "What do I have planned?",
    "Tell me about my family.",
)


def show_everything(mem: Credenda) -> str:
    """Return what the whole memory shows in answers, contexts, the core and its lists."""
    answers = [mem.search(one, include=["superseded", "archived"], limit=20).hits for one in QUESTIONS]
    contexts = [mem.context(one).text for one in (*QUESTIONS, None)]
    lists = [mem.inspect.entities(), mem.changes(limit=100), mem.directory.ls("", depth=5), mem.inspect.sessions()]
    return str([answers, contexts, lists, mem.manage.core()]).casefold()


def list_terms(path: Path) -> list[str]:
    """Return the terms of the search index, which its bytes hold without the beginnings that they share."""
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, search_index, row)")
        return [term for (term,) in file.execute("SELECT term FROM temp.terms")]


def find_held(mem: Credenda, word: str) -> list[str]:
    found = mem.search(word, include=["superseded", "archived"], limit=20).hits
    return [hit.id for hit in found if hit.memory is not None and word in str(hit.memory).casefold()]


@pytest.mark.parametrize("whole", [False, True], ids=["memories", "messages"])
def test_no_word_of_a_deleted_source_is_left(path: Path, clock: ManualClock, whole: bool) -> None:  # noqa: FBT001 - a parameter
    events: dict[str, str] = {}
    with Credenda.open(path, user="ana", workers=False, clock=clock) as mem:
        for word, texts in TOLD.items():
            clock.advance(timedelta(days=3))
            (events[word],) = mem.remember(texts[0]).event_ids
            mem.remember(texts[1])
            mem.settle()
        before = show_everything(mem)
        mem.manage.dream()
        mem.manage.consolidate()
        mem.settle()
        assert all(word in before for word in TOLD), "a word that is nowhere shown proves nothing"
        for word, event in events.items():
            while not whole and (held := find_held(mem, word)):
                mem.delete(held[0])
                events[word] = ""
            if events[word]:
                mem.delete(event, whole_message=True)
        after = show_everything(mem)
        assert [word for word in TOLD if word in after] == []
        check_gone(mem, path, *TOLD)
    assert [word for word in TOLD if any(term.startswith(word[:5]) for term in list_terms(path))] == []
