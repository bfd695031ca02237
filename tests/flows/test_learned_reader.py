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
