"""A correction or merged text keeps no topic, tag or metadata that it took over from what is deleted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda, MemoryUnit
from credenda.model.memory import Memory
from credenda.testing import ManualClock, Question, ScriptedModel

from .deleted_words import check_gone, list_held

FILED: dict[str, Any] = {
    "topic": "Vossberg visits",
    "tags": ("vossberg2", "canines"),
    "metadata": {"about": "Vossberg", "room": [7, "xenolith"]},
}


def _say(mem: Credenda, text: str = "My dentist is Vossberg.", **filed: Any) -> Memory:  # noqa: ANN401 - as `remember` takes them
    mem.remember(text, **filed)
    mem.settle()
    return mem.list().items[0]


@pytest.mark.requirement("S-061")
@pytest.mark.parametrize("given", [{"value": "Pauline"}, {"text": "My dentist is Pauline."}])
def test_a_correction_loses_the_labels_of_the_deleted_version(mem: Credenda, path: Path, given: dict[str, str]) -> None:
    first = _say(mem, **FILED)
    right = mem.correct(first.id, **given)
    assert (right.topic, right.tags, right.metadata) == (FILED["topic"], FILED["tags"], FILED["metadata"])
    assert right.id in {one.id for one in mem.manage.plan_deletion(first.id).kept}
    assert mem.delete(first.id).kept == (right.id,)
    after = mem.get(right.id)
    assert (after.value, after.topic, after.tags, after.metadata) == ("Pauline", None, (), {})
    assert [one.id for one in mem.search("Who is my dentist?").hits] == [right.id]
    check_gone(mem, path, "Vossberg", "canines", "xenolith")


@pytest.mark.requirement("S-061")
def test_so_does_every_later_correction(mem: Credenda, path: Path) -> None:
    first = _say(mem, **FILED)
    second = mem.correct(first.id, value="Pauline")
    third = mem.correct(second.id, value="Philippa")
    mem.delete(first.id)
    assert {(one.id, one.topic, one.tags) for one in list_held(mem)} == {(second.id, None, ()), (third.id, None, ())}
    check_gone(mem, path, "Vossberg", "canines", "xenolith")


def test_a_deleted_message_leaves_its_labels_on_no_memory(mem: Credenda, path: Path) -> None:
    first = _say(mem, **FILED)
    mem.remember("My dentist is Vossberg.", topic="teeth", tags=["canines"])
    mem.settle()
    right = mem.correct(first.id, value="Pauline")
    mem.delete(mem.why(first.id).evidence[0][0].id)
    (left,) = [one for one in list_held(mem) if one.value == "Vossberg"]
    assert (left.topic, left.tags, left.metadata) == (None, ("canines",), {})
    mem.delete(left.id)
    assert mem.get(right.id).tags == ()
    check_gone(mem, path, "Vossberg", "canines", "xenolith")


def test_labels_that_another_message_gives_and_the_project_stay(mem: Credenda, path: Path) -> None:
    metadata = {"project": "example.org/surgery", "about": "Vossberg"}
    first = _say(mem, topic="teeth", tags=["canines"], metadata=metadata)
    right = mem.correct(first.id, value="Pauline")
    mem.remember("My dentist is Pauline.", topic="teeth", tags=["canines"])
    mem.settle()
    mem.delete(first.id)
    after = mem.get(right.id)
    assert (after.topic, after.tags, after.metadata) == ("teeth", ("canines",), {"project": "example.org/surgery"})
    check_gone(mem, path, "Vossberg")


def test_a_memory_beside_the_deleted_one_loses_labels_with_its_words(mem: Credenda, path: Path) -> None:
    _say(mem, "I work as a nurse at Zumtobel.", tags=["Zumtobel staff", "jobs"], metadata={"at": "in Zumtobel", "n": 1})
    job, place = (next(one for one in list_held(mem) if one.value == value) for value in ("nurse", "Zumtobel"))
    right = mem.correct(job.id, value="glazier")
    mem.delete(place.id)
    for name in (job.id, right.id):
        after = mem.get(name)
        assert (after.tags, after.metadata) == (("jobs",), {"n": 1})
    check_gone(mem, path, "Zumtobel")


@pytest.mark.requirement("S-061")
def test_a_name_that_the_corrected_sentence_lacks_is_left_in_no_slot(mem: Credenda, path: Path) -> None:
    text = "The Grumblebark ritual at our office starts at nine."
    unit = MemoryUnit(text=text, entity="Grumblebark ritual", attribute="start", value="nine")
    first = mem.store(unit)
    right = mem.correct(first.id, text="The Monday gathering at our office starts at ten.")
    assert right.id in {one.id for one in mem.manage.plan_deletion(first.id).kept}
    mem.delete(first.id)
    after = mem.get(right.id)
    assert (after.text, after.status) == ("The Monday gathering at our office starts at ten.", "active")
    assert mem.search("When does the Monday gathering start?").hits[0].id == right.id
    check_gone(mem, path, "Grumblebark")


TOLD = ("The choir sings in Voitsberg on Mondays.", "On Mondays the choir sings in Voitsberg windmill.")


def _answer(question: Question) -> object:
    entries = json.loads(question.prompt).get("entries")
    if entries is None:
        return {"claims": []}
    first, *rest = (one["id"] for one in entries)
    text = "The choir sings in Voitsberg on Mondays, in windmill."
    return {"operations": [{"op": "replace", "target": first, "with": rest, "kind": "same", "text": text}]}


@pytest.mark.requirement("S-061")
@pytest.mark.parametrize("slot", [{"attribute": "meeting_day", "value": "Mondays"}, {}])
def test_a_merged_text_keeps_the_words_and_labels_of_the_messages_that_stay(
    path: Path, clock: ManualClock, slot: dict[str, str]
) -> None:
    llm = ScriptedModel(_answer)  # type: ignore[arg-type]
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="hashed", llm=llm) as mem:
        mem.store(MemoryUnit(text=TOLD[0], entity="choir", topic="singing", tags=("mondaytag",), **slot))  # type: ignore[arg-type]
        mem.store(MemoryUnit(text=TOLD[1], entity="choir", topic="singing", tags=("milltag",)))
        mem.settle()
        assert mem.manage.consolidate(force=True).memories_consolidated
        (merged,) = mem.list().items
        assert (merged.topic, set(merged.tags)) == ("singing", {"mondaytag", "milltag"})
        source = next(one for one in list_held(mem) if one.text == TOLD[1])
        event = mem.why(source.id).evidence[0][0].id
        plan = mem.manage.plan_deletion(event)
        (named,) = [one for one in plan.kept if one.id == merged.id]
        assert "windmill" not in named.left
        mem.delete(event)
        after = mem.get(merged.id)
        assert (after.text, after.topic, after.tags) == (named.left, "singing", ("mondaytag",))
        check_gone(mem, path, "windmill", "milltag")
