"""A plan of a deletion names every memory that it concerns before anything happens, also of many messages at once."""

from __future__ import annotations

import unicodedata
from dataclasses import asdict
from pathlib import Path

import pytest

from credenda import Conflict, Credenda, MemoryUnit
from credenda.model.report import DeletionReport

from .deleted_words import check_gone, list_held


def _store(mem: Credenda, name: str) -> str:
    unit = MemoryUnit(text=f"My dentist is {name}.", entity="user", attribute="dentist", value=name)
    return mem.store(unit).id


def _add_reason(mem: Credenda, reason: str) -> str:
    """Give a memory about something else a change with a reason."""
    other = mem.store(MemoryUnit(text="The bakery is closed.", entity="bakery"))
    return mem.correct(other.id, text="The bakery is open on Sundays.", reason=reason).id


def _ids(report: DeletionReport) -> dict[str, set[str]]:
    return {kind: {one.id for one in getattr(report, kind)} for kind in ("taken", "kept", "mentions")}


@pytest.mark.requirement("S-061")
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_memory_whose_reason_loses_a_quotation_is_named(mem: Credenda, path: Path, form: str) -> None:
    name = "Émilquist"
    first = _store(mem, name)
    other = _add_reason(mem, f"the sign says “{unicodedata.normalize(form, name)}”")  # type: ignore[arg-type]
    plan = mem.manage.plan_deletion(first)
    named = {one.id: (one.text, one.left) for one in plan.kept}
    assert named[other] == ("The bakery is open on Sundays.",) * 2
    assert plan.mentions == ()
    receipt = mem.delete(first)
    assert set(receipt.kept) == set(named)
    check_gone(mem, path, name, unicodedata.normalize("NFD", name))


def test_a_memory_whose_reason_mentions_the_value_is_named_and_stays(mem: Credenda) -> None:
    first = _store(mem, "Plimquist")
    other = _add_reason(mem, "PLIMQUIST told me so")
    apart = _add_reason(mem, "the Plimquists told me nothing of Plimquister")
    plan = mem.manage.plan_deletion(first)
    assert other in {one.id for one in plan.mentions}
    assert mem.delete(first).mentions == tuple(one.id for one in plan.mentions)
    assert any("PLIMQUIST" in one.reason for one in mem.why(other).changes)
    assert apart not in {one.id for one in plan.kept}


def test_a_correction_that_keeps_a_part_of_the_words_is_named(mem: Credenda) -> None:
    first = _store(mem, "Ottilie Maria Plimquist")
    typed = mem.correct(first, text="My dentist is Ottilie Plimquist.", value="Ottilie Plimquist").id
    plan = mem.manage.plan_deletion(first)
    assert [one.id for one in plan.mentions] == [typed]
    assert mem.delete(first).mentions == (typed,)


@pytest.mark.requirement("S-061")
def test_conditions_name_every_memory_that_goes_or_is_cut_or_mentions_it(mem: Credenda, path: Path) -> None:
    mem.remember("My dentist is Quarnbichler.", session="teeth")
    mem.settle()
    (first,) = mem.list().items
    right = mem.correct(first.id, value="Lind", reason="Quarnbichler has retired")
    note = mem.store(MemoryUnit(text="The bakery beside Quarnbichler is closed.", entity="bakery"))
    quoting = _add_reason(mem, "the sign says “Quarnbichler”")
    before = [asdict(one) for one in mem.list(status=None, limit=50).items]
    plan = mem.delete_where(session="teeth", dry_run=True)
    assert [asdict(one) for one in mem.list(status=None, limit=50).items] == before
    assert [(one.id, one.text, one.left) for one in plan.taken] == [(first.id, first.text, "")]
    named = {one.id: one.left for one in plan.kept}
    assert "Quarnbichler" not in named[right.id]
    assert named[quoting] == "The bakery is open on Sundays."
    assert set(named.values()) == {named[right.id], named[quoting], "The bakery is closed."}
    assert [one.id for one in plan.mentions] == [note.id]
    assert (plan.events, plan.memories, plan.kept_total, plan.mentions_total) == (1, 1, 3, 1)
    done = mem.delete_where(session="teeth")
    assert _ids(done) == _ids(plan)
    assert (done.events, done.memories, done.kept_total, done.mentions_total) == (1, 1, 3, 1)
    assert "Quarnbichler" not in str(done)
    assert {one.id: one.text for one in list_held(mem)}[right.id] == named[right.id]
    mem.delete(note.id)
    check_gone(mem, path, "Quarnbichler")


def test_a_memory_that_two_batches_support_is_named_once_by_its_first_id(mem: Credenda) -> None:
    for number in range(70):
        told = "I'm allergic to peanuts." if number in (3, 66) else f"Zimtstern {number} is on the shelf."
        mem.remember(told, session="s")
    mem.settle()
    (held,) = mem.list(attribute="allergy").items
    plan = mem.delete_where(session="s", dry_run=True)
    assert [one.id for one in plan.taken if one.text == held.text] == [held.id]
    assert held.id not in {one.id for one in plan.kept}
    done = mem.delete_where(session="s")
    assert (done.events, done.memories, done.kept_total) == (plan.events, plan.memories, plan.kept_total)
    assert list_held(mem) == []


def test_a_large_deletion_names_fifty_and_counts_all(mem: Credenda) -> None:
    mem.remember("My dentist is Quarnbichler.", session="s")
    mem.settle()
    for number in range(53):
        mem.store(MemoryUnit(text=f"Shelf {number} belongs to Quarnbichler.", entity=f"shelf {number}"))
    plan = mem.delete_where(session="s", dry_run=True)
    assert (len(plan.mentions), plan.mentions_total) == (50, 53)
    assert mem.delete_where(session="s").mentions_total == 53


def test_a_legal_hold_forbids_the_plan_too(mem: Credenda) -> None:
    mem.remember("My dentist is Quarnbichler.", session="s")
    mem.settle()
    mem.manage.hold("a court asked for it")
    with pytest.raises(Conflict, match="hold"):
        mem.delete_where(session="s", dry_run=True)
