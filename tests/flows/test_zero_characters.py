"""U+0000, which Postgres cannot store: the same on both backends, at every verb, and nothing is lost by it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from credenda import Credenda, Invalid, MemoryUnit, bootstrap
from credenda.model.core import Item, ItemFilter
from credenda.storage.transfer import ARCHIVED, MIGRATED

ZERO = "\x00"
SHOWN = "\ufffd"


def list_values(path: Path) -> Iterator[object]:
    store = bootstrap.open_store(path, read_only=True)
    try:
        with store.dump("ana", only=(*ARCHIVED, *MIGRATED)) as dump:
            for _, row in dump.rows:
                yield from row.values()
    finally:
        store.close()


def test_a_message_is_kept_and_found_with_its_zeros_replaced(mem: Credenda, path: Path) -> None:
    mem.remember(
        [{"role": "person", "name": f"Bo{ZERO}b", "content": f"What a zork{ZERO}mid of Linz!", "id": f"1{ZERO}"}],
        topic=f"ci{ZERO}ty",
        session=f"s{ZERO}1",
        agent=f"a{ZERO}",
        tags=[f"t{ZERO}"],
        metadata={f"k{ZERO}": f"v{ZERO}", "page": 3},
        idempotency_key=f"key{ZERO}",
    )
    mem.settle()
    (hit,) = mem.search("zork Linz", session=f"s{ZERO}1").hits
    assert hit.event is not None
    assert (hit.event.text, hit.event.speaker) == (f"What a zork{SHOWN}mid of Linz!", f"Bo{SHOWN}b")
    assert (hit.event.topic, hit.event.session, hit.event.tags) == (f"ci{SHOWN}ty", f"s{SHOWN}1", (f"t{SHOWN}",))
    assert hit.event.metadata == {f"k{ZERO}": f"v{ZERO}", "page": 3}  # JSON can express it
    assert mem.search("Linz", topic=f"ci{ZERO}ty", tags=[f"t{ZERO}"]).hits
    assert not [value for value in list_values(path) if isinstance(value, str) and ZERO in value]


def test_a_stored_memory_is_kept_and_found_by_its_names(mem: Credenda, path: Path) -> None:
    unit = MemoryUnit(
        text=f"Zed{ZERO} drinks tea",
        entity=f"Zed{ZERO}",
        attribute=f"dri{ZERO}nk",
        value=f"tea{ZERO}",
        scope=f"work{ZERO}",
        topic=f"t{ZERO}",
        tags=(f"x{ZERO}",),
        source_session=f"s{ZERO}",
        metadata={"a": [f"{ZERO}"]},
    )
    memory = mem.store(unit)
    assert (memory.text, memory.value) == (f"Zed{SHOWN} drinks tea", f"tea{SHOWN}")
    assert [one.id for one in mem.list(entity=f"Zed{ZERO}", attribute=f"dri{ZERO}nk").items] == [memory.id]
    assert [one.value for one in mem.history(entity=f"Zed{ZERO}", attribute=f"dri{ZERO}nk")] == [f"tea{SHOWN}"]
    assert mem.search(f"Zed{ZERO} tea").hits[0].id == memory.id
    corrected = mem.correct(memory.id, value=f"mal{ZERO}t", reason=f"asked{ZERO}")
    assert corrected.value == f"mal{SHOWN}t"
    mem.forget(corrected.id, f"why{ZERO}")
    assert not [value for value in list_values(path) if isinstance(value, str) and ZERO in value]


def test_the_answer_to_a_contest_and_other_words_of_people_are_taken(mem: Credenda, say: Callable[..., None]) -> None:
    say("I prefer morning meetings.", "I prefer afternoon meetings.", "I prefer morning meetings.")
    (contest,) = mem.manage.contests()
    mem.manage.resolve(contest.id, scopes={f"consul{ZERO}ting": contest.values[0], "default": contest.values[1]})
    assert f"consul{SHOWN}ting" in {one.scope for one in mem.list().items}
    mem.manage.hold(f"case{ZERO}")
    mem.manage.lift_hold(f"done{ZERO}")
    mem.feedback(mem.list().items[0].id, useful=True, session=f"s{ZERO}")
    assert mem.data.doctor().ok


def test_names_that_tell_things_apart_are_refused(mem: Credenda, path: Path) -> None:
    for make in (
        lambda: Credenda.open(path, user=f"an{ZERO}a"),
        lambda: mem.for_user(f"bob{ZERO}"),
        lambda: mem.items.put(f"space{ZERO}", "key", 1),
        lambda: mem.items.put("space", f"key{ZERO}", 1),
        lambda: mem.items.append(f"space{ZERO}", [(1, None)]),
        lambda: mem.items.find(ItemFilter(space=f"space{ZERO}")),
        lambda: mem.items.remove("space", f"key{ZERO}"),
    ):
        with pytest.raises(Invalid, match="zero character"):
            make()
    assert isinstance(mem.items.put("space", "key", {f"k{ZERO}": f"v{ZERO}"}), Item)
    found = mem.items.get("space", "key")
    assert found is not None
    assert json.loads(found.value) == {f"k{ZERO}": f"v{ZERO}"}


def test_claims_of_an_agent_are_kept_too(mem: Credenda, path: Path) -> None:
    told = mem.remember(
        f"I live in Gr{ZERO}az. My dog is called Rex.",
        claims=[
            {"quote": f"I live in Gr{ZERO}az", "attribute": "residence", "value": f"Gr{ZERO}az"},
            {"quote": "My dog is called Rex", "entity": f"dog{ZERO}", "attribute": f"na{ZERO}me", "value": "Rex"},
        ],
    )
    assert [one.outcome for one in told.claims] == ["kept", "kept"]
    assert [one.value for one in mem.list(entity=f"dog{ZERO}").items] == ["Rex"]
    assert not [value for value in list_values(path) if isinstance(value, str) and ZERO in value]
