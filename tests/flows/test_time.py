"""Both axes of time, on everything that reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda, Invalid, MemoryUnit, NotFound
from credenda.testing import ManualClock

Say = Callable[..., None]
DAY = timedelta(days=1)


@pytest.fixture
def vienna(tmp_path: Path, clock: ManualClock) -> Iterator[Credenda]:
    settings = {"time_zone": "Europe/Vienna"}
    with Credenda.open(tmp_path / "v.db", user="ana", clock=clock, workers=False, settings=settings) as opened:
        yield opened


def tell(mem: Credenda, text: str, at: str) -> None:
    mem.remember(text, occurred_at=at)
    mem.settle()


def values(mem: Credenda, attribute: str = "residence", **times: str) -> list[str | None]:
    return [
        one.value
        for one in mem.list(attribute=attribute, as_of=times.get("as_of"), known_at=times.get("known_at")).items
    ]


@pytest.mark.requirement("R-080", "C-005")
def test_a_backfilled_import_lands_in_its_own_time(mem: Credenda, clock: ManualClock, tmp_path: Path) -> None:
    tell(mem, "I live in Vienna.", "2025-06-01")
    clock.advance(DAY)
    turns = [{"id": "t1", "speaker": "user", "text": "I live in Linz."}]
    told = {
        "conv": "c1",
        "speakers": ["user", "assistant"],
        "sessions": [{"id": "s", "time": "2019-05-01", "turns": turns}],
    }
    (tmp_path / "old.jsonl").write_text(json.dumps(told), "utf-8")
    mem.data.import_(tmp_path / "old.jsonl", "conversation")
    mem.settle()
    assert values(mem) == ["Vienna"]
    assert values(mem, as_of="2020-01-01") == ["Linz"]
    assert values(mem, as_of="2018-01-01") == []
    assert values(mem, known_at="2026-03-01T12:00:00Z") == ["Vienna"], "it was not known before it was imported"
    old, new = mem.history(entity="user", attribute="residence")
    assert (old.value, old.valid_until) == ("Linz", new.valid_from)
    assert [
        one.value for one in mem.history(entity="user", attribute="residence", known_at="2026-03-01T12:00:00Z")
    ] == ["Vienna"]


@pytest.mark.requirement("R-080", "C-005")
def test_a_corrected_value_was_held_but_never_true(mem: Credenda, say: Say) -> None:
    say("My name is Jon.", "No, my name is John with an h.")
    held = mem.list(attribute="name", known_at="2026-03-01T10:00:00Z").items
    assert [one.value for one in held] == ["Jon"]
    assert held[0].relation is None, "nobody knew yet"
    assert values(mem, "name", as_of="2026-03-01T10:00:00Z") == ["John"]
    hit = mem.search("What is my name?", known_at="2026-03-01T10:00:00Z", kinds=["memory"]).hits[0]
    assert hit.memory is not None
    assert hit.memory.value == "Jon"
    assert mem.get(held[0].id, known_at="2026-03-01T10:00:00Z").status == "active"
    with pytest.raises(NotFound, match="wrong"):
        mem.get(held[0].id, as_of="2026-03-01T10:00:00Z")
    with pytest.raises(NotFound, match="not held then"):
        mem.get(mem.list(attribute="name").items[0].id, known_at="2026-03-01T10:00:00Z")


@pytest.mark.requirement("R-080", "S-062")
def test_deleted_words_are_in_neither_axis(mem: Credenda, say: Say) -> None:
    say("My day rate is 1,150 dollars.", "I live in Linz.")
    (rate,) = [one for one in mem.list().items if one.attribute != "residence"]
    before = "2026-03-02T12:00:00Z"
    assert rate.id in {one.id for one in mem.list(status=None, known_at=before).items}
    mem.delete(rate.id)
    axes: list[dict[str, Any]] = [{"as_of": before}, {"known_at": before}]
    for times in axes:
        shown = repr(
            (
                mem.list(status=None, **times).items,
                mem.search("What is my day rate?", **times).hits,
                mem.context("What is my day rate?", **times).text,
                mem.history(entity="user", attribute=rate.attribute, **times),
                mem.diff("2026-03-01"),
            )
        )
        assert "1,150" not in shown
        assert rate.id not in repr(mem.list(status=None, **times).items)
        with pytest.raises(NotFound):
            mem.get(rate.id, **times)


@pytest.mark.requirement("S-054", "C-007")
def test_what_is_forgotten_was_known_and_comes_back(mem: Credenda, say: Say) -> None:
    say("I live in Linz.")
    (home,) = mem.list(attribute="residence").items
    mem.forget(home.id)
    assert (values(mem), values(mem, as_of="2026-03-01T12:00:00Z")) == ([], [])
    assert values(mem, known_at="2026-03-01T12:00:00Z") == ["Linz"]
    mem.restore(home.id)
    assert values(mem, as_of="2026-03-01T12:00:00Z") == ["Linz"]


def test_events_are_said_and_known_in_their_time(mem: Credenda, clock: ManualClock) -> None:
    tell(mem, "The ferry to Capri was cancelled.", "2020-05-01")
    clock.advance(DAY)
    asked = "Capri ferry"
    assert mem.search(asked, as_of="2020-05-02").hits
    assert not mem.search(asked, as_of="2020-04-30").hits
    assert not mem.search(asked, known_at="2026-02-28").hits
    assert mem.search(asked, known_at="2026-03-01T10:00:00Z").hits


def test_the_earliest_of_many_is_found_however_many_came_since(mem: Credenda, clock: ManualClock) -> None:
    """More came since than are ever nominated at once."""
    mem.remember([{"role": "user", "content": "Tea note zero, about the tea from Darjeeling and its tea leaves."}])
    clock.advance(DAY)
    mem.remember([{"role": "user", "content": f"Tea note {at}: tea, tea, tea."} for at in range(400)])
    mem.settle()
    (hit,) = mem.search("tea note", known_at="2026-03-01", kinds=["event"]).hits
    assert "Darjeeling" in hit.quote


def test_the_core_of_a_context_is_that_of_its_time(mem: Credenda, say: Say) -> None:
    say("Always answer in French.", "Actually, always answer in German from now on.", days=10)
    assert "German" in mem.context().text
    assert "French" not in mem.context().text
    early = mem.context(known_at="2026-03-02").text
    assert "French" in early
    assert "German" not in early
    assert "French" in mem.context(as_of="2026-03-02").text


def test_a_contest_is_open_from_when_it_was_opened(mem: Credenda, say: Say) -> None:
    say("I prefer morning meetings.", "I prefer afternoon meetings.", "I prefer morning meetings.", days=20)
    question = "When should we schedule meetings?"
    assert "Unsettled" in mem.context(question).text
    assert "Unsettled" not in mem.context(question, known_at="2026-03-25").text


@pytest.mark.requirement("R-080")
def test_the_past_can_be_asked_in_words_in_the_persons_zone(vienna: Credenda) -> None:
    tell(vienna, "I live in Linz.", "2025-01-01")
    tell(vienna, "I moved to Graz.", "2026-02-28T00:30")
    assert values(vienna, as_of="27 February") == ["Linz"]
    assert values(vienna, as_of="Feb 28 00:29") == ["Linz"]
    assert values(vienna, as_of="Feb 28 00:30") == ["Graz"]
    assert values(vienna, as_of="2026-02-27T23:29:59Z") == ["Linz"], "a zone that is named counts"
    assert values(vienna, as_of="yesterday") == ["Graz"]
    assert [hit.memory.value for hit in vienna.search("Where do I live?", as_of="27 February").hits if hit.memory] == [
        "Linz"
    ]


@pytest.mark.parametrize(
    ("day", "last", "next_day"),
    [
        ("2025-03-30", "2025-03-30T21:59:59.999999Z", "2025-03-30T22:00:00Z"),
        ("2025-10-26", "2025-10-26T22:59:59.999999Z", "2025-10-26T23:00:00Z"),
    ],
)
def test_days_end_where_the_zone_ends_them(vienna: Credenda, day: str, last: str, next_day: str) -> None:
    for name, at in (("Linz", "2020-01-01"), ("Graz", last), ("Wien", next_day)):
        unit = MemoryUnit(text=f"Home: {name}", entity="user", attribute="residence", value=name, valid_from=at)
        vienna.store(unit)
    assert values(vienna, as_of=day) == ["Graz"]


def test_tomorrow_and_yesterday_are_the_persons(vienna: Credenda) -> None:
    tell(vienna, "I moved to Graz yesterday.", "2026-02-10T23:30:00Z")
    (home,) = vienna.list(attribute="residence").items
    assert home.valid_from is not None
    assert home.valid_from.isoformat() == "2026-02-09T23:00:00+00:00"
    assert "since 10 Feb 2026" in vienna.context("Where do I live?").text
    found = vienna.search("What happened on 10 February?", explain=True)
    assert any(hit.terms.get("time") or "Graz" in hit.quote for hit in found.hits)


@pytest.mark.parametrize("words", ["3/4/2026", "last month", "someday", ""])
def test_what_is_no_moment_changes_nothing_and_is_named(mem: Credenda, words: str) -> None:
    for call in (
        lambda: mem.list(as_of=words),
        lambda: mem.list(known_at=words),
        lambda: mem.history(entity="user", attribute="residence", as_of=words),
        lambda: mem.search("x", known_at=words),
        lambda: mem.context(as_of=words),
    ):
        with pytest.raises(Invalid) as caught:
            call()
        assert words in str(caught.value)


def test_pages_of_an_earlier_time_join_without_gap(mem: Credenda, clock: ManualClock) -> None:
    for at in range(7):
        mem.store(MemoryUnit(text=f"Note number {at}"))
    then = clock.now()
    clock.advance(DAY)
    for one in mem.list().items[::2]:
        mem.forget(one.id)
    found: list[str] = []
    cursor = None
    while True:
        page = mem.list(limit=3, cursor=cursor, known_at=then)
        found += [one.text for one in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == [f"Note number {at}" for at in reversed(range(7))]


def test_a_memory_that_is_open_for_reading_only_answers_all_of_it(mem: Credenda, path: Path, say: Say) -> None:
    say("I live in Linz.", "I moved to Graz.", days=10)
    with Credenda.open(path, user="ana", clock=ManualClock("2026-04-01"), read_only=True) as reader:
        name = mem.list(attribute="residence", status="superseded").items[0].id
        assert values(reader, as_of="2026-03-05") == ["Linz"]
        assert values(reader, known_at="2026-03-05") == ["Linz"]
        assert reader.get(name, known_at="2026-03-05").status == "active"
        assert len(reader.history(id=name, known_at="2026-03-05")) == 1
        assert reader.search("Where do I live?", as_of="2026-03-05").hits
        assert "Linz" in reader.context("Where do I live?", known_at="2026-03-05").text
        assert [one.kind for one in reader.diff("2026-03-05", "2026-03-20").differences] == ["changed"]


@pytest.mark.requirement("R-080")
def test_what_had_ended_when_it_was_told_is_found_for_the_time_before(mem: Credenda) -> None:
    tell(mem, "I used to work at Siemens until 2020", "2026-03-01")
    told = {"quote": "used to work at Arup until 2018", "attribute": "employer", "value": "Arup", "stance": "past"}
    mem.remember("I used to work at Arup until 2018", claims=[told])
    (hit,) = mem.search("Where do I work?", as_of="2019-06-01", kinds=["memory"]).hits
    assert hit.text == "user: employer: Siemens, until 2020-01-01"
    assert set(values(mem, "employer", as_of="2017-06-01")) == {"Siemens", "Arup"}
    assert values(mem, "employer", as_of="2020-06-01") == []
    assert {(one.value, one.valid_from) for one in mem.history(entity="user", attribute="employer")} == {
        ("Siemens", None),
        ("Arup", None),
    }


@pytest.mark.requirement("R-080")
def test_an_older_message_of_the_same_fact_moves_its_start_back(mem: Credenda, clock: ManualClock) -> None:
    tell(mem, "I work at Google.", "2026-02-01")
    clock.advance(DAY)
    tell(mem, "I left Google, I'm at Microsoft now.", "2026-02-20")
    clock.advance(DAY)
    tell(mem, "I work at Google.", "2025-01-12")
    assert values(mem, "employer", as_of="1 March 2025") == ["Google"]
    google = mem.history(entity="user", attribute="employer")[0]
    moved = next(one for one in mem.why(google.memory_id).changes if one.kind == "revise")
    assert moved.reason == "stated for an earlier time"
    mem.manage.undo(moved.id)
    assert values(mem, "employer", as_of="1 March 2025") == []
