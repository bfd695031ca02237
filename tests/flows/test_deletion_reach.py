"""How far a deletion reaches: other memories, contests, every way in, and the worker."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Conflict, Credenda, Invalid, MemoryUnit
from credenda.testing import ManualClock

Say = Callable[..., None]
WORD = "zorkmidsplendour"


def test_a_memory_in_deleted_words_is_held_in_the_others(mem: Credenda, say: Say, path: Path) -> None:
    say(f"I'm allergic to {WORD}.")
    unit = MemoryUnit(text=f"Allergies: {WORD}", entity="user", attribute="allergy", value=WORD)
    before = mem.store(unit)
    first = mem.why(before.id).evidence[0][0].id
    assert before.text == f"I'm allergic to {WORD}."
    mem.manage.pin(before.id)
    mem.delete(first)
    mem.settle()
    (after,) = mem.list(attribute="allergy").items
    assert (after.text, after.value, after.pinned) == (f"Allergies: {WORD}", WORD, True)
    assert len(mem.why(after.id).evidence) == 1
    assert mem.search("What am I allergic to?").hits[0].id == after.id
    assert mem.data.doctor().ok
    mem.close()
    assert b"m allergic to" not in path.read_bytes()


def test_what_held_the_same_value_goes_too(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I've moved to Graz.", "I've moved back to Linz.")
    now = next(one for one in mem.list(attribute="residence").items if one.value == "Linz")
    mem.delete(now.id)
    left = {one.value for one in mem.list(status=None, attribute="residence", limit=50).items}
    assert "Linz" not in left
    assert not [version for version in mem.history(entity="user", attribute="residence") if version.value == "Linz"]


@pytest.mark.parametrize(
    "condition", [{"session": "s1"}, {"topic": "work"}, {"source": "ingest"}, {"before": "2026-03-02T12:00:00Z"}]
)
def test_a_dry_run_counts_exactly_what_goes(
    mem: Credenda, clock: ManualClock, tmp_path: Path, condition: dict[str, str]
) -> None:
    for number in range(8):
        mem.remember(
            f"I own {number + 2} bicycles." if number % 3 else "I'm allergic to dust.",
            session=f"s{number % 2}",
            topic="work" if number % 2 else "home",
            source="ingest" if number % 4 == 0 else "human",
        )
        mem.settle()
        clock.advance(timedelta(hours=12))
    mem.data.export(tmp_path / "before.jsonl")
    counted = mem.delete_where(**condition, dry_run=True)  # type: ignore[arg-type]
    mem.data.export(tmp_path / "after.jsonl")
    assert (tmp_path / "before.jsonl").read_bytes() == (tmp_path / "after.jsonl").read_bytes()
    assert counted.dry_run
    done = mem.delete_where(**condition)  # type: ignore[arg-type]
    assert (counted.events, counted.memories) == (done.events, done.memories)
    assert done.events > 0


def test_a_value_that_was_asked_about_and_answered_is_in_no_byte(mem: Credenda, say: Say, path: Path) -> None:
    say(f"I prefer {WORD} meetings.", "I prefer afternoon meetings.", f"I prefer {WORD} meetings.", days=20)
    contest = mem.manage.contests()[0]
    mem.manage.resolve(contest.id, scopes={"consulting": WORD, "default": "afternoon"})
    mem.settle()
    for memory in mem.list(status=None, limit=50).items:
        if WORD in memory.text and memory.status != "deleted":
            mem.delete(memory.id)
    while hits := [hit for hit in mem.search(WORD, include=("superseded",)).hits if WORD in hit.quote]:
        mem.delete(hits[0].id)
    assert mem.data.doctor().ok
    mem.close()
    assert WORD.encode() not in path.read_bytes()


def test_no_way_in_holds_again_what_was_deleted(mem: Credenda, say: Say) -> None:
    say("I live in Linz.")
    mem.delete(mem.list(attribute="residence").items[0].id)
    say("I live in Graz.")
    graz = mem.list(attribute="residence").items[0]
    for change in ({"value": "Linz"}, {"text": "I live in Linz."}, {"text": "Home is Linz", "value": "LINZ"}):
        with pytest.raises(Conflict, match="deleted"):
            mem.correct(graz.id, **change)
    for text in ("I live in Linz.", "At home in Linz"):
        with pytest.raises(Conflict, match="deleted"):
            mem.store(MemoryUnit(text=text, entity="user", attribute="residence", value="Linz"))
    assert [memory.value for memory in mem.list(attribute="residence").items] == ["Graz"]
    receipt = mem.remember("Good news! Ana: I live in Linz. We like it.", metadata={"note": "I live in Linz."})
    assert receipt.refused
    mem.settle()
    assert not [hit for hit in mem.search("Linz").hits if "Linz" in hit.quote]


@pytest.mark.parametrize("source", ["ai", "interaction", "ingest", "code_scan", "dream"])
def test_only_the_person_lifts_a_tombstone(mem: Credenda, say: Say, source: str) -> None:
    say("I live in Linz.")
    mem.delete(mem.list(attribute="residence").items[0].id)
    with pytest.raises(Invalid, match="only the user"):
        mem.remember("I live in Linz.", source=source, allow_deleted=True)
    mem.remember([{"role": "assistant", "content": "I live in Linz."}], allow_deleted=True)
    mem.settle()
    assert mem.list(attribute="residence").items == ()
    assert mem.stats().tombstones > 0
    mem.remember("I live in Linz.", allow_deleted=True)
    mem.settle()
    assert [memory.value for memory in mem.list(attribute="residence").items] == ["Linz"]


def test_a_worker_applies_policies_by_itself_and_respects_a_hold(mem: Credenda, clock: ManualClock) -> None:
    mem.remember("I live in Linz.", expires_at=clock.now() + timedelta(hours=1))
    mem.settle()
    mem.manage.hold("a case")
    clock.advance(timedelta(hours=2))
    worker = mem._worker  # noqa: SLF001 - one round of its loop, without its thread
    worker._expire()  # noqa: SLF001 - as above
    assert mem.stats().redacted_events == 0
    mem.manage.lift_hold("closed")
    worker._expire()  # noqa: SLF001 - too early: it looks once a minute
    assert mem.stats().redacted_events == 0
    clock.advance(timedelta(minutes=2))
    worker._expire()  # noqa: SLF001 - as above
    assert mem.stats().redacted_events == 1
    assert mem.stats().total == 0


@pytest.mark.parametrize("text", ["I'm allergic to {word}.", "My favourite colour is green. I'm allergic to {word}!"])
def test_messages_that_wait_lose_what_is_deleted(mem: Credenda, say: Say, path: Path, text: str) -> None:
    say(f"I'm allergic to {WORD}.")
    mem.remember(text.format(word=WORD.upper()), session="later")
    (memory,) = mem.list(attribute="allergy").items
    mem.delete(memory.id)
    mem.close()
    assert WORD.encode() not in path.read_bytes().lower()
    with Credenda.open(path, user=mem.user, workers=False) as again:
        again.settle()
        assert not again.list(attribute="allergy").items
        assert bool(again.list(status=None, attribute="favourite_colour").items) == ("green" in text)
        assert again.data.doctor().ok


def test_a_message_that_waits_and_rewords_what_is_deleted_loses_it_when_it_is_read(
    mem: Credenda, say: Say, path: Path
) -> None:
    say(f"I live in {WORD}.")
    mem.remember(f"I moved to {WORD}. My favourite colour is green.")
    (memory,) = mem.list(attribute="residence").items
    mem.delete(memory.id)
    mem.settle()
    assert [one.value for one in mem.list(status=None).items if one.status != "deleted"] == ["green"]
    assert mem.data.rebuild(reextract=True, dry_run=True).differences == ()
    mem.close()
    assert WORD.encode() not in path.read_bytes()


def test_under_a_legal_hold_waiting_words_stay_and_nothing_is_made_of_them(mem: Credenda, say: Say, path: Path) -> None:
    say(f"I live in {WORD}.")
    mem.remember(f"I moved to {WORD}.")
    (memory,) = mem.list(attribute="residence").items
    mem.delete(memory.id)
    mem.manage.hold("a case")
    mem.settle()
    assert not mem.list(attribute="residence").items
    mem.close()
    assert f"I moved to {WORD}".encode() in path.read_bytes()


def test_words_that_stand_in_another_event_too_are_kept_when_one_of_both_is_deleted(mem: Credenda, say: Say) -> None:
    say(f"I live in {WORD}.", f"I live in {WORD}.")
    (memory,) = mem.list(attribute="residence").items
    mem.delete(mem.why(memory.id).evidence[0][0].id)
    mem.data.rebuild(reextract=True)
    mem.settle()
    (left,) = mem.list(attribute="residence").items
    assert left.value == WORD
    assert [event.text for event, _, _ in mem.why(left.id).evidence] == ["", f"I live in {WORD}."]


def test_a_question_about_another_slot_that_names_the_deleted_value_is_still_explained(
    mem: Credenda, clock: ManualClock
) -> None:
    sister = mem.store(MemoryUnit(text="Eva lives in Linz.", entity="Eva", attribute="residence", value="Linz"))
    for sentence in ("I prefer Linz.", "I live in Linz.", "I moved to Graz.", "I live in Linz.", "I moved to Graz."):
        mem.remember(sentence)
        mem.settle()
        clock.advance(timedelta(days=1))
    (asked,) = (one for one in mem.manage.contests() if one.state == "open")
    assert "Linz" in asked.values
    mem.delete(sister.id)
    assert mem.data.doctor().findings == ()
    assert mem.data.rebuild().differences == ()
    assert next(one for one in mem.manage.contests() if one.id == asked.id) == asked


def test_what_is_left_of_a_message_is_found_by_no_vector_of_its_deleted_words(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder="hashed", workers=False) as mem:
        mem.remember(f"I live in Linz. My sister is called {WORD}. " * 2)
        mem.settle()
        mem.search("Where do I live?")
        mem.delete(next(one.id for one in mem.list().items if one.value == "Linz"))
        assert mem.data.doctor().findings == ()
