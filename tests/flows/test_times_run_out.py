"""What says its own end is over after it, without a further word."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from credenda import Credenda
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


def test_an_appointment_that_was_stands_below_the_one_to_come(mem: Credenda, clock: ManualClock) -> None:
    tell(mem, "I have a dentist appointment next Tuesday at 9.")
    clock.advance(timedelta(days=15))
    tell(mem, "The dentist sees me again on 3 July at 9.")
    assert {one.value for one in mem.list().items} == {"dentist appointment at 9", "dentist on 3 July at 9"}
    text = mem.context("When is my next dentist appointment?").text
    assert "3 July" in list_sections(text)["Planned or considered:"]
    assert "appointment at 9" in list_sections(text)["No longer true:"]
    assert text.index("3 July") < text.index("appointment at 9")
