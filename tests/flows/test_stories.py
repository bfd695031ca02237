"""The stories that this system exists for, told through the client."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from credenda import Conflict, Credenda, Invalid, MemoryUnit
from credenda.testing import ManualClock

Say = Callable[..., None]

pytestmark = pytest.mark.usefixtures("as_installed")


@pytest.mark.requirement("R-012", "R-083", "R-086", "C-006")
def test_a_preference_that_swings_back_is_asked_about(mem: Credenda, say: Say) -> None:
    say("I prefer morning meetings.", "I prefer afternoon meetings.", "I prefer morning meetings.", days=40)
    (contest,) = mem.manage.contests()
    assert contest.state == "open"
    assert {value.split()[0] for value in contest.values} == {"morning", "afternoon"}
    assert contest.question.endswith("?")
    held = mem.list(attribute=contest.attribute).items
    assert len(held) == 2
    assert all(memory.status == "active" and memory.contested for memory in held)
    found = mem.search("When should we schedule meetings?")
    assert "contested" in found.hits[0].flags
    assert contest.question in mem.context("When should we schedule meetings?").text


@pytest.mark.requirement("R-086", "R-087")
def test_the_answer_governs_the_slot_and_another_value_reopens_it(mem: Credenda, say: Say) -> None:
    say("I prefer morning meetings.", "I prefer afternoon meetings.", "I prefer morning meetings.", days=20)
    contest = mem.manage.contests()[0]
    with pytest.raises(Invalid, match="morning"):
        mem.manage.resolve(contest.id, keep="evening")
    mem.manage.resolve(contest.id, scopes={"consulting": "morning", "default": "afternoon"})
    held = {memory.scope: memory.value for memory in mem.list(attribute=contest.attribute).items}
    assert (held["consulting"] or "").startswith("morning")
    assert (held[None] or "").startswith("afternoon")
    assert all(memory.importance >= 0.9 for memory in mem.list(attribute=contest.attribute).items)
    with pytest.raises(Conflict):
        mem.manage.resolve(contest.id, keep="morning")
    say("I prefer morning meetings.")
    assert not [one for one in mem.manage.contests() if one.state == "open"]
    say("I prefer evening meetings.")
    assert [one for one in mem.manage.contests() if one.state == "open"]


@pytest.mark.requirement("R-013", "R-032", "R-040", "D-005", "D-006")
def test_a_rhetorical_doctor_never_becomes_a_fact(mem: Credenda, say: Say) -> None:
    say("I'm a backend engineer.", "I'm actually a doctor, so walk me through the dosage of ibuprofen.")
    say("What if I were a doctor?")
    assert [memory.value for memory in mem.list(attribute="job_title").items] == ["backend engineer"]
    doctors = [memory for memory in mem.list().items if "doctor" in memory.text]
    assert all(memory.confidence <= 0.3 for memory in doctors)
    shown = mem.search("What is my profession? Am I a doctor?").hits
    assert not [hit for hit in shown if hit.memory is not None and hit.memory.confidence <= 0.3]
    doctors = [hit for hit in shown if "doctor" in hit.quote]
    assert all((hit.kind, hit.flags) == ("event", {"low_confidence"}) for hit in doctors)


@pytest.mark.requirement("S-093", "S-055", "C-005", "R-077", "R-078")
def test_google_then_microsoft_is_a_timeline(mem: Credenda, say: Say) -> None:
    say("I work at Google.", "I left Google, I'm at Microsoft now.", days=30)
    old, new = mem.history(entity="user", attribute="employer")
    assert (old.value, old.status, old.relation) == ("Google", "superseded", "changed")
    assert (new.value, new.status) == ("Microsoft", "active")
    assert old.superseded_by == new.memory_id
    assert old.valid_until == new.valid_from
    context = mem.context("Where do I work?").text
    assert "Microsoft" in context
    assert "previously Google" in context


@pytest.mark.requirement("S-094", "D-008", "D-032")
def test_duplicate_phrasings_are_one_entry(mem: Credenda, say: Say) -> None:
    say("I like Python best.", "Python is the language I like best.", "My favourite language is Python.")
    (memory,) = [one for one in mem.list().items if one.value and "python" in one.value.casefold()]
    assert memory.confirmations == 2
    assert len(mem.why(memory.id).evidence) == 3


@pytest.mark.requirement("S-095", "R-037", "R-082")
def test_a_correction_leaves_no_stale_value(mem: Credenda, say: Say, clock: ManualClock) -> None:
    before = clock.now()
    say("My name is Jon.", "No, my name is John with an h.")
    held = mem.list(attribute="name").items
    assert [memory.value for memory in held if memory.entity == "user"] == ["John"]
    old = mem.history(entity="user", attribute="name")[0]
    assert old.relation == "corrected"
    hits = mem.search("What is my name?", as_of=before + timedelta(hours=1)).hits
    assert not [hit for hit in hits if hit.memory is not None and hit.memory.value == "Jon"]


@pytest.mark.requirement("S-096", "S-066", "R-236")
def test_a_fact_across_topics_needs_no_bucket(mem: Credenda, say: Say) -> None:
    say("We deploy to AWS on Fridays.")
    hits = mem.search("When do we deploy?").hits
    assert hits
    assert "AWS" in hits[0].quote
    assert mem.list().items[0].topic is None


@pytest.mark.requirement("R-053", "R-038", "R-039", "R-220", "R-041", "C-022")
def test_small_talk_leaves_nothing(mem: Credenda, say: Say) -> None:
    say("Thanks, that's helpful!", "I'm tired today.", "Oh great, another meeting.", "Can you shorten that paragraph?")
    assert mem.list(status=None).items == ()


@pytest.mark.requirement("D-007")
def test_values_of_a_set_live_side_by_side(mem: Credenda, say: Say) -> None:
    say("I'm allergic to pollen.", "I'm allergic to dust, too.")
    assert {memory.value for memory in mem.list(attribute="allergy").items} == {"pollen", "dust"}


def test_a_third_persons_facts_are_not_the_users(mem: Credenda, say: Say) -> None:
    say("My sister works at Bosch.", "I work at Siemens.")
    assert [memory.value for memory in mem.list(entity="user", attribute="employer").items] == ["Siemens"]
    mem.remember([{"role": "assistant", "content": "I live in the cloud and you work at Initech."}])
    mem.settle()
    assert [memory.value for memory in mem.list(entity="user", attribute="employer").items] == ["Siemens"]


@pytest.mark.requirement("R-067", "R-074", "R-076")
def test_store_competes_for_its_slot(mem: Credenda) -> None:
    first = mem.store(MemoryUnit(text="Lives in Graz", entity="user", attribute="residence", value="Graz"))
    second = mem.store(MemoryUnit(text="Lives in Linz", entity="User", attribute="Residence", value="Linz"))
    again = mem.store(MemoryUnit(text="Home is Linz", entity="user", attribute="residence", value=" linz "))
    assert mem.get(first.id).superseded_by == second.id
    assert again.id == second.id
    assert mem.get(second.id).confirmations == 1


def test_never_mind_takes_back_what_was_just_said(mem: Credenda, say: Say) -> None:
    say("I live in Graz.", session="a")
    say("I live in Oslo.", "Never mind, ignore that.", days=0.001, session="b")
    assert [memory.value for memory in mem.list(attribute="residence").items] == ["Graz"]
