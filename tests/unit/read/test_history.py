"""What a slot held, and why a memory is held."""

import pytest

from credenda.errors import Invalid, NotFound
from credenda.model.change import ChangeKind
from credenda.model.memory import Relation, Status
from credenda.model.query import SlotVersion
from credenda.read.history import read_explanation, read_slot_history

from .build import SlotName, World, day

HOME: SlotName = {"entity": "user", "attribute": "residence"}


def moved(world: World) -> list[str]:
    """Graz, then Wien, then Linz; Wien was a slip."""
    names: list[str] = []
    for at, city in enumerate(("Graz", "Wien", "Linz")):
        names.append(world.hold(f"I live in {city}", at=at, value=city, valid_from_us=day(at), **HOME))
    world.supersede(names[0], names[1], at=1)
    world.supersede(names[1], names[2], at=2, relation=Relation.CORRECTED)
    return names


def history(
    world: World, *, id: str | None = None, entity: str | None = None, attribute: str | None = None
) -> list[SlotVersion]:
    with world.reader() as reader:
        return read_slot_history(reader, id=id, entity=entity, attribute=attribute)


@pytest.mark.requirement("R-078")
def test_a_slot_is_told_oldest_first(world: World) -> None:
    names = moved(world)
    told = history(world, entity="User", attribute="Residence")
    assert [version.value for version in told] == ["Graz", "Wien", "Linz"]
    assert [version.relation for version in told] == [Relation.CHANGED, Relation.CORRECTED, None]
    assert [version.superseded_by for version in told] == [names[1], names[2], None]
    assert [version.valid_until_us for version in told] == [day(1), day(2), None]
    assert told[1].reason == f"corrected by {names[2]}"


@pytest.mark.parametrize("at", [0, 1, 2])
def test_any_memory_of_a_slot_tells_it_all(world: World, at: int) -> None:
    names = moved(world)
    assert [version.memory_id for version in history(world, id=names[at])] == names


def test_a_deleted_value_is_there_without_its_words(world: World) -> None:
    names = moved(world)
    world.delete(names[1], at=3)
    told = history(world, entity="user", attribute="residence")
    assert [version.memory_id for version in told] == names
    assert (told[1].status, told[1].text, told[1].value) == (Status.DELETED, "", None)


def test_the_history_of_one_scope_leaves_out_another(world: World) -> None:
    work = world.hold("At work I drink coffee", entity="user", attribute="drink", value="coffee", scope="at work")
    home = world.hold("I drink tea", at=1, entity="user", attribute="drink", value="tea")
    assert [version.memory_id for version in history(world, id=home)] == [home]
    assert {version.memory_id for version in history(world, entity="user", attribute="drink")} == {work, home}


def test_memories_without_a_slot_are_told_along_their_replacements(world: World) -> None:
    old = world.hold("We deploy by hand")
    source = world.say("We deploy with a script now", at=1)
    new = world.hold("We deploy with a script now", event=source, at=1)
    world.supersede(old, new, cause=source)
    assert [version.memory_id for version in history(world, id=old)] == [old, new]
    assert [version.memory_id for version in history(world, id=new)] == [old, new]


def test_an_unknown_slot_is_empty_and_an_unknown_id_an_error(world: World) -> None:
    world.say("hello")
    assert history(world, entity="user", attribute="shoe size") == []
    with world.reader() as reader:
        unknown = f"m99-{reader.tenant.tag}"
        for ask in (lambda: read_slot_history(reader, id=unknown), lambda: read_explanation(reader, unknown)):
            with pytest.raises(NotFound):
                ask()


def test_a_history_needs_a_subject(world: World) -> None:
    with world.reader() as reader, pytest.raises(Invalid):
        read_slot_history(reader, entity="user")


def test_why_names_the_words_and_every_change(world: World) -> None:
    source = world.say("Hello! I live in Linz. Bye")
    name = world.hold("I live in Linz", event=source)
    world.alter(name, status=Status.CHALLENGED, reason="a probe doubts it")
    with world.reader() as reader:
        told = read_explanation(reader, name)
    ((event, start, stop),) = told.evidence
    assert event.text[start:stop] == "I live in Linz"
    assert told.memory.status is Status.CHALLENGED
    assert [change.kind for change in told.changes] == [ChangeKind.ADD, ChangeKind.SET_STATUS]
    assert told.changes[-1].reason == "a probe doubts it"
