"""No text is read, compared or decided on while a write transaction is open; what moved meanwhile is decided once more.

One profile function sees every call of Python code inside a unit of work, and names the modules whose code must not run
there. A second hook changes the store between the decision and its unit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from credenda import Conflict, Credenda, MemoryUnit
from credenda.errors import NotFound
from credenda.model.change import ContestState
from credenda.services import remember
from credenda.storage import plan
from credenda.storage.store import Store, Writer
from credenda.testing import ManualClock, ScriptedModel
from credenda.write.intake.validate import Submission

from .models.build import BEES, CLAIM, held
from .test_surprise import Placed

TEXT_WORK = tuple(
    f"credenda.{name}"
    for name in (
        *("write.apply", "write.contests", "write.corrections", "write.extract.", "write.extract_job"),
        *("write.forget.tombstones", "write.indexing.near_duplicate", "write.intake", "write.llm", "write.reconcile."),
        *("text.sentences", "text.sentiment"),
    )
)
"""Modules whose code must not run inside a unit."""


class Watch:
    """Notes the text work inside units, and changes the store between a decision and its unit."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.units = 0
        self.plans = 0
        self.meanwhile: Callable[[], object] | None = None

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        name = str(frame.f_globals.get("__name__", ""))
        if event == "call" and name.startswith(TEXT_WORK):
            self.found.add(f"{name}.{frame.f_code.co_name}")

    @contextmanager
    def open(self) -> Generator[None]:
        self.units += 1
        before = sys.getprofile()
        sys.setprofile(self.profile)
        try:
            yield
        finally:
            sys.setprofile(before)


