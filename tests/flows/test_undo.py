"""Taking back: any change, all of a session, and that what was taken back is not decided again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from credenda import Conflict, Credenda, Invalid, MemoryUnit, NotFound
from credenda.model.change import ChangeKind, ChangeRecord
from credenda.model.memory import Memory
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import Job
from credenda.testing import ManualClock

Say = Callable[..., None]


def home(mem: Credenda, value: str) -> Memory:
    """The newest memory of a residence, whatever became of it."""
    found = [one for one in mem.list(status=None, attribute="residence", limit=50).items if one.value == value]
    return found[0]


def homes(mem: Credenda, status: str = "active") -> set[str | None]:
    return {one.value for one in mem.list(status=status, attribute="residence", limit=50).items}


def change(mem: Credenda, memory: Memory, kind: str, place: int = -1) -> ChangeRecord:
    return [one for one in mem.why(memory.id).changes if one.kind == kind][place]


State = tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]


def state(mem: Credenda) -> State:
    """Everything that is believed, without the count of versions."""
    held = mem.list(status=None, limit=50).items
    fields = (
        "id",
        "value",
        "status",
        "relation",
        "superseded_by",
        "valid_until_us",
        "contested",
        "confirmations",
        "pinned",
    )
    cases = [(one.id, one.state, one.values, one.memory_ids, one.scopes) for one in mem.manage.contests()]
    return [tuple(getattr(one, name) for name in fields) for one in held], cases


def test_a_replaced_value_stands_again_and_what_replaced_it_is_only_doubted(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I moved to Graz.")
    report = mem.manage.undo(change(mem, home(mem, "Linz"), "supersede").id)
    assert (homes(mem), homes(mem, "challenged")) == ({"Linz"}, {"Graz"})
    assert report.ran
    assert [one.kind for one in report.changes] == [ChangeKind.UNDO, ChangeKind.UNDO]
    linz = home(mem, "Linz")
    assert (linz.relation, linz.superseded_by, linz.valid_until) == (None, None, None)
    assert mem.search("Where do I live?").hits[0].id == linz.id
    assert mem.manage.status_history(linz.id)[-1].status == "active"


def test_undoing_an_undo_takes_the_change_up_again(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I moved to Graz.")
    before = state(mem)
    report = mem.manage.undo(change(mem, home(mem, "Linz"), "supersede").id)
    assert state(mem) != before
    mem.manage.undo(report.changes[0].id)
    assert state(mem) == before


def test_without_a_memory_what_it_had_replaced_stands_again(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I moved to Graz.")
    mem.manage.undo(change(mem, home(mem, "Graz"), "add").id)
    assert (homes(mem), homes(mem, "forgotten")) == ({"Linz"}, {"Graz"})
    assert not [hit for hit in mem.search("Graz").hits if "Graz" in hit.quote]


def test_a_dry_run_shows_the_difference_and_changes_nothing(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I moved to Graz.")
    before = state(mem), mem.stats()
    wanted = change(mem, home(mem, "Linz"), "supersede")
    plan = mem.manage.undo(wanted.id, dry_run=True)
    assert (state(mem), mem.stats()) == before
    assert (plan.ran, plan.undone, plan.changes) == (False, (wanted.id,), ())
    moved = {one.id: (one.before["status"], one.after["status"]) for one in plan.memories}
    assert moved == {
        home(mem, "Linz").id: ("superseded", "active"),
        home(mem, "Graz").id: ("active", "challenged"),
    }
    done = mem.manage.undo(wanted.id)
    assert (done.undone, done.memories) == (plan.undone, plan.memories)


def test_later_changes_are_named_and_go_along_only_when_asked(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I moved to Graz.", "I moved to Wels.")
    first = change(mem, home(mem, "Linz"), "supersede")
    later = change(mem, home(mem, "Graz"), "supersede")
    before = state(mem)
    with pytest.raises(Conflict, match=later.id):
        mem.manage.undo(first.id)
    assert state(mem) == before
    plan = mem.manage.undo(first.id, dry_run=True)
    assert later.id in [one.id for one in plan.conflicts]
    mem.manage.undo(first.id, cascade=True)
    assert homes(mem) == {"Linz"}


def _said_again(mem: Credenda, _: Memory) -> None:
    mem.remember("I live in Linz.", session="again")
    mem.settle()


def _restored(mem: Credenda, one: Memory) -> None:
    mem.forget(one.id)
    mem.restore(one.id)


ACTS: dict[str, Callable[[Credenda, Memory], object]] = {
    "pin": lambda mem, one: mem.manage.pin(one.id),
    "forget": lambda mem, one: mem.forget(one.id),
    "restore": _restored,
    "set_status": lambda mem, one: mem.manage.set_status(one.id, "archived", "not now"),
    "confirm": _said_again,
    "supersede": lambda mem, one: mem.correct(one.id, value="Lienz"),
}


@pytest.mark.parametrize("kind", list(ACTS))
def test_every_kind_of_change_has_a_way_back_and_forth(mem: Credenda, say: Say, kind: str) -> None:
    say("I live in Linz.")
    memory = home(mem, "Linz")
    ACTS[kind](mem, memory)
    after = state(mem)
    report = mem.manage.undo(change(mem, memory, kind).id)
    assert state(mem) != after
    mem.manage.undo(report.changes[0].id)
    assert state(mem) == after


def test_a_layer_has_a_way_back(mem: Credenda) -> None:
    memory = mem.store(MemoryUnit(text="Deploys on Fridays", layer="episodic"))
    mem.manage.undo(change(mem, memory, "set_layer").id)
    assert mem.get(memory.id).layer == "semantic"


def _alternating(say: Say) -> None:
    say("I prefer morning meetings.", "I prefer afternoon meetings.", "I prefer morning meetings.", days=10)


def meetings(mem: Credenda, status: str = "active") -> list[str]:
    held = mem.list(status=status, limit=50).items
    return sorted(one.value or "" for one in held if "meetings" in one.text)


def test_a_question_goes_with_its_flags(mem: Credenda, say: Say) -> None:
    _alternating(say)
    (case,) = mem.manage.contests()
    asked = state(mem)
    flagged = next(one for one in mem.list().items if one.contested)
    report = mem.manage.undo(change(mem, flagged, "contest").id)
    assert not any(one.contested for one in mem.list(status=None).items)
    (withdrawn,) = mem.manage.contests()
    assert (withdrawn.id, withdrawn.state, withdrawn.values) == (case.id, "resolved", ())
    assert len(meetings(mem)) == 1
    mem.manage.undo(report.changes[0].id)
    assert state(mem) == asked


def test_an_answer_is_taken_back_whole(mem: Credenda, say: Say) -> None:
    _alternating(say)
    (case,) = mem.manage.contests()
    before = state(mem)
    answered = mem.manage.resolve(case.id, scopes={"consulting": "morning", "default": "afternoon"})
    mem.settle()
    after = state(mem)
    held = mem.get(answered.memory_ids[0])
    report = mem.manage.undo(change(mem, held, "add").id)
    assert len(report.undone) > 2
    (reopened,) = mem.manage.contests()
    assert reopened.state == "open"
    kept, _ = before
    now, _ = state(mem)
    gone = set(answered.memory_ids)
    assert [one for one in now if one[0] not in gone] == kept
    assert after != state(mem)


def test_all_that_a_session_did_goes_and_nothing_else(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I'm allergic to peanuts.", session="one")
    before = state(mem)
    say("I moved to Graz.", "My sister is called Anna.", "I'm allergic to peanuts.", session="two")
    plan = mem.manage.undo_where(session="two", dry_run=True)
    report = mem.manage.undo(session="two")
    assert report.undone == plan.undone
    kept = {one[0] for one in before[0]}
    assert [one for one in state(mem)[0] if one[0] in kept] == before[0]
    assert homes(mem) == {"Linz"}
    assert not [one for one in mem.list().items if one.value == "Anna"]
    assert mem.manage.undo_where(session="two").undone == ()


def test_a_source_and_a_span_of_time(mem: Credenda, clock: ManualClock) -> None:
    mem.remember("I live in Linz.")
    mem.settle()
    clock.advance(timedelta(days=1))
    start = clock.now().isoformat()
    mem.remember("I'm allergic to dust.", source="ingest")
    mem.settle()
    clock.advance(timedelta(days=1))
    mem.remember("I'm allergic to cats.")
    mem.settle()
    clock.advance(timedelta(days=1))
    assert len(mem.manage.undo_where(source="ingest", dry_run=True).undone) == 1
    assert mem.manage.undo_where(source="dream").undone == ()
    mem.manage.undo_where(since=start)
    assert [one.value for one in mem.list().items] == ["Linz"]
    mem.manage.undo_where(until=start)
    assert mem.list().items == ()


def test_what_was_deleted_stays_deleted(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I'm allergic to dust.", session="s")
    linz = home(mem, "Linz")
    added = change(mem, linz, "add")
    mem.delete(linz.id)
    with pytest.raises(Conflict, match="cannot be undone"):
        mem.manage.undo(added.id)
    assert added.id not in mem.manage.undo_where(session="s", dry_run=True).lasting  # its event lost the session
    report = mem.manage.undo_where(source="human")
    assert added.id in report.lasting
    assert mem.list(status=None).items[0].status == "forgotten"
    assert "Linz" not in repr(mem.list(status=None).items)


def test_a_change_is_undone_once(mem: Credenda, say: Say) -> None:
    say("I live in Linz.")
    added = change(mem, home(mem, "Linz"), "add")
    mem.manage.undo(added.id)
    with pytest.raises(Conflict, match="undone already"):
        mem.manage.undo(added.id)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"session": " "},
        {"change_id": "c1-abcde1", "session": "s"},
        {"since": "2026-02-01", "until": "2026-01-01"},
        {"source": "nobody"},
    ],
)
def test_what_cannot_be_meant_is_refused(mem: Credenda, given: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        mem.manage.undo(**given)


def test_an_unknown_change_is_not_found(mem: Credenda, say: Say) -> None:
    say("I live in Linz.")
    known = change(mem, home(mem, "Linz"), "add").id
    for name in (known.replace("c1", "c99"), home(mem, "Linz").id, "nonsense"):
        with pytest.raises(NotFound):
            mem.manage.undo(name)


def _read_again(mem: Credenda, event_id: str) -> None:
    """Let the job of an event run once more, as after a crash before it was marked done."""
    number = int(event_id[1:].partition("-")[0])
    store: SqliteStore = mem._parts.store  # type: ignore[assignment]  # noqa: SLF001 - a test of what a worker does
    store.commit(mem.user, lambda writer: writer.put(Job(kind="extract", first=number, last=number)))
    mem.settle()


def test_what_was_taken_back_is_not_decided_again_on_the_same_evidence(mem: Credenda, say: Say) -> None:
    say("I live in Linz.")
    receipt = mem.remember("I moved to Graz.")
    mem.settle()
    mem.manage.undo(change(mem, home(mem, "Linz"), "supersede").id)
    kept = state(mem)
    _read_again(mem, receipt.event_ids[0])
    assert state(mem) == kept
    mem.manage.undo(change(mem, home(mem, "Linz"), "undo").id)
    mem.manage.undo(change(mem, home(mem, "Graz"), "add").id)
    _read_again(mem, receipt.event_ids[0])
    assert homes(mem) == {"Linz"}


def test_never_mind_that_was_taken_back_is_not_heard_again(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", session="s")
    receipt = mem.remember("Never mind.", session="s")
    mem.settle()
    assert homes(mem) == set()
    mem.manage.undo(change(mem, home(mem, "Linz"), "forget").id)
    _read_again(mem, receipt.event_ids[0])
    assert homes(mem) == {"Linz"}


def test_a_new_saying_is_new_evidence(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I moved to Graz.")
    mem.manage.undo(change(mem, home(mem, "Linz"), "supersede").id)
    say("I moved to Graz last month.")
    assert homes(mem) == {"Graz"}


def test_a_forgotten_memory_comes_back_though_it_was_undone(mem: Credenda, say: Say) -> None:
    say("I live in Linz.")
    mem.manage.undo(change(mem, home(mem, "Linz"), "add").id)
    assert mem.restore(home(mem, "Linz").id).status == "active"


@pytest.mark.parametrize("by", ["restore", "set_status"])
def test_without_what_was_brought_back_its_place_is_taken_again(mem: Credenda, say: Say, by: str) -> None:
    """`restore` of what was forgotten, and `set_status` of what was judged wrong."""
    say("I live in Linz.")
    old = home(mem, "Linz")
    _ = mem.forget(old.id) if by == "restore" else mem.manage.set_status(old.id, "archived", "long ago")
    say("I live in Graz.")
    before = state(mem)
    _ = mem.restore(old.id) if by == "restore" else mem.manage.set_status(old.id, "active", "it is true")
    assert homes(mem) == {"Linz"}
    undone = mem.manage.undo(change(mem, old, by).id)
    assert state(mem) == before
    assert mem.manage.undo(undone.changes[0].id).ran
    assert homes(mem) == {"Linz"}
    assert mem.data.doctor().ok


def test_a_confirmation_that_was_taken_back_is_counted_right_after_the_memory_is_deleted(
    mem: Credenda, say: Say
) -> None:
    say("I live in Linz.", "I live in Linz.")
    memory = home(mem, "Linz")
    mem.manage.undo(change(mem, memory, "confirm").id)
    mem.delete(memory.id)
    assert mem.data.doctor().ok
    assert mem.data.rebuild(dry_run=True).differences == ()


def test_the_reason_of_an_undone_change_is_no_reason(mem: Credenda, say: Say) -> None:
    say("I live in Graz.", "I moved to Linz.")
    replaced = change(mem, home(mem, "Graz"), "supersede")
    mem.manage.undo(replaced.id, cascade=True)
    graz, linz = mem.history(entity="user", attribute="residence")
    assert (graz.status, graz.reason) == ("active", "first statement")
    assert linz.reason == "the user restored the value that it replaced"
    taken_back = change(mem, home(mem, "Graz"), "undo")
    mem.manage.undo(taken_back.id, cascade=True)
    assert mem.history(entity="user", attribute="residence")[0].reason == replaced.reason
