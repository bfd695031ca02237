"""The outcome of messages, the contradictions that they raise, and answers by which every value holds."""

from __future__ import annotations

import pytest

from credenda import Conflict, Credenda, Invalid, NotFound
from credenda.model.memory import Cardinality


def say(mem: Credenda, text: str, source: str = "human") -> tuple[str, ...]:
    ids = mem.remember(text, source=source).event_ids
    mem.settle()
    return ids


def held(mem: Credenda) -> list[str]:
    return sorted(one.value or "" for one in mem.list(attribute="residence").items if one.status == "active")


def dispute(mem: Credenda) -> str:
    """Let an agent contradict the user, and return the id of the contradiction."""
    say(mem, "I live in Linz.")
    (found,) = mem.manage.outcome(say(mem, "I live in Vienna.", "ai")).contradictions
    return found.id


def test_the_outcome_tells_the_state_and_the_memories(mem: Credenda) -> None:
    ids = mem.remember("I live in Linz.").event_ids
    assert (mem.manage.outcome(ids).state, mem.manage.outcome(ids).memories) == ("queued", ())
    mem.settle()
    done = mem.manage.outcome(ids)
    assert (done.state, [one.value for one in done.memories], done.contradictions) == ("done", ["Linz"], ())
    assert [one.text for one in done.events] == ["I live in Linz."]
    mem.delete(done.memories[0].id)
    assert mem.manage.outcome(ids).memories == ()


@pytest.mark.parametrize("ids", [[], ["e1"] * 2 + [f"e{n}" for n in range(2_000)]])
def test_an_outcome_is_of_a_bounded_number_of_messages(mem: Credenda, ids: list[str]) -> None:
    with pytest.raises(Invalid):
        mem.manage.outcome(ids)


def test_an_unknown_message_has_no_outcome(mem: Credenda) -> None:
    (event,) = say(mem, "I live in Linz.")
    for unknown in ("e9", "m1-000000", event.replace("e1", "e7"), event.replace("e", "m")):
        with pytest.raises(NotFound):
            mem.manage.outcome([event, unknown])


def test_an_agent_that_contradicts_the_user_raises_a_question(mem: Credenda) -> None:
    say(mem, "I live in Linz.")
    (found,) = mem.manage.outcome(say(mem, "I live in Vienna.", "ai")).contradictions
    assert (found.entity, found.attribute, found.values) == ("user", "residence", ("Linz", "Vienna"))
    assert "“Linz” and “Vienna”" in found.question
    assert held(mem) == ["Linz"]


def test_an_unnamed_replacement_raises_a_question_and_a_named_one_does_not(mem: Credenda) -> None:
    say(mem, "I live in Linz.")
    assert mem.manage.outcome(say(mem, "I moved from Linz to Graz.")).contradictions == ()
    (found,) = mem.manage.outcome(say(mem, "I live in Vienna.")).contradictions
    assert found.values == ("Graz", "Vienna")
    assert mem.manage.outcome(say(mem, "I live in Vienna.")).contradictions == ()


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(("keep", "values"), [("Linz", ["Linz"]), ("Vienna", ["Vienna"])])
def test_a_contradiction_is_resolved_as_a_contest_is(mem: Credenda, keep: str, values: list[str]) -> None:
    name = dispute(mem)
    resolution = mem.manage.resolve(name, keep=keep)
    assert (resolution.contest.resolution, held(mem)) == (keep, values)
    assert {one.status for one in mem.list(status="superseded", attribute="residence").items} == {"superseded"}
    assert [one.id for one in mem.manage.contests()] == [resolution.contest.id]
    with pytest.raises(Conflict, match="nothing that is undecided"):
        mem.manage.resolve(name, keep=keep)


def test_a_wrong_answer_to_a_contradiction_opens_no_contest(mem: Credenda) -> None:
    name = dispute(mem)
    for keep in ("Rome", ""):
        with pytest.raises(Invalid):
            mem.manage.resolve(name, keep=keep)
    assert (mem.manage.contests(), held(mem)) == ([], ["Linz"])


def test_a_memory_without_a_contradiction_cannot_be_resolved(mem: Credenda) -> None:
    say(mem, "I live in Linz.")
    (memory,) = mem.list().items
    with pytest.raises(Conflict):
        mem.manage.resolve(memory.id, keep="Linz")
    with pytest.raises(NotFound):
        mem.manage.resolve("m9-000000", keep="Linz")


@pytest.mark.requirement("R-087")
def test_both_values_hold_as_a_set_after_the_answer_both(mem: Credenda) -> None:
    resolution = mem.manage.resolve(dispute(mem), keep="Both of them.")
    assert (resolution.contest.resolution, held(mem)) == ("Linz and Vienna", ["Linz", "Vienna"])
    assert {one.cardinality for one in mem.list(attribute="residence").items} == {Cardinality.SET}
    assert mem.manage.outcome(say(mem, "I live in Linz.")).contradictions == ()
    assert held(mem) == ["Linz", "Vienna"]
    report = mem.data.rebuild()
    assert (report.differences, held(mem)) == ((), ["Linz", "Vienna"])


def test_an_answer_that_is_undone_leaves_the_open_contest(mem: Credenda) -> None:
    name = dispute(mem)
    resolution = mem.manage.resolve(name, keep="Vienna")
    change = next(one for one in mem.why(resolution.memory_ids[0]).changes if one.kind == "add")
    mem.manage.undo(change.id, cascade=True)
    (contest,) = mem.manage.contests()
    assert (contest.state, held(mem)) == ("open", ["Linz", "Vienna"])
    assert all(one.contested for one in mem.list(attribute="residence").items if one.status == "active")