@pytest.fixture
def watch(mem: Credenda, monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    kind = type(mem._parts.store)  # noqa: SLF001 - the moment between plan and unit
    commit, make_plan = kind.commit, plan._make_plan  # noqa: SLF001 - as above

    def watched(store: Store, user_id: str, work: Callable[[Writer], object]) -> object:
        def unit(writer: Writer) -> object:
            with watch.open():
                return work(writer)

        return commit(store, user_id, unit)

    def planned(store: Store, user_id: str, decide: Callable[[Writer], object]) -> object:
        made = make_plan(store, user_id, decide)
        watch.plans += 1
        meanwhile, watch.meanwhile = watch.meanwhile, None
        if meanwhile is not None:
            meanwhile()
            watch.plans = 1
        return made

    monkeypatch.setattr(kind, "commit", watched)
    monkeypatch.setattr(plan, "_make_plan", planned)
    return watch


@pytest.fixture
def ana(mem: Credenda) -> Credenda:
    """Hold a home, and an open contest about meetings."""
    mem.remember("I live in Graz.")
    mem.settle()
    for value, when in (("morning", "2026-01-01"), ("afternoon", "2026-01-20"), ("morning", "2026-02-10")):
        mem.store(meeting(value, when))
    return mem


def meeting(value: str, when: str | None = None) -> MemoryUnit:
    return MemoryUnit(
        text=f"I prefer {value} meetings",
        type="preference",
        entity="user",
        attribute="meeting_time",
        value=f"{value} meetings",
        created_at=when,
    )


def home(mem: Credenda) -> str:
    (found,) = mem.list(attribute="residence").items
    return found.id


def contest(mem: Credenda) -> str:
    return mem.manage.contests()[0].id


def keep(mem: Credenda, *texts: str) -> tuple[str, ...]:
    said = Submission(content=[{"role": "user", "content": text} for text in texts], user_id="ana")
    return remember.keep(mem._parts, said).event_ids  # noqa: SLF001 - the verb of a shim, which has no method


PATHS: dict[str, Callable[[Credenda], object]] = {
    "remember and extract": lambda mem: (mem.remember("I moved to Linz."), mem.settle()),
    "store": lambda mem: mem.store(meeting("noon")),
    "keep": lambda mem: keep(mem, "I keep bees.", "I live in Linz."),
    "correct": lambda mem: mem.correct(home(mem), value="Wien"),
    "correct a contested value": lambda mem: mem.correct(mem.manage.contests()[0].memory_ids[0], value="noon meetings"),
    "resolve": lambda mem: mem.manage.resolve(contest(mem), keep="morning"),
    "resolve by scopes": lambda mem: mem.manage.resolve(
        contest(mem), scopes={"consulting": "morning", "default": "afternoon"}
    ),
    "forget and restore": lambda mem: (mem.forget(home(mem)), mem.restore(mem.list(status="forgotten").items[0].id)),
    "set a status": lambda mem: mem.manage.set_status(home(mem), "challenged", reason="doubted"),
    "undo": lambda mem: mem.manage.undo(mem.why(home(mem)).changes[0].id),
    "undo a session": lambda mem: mem.manage.undo_where(since="2026-01-01", cascade=True),
}


@pytest.mark.parametrize("name", PATHS)
def test_no_text_work_runs_while_the_transaction_is_open(ana: Credenda, watch: Watch, name: str) -> None:
    PATHS[name](ana)
    assert watch.units
    assert watch.found == set()
    assert ana.data.doctor().ok


def test_the_watch_sees_text_work_in_a_unit(mem: Credenda, watch: Watch) -> None:
    """A tenant without rows has no view to decide on: its first unit shows that the watch works."""
    mem.store(meeting("noon"))
    assert "credenda.write.apply.apply" in watch.found


def test_new_text_is_compared_with_tombstones_before_the_transaction(ana: Credenda, watch: Watch) -> None:
    ana.remember("My cat is called Minka.")
    ana.settle()
    ana.delete(ana.search("Minka").hits[0].id)
    watch.found.clear()
    receipt = ana.remember("My cat is called Minka. I like tea.")
    assert len(receipt.refused) == 1
    ana.remember("My cat is called Minka.", allow_deleted=True)
    assert watch.found == set()
    assert not ana.remember("My cat is called Minka.").refused


def test_the_words_of_a_model_are_applied_outside_the_transaction(path: Path, clock: ManualClock, watch: Watch) -> None:
    model = ScriptedModel([[CLAIM], [CLAIM]])
    with Credenda.open(path, user="ana", clock=clock, llm=model, embedder="none", workers=False) as mem:
        mem.remember(BEES)
        mem.settle()
        assert held(mem) == [("hives", "forty")]
    assert watch.found == set()


def test_what_is_new_about_a_memory_is_decided_outside_the_transaction(
    path: Path, clock: ManualClock, watch: Watch
) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder=Placed(), workers=False) as mem:
        mem.remember("Hello.")
        mem.settle()
        watch.found.clear()
        first = mem.store(MemoryUnit(text="Saw an owl in the garden."))
        again = mem.store(MemoryUnit(text="Really saw the owl in the garden."))
        mem.settle()
        assert mem.get(again.id).metadata == {"duplicate_of": first.id}
        assert mem.get(first.id).confirmations == 1
    assert watch.found == set()


def test_a_correction_of_what_was_corrected_meanwhile_is_refused(ana: Credenda, watch: Watch) -> None:
    memory_id = home(ana)
    watch.meanwhile = lambda: ana.correct(memory_id, value="Wien")
    with pytest.raises(Conflict, match="cannot be corrected"):
        ana.correct(memory_id, value="Linz")
    assert [one.value for one in ana.list(attribute="residence").items] == ["Wien"]


def test_a_correction_beside_another_change_is_decided_once_more(ana: Credenda, watch: Watch) -> None:
    watch.meanwhile = lambda: ana.remember("Nice weather.")
    ana.correct(home(ana), value="Linz")
    assert watch.plans == 2
    assert [one.value for one in ana.list(attribute="residence").items] == ["Linz"]
    assert ana.data.doctor().ok


