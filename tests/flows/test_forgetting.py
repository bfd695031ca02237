"""Forget, restore, correct, delete: and that what is deleted stays away."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from credenda import Conflict, Credenda, Invalid, MemoryUnit, NotFound
from credenda.model.event import Source
from credenda.testing import ManualClock

Say = Callable[..., None]


def _held(mem: Credenda, attribute: str) -> list[str | None]:
    return [memory.value for memory in mem.list(attribute=attribute).items]


@pytest.mark.requirement("C-007")
def test_forgotten_is_out_of_use_until_restored(mem: Credenda, say: Say) -> None:
    say("I'm allergic to peanuts.")
    memory = mem.list(attribute="allergy").items[0]
    assert mem.forget(memory.id, "it was a phase").status == "forgotten"
    assert mem.forget(memory.id).status == "forgotten"
    assert mem.list(attribute="allergy").items == ()
    assert mem.search("What am I allergic to?").hits == ()
    assert mem.restore(memory.id).status == "active"
    assert mem.search("What am I allergic to?").hits[0].memory is not None
    with pytest.raises(Conflict):
        mem.restore(memory.id)
    kinds = [change.kind for change in mem.why(memory.id).changes]
    assert kinds == ["add", "forget", "restore"]


@pytest.mark.requirement("R-171", "S-060", "S-062", "C-008")
def test_deleted_words_never_come_back(mem: Credenda, say: Say, path: Path) -> None:
    say("My day rate is 950 zorkmids. I like chess.")
    (memory,) = [one for one in mem.list().items if "zorkmids" in one.text]
    mem.delete(memory.id)
    with pytest.raises(NotFound):
        mem.get(memory.id)
    mem.delete(memory.id)
    receipt = mem.remember("I like tea. My day rate is 950 zorkmids.")
    mem.settle()
    assert any("deleted" in reason for reason in receipt.refused)
    assert not [hit for hit in mem.search("What is my day rate in zorkmids?").hits if "zorkmids" in hit.quote]
    assert not [one for one in mem.list(status=None).items if "zorkmids" in one.text]
    assert any("tea" in one.text for one in mem.list().items)
    assert any("chess" in one.text for one in mem.list().items)
    assert mem.data.doctor().ok
    mem.close()
    raw = b"".join(file.read_bytes() for file in path.parent.iterdir() if file.name != "memory.db-wal")
    assert b"zorkmids" not in raw


@pytest.mark.requirement("S-061")
def test_a_reworded_value_is_refused_too_and_only_the_person_may_say_it_again(mem: Credenda, say: Say) -> None:
    say("I live in Linz.")
    mem.delete(mem.list(attribute="residence").items[0].id)
    say("I've moved to Linz.", "LINZ is where I live!")
    assert _held(mem, "residence") == []
    with pytest.raises(Conflict):
        mem.store(MemoryUnit(text="Home", entity="user", attribute="residence", value="linz"))
    mem.remember("I live in Linz.", allow_deleted=True)
    mem.settle()
    assert _held(mem, "residence") == ["Linz"]


def test_a_deletion_reaches_jobs_that_still_wait(mem: Credenda, say: Say) -> None:
    say("I live in Linz.")
    mem.remember("I've moved to Linz.")
    mem.delete(mem.list(attribute="residence").items[0].id)
    mem.settle()
    assert _held(mem, "residence") == []


def test_deleting_an_event_takes_along_what_rests_on_it_alone(mem: Credenda, say: Say) -> None:
    say("I live in Linz. I'm allergic to dust.", "I'm allergic to dust.")
    event = mem.why(mem.list(attribute="residence").items[0].id).evidence[0][0]
    mem.delete(event.id)
    assert _held(mem, "residence") == []
    assert _held(mem, "allergy") == ["dust"]
    assert all(hit.id != event.id for hit in mem.search("Linz allergic").hits)
    with pytest.raises(NotFound):
        mem.delete("e999-aaaaaa")


def test_delete_where_needs_a_condition_and_takes_all_that_meet_it(mem: Credenda) -> None:
    for number in range(120):
        mem.remember(f"Note {number} about the garden.", session="garden" if number % 2 else "house")
    mem.settle()
    with pytest.raises(Invalid, match="condition"):
        mem.delete_where()
    for blank in ("", "  ", "\n"):
        for delete in (
            partial(mem.delete_where, session=blank),
            partial(mem.delete_where, topic=blank),
            partial(mem.delete_where, source=blank),
            partial(mem.delete_where, before=blank),
        ):
            with pytest.raises(Invalid):
                delete()
    with pytest.raises(Invalid, match="blank"):
        mem.delete_where(session="garden", topic="", dry_run=True)
    assert mem.stats().redacted_events == 0
    report = mem.delete_where(session="garden")
    assert report.events == 60
    assert mem.stats().redacted_events == 60
    assert mem.delete_where(session="garden").events == 0


@pytest.mark.requirement("D-026")
def test_correct_keeps_the_error_as_history(mem: Credenda, say: Say, clock: ManualClock) -> None:
    say("I live in Graz.")
    wrong = mem.list(attribute="residence").items[0]
    right = mem.correct(wrong.id, value="Gratkorn", reason="typing slip")
    assert (right.value, right.status) == ("Gratkorn", "active")
    old, new = mem.history(entity="user", attribute="residence")
    assert (old.relation, old.superseded_by, new.memory_id) == ("corrected", right.id, right.id)
    assert mem.why(right.id).changes[0].reason == "typing slip"
    assert [hit.memory.value for hit in mem.search("Where do I live?", as_of=clock.now()).hits if hit.memory] == [
        "Gratkorn"
    ]
    with pytest.raises(Conflict):
        mem.correct(wrong.id, value="Wien")


def test_a_contest_loses_a_deleted_value(mem: Credenda, say: Say) -> None:
    say("I prefer morning meetings.", "I prefer afternoon meetings.", "I prefer morning meetings.", days=20)
    contest = mem.manage.contests()[0]
    gone = next(one for one in mem.list(attribute=contest.attribute).items if one.value and "afternoon" in one.value)
    mem.delete(gone.id)
    after = mem.manage.contests()[0]
    assert after.state == "resolved"
    assert not [value for value in (*after.values, after.question, after.resolution or "") if "afternoon" in value]
    assert not [one for one in mem.list(attribute=contest.attribute).items if one.contested]
    assert not mem.search("When do I prefer meetings?").hits[0].flags
    again = mem.data.rebuild(reextract=True, dry_run=True).differences
    assert not [one for one in again if "contested" in one.fields]
    assert mem.data.rebuild(dry_run=True).differences == ()


def test_a_deleted_value_leaves_the_log_of_others_and_spares_their_reasons(mem: Credenda, say: Say) -> None:
    say("I live in Graz.", "I've moved to Linz.")
    kept = mem.store(MemoryUnit(text="Likes a", entity="user", attribute="letter", value="a"))
    other = mem.list(attribute="residence").items[0]
    mem.forget(other.id, "a private matter")
    old = mem.history(entity="user", attribute="residence")[0]
    mem.delete(old.memory_id)
    reasons = [change.reason for change in mem.why(other.id).changes]
    assert not [reason for reason in reasons if "Graz" in reason]
    mem.delete(kept.id)
    assert "a private matter" in [change.reason for change in mem.why(other.id).changes]


@pytest.mark.requirement("R-086")
def test_a_contest_can_be_read_from_the_log(mem: Credenda, say: Say, tmp_path: Path) -> None:
    say("I prefer morning meetings.", "I prefer afternoon meetings.", "I prefer morning meetings.", days=20)
    contest = mem.manage.contests()[0]
    mem.manage.resolve(contest.id, keep="morning")
    mem.data.export(tmp_path / "all.jsonl")
    log = (tmp_path / "all.jsonl").read_text("utf-8")
    assert log.count(f'\\"contest\\":\\"{contest.id}\\"') == 2


@pytest.mark.requirement("D-026")
def test_a_memory_that_rests_on_deleted_events_alone_goes_with_the_last(mem: Credenda) -> None:
    for turn in range(2):
        mem.remember("I'm allergic to peanuts.", session=f"s{turn}", topic="health")
    mem.settle()
    mem.delete_where(session="s0")
    assert [memory.text for memory in mem.list().items] == ["I'm allergic to peanuts."]
    assert mem.delete_where(session="s1").memories == 1
    assert mem.list().items == ()
    assert mem.search("peanuts").hits == ()


def test_all_events_of_a_session_go_with_the_memory_that_each_of_them_carries(mem: Credenda) -> None:
    for _ in range(2):
        mem.remember("I'm allergic to peanuts.", session="s")
    mem.settle()
    report = mem.delete_where(session="s")
    assert (report.events, report.memories) == (2, 1)
    assert mem.list(status=None, limit=50).items == ()


def test_what_is_left_of_a_partly_deleted_event_goes_with_its_session(
    mem: Credenda, path: Path, tmp_path: Path
) -> None:
    mem.remember("I'm allergic to peanuts. The saffron is in the safe.", session="s")
    mem.settle()
    mem.delete(mem.list(attribute="allergy").items[0].id)
    mem.data.export(tmp_path / "before.jsonl")
    assert "saffron" in (tmp_path / "before.jsonl").read_text("utf-8")
    assert mem.delete_where(session="s").events == 1
    assert b"saffron" not in path.read_bytes()
    assert mem.delete_where(session="s").events == 0


def test_what_is_restored_takes_the_place_of_what_its_slot_has_held_since(mem: Credenda, say: Say) -> None:
    say("I live in Linz.")
    (linz,) = mem.list().items
    mem.forget(linz.id)
    say("I live in Graz.")
    assert mem.restore(linz.id).status == "active"
    assert [memory.value for memory in mem.list().items] == ["Linz"]


@pytest.mark.requirement("S-061")
@pytest.mark.parametrize("source", [one.value for one in Source if one is not Source.DREAM])
@pytest.mark.parametrize("fact", ["I like hiking in the Alps.", "User works at Google.", "The API uses JWT tokens."])
def test_a_tombstone_ignores_case_and_spaces_whatever_the_source(
    mem: Credenda, say: Say, *, source: str, fact: str
) -> None:
    say(fact)
    (held,) = mem.list().items
    mem.delete(held.id)
    again = "  ".join(fact.upper().split())
    assert mem.remember(again, source=source).refused
    with pytest.raises(Conflict):
        mem.store(MemoryUnit(text=again.lower(), source=source))
    mem.settle()
    mem.data.rebuild()
    assert (mem.list(status=None).items, mem.search(fact).hits) == ((), ())
