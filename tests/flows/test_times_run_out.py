"""What says its own end is over after it, without a further word."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from credenda import Credenda, MemoryUnit
from credenda.testing import ManualClock

NOW = datetime(2026, 6, 3, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def mem(tmp_path: Path, clock: ManualClock) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "m.db", user="ana", workers=False, clock=clock) as memory:
        yield memory


def tell(mem: Credenda, text: str) -> None:
    mem.remember(text)
    mem.settle()


def list_sections(text: str) -> dict[str, str]:
    """Return the lines of a context by their headings."""
    sections: dict[str, str] = {}
    heading = ""
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith("-"):
            heading = line
        elif line.startswith("- "):
            sections[heading] = f"{sections.get(heading, '')}{line}\n"
    return sections


def test_a_week_on_call_is_over_after_it(mem: Credenda, clock: ManualClock) -> None:
    tell(mem, "I'm on call this week.")
    assert "on call" in list_sections(mem.context("Am I on call?").text)["Held true:"]
    clock.advance(timedelta(days=20))
    sections = list_sections(mem.context("Am I on call?").text)
    assert "on call" in sections["No longer true:"]
    assert "Held true:" not in sections
    assert [hit.flags for hit in mem.search("Am I on call?", kinds=["memory"]).hits] == [{"stale"}]
    assert [one.value for one in mem.list(as_of="2026-06-05").items] == ["on call"]
    assert mem.list(as_of="2026-06-15").items == ()


def test_a_plan_is_known_since_it_was_told_and_not_since_its_day(mem: Credenda, clock: ManualClock) -> None:
    tell(mem, "I have a dentist appointment on 20 June at 9.")
    clock.advance(timedelta(days=30))
    between = "2026-06-10"
    assert [one.stance for one in mem.list(as_of=between).items] == ["planned"]
    hits = mem.search("When is my dentist appointment?", kinds=["memory"], as_of=between).hits
    assert ["2026-06-20" in hit.text for hit in hits] == [True]
    assert "2026-06-20" in mem.context("When is my dentist appointment?", as_of=between).text
    assert mem.list(as_of="2026-06-02").items == ()


def test_a_plan_that_was_moved_is_not_held_beside_the_new_one(mem: Credenda, clock: ManualClock) -> None:
    def plan(text: str, day: str) -> None:
        claim = {"quote": text, "entity": "Otto's party", "attribute": "date", "value": day, "stance": "planned"}
        mem.remember(text, claims=[claim])
        mem.settle()

    plan("Otto's party is on 20 June", "20 June")
    clock.advance(timedelta(days=3))
    plan("Otto's party is on 27 June now", "27 June")
    clock.advance(timedelta(days=30))
    assert [one.value for one in mem.list(as_of="2026-06-10", attribute="date").items] == ["27 June"]


def test_an_appointment_that_was_stands_below_the_one_to_come(mem: Credenda, clock: ManualClock) -> None:
    tell(mem, "I have a dentist appointment next Tuesday at 9.")
    clock.advance(timedelta(days=15))
    tell(mem, "The dentist sees me again on 3 July at 9.")
    assert {one.value for one in mem.list().items} == {"dentist appointment at 9", "dentist on 3 July at 9"}
    text = mem.context("When is my next dentist appointment?").text
    assert "3 July" in list_sections(text)["Planned or considered:"]
    assert "appointment at 9" in list_sections(text)["No longer true:"]
    assert text.index("3 July") < text.index("appointment at 9")


def test_two_appointments_of_one_kind_stand_side_by_side_and_the_next_one_comes_first(
    mem: Credenda, clock: ManualClock
) -> None:
    tell(mem, "I have a dentist appointment on 9 June at 9:30.")
    clock.advance(timedelta(days=10))
    tell(mem, "I have a dentist appointment on 20 August at 4pm.")
    tell(mem, "I have a dentist appointment on 3 July at noon.")
    days = ["2026-06-09T09:30", "2026-07-03T12:00", "2026-08-20T16:00"]
    assert sorted(f"{one.valid_from:%Y-%m-%dT%H:%M}" for one in mem.list().items) == days
    hits = mem.search("When is my next dentist appointment?", kinds=["memory"]).hits
    assert [one.text.partition("planned for ")[2] for one in hits] == [
        *("2026-07-03 12:00", "2026-08-20 16:00", "2026-06-09 09:30, over"),
    ]
    hits = mem.search("When was my last dentist appointment?", kinds=["memory"]).hits
    assert hits[0].text.endswith("2026-06-09 09:30, over")
    lines = list_sections(mem.context("When is my next dentist appointment?").text)
    assert lines["Planned or considered:"].count("\n") == 2
    assert "2026-06-09" in lines["No longer true:"]
    tell(mem, "I have a dentist appointment on 3 July at noon.")
    assert len(mem.list().items) == 3, "what is told again is no other appointment"


def test_what_is_so_for_a_time_takes_the_place_of_nothing_and_ends(mem: Credenda, clock: ManualClock) -> None:
    tell(mem, "I'm a vegetarian.")
    tell(mem, "I'm eating vegan this week.")
    tell(mem, "I'm on antibiotics for ten days.")
    now = {one.value for one in mem.list().items}
    assert now == {"vegetarian", "vegan", "antibiotics"}
    clock.advance(timedelta(days=30))
    sections = list_sections(mem.context("What is my diet, and what medication do I take?").text)
    current = "".join(lines for heading, lines in sections.items() if heading != "No longer true:")
    assert "vegetarian" in current
    assert "vegan" not in current.replace("vegetarian", "")
    assert "antibiotics" not in current


def test_what_ended_earlier_ended_then(mem: Credenda) -> None:
    mem.remember("I work at Halden.", occurred_at="2025-01-02T09:00:00Z")
    tell(mem, "I left Halden in April.")
    assert [one.value for one in mem.list(as_of="2026-03-20", attribute="employer").items] == ["Halden"]
    stances = [one.stance for one in mem.list(as_of="2026-04-20", attribute="employer").items]
    assert stances == ["negated"]


def test_two_measurements_are_two(mem: Credenda) -> None:
    tell(mem, "My blood pressure was 140/90 on Monday.")
    tell(mem, "My blood pressure was 125/80 on Tuesday.")
    assert {one.value for one in mem.list(attribute="blood_pressure").items} == {"140/90", "125/80"}


def test_an_age_goes_on(mem: Credenda, clock: ManualClock) -> None:
    tell(mem, "I'm 34.")
    assert "age: 34 (" in mem.context("How old am I?").text
    clock.advance(timedelta(days=750))
    assert "age: 34 when told, about 36 now (told 3 Jun 2026)" in mem.context("How old am I?").text


@pytest.mark.parametrize(
    "row",
    [
        ("I'm in Deventer this week.", "status", "in Deventer this week", "2026-06-07"),
        ("My status is on call until Friday.", "status", "on call until Friday", "2026-06-05"),
        ("I'm on call until Friday, sorry.", "schedule", "on call", "2026-06-05"),
        ("My house guest is Karin till Sunday.", "house_guest", "Karin", "2026-06-07"),
        ("I'm at my mum's for two weeks.", "location", "my mum's", "2026-06-17"),
        ("My location is my mum's for the next few days.", "location", "my mum's", "2026-06-08"),
        ("This month I'm working from home.", "schedule", "working from home", "2026-06-30"),
        ("I'm working late tonight.", "schedule", "working late tonight", "2026-06-03"),
    ],
)
def test_what_an_agent_says_of_a_time_ends_with_it(
    mem: Credenda, clock: ManualClock, row: tuple[str, str, str, str]
) -> None:
    text, attribute, value, last = row
    mem.remember(text, claims=[{"quote": text, "attribute": attribute, "value": value}])
    mem.settle()
    (held,) = [one for one in mem.list().items if one.attribute == attribute]
    assert (held.status, held.over) == ("active", False)
    assert f"{held.valid_until:%Y-%m-%dT%H}" == f"{datetime.fromisoformat(last) + timedelta(days=1):%Y-%m-%dT00}"
    clock.advance(timedelta(days=40))
    assert mem.get(held.id).over
    assert value in list_sections(mem.context(f"What is my {attribute}?").text)["No longer true:"]
    assert [one.valid_until for one in mem.history(id=held.id)] == [held.valid_until]
    assert [one.value for one in mem.list(as_of="2026-06-03T20:00:00Z").items] == [value]
    assert mem.list(as_of="2026-07-10").items == ()


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I moved to Zwolle this week.", "residence", "Zwolle"),
        ("I've been on keto for two weeks.", "diet", "keto"),
        ("My sister moved here this week and I work at Halden.", "employer", "Halden"),
        ("I'm starting at Halden this week.", "employer", "Halden"),
        ("I bought the Cube this week, it's my bike.", "bike", "Cube"),
    ],
)
def test_what_happened_or_began_in_a_time_does_not_end_with_it(
    mem: Credenda, text: str, attribute: str, value: str
) -> None:
    mem.remember(text, claims=[{"quote": text, "attribute": attribute, "value": value}])
    mem.settle()
    assert [one.valid_until for one in mem.list().items if one.attribute == attribute] == [None]


def test_a_unit_of_a_program_ends_with_the_time_of_its_value(mem: Credenda) -> None:
    held = mem.store(
        MemoryUnit(text="I'm in Deventer this week.", entity="user", attribute="status", value="in Deventer this week")
    )
    assert f"{held.valid_until:%Y-%m-%d}" == "2026-06-08"
