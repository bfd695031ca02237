"""What goes by its age, and what a legal hold keeps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Conflict, Credenda, Invalid, MemoryUnit
from credenda.testing import ManualClock

STOPPED: dict[str, Callable[[Credenda], object]] = {
    "delete a memory": lambda mem: mem.delete(mem.list(limit=1).items[0].id),
    "delete_where": lambda mem: mem.delete_where(session="s1"),
    "delete_where, counting": lambda mem: mem.delete_where(session="s1", dry_run=True),
    "apply_policies": lambda mem: mem.manage.apply_policies(),
    "erase": lambda mem: mem.erase("ana"),
}


@pytest.fixture
def told(mem: Credenda) -> Credenda:
    mem.remember("I live in Linz.", session="s1", topic="home", expires_at="2026-03-02T00:00:00Z")
    mem.remember("I'm allergic to dust.", session="s2", topic="health")
    mem.settle()
    return mem


@pytest.mark.parametrize("name", list(STOPPED))
def test_a_legal_hold_stops_it_and_says_why(told: Credenda, tmp_path: Path, clock: ManualClock, name: str) -> None:
    clock.advance(timedelta(days=9))
    told.manage.hold("case 7/26")
    told.data.export(tmp_path / "before.jsonl")
    with pytest.raises(Conflict, match="case 7/26"):
        STOPPED[name](told)
    told.data.export(tmp_path / "after.jsonl")
    assert (tmp_path / "before.jsonl").read_bytes() == (tmp_path / "after.jsonl").read_bytes()
    told.manage.lift_hold("closed")
    STOPPED[name](told)


def test_a_hold_of_one_user_holds_nobody_else(told: Credenda, path: Path, clock: ManualClock) -> None:
    told.manage.hold("case 7/26")
    with Credenda.open(path, user="ben", clock=clock, workers=False) as ben:
        ben.remember("I like tea.")
        assert ben.erase("ben").rows > 0
        assert ben.manage.holds() == ()


def test_holds_are_kept_as_a_record(mem: Credenda, clock: ManualClock) -> None:
    with pytest.raises(Conflict):
        mem.manage.lift_hold("none")
    with pytest.raises(Invalid):
        mem.manage.hold(" ")
    mem.manage.hold("first")
    with pytest.raises(Conflict, match="first"):
        mem.manage.hold("second")
    clock.advance(timedelta(days=1))
    lifted = mem.manage.lift_hold("settled")
    assert (lifted.reason, lifted.lifted_reason, lifted.lifted_at) == ("first", "settled", clock.now())
    mem.manage.hold("second")
    assert [one.reason for one in mem.manage.holds()] == ["first", "second"]
    assert mem.manage.holds()[1].lifted_at is None


def test_what_expires_goes_with_its_words_and_may_be_said_again(told: Credenda, path: Path, clock: ManualClock) -> None:
    assert told.manage.apply_policies().ran is False
    clock.advance(timedelta(days=1))
    assert told.manage.apply_policies(dry_run=True).events == 1
    report = told.manage.apply_policies()
    assert (report.ran, report.events, report.memories) == (True, 1, 1)
    again = told.manage.apply_policies()
    assert (again.ran, again.reason) == (False, "nothing to do")
    assert [memory.attribute for memory in told.list().items] == ["allergy"]
    assert told.remember("I live in Linz.").refused == ()
    told.settle()
    assert {memory.attribute for memory in told.list().items} == {"allergy", "residence"}
    assert path.is_file()


def test_a_memory_that_expires_before_its_words_goes_too(mem: Credenda, clock: ManualClock) -> None:
    mem.store(MemoryUnit(text="Parked on level 3", expires_at=clock.now() + timedelta(hours=1)))
    clock.advance(timedelta(hours=2))
    assert mem.manage.apply_policies().memories == 1
    assert mem.list(status=None).items == ()


def test_policies_delete_what_is_too_old_of_all_or_of_a_topic(mem: Credenda, clock: ManualClock) -> None:
    for number in range(120):
        mem.remember(f"Note {number} about the garden.", topic="garden" if number % 2 else "house")
    mem.settle()
    assert [(one.topic, one.days) for one in mem.manage.policy(30, topic="garden")] == [("garden", 30)]
    clock.advance(timedelta(days=31))
    mem.remember("A new note about the garden.", topic="garden")
    assert mem.manage.apply_policies(dry_run=True).events == 60
    assert mem.manage.apply_policies().events == 60
    assert mem.stats().events - mem.stats().redacted_events == 61
    mem.manage.policy(10)
    assert [(one.topic, one.days) for one in mem.manage.policy()] == [(None, 10), ("garden", 30)]
    assert mem.manage.apply_policies().events == 60
    assert [one.topic for one in mem.manage.policy(remove=True)] == ["garden"]
    assert mem.data.doctor().ok


@pytest.mark.parametrize("days", [0, -1, 40_000, True, 1.5])
def test_a_policy_of_no_sensible_length_is_refused(mem: Credenda, days: int) -> None:
    with pytest.raises(Invalid):
        mem.manage.policy(days)
    assert mem.manage.policy() == ()


def test_a_topic_alone_or_both_is_refused(mem: Credenda) -> None:
    with pytest.raises(Invalid):
        mem.manage.policy(topic="work")
    with pytest.raises(Invalid):
        mem.manage.policy(3, topic="work", remove=True)


def test_rules_travel_with_an_export(mem: Credenda, tmp_path: Path, clock: ManualClock) -> None:
    mem.manage.policy(30, topic="garden")
    mem.manage.hold("case")
    mem.data.export(tmp_path / "all.jsonl")
    with Credenda.open(tmp_path / "other.db", user="ana", clock=clock, workers=False) as other:
        other.data.import_(tmp_path / "all.jsonl")
        assert other.manage.policy() == mem.manage.policy()
        assert other.manage.holds() == mem.manage.holds()


def test_a_policy_with_private_text_is_refused(mem: Credenda) -> None:
    with pytest.raises(Invalid, match="private text"):
        mem.manage.policy(days=3, topic="<private>Salzquark</private>")
    assert mem.manage.policy() == ()


def test_a_policy_of_a_blank_topic_is_none_of_all(mem: Credenda) -> None:
    for blank in ("", " "):
        with pytest.raises(Invalid, match="topic is blank"):
            mem.manage.policy(days=30, topic=blank)
        with pytest.raises(Invalid, match="topic is blank"):
            mem.manage.policy(topic=blank, remove=True)
    assert mem.manage.policy() == ()
