"""Consolidation from outside: what is merged, what one entry says of a change, what stays, and when it runs."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, Invalid, MemoryUnit
from credenda.model.memory import Memory
from credenda.testing import ManualClock


def texts(mem: Credenda, status: str = "active") -> list[str]:
    return sorted(memory.text for memory in mem.list(status=status, limit=50).items)


def held(mem: Credenda) -> list[Memory]:
    return list(mem.list(limit=50).items)


@pytest.mark.requirement("S-041", "S-054", "S-055", "S-093", "R-105")
def test_one_entry_says_what_holds_and_what_held(mem: Credenda, say: object) -> None:
    say("I work at Google.", "I work at Microsoft now.")  # type: ignore[operator]
    before = mem.search("Where do I work?", limit=5).hits
    assert {hit.text: "superseded" in hit.flags for hit in before} == {
        "I work at Microsoft now.": False,
        "I work at Google.": True,
    }
    assert "previously Google" in mem.context("Where do I work?").text
    preview = mem.manage.consolidate(dry_run=True)
    assert (preview.dry_run, preview.memories_created, preview.created) == (True, 1, ())
    assert texts(mem) == ["I work at Microsoft now."]
    report = mem.manage.consolidate(force=True)
    assert [group.proposed for group in report.groups] == [group.proposed for group in preview.groups]
    (entry,) = held(mem)
    assert entry.text == "I work at Microsoft now (currently Microsoft; previously Google)."
    assert (entry.value, entry.attribute, entry.valid_until) == ("Microsoft", "employer", None)
    assert [one.value for one in mem.history(entity="user", attribute="employer")] == [
        "Google",
        "Microsoft",
        "Microsoft",
    ]
    assert mem.search("Where did I work?", as_of="2026-03-01T10:00:00Z").hits[0].text == "I work at Google."


@pytest.mark.requirement("S-095")
def test_what_was_wrong_is_in_no_entry(mem: Credenda, say: object) -> None:
    say("My brother's name is Jon.", "Actually, my brother's name is John, not Jon.")  # type: ignore[operator]
    mem.manage.consolidate(force=True)
    assert texts(mem) == ["My brother's name is John."]
    assert all("Jon." not in hit.text for hit in mem.search("What is my brother called?").hits if hit.memory)


@pytest.mark.requirement("S-096", "S-006", "D-016")
def test_facts_that_differ_in_one_sign_all_live(mem: Credenda) -> None:
    told = [
        "The launch is on October 15th.",
        "The launch is on October 16th.",
        "We deploy to AWS on Fridays.",
        "Tests run on Fridays.",
        "The room holds 12 people.",
        "The room holds 21 people.",
        "Anna likes tea.",
        "Anna does not like tea.",
        "The run is 5 km.",
        "The run is 5 miles.",
    ]
    for text in told:
        mem.store(MemoryUnit(text=text))
    for threshold in (0.85, 0.0):
        mem.manage.consolidate(similarity_threshold=threshold, force=True)
    assert texts(mem) == sorted(told)
    mem.store(MemoryUnit(text="Tests run on Fridays.", topic="work"))
    assert len(held(mem)) == len(told)


@pytest.mark.requirement("S-028", "S-029", "S-082", "S-083", "S-084", "S-097", "R-108", "C-017")
def test_the_gate_asks_for_time_and_volume_and_force_for_neither(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, workers=False) as mem:
        assert mem.manage.consolidate(force=True).reason == "nothing to do"
        for number in range(19):
            mem.store(MemoryUnit(text=f"Box {number} is in the cellar."))
        assert "20 are needed" in mem.manage.consolidate().reason
        mem.store(MemoryUnit(text="The last box is in the attic."))
        first = mem.manage.consolidate()
        assert (first.ran, first.examined) == (True, 20)
        for number in range(30):
            mem.store(MemoryUnit(text=f"Crate {number} is in the cellar."))
        clock.advance(timedelta(hours=23))
        assert "24 must lie between" in mem.manage.consolidate().reason
        assert mem.manage.consolidate(force=True).ran
        clock.advance(timedelta(hours=25))
        assert mem.manage.consolidate().reason == "nothing to do"


@pytest.mark.requirement("D-033", "S-036", "C-017")
def test_a_second_run_adds_nothing_and_feeds_nothing_back(mem: Credenda, say: object, clock: ManualClock) -> None:
    say("I live in Linz.", "I moved to Graz.", "I live in Wien now.")  # type: ignore[operator]
    mem.manage.consolidate(force=True)
    before = [(one.id, one.version) for one in held(mem)]
    clock.advance(timedelta(days=2))
    again = mem.manage.consolidate(force=True)
    assert (again.ran, again.reason) == (False, "nothing to do")
    mem.manage.consolidate(topic="none such", force=True)
    assert [(one.id, one.version) for one in held(mem)] == before
    assert mem.settle() is None
    assert len(texts(mem)) == 1


@pytest.mark.requirement("R-101", "R-107")
@pytest.mark.parametrize("wrong", [-0.1, 1.5, "much", True, None])
def test_a_threshold_that_is_no_fraction_is_refused(mem: Credenda, wrong: object) -> None:
    if wrong is True:
        assert mem.manage.consolidate(similarity_threshold=True).reason == "nothing to do"
        return
    with pytest.raises(Invalid):
        mem.manage.consolidate(similarity_threshold=wrong)  # type: ignore[arg-type]
