"""The people and things of a memory, and how they are related."""

from __future__ import annotations

from credenda import Credenda


def test_entities_are_named_as_they_are_written_and_counted(mem: Credenda) -> None:
    for text in ("I live in Graz.", "My employer is Ferrowind.", "My sister Carla works at Lumenthorp."):
        mem.remember(text)
    mem.settle()
    found = mem.inspect.entities()
    by_name = {one.name: one for one in found.entities}
    assert found.entities[0].name == "user"
    assert by_name["user"].memories == 2
    assert set(by_name["user"].attributes) == {"residence", "employer"}
    assert by_name["Ferrowind"].memories == 0
    relations = {(one.source, one.attribute, one.target) for one in found.relations}
    assert ("user", "employer", "Ferrowind") in relations
    assert ("user's sister Carla", "employer", "Lumenthorp") in relations
    assert (found.counted, found.has_more) == (3, False)


def test_a_person_who_is_named_as_a_value_and_has_facts_is_one_entity(mem: Credenda) -> None:
    for text in ("My sister is called Carla.", "My sister Carla works at Lumenthorp.", "My cat is called Miso."):
        mem.remember(text)
    mem.settle()
    found = mem.inspect.entities()
    assert sorted(one.name for one in found.entities) == ["Lumenthorp", "Miso", "user", "user's sister Carla"]
    assert ("user", "sister", "user's sister Carla") in {
        (one.source, one.attribute, one.target) for one in found.relations
    }


def test_what_is_denied_or_no_longer_believed_is_no_relation(mem: Credenda) -> None:
    mem.remember("I live in Graz.")
    mem.settle()
    mem.remember("I moved to Linz.")
    mem.settle()
    mem.forget(mem.list(attribute="residence").items[0].id)
    assert mem.inspect.entities().relations == ()
