"""The beginning of an id names a thing, as far as it names one only."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from credenda import Credenda, Invalid, MemoryUnit, NotFound

CITIES = ("Linz", "Graz", "Wien", "Rom", "Ulm", "Bern", "Prag", "Brno", "Riga", "Oslo", "Kiel", "Bonn")

VERBS: list[Callable[[Credenda], object]] = [
    lambda mem: mem.correct("m4", value="Roma"),
    lambda mem: mem.forget("m4"),
    lambda mem: mem.manage.pin("m4"),
    lambda mem: mem.manage.unpin("m4"),
    lambda mem: mem.manage.set_status("m4", "archived"),
    lambda mem: mem.manage.status_history("m4"),
    lambda mem: mem.history(id="m4"),
    lambda mem: mem.feedback("m4", useful=True),
    lambda mem: mem.manage.undo("c4"),
    lambda mem: mem.changes("e4"),
    lambda mem: mem.event("e4"),
]


@pytest.fixture
def mem(tmp_path: Path) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "m.db", user="ana", embedder="none", workers=False) as opened:
        for n, city in enumerate(CITIES):
            text = f"Ana has a friend in {city}."
            opened.store(MemoryUnit(text=text, entity="user", attribute=f"friend_{n}", value=city))
        yield opened


def tag(mem: Credenda) -> str:
    return mem.list().items[0].id.partition("-")[2]


def test_a_number_names_the_memory_with_that_number(mem: Credenda) -> None:
    assert mem.get("m1").value == "Linz"
    assert mem.get("m12").value == "Bonn"
    assert mem.get(f"m1-{tag(mem)[:3]}").value == "Linz"
    assert mem.why("m3").memory.value == "Wien"


def test_the_only_id_that_begins_so_is_meant(mem: Credenda) -> None:
    mem.delete(mem.get("m1").id)
    mem.delete(mem.get("m10").id)
    mem.delete(mem.get("m11").id)
    assert mem.get("m1").value == "Bonn"


def test_an_ambiguous_beginning_is_invalid_and_lists_the_first_choices(mem: Credenda) -> None:
    mem.delete(mem.get("m1").id)
    with pytest.raises(Invalid) as caught:
        mem.get("m1")
    assert caught.value.why == ", ".join(f"m{n}-{tag(mem)}" for n in (10, 11, 12)) + " begin so"
    for n in range(20):
        mem.store(MemoryUnit(text=f"Ana counted {n} birds.", entity="user", attribute=f"count_{n}", value=str(n)))
    mem.delete(mem.get("m2").id)
    with pytest.raises(Invalid) as many:
        mem.get("m2")
    assert many.value.why.count("m2") == 5
    assert "and more" in many.value.why


def test_what_nothing_begins_with_is_not_found(mem: Credenda) -> None:
    for name in ("m99", "m", "m0", "m1-zz", "e99", f"m1-{'0' if tag(mem)[0] != '0' else '1'}", "x1", "m1-" + "f" * 6):
        with pytest.raises(NotFound):
            mem.get(name)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_takes_an_id_takes_a_short_one(verb: Callable[[Credenda], object], mem: Credenda) -> None:
    verb(mem)


def test_a_job_has_short_ids_too(mem: Credenda) -> None:
    for _ in range(3):
        mem.jobs.start("compress")
    first = mem.jobs.list().items[-1]
    short = first.id.partition("-")[0]
    assert mem.jobs.get(short) == first
    assert mem.jobs.cancel(short).id == mem.jobs.retry(short).id == first.id
    with pytest.raises(NotFound) as caught:
        mem.jobs.get("j99")
    assert (caught.value.why, caught.value.fix) == ("no job of this user has that id", "copy an id from `jobs`")
    with pytest.raises(NotFound, match="`why` or `changes`"):
        mem.manage.undo("c99")


def test_deleting_takes_the_number_of_an_id_and_not_its_beginning(mem: Credenda) -> None:
    with pytest.raises(NotFound):
        mem.delete("m999")
    assert mem.manage.plan_deletion("m4").id == mem.delete("m4").id == f"m4-{tag(mem)}"


def test_a_beginning_never_reveals_another_user(tmp_path: Path) -> None:
    with Credenda.open(tmp_path / "m.db", user="ana", embedder="none", workers=False) as ana:
        ana.store(MemoryUnit(text="Ana lives in Linz.", entity="user", attribute="residence", value="Linz"))
        foreign = ana.list().items[0].id
    with Credenda.open(tmp_path / "m.db", user="bob", embedder="none", workers=False) as bob:
        for name in ("m1", foreign, foreign[:-2], "e1", "c1", "j1"):
            with pytest.raises(NotFound):
                bob.get(name)
        bob.store(MemoryUnit(text="Bob lives in Graz.", entity="user", attribute="residence", value="Graz"))
        assert bob.get("m1").value == "Graz"


def test_an_event_is_shown_with_the_memories_that_rest_on_it(mem: Credenda) -> None:
    found = mem.event("e2")
    assert found.event.text == "Ana has a friend in Graz."
    assert [memory.value for memory in found.memories] == ["Graz"]
    mem.delete(found.event.id)
    assert mem.event(found.event.id).event.text == ""
    assert mem.event(found.event.id).memories == ()


def test_a_plan_says_what_deleting_removes_and_removes_nothing(mem: Credenda) -> None:
    plan = mem.manage.plan_deletion("m5")
    assert (plan.events, plan.memories, plan.text) == (1, 1, "Ana has a friend in Ulm.")
    before = mem.stats()
    assert mem.get("m5").value == "Ulm"
    mem.manage.plan_deletion("e5")
    assert mem.stats() == before
    mem.delete(plan.id)
    assert mem.manage.plan_deletion(plan.id).memories == 0
