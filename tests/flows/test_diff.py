"""What changed in belief between two times."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda, Invalid
from credenda.interfaces.serialize import to_jsonable
from credenda.model.browse import Diff
from credenda.testing import ManualClock

Say = Callable[..., None]


def told(diff: Diff) -> list[tuple[str, str | None, str | None]]:
    return [(one.kind.value, one.memory.value, one.previous and one.previous.value) for one in diff.differences]


@pytest.mark.requirement("C-005", "S-054")
def test_each_kind_of_difference_is_told(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "My name is Jon.", "I'm allergic to dust.", "My dog is called Rex.", "I work at Acme.")
    say("I moved to Graz.", "No, my name is John with an h.", "I'm allergic to dust.", "I'm allergic to pollen.")
    mem.forget(mem.list(attribute="employer").items[0].id, reason="private")
    diff = mem.diff("2026-03-06", "2026-03-31")
    assert set(told(diff)) >= {
        ("changed", "Graz", "Linz"),
        ("corrected", "John", "Jon"),
        ("confirmed", "dust", None),
        ("added", "pollen", None),
        ("ended", "Acme", None),
    }
    assert diff.counts == {"changed": 1, "corrected": 1, "confirmed": 1, "added": 1, "ended": 1}
    ended = next(one for one in diff.differences if one.kind == "ended")
    assert ended.reason == "private"
    (change,) = ended.changes
    assert change.startswith("c")
    moved = next(one for one in diff.differences if one.kind == "changed")
    assert "Graz" in moved.reason
    assert len(moved.changes) == 2
    assert [one.at for one in diff.differences] == sorted(one.at for one in diff.differences)


def test_what_came_and_went_in_between_is_no_difference(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I moved to Graz.", "I moved to Vienna.", days=40)
    assert told(mem.diff("2026-03-02", "2026-12-31")) == [("changed", "Vienna", "Linz")]
    assert told(mem.diff("2026-04-01", "2026-04-30")) == [("changed", "Graz", "Linz")]
    assert told(mem.diff("2026-03-15", "2026-03-20")) == []


def test_the_two_axes_differ(mem: Credenda, clock: ManualClock) -> None:
    for text, at in (("I live in Linz.", "2020-01-01"), ("I moved to Graz.", "2022-01-01")):
        mem.remember(text, occurred_at=at)
        mem.settle()
    assert told(mem.diff("2021-06-01", "2022-06-01")) == []
    assert told(mem.diff("2021-06-01", "2022-06-01", axis="valid")) == [("changed", "Graz", "Linz")]
    assert told(mem.diff("today")) == [("added", "Graz", None)]
    (begun,) = mem.diff("2019-01-01", "2021-01-01", axis="valid").differences
    assert (begun.kind, begun.memory.value, begun.at.isoformat()) == ("added", "Linz", "2020-01-01T00:00:00+00:00")
    assert clock.now() is not None


def test_a_correction_is_no_change_of_what_was_true(mem: Credenda, say: Say) -> None:
    say("My name is Jon.", "No, my name is John with an h.")
    assert told(mem.diff("2026-02-01", axis="valid")) == [("added", "John", None)]


def test_a_corrected_value_has_no_period_and_a_changed_one_keeps_its_own(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I moved to Graz.")
    mem.correct(mem.list(attribute="residence").items[0].id, value="Wels")
    versions = mem.history(entity="user", attribute="residence")
    shown = {one["value"]: (one["valid_from"], one["valid_until"]) for one in to_jsonable(versions)}
    assert shown["Graz"] == (None, None)
    assert None not in shown["Linz"]
    wrong = next(one for one in versions if one.value == "Graz")
    memory = to_jsonable(mem.get(wrong.memory_id))
    assert wrong.valid_from is wrong.valid_until is memory["valid_from"] is memory["valid_until"] is None


def test_contests_open_and_close(mem: Credenda, say: Say) -> None:
    say("I prefer morning meetings.", "I prefer afternoon meetings.", days=20)
    say("I prefer morning meetings.", days=20)
    opened = mem.diff("2026-04-01", "2026-04-15")
    assert "contested" in opened.counts
    mem.manage.resolve(mem.manage.contests()[0].id, keep=mem.manage.contests()[0].values[0])
    assert mem.diff("2026-04-20").differences


@pytest.mark.requirement("S-060", "S-062")
def test_a_deleted_memory_is_told_without_its_words(mem: Credenda, say: Say) -> None:
    say("My day rate is 1,150 dollars.", "I live in Linz.")
    (rate,) = [one for one in mem.list().items if one.attribute != "residence"]
    mem.delete(rate.id)
    diff = mem.diff("2026-03-03")
    assert [(one.kind.value, one.memory.id, one.memory.text) for one in diff.differences] == [("deleted", rate.id, "")]
    earlier = mem.diff("2026-03-01", "2026-03-02")
    assert rate.id not in {one.memory.id for one in earlier.differences}, "deleted later: it is in neither"
    assert "1,150" not in repr((diff, earlier))


def test_it_can_be_narrowed(mem: Credenda, say: Say) -> None:
    mem.remember("I live in Linz.", topic="home")
    mem.settle()
    say("My sister lives in Graz.")
    assert told(mem.diff("2026-03-01", topic="home")) == [("added", "Linz", None)]
    assert told(mem.diff("2026-03-01", entity="user")) == [("added", "Linz", None)]
    assert told(mem.diff("2026-03-01", entity="nobody")) == []


def test_a_diff_from_the_first_day_of_the_calendar_can_be_shown(mem: Credenda, say: Say) -> None:
    say("I live in Linz.")
    diff = mem.diff("0001-01-01")
    assert diff.counts == {"added": 1}
    assert to_jsonable(diff)["since"] == "0001-01-01T00:00:00Z"


def test_days_count_whole(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", days=0.5)
    assert len(mem.diff("2026-03-01", "2026-03-01").differences) == 1
    assert len(mem.diff("in March", "in March").differences) == 1
    assert len(mem.diff("yesterday").differences) == 1
    assert mem.diff("2026-02-01", "2026-02-28").differences == ()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"since": "2026-03-02", "until": "2026-03-01"}, "earlier"),
        ({"since": "someday"}, "someday"),
        ({"since": "yesterday", "until": "3/4/2026"}, "3/4/2026"),
        ({"axis": "wishes"}, "wishes"),
    ],
)
def test_what_cannot_be_compared_is_named(mem: Credenda, given: dict[str, str], named: str) -> None:
    with pytest.raises(Invalid, match=named):
        mem.diff(**given)
