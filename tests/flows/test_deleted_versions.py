"""What goes with the first version of a memory that was corrected by a sentence, and what of the sentence stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from credenda import Credenda, MemoryUnit
from credenda.model.memory import Memory
from credenda.write.forget.scope import BLANK

from .deleted_words import check_gone, list_held

PLACE = "Zumtobel in Dornbirn"
PETS = "I have a cat called Mirzo and a dog called Tasko."


def _say(mem: Credenda, text: str) -> Memory:
    mem.remember(text)
    mem.settle()
    return mem.list().items[0]


@pytest.mark.requirement("S-061")
def test_a_sentence_that_was_typed_anew_goes_whole(mem: Credenda, path: Path) -> None:
    first = _say(mem, PETS)
    assert first.value == "Mirzo"
    right = mem.correct(first.id, text=PETS.replace("Tasko", "Fenn"))
    plan = mem.manage.plan_deletion(first.id)
    assert [one.id for one in plan.taken] == [right.id]
    assert PETS in {one.words for one in plan.blanked}
    mem.delete(first.id)
    assert "a dog called Fenn" in mem.search("Fenn").hits[0].quote
    check_gone(mem, path, "Mirzo", "Tasko")
    assert b"Fenn" in path.read_bytes()


def test_so_it_does_when_its_correction_is_deleted(mem: Credenda, path: Path) -> None:
    first = _say(mem, PETS)
    right = mem.correct(first.id, text=PETS.replace("Tasko", "Fenn"))
    assert [one.id for one in mem.manage.plan_deletion(right.id).taken] == [first.id]
    mem.delete(right.id)
    check_gone(mem, path, "Mirzo", "Tasko")


def test_the_rest_of_a_sentence_stays_where_only_its_value_was_corrected(mem: Credenda) -> None:
    first = _say(mem, PETS)
    event = mem.why(first.id).evidence[0][0].id
    right = mem.correct(first.id, value="Minka")
    mem.delete(first.id)
    assert mem.get(right.id).value == "Minka"
    assert mem.event(event).event.text.strip(f" {BLANK}") == "a dog called Tasko."


def test_a_sentence_on_which_another_memory_rests_keeps_its_words(mem: Credenda, path: Path) -> None:
    mem.remember(f"I work as a nurse at {PLACE}.")
    mem.settle()
    job, place = (next(one for one in list_held(mem) if one.value == value) for value in ("nurse", PLACE))
    mem.correct(job.id, text="I work as a head nurse, mostly by night.", value="nurse")
    mem.delete(job.id)
    (left,) = list_held(mem)
    assert (left.id, left.value, PLACE in left.text) == (place.id, PLACE, True)
    check_gone(mem, path, "nurse")


@pytest.mark.requirement("S-061")
@pytest.mark.parametrize("slot", [True, False])
def test_a_sentence_typed_in_place_of_a_name_stays_without_the_name(mem: Credenda, path: Path, slot: bool) -> None:  # noqa: FBT001 - a parameter
    text = "The Grumblebark ritual at our office starts at nine."
    first = _say(mem, text) if slot else mem.store(MemoryUnit(text=text))
    assert bool(first.value) is slot
    right = mem.correct(first.id, text=text.replace("Grumblebark", "Monday"))
    if slot:
        assert (right.entity, right.value) == ("Monday ritual", "nine")
    plan = mem.manage.plan_deletion(first.id)
    assert plan.taken == ()
    assert [one.id for one in plan.mentions] == [right.id][: int(slot)]
    mem.delete(first.id)
    assert [one.text for one in list_held(mem)] == ["The Monday ritual at our office starts at nine."]
    check_gone(mem, path, "Grumblebark")
    assert b"Monday ritual" in path.read_bytes()