def test_a_correction_honours_a_deletion_that_commits_in_between(ana: Credenda, watch: Watch) -> None:
    memory_id = home(ana)
    watch.meanwhile = lambda: ana.delete(memory_id)
    with pytest.raises(NotFound):
        ana.correct(memory_id, value="Linz")
    assert ana.list(attribute="residence").items == ()


def test_a_contest_that_was_resolved_meanwhile_is_not_resolved_twice(ana: Credenda, watch: Watch) -> None:
    contest_id = contest(ana)
    watch.meanwhile = lambda: ana.manage.resolve(contest_id, keep="afternoon")
    with pytest.raises(Conflict, match="already resolved"):
        ana.manage.resolve(contest_id, keep="morning")
    (case,) = ana.manage.contests()
    assert (case.state, case.resolution) == (ContestState.RESOLVED, "afternoon meetings")


def test_a_change_that_was_undone_meanwhile_is_not_undone_twice(ana: Credenda, watch: Watch) -> None:
    change_id = ana.why(home(ana)).changes[0].id
    watch.meanwhile = lambda: ana.manage.undo(change_id)
    with pytest.raises(Conflict, match="undone already"):
        ana.manage.undo(change_id)


def test_text_whose_deletion_commits_in_between_is_not_journaled(ana: Credenda, watch: Watch) -> None:
    for text in ("My cat is called Minka.", "My dog is called Rex."):
        ana.remember(text)
        ana.settle()
    ana.delete(ana.search("Rex").hits[0].id)
    gone = ana.search("Minka").hits[0].id
    watch.meanwhile = lambda: ana.delete(gone)
    receipt = ana.remember("My cat is called Minka. I like tea.")
    assert watch.plans == 2
    assert ana.event(receipt.event_ids[0]).event.text == "[deleted] I like tea."
    assert len(receipt.refused) == 1


def test_a_tombstone_that_is_lifted_in_between_redacts_nothing(ana: Credenda, watch: Watch) -> None:
    ana.remember("My cat is called Minka.")
    ana.settle()
    ana.delete(ana.search("Minka").hits[0].id)
    watch.meanwhile = lambda: ana.remember("My cat is called Minka.", allow_deleted=True)
    receipt = ana.remember("My cat is called Minka.")
    assert not receipt.refused
    assert ana.event(receipt.event_ids[0]).event.text == "My cat is called Minka."


def test_the_first_deletion_of_a_tenant_reaches_words_that_are_kept_meanwhile(ana: Credenda, watch: Watch) -> None:
    memory_id = home(ana)
    watch.meanwhile = lambda: ana.delete(memory_id)
    (event_id,) = keep(ana, "I live in Graz.")
    assert "Graz" not in ana.event(event_id).event.text
    assert ana.list(attribute="residence").items == ()


def test_a_model_s_answer_about_what_was_deleted_meanwhile_is_dropped(
    path: Path, clock: ManualClock, watch: Watch
) -> None:
    model = ScriptedModel([[CLAIM], [CLAIM]])
    with Credenda.open(path, user="ana", clock=clock, llm=model, embedder="none", workers=False) as mem:
        event_id = mem.remember(BEES).event_ids[0]
        watch.meanwhile = lambda: setattr(watch, "meanwhile", lambda: mem.delete(event_id))
        mem.settle()
        assert model.asked
        assert held(mem) == []
        assert mem.event(event_id).event.text == ""


def test_a_repetition_of_what_was_deleted_meanwhile_is_not_flagged(
    path: Path, clock: ManualClock, watch: Watch
) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder=Placed(), workers=False) as mem:
        first = mem.store(MemoryUnit(text="Saw an owl in the garden."))
        mem.settle()
        again = mem.store(MemoryUnit(text="Really saw the owl in the garden."))
        watch.meanwhile = lambda: mem.delete(first.id)
        mem.settle()
        assert watch.plans >= 2
        assert "duplicate_of" not in mem.get(again.id).metadata
