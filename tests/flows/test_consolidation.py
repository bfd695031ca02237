"""Consolidation from outside: what is merged, what one entry says of a change, what stays, and when it runs."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest
from numpy.typing import NDArray

from credenda import Credenda, Invalid, MemoryUnit
from credenda.config import describe_settings
from credenda.manage.consolidation_guards import NearestNeighbours
from credenda.model.memory import Memory
from credenda.services import consolidation
from credenda.storage.store import SchedulerLease
from credenda.testing import ManualClock


class Say(Protocol):
    def __call__(self, *sentences: str, days: float = 1) -> None: ...


def texts(mem: Credenda, status: str = "active") -> list[str]:
    return sorted(memory.text for memory in mem.list(status=status, limit=50).items)


def unit(text: str) -> MemoryUnit:
    return MemoryUnit(text=text)


def held(mem: Credenda) -> list[Memory]:
    return list(mem.list(limit=50).items)


@pytest.mark.requirement("S-041", "S-054", "S-055", "S-093", "R-105")
def test_one_entry_says_what_holds_and_what_held(mem: Credenda, say: Say) -> None:
    say("I work at Google.", "I work at Microsoft now.")
    before = mem.search("Where do I work?", limit=5).hits
    assert {hit.quote: "superseded" in hit.flags for hit in before} == {
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
    assert mem.search("Where did I work?", as_of="2026-03-01T10:00:00Z").hits[0].quote == "I work at Google."


@pytest.mark.requirement("S-041", "S-093")
def test_an_entry_repeats_nothing_that_its_sentence_says(mem: Credenda, say: Say) -> None:
    say("I work at Google.", "I left Google, I'm at Microsoft now.")
    assert mem.manage.consolidate(force=True).memories_created == 0
    assert texts(mem) == ["I left Google, I'm at Microsoft now."]
    say("I work at Siemens now.")
    mem.manage.consolidate(force=True)
    assert texts(mem) == ["I work at Siemens now (currently Siemens; previously Microsoft, Google)."]


@pytest.mark.requirement("S-095")
def test_what_was_wrong_is_in_no_entry(mem: Credenda, say: Say) -> None:
    say("My brother's name is Jon.", "Actually, my brother's name is John, not Jon.")
    mem.manage.consolidate(force=True)
    assert texts(mem) == ["My brother's name is John."]
    assert all("Jon." not in hit.text for hit in mem.search("What is my brother called?").hits if hit.memory)


@pytest.mark.requirement("S-096", "D-016")
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


@pytest.mark.requirement("S-028", "S-029", "S-082", "S-083", "S-084", "S-092", "S-097", "R-108", "C-017")
def test_the_gate_asks_for_time_and_volume_and_force_for_neither(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, workers=False) as mem:
        assert mem.manage.consolidate(force=True).reason == "nothing to do"
        for number in range(19):
            mem.store(MemoryUnit(text=f"Box {number} is in the cellar."))
        assert "a run needs 20" in mem.manage.consolidate().reason
        mem.store(MemoryUnit(text="The last box is in the attic."))
        first = mem.manage.consolidate()
        assert (first.ran, first.examined) == (True, 20)
        for number in range(30):
            mem.store(MemoryUnit(text=f"Crate {number} is in the cellar."))
        clock.advance(timedelta(hours=23))
        assert "runs are 24 hours apart" in mem.manage.consolidate().reason
        assert mem.manage.consolidate(force=True).ran
        clock.advance(timedelta(hours=25))
        assert mem.manage.consolidate().reason == "nothing to do"


@pytest.mark.requirement("D-033", "S-036", "C-017")
def test_a_second_run_adds_nothing_and_feeds_nothing_back(mem: Credenda, say: Say, clock: ManualClock) -> None:
    say("I live in Linz.", "I moved to Graz.", "I live in Wien now.")
    mem.manage.consolidate(force=True)
    before = [(one.id, one.version) for one in held(mem)]
    clock.advance(timedelta(days=2))
    again = mem.manage.consolidate(force=True)
    assert (again.ran, again.reason) == (False, "nothing to do")
    mem.manage.consolidate(topic="none such", force=True)
    assert [(one.id, one.version) for one in held(mem)] == before
    assert mem.settle() is None
    assert len(texts(mem)) == 1


@pytest.mark.requirement("D-033", "R-102")
def test_a_topic_is_looked_at_as_a_whole_and_twice_is_once(mem: Credenda, clock: ManualClock) -> None:
    for value in ("Google", "Microsoft"):
        text = f"I work at {value}."
        mem.store(MemoryUnit(text=text, topic="work", entity="user", attribute="employer", value=value))
        clock.advance(timedelta(days=9))
    for text in ("The desk is by the window.", "The desk by the window is mine."):
        mem.store(MemoryUnit(text=text, topic="work"))
    mem.store(MemoryUnit(text="The desk is by the window there.", topic="home"))
    first = mem.manage.consolidate(topic="work", force=True)
    assert [group.verdict for group in first.groups] == ["change", "keep"]
    assert {one for group in first.groups for one in group.texts} >= {"The desk is by the window."}
    assert "The desk is by the window there." not in {one for group in first.groups for one in group.texts}
    log = mem.stats().changes
    again = mem.manage.consolidate(topic="work", force=True)
    assert (again.ran, again.groups_found, again.changes) == (True, 0, ())
    assert mem.stats().changes == log


@pytest.mark.requirement("R-101", "R-107")
@pytest.mark.parametrize("wrong", [-0.1, 1.5, "much", None])
def test_a_threshold_that_is_no_fraction_is_refused(mem: Credenda, wrong: object) -> None:
    with pytest.raises(Invalid):
        mem.manage.consolidate(similarity_threshold=wrong)  # type: ignore[arg-type]


@pytest.mark.requirement("S-094", "S-042", "S-044", "R-106", "R-110", "C-018", "D-015")
def test_duplicates_that_rules_recognise_become_one_entry(mem: Credenda, clock: ManualClock) -> None:
    """Rows that reconciliation did not see side by side: one was put away when the other was told."""
    first = mem.store(MemoryUnit(text="The badge code is 4711.", importance=0.4, confidence=0.7, tags=("door",)))
    mem.forget(first.id)
    clock.advance(timedelta(days=3))
    second = mem.store(MemoryUnit(text="the badge code is 4711", importance=0.9, confidence=0.9, topic="work"))
    mem.restore(first.id)
    assert len(held(mem)) == 2
    report = mem.manage.consolidate(force=True)
    assert (report.groups_found, report.memories_consolidated, report.memories_created) == (1, 1, 0)
    (entry,) = held(mem)
    (gone,) = mem.list(status="merged").items
    assert {entry.id, gone.id} == {first.id, second.id}
    assert report.deleted_ids == (gone.id,)
    assert (gone.superseded_by, gone.relation) == (entry.id, "duplicate")
    assert (entry.importance, entry.confidence, entry.topic, entry.tags) == (0.9, 0.9, "work", ("door",))
    assert entry.valid_from == first.valid_from
    assert len(mem.why(entry.id).evidence) == 2
    assert mem.data.doctor().ok
    assert mem.data.rebuild().differences == ()


@pytest.mark.requirement("R-105", "S-054")
def test_what_was_taken_back_is_not_done_again(mem: Credenda, say: Say) -> None:
    say("I work at Google.", "I work at Microsoft now.")
    report = mem.manage.consolidate(force=True)
    mem.manage.undo(report.changes[0].id)
    assert texts(mem) == ["I work at Microsoft now."]
    mem.manage.consolidate(force=True)
    mem.manage.consolidate(topic=None, force=True)
    assert texts(mem) == ["I work at Microsoft now."]
    assert mem.data.doctor().ok


@pytest.mark.requirement("S-060", "S-099", "C-007")
@pytest.mark.parametrize("by", ["memory", "event"])
def test_deleting_what_was_leaves_what_is(mem: Credenda, say: Say, by: str) -> None:
    say("I work at Google.", "I work at Microsoft now.")
    mem.manage.consolidate(force=True)
    (old,) = mem.list(status="superseded").items
    mem.delete(old.id if by == "memory" else mem.why(old.id).evidence[0][0].id)
    assert texts(mem) == ["I work at Microsoft now."]
    mem.manage.consolidate(force=True)
    assert mem.data.rebuild().differences == ()
    everything = [
        one.text for status in ("active", "superseded", "merged", "deleted") for one in mem.list(status=status).items
    ]
    assert not any("Google" in text for text in everything)
    assert mem.data.doctor().ok


@pytest.mark.requirement("S-060", "S-062")
def test_deleting_an_entry_takes_along_what_was_merged_into_it(mem: Credenda, say: Say) -> None:
    say("I work at Google.", "I work at Microsoft now.")
    mem.manage.consolidate(force=True)
    (entry,) = held(mem)
    mem.delete(entry.id)
    assert texts(mem) == []
    assert texts(mem, "merged") == []
    assert mem.search("Microsoft").hits == ()
    assert mem.data.doctor().ok


@pytest.mark.requirement("S-029")
def test_nothing_skips_the_lock(mem: Credenda, clock: ManualClock) -> None:
    mem.store(MemoryUnit(text="The badge code is 4711."))
    now_us = clock.now_us()
    lock = SchedulerLease(
        name="consolidation", owner="elsewhere:1:abcde1", now_us=now_us, until_us=now_us + 300_000_000
    )
    mem._parts.store.commit("ana", lambda writer: writer.put(lock))  # noqa: SLF001 - another process
    refused = mem.manage.consolidate(force=True)
    assert (refused.ran, refused.reason.startswith("lock")) == (False, True)
    assert mem.manage.consolidate(dry_run=True).examined == 1
    assert "consolidation" not in {duty.name for duty in mem.manage.schedule().duties}
    clock.advance(timedelta(minutes=5))
    assert mem.manage.consolidate(force=True).ran
    assert not mem.manage.consolidate(force=True).reason.startswith("lock")


@pytest.mark.requirement("S-082", "S-085", "C-017")
def test_a_worker_looks_at_the_gate_and_can_be_told_not_to(path: Path, clock: ManualClock) -> None:
    settings = {"memory_consolidation_min_facts": 2, "memory_consolidation_interval_seconds": 60}
    with Credenda.open(path, user="ana", clock=clock, workers=False, settings=settings) as mem:
        for text in ("I work at Google.", "I work at Microsoft now.", "I like tea."):
            mem.remember(text)
            mem.settle()
            clock.advance(timedelta(days=1))
        ran = {run.name: run.result for run in mem.manage.schedule(run=True).ran}
        assert ran["consolidate"] == "1 memory consolidated"
        clock.advance(timedelta(seconds=60))
        ran = {run.name: run.result for run in mem.manage.schedule(run=True).ran}
        assert ran["consolidate"] == "nothing to do"
    off = {"memory_consolidation_enabled": "no"}
    with Credenda.open(path, user="ana", clock=clock, workers=False, settings=off) as mem:
        clock.advance(timedelta(days=9))
        assert "consolidate" not in {run.name for run in mem.manage.schedule(run=True).ran}


@pytest.mark.requirement("D-032")
def test_known_repeats_collapse_when_they_are_written(mem: Credenda, backend: str) -> None:
    """Of 2,600 lines of facts, 68 repeat exactly, as in large notes: they are counted, and none is lost or copied."""
    lines = [f"Part {number} lies in drawer {number * 7 % 9973} of shelf {number % 61}." for number in range(2_532)]
    lines += [lines[number * 31 % 2_532] for number in range(68)]
    callers = 32 if backend == "sqlite" else 1  # who share the commits of a file, and wait for each other elsewhere
    with ThreadPoolExecutor(callers) as pool:
        list(pool.map(mem.store, map(unit, lines)))
    assert mem.stats().memories["active"] == 2_532


@pytest.mark.requirement("S-082", "S-083", "S-084", "S-085", "S-086", "S-087", "S-088", "S-089", "S-103")
def test_the_knobs_have_their_defaults() -> None:
    found = {name: default for name, default, _ in describe_settings() if name.startswith("memory_consolidation")}
    assert found == {
        "memory_consolidation_enabled": True,
        "memory_consolidation_min_hours": 24.0,
        "memory_consolidation_min_facts": 20,
        "memory_consolidation_interval_seconds": 1800,
        "memory_consolidation_memory_max_lines": 200,
        "memory_consolidation_neighbor_k": 8,
        "memory_consolidation_cluster_max": 25,
        "memory_consolidation_model": "",
    }


@pytest.mark.requirement("S-104")
def test_the_log_of_recalls_is_left_alone(mem: Credenda, say: Say) -> None:
    say("I work at Google.", "I work at Microsoft now.")
    mem.search("Where do I work?")
    mem.settle()
    with mem._parts.store.reader("ana") as reader:  # noqa: SLF001 - the log is not shown
        ids = [memory.id for memory in mem.list(limit=50).items]
        before = reader.usage.accesses(ids)
    mem.manage.consolidate(force=True)
    with mem._parts.store.reader("ana") as reader:  # noqa: SLF001
        assert reader.usage.accesses(ids) == before
    assert before


@pytest.mark.requirement("S-042")
def test_a_fact_without_a_condition_takes_up_the_same_fact_with_one(mem: Credenda, say: Say) -> None:
    say("I'm using Flask 2.3.1 and Python 3.11.", "We use Flask 2.3.1 for the project.", "I prefer tabs for Python.")
    say("I prefer tabs.")
    before = {(one.value, one.scope) for one in mem.list().items}
    assert {("Flask 2.3.1", None), ("Flask 2.3.1", "project")} <= before
    mem.manage.consolidate(force=True)
    after = {(one.value, one.scope) for one in mem.list().items}
    assert before - after == {("Flask 2.3.1", "project")}
    (merged,) = mem.list(status="merged").items
    (kept,) = [one for one in mem.list(attribute="framework").items if one.value == "Flask 2.3.1"]
    assert (merged.superseded_by, merged.relation) == (kept.id, "duplicate")
    assert len(mem.why(kept.id).evidence) == 2


@pytest.mark.parametrize("batch", [10, 40])
def test_a_backlog_is_read_once_and_not_once_a_batch(
    mem: Credenda, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    for number in range(40):
        mem.store(unit(f"Note {number} is about topic {number % 7}."))
    seen: list[int] = []
    show = NearestNeighbours.show

    def count(self: NearestNeighbours, numbers: Sequence[int], vectors: NDArray[np.float32]) -> None:
        seen.extend(numbers)
        show(self, numbers, vectors)

    monkeypatch.setattr(NearestNeighbours, "show", count)
    monkeypatch.setattr(consolidation, "_BATCH", batch)
    report = mem.manage.consolidate(force=True, dry_run=True)
    assert report.examined == 40
    assert len(seen) == 40


def test_a_relative_date_is_that_of_the_message_and_not_of_the_fact_in_it(mem: Credenda) -> None:
    mem.remember("I live in Seattle.", occurred_at="2025-01-15T10:00:00Z")
    mem.settle()
    mem.remember("I moved to Portland last weekend.", occurred_at="2025-07-09T04:00:00Z")
    mem.settle()
    mem.manage.consolidate(force=True)
    (entry,) = mem.list(attribute="residence").items
    assert entry.text == (
        "I moved to Portland between 2025-07-05 and 2025-07-06 (currently Portland; previously Seattle)."
    )
