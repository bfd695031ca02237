"""Messages read with the model that ships, through the public client."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from credenda import Credenda, CredendaError
from credenda.testing import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 3, 2, 9, tzinfo=UTC))


@pytest.fixture
def mem(tmp_path: Path, clock: ManualClock) -> Iterator[Credenda]:
    path = tmp_path / "memory.db"
    with Credenda.open(path, user="ana", clock=clock, workers=False, settings={"reader": "learned"}) as memory:
        yield memory


def tell(mem: Credenda, *texts: str) -> None:
    for text in texts:
        mem.remember(text)
    mem.settle()


def list_slots(mem: Credenda) -> set[tuple[str | None, str | None, str | None]]:
    return {(one.entity, one.attribute, one.value) for one in mem.list(limit=50).items}


def test_careless_talk_fills_slots(mem: Credenda) -> None:
    tell(
        mem, "moved to Tromsø last month btw, third floor no lift", "(nurse, so nights)", "cant eat hazelnuts, allergic"
    )
    assert ("user", "residence", "Tromsø") in list_slots(mem)
    assert ("user", "job_title", "nurse") in list_slots(mem)
    assert ("user", "allergy", "hazelnuts") in list_slots(mem)


def test_a_belief_says_which_words_it_rests_on(mem: Credenda) -> None:
    tell(mem, "Quick question first. We live in Loja now. Can you find a dentist?")
    held = next(one for one in mem.list().items if one.attribute == "residence")
    ((event, start, stop),) = mem.why(held.id).evidence
    assert event.text[start:stop] == "We live in Loja now."


def test_a_told_move_takes_the_place_of_the_old_home(mem: Credenda, clock: ManualClock) -> None:
    tell(mem, "I live in Loja.")
    clock.advance(timedelta(days=40))
    tell(mem, "We moved from Loja to Quito last week.")
    assert [one.value for one in mem.list(attribute="residence").items] == ["Quito"]
    assert [one.status for one in mem.history(entity="user", attribute="residence")][:1] == ["superseded"]


@pytest.mark.parametrize(
    "text",
    [
        "thanks, that helps a lot!",
        "can you make the second paragraph shorter?",
        "My tenant writes: 'I live in Porto and I work at a bakery.' What shall I answer?",
        "Translate to German: my name is Oskar and I live in Malmö.",
    ],
)
def test_a_message_without_a_fact_of_its_speaker_stays_a_message(mem: Credenda, text: str) -> None:
    tell(mem, text)
    assert not [one for one in mem.list().items if one.attribute in {"residence", "employer", "name", "job_title"}]
    assert mem.search(text).hits[0].kind == "event"


def test_what_one_takes_back_is_taken_back(mem: Credenda) -> None:
    tell(mem, "I live in Loja.", "never mind")
    assert mem.list(attribute="residence").items == ()


def test_the_assistant_tells_nothing_of_the_user(mem: Credenda) -> None:
    mem.remember([{"role": "assistant", "content": "You live in Loja, and you are allergic to bees."}])
    mem.settle()
    assert mem.list().items == ()


def test_an_unknown_reader_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CredendaError, match="reader"):
        Credenda.open(tmp_path / "memory.db", settings={"reader": "magic"})


@pytest.mark.requirement("S-095")
@pytest.mark.parametrize(
    ("first", "then", "right"),
    [
        ("My friend is called Jon.", "Sorry, his name is John, not Jon.", "John"),
        ("I had lunch with my friend Catherine today.", "It's spelled Kathryn, by the way.", "Kathryn"),
        ("My sister is called Lina.", "I meant Lena, not Lina.", "Lena"),
        ("My wife's name is Anne.", "Her name's actually Anna, typo on my side.", "Anna"),
        ("My friend Marc is visiting next week.", "His name's actually Marek.", "Marek"),
        ("My brother is called Fillip.", "It's actually spelled Philip.", "Philip"),
        ("My son is called Mathew.", "No wait, his name is Matthew, with two t's.", "Matthew"),
        ("My friend Katrin is a vet.", "Her name is spelled Cathrin.", "Cathrin"),
        ("My manager is Rachel.", "Sorry, I meant Rachael.", "Rachael"),
        ("My name is Catherine.", "It's spelled Kathryn.", "Kathryn"),
    ],
)
def test_a_respelled_name_takes_the_place_of_the_wrong_one(mem: Credenda, first: str, then: str, right: str) -> None:
    tell(mem, first)
    (wrong,) = [one for one in mem.list().items if (one.value or "")[:1].isupper()]
    tell(mem, then)
    (held,) = [one for one in mem.list().items if (one.value or "")[:1].isupper()]
    assert (held.entity, held.attribute, held.value) == (wrong.entity, wrong.attribute, right)
    assert mem.get(wrong.id).relation == "corrected"


@pytest.mark.parametrize(
    ("then", "own"),
    [("My name is spelled Ana.", "Ana"), ("It's actually Tuesday.", None), ("She's called Mia.", None)],
)
def test_words_about_another_name_leave_a_name(mem: Credenda, then: str, own: str | None) -> None:
    tell(mem, "My friend is called Jon.")
    tell(mem, then)
    assert [one.value for one in mem.list(attribute="friend").items][-1] == "Jon"
    assert [one.value for one in mem.list(attribute="name").items] == ([own] if own else [])


def list_beliefs(mem: Credenda, *texts: str) -> set[str]:
    """Return what is held after some messages, each read alone: "user sister: Kate", "user dog: not Rex"."""
    for text in texts:
        tell(mem, text)
    held = [one for one in mem.list(limit=50).items if one.entity]
    return {f"{one.entity} {one.attribute}: {'not ' * (one.stance == 'negated')}{one.value}" for one in held}


@pytest.mark.parametrize(
    ("said", "held", "never"),
    [
        (["My sister Kate works at Ikea", "Kate moved to Lyon"], "user sister: Kate", "user sister: not Kate"),
        (["My brother Sam lives in Bergen", "Sam moved to Oslo"], "user brother: Sam", "user brother: not Sam"),
        (["My brother Sam lives in Hull", "I no longer live with Sam"], "user brother: Sam", "user brother: not Sam"),
        (["My wife Ruth works at Ikea", "Ruth retired"], "user wife: Ruth", "user wife: not Ruth"),
        (["My girlfriend is Anna", "I broke up with Anna"], "user girlfriend: not Anna", "user girlfriend: Anna"),
        (["My sister Kate works at Ikea", "Kate passed away"], "user sister: not Kate", "user sister: Kate"),
        (["I live with Sam", "Sam moved out"], "user lives_with: not Sam", "user lives_with: Sam"),
        (["My flatmate is Sam", "Sam is no longer my flatmate"], "user lives_with: not Sam", "user lives_with: Sam"),
        (
            ["My brother Sam lives in Bergen", "Sam from work lives in Hull"],
            "user's brother Sam residence: Bergen",
            "user's brother Sam residence: Hull",
        ),
        (
            ["My brother Sam lives in Bergen", "I met a guy called Sam who lives in Hull"],
            "user's brother Sam residence: Bergen",
            "user residence: Hull",
        ),
        (
            ["My friend Anna from school lives in York", "Anna my cousin lives in Bath"],
            "user's friend Anna residence: York",
            "user's friend Anna residence: Bath",
        ),
        (
            ["My friend Anna from school lives in York", "Anna from school moved to Leeds"],
            "user's friend Anna residence: Leeds",
            "user's friend Anna residence: York",
        ),
        (
            ["My brother Sam lives in Bergen", "Sam from work lives in Hull", "Sam moved to Leeds"],
            "user's brother Sam residence: Bergen",
            "user's brother Sam residence: Leeds",
        ),
        (
            ["Sam from work lives in Hull", "Sam from work moved to Leeds"],
            "Sam from work residence: Leeds",
            "Sam from work residence: Hull",
        ),
        (["My brother Sam lives in Bergen", "Sam from work died"], "user brother: Sam", "user brother: not Sam"),
        (["My dog Rex is 3", "Rex passed away"], "user dog: not Rex", "user's dog Rex age: 3"),
        (
            ["I drink coffee every morning", "I don't drink coffee"],
            "user diet: don't drink coffee",
            "user routine: drink coffee",
        ),
        (
            ["I drink coffee every morning", "I don't drink tea"],
            "user routine: drink coffee",
            "user routine: not drink coffee",
        ),
        (
            ["I take metformin 500mg twice a day", "doctor upped it to 1000"],
            "user medication: metformin 500mg",
            "user medication: 1000",
        ),
        (
            ["I work at Mott MacDonald", "I never worked at Mott MacDonald, I meant Mott Group"],
            "user employer: Mott Group",
            "user employer: Mott MacDonald",
        ),
    ],
)
def test_a_belief_ends_or_changes_only_by_words_about_it(mem: Credenda, said: list[str], held: str, never: str) -> None:
    beliefs = list_beliefs(mem, *said)
    assert held in beliefs
    assert never not in beliefs
