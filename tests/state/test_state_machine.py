"""Whatever happens to a memory, in whatever order, its promises hold."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from credenda import Conflict, Credenda, CredendaError, Invalid, MemoryUnit, NotFound, Unavailable
from credenda.model.change import ChangeKind
from credenda.model.memory import Memory, Status
from credenda.storage.store import ChangeFilter

from .fragile import FUSE, connect
from .looking import look_at, look_back
from .world import USERS, World, check, events_of

CITIES = ("Linz", "Graz", "Wien")
users = st.sampled_from(USERS)
picks = st.integers(0, 30)
sayings = st.sampled_from(
    [
        "I live in {city}.",
        "I moved to {city}.",
        "No, I live in {city}.",
        "I don't live in {city} any more.",
        "I prefer {habit} meetings.",
        "My favourite colour is {colour}.",
        "I'm allergic to {mark}.",
        "I work at {mark}. I live in {city}.",
        "We decided to use {mark}.",
        "My sister {mark} lives in {city}.",
        "Never mind.",
        "What if I lived in {city}?",
        "I will move to {city} next month.",
        "Always answer in {mark}.",
        "Remember the word {mark}; it's important. My favourite colour is {colour}.",
    ]
)
MARKS = tuple(f"Zq{letter}{letter}xu" for letter in "bcdfghjk")
steps = st.sampled_from(
    [timedelta(minutes=1), timedelta(hours=7), timedelta(days=1), timedelta(days=45), timedelta(days=400)]
)


class Machine(RuleBasedStateMachine):
    """Two tenants of one file; every rule touches one of them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        FUSE.snuff()
        self.world = World(self.folder)
        self.world.begin()

    def teardown(self) -> None:
        FUSE.snuff()
        try:
            for user in USERS:
                report = self.world.client(user).data.doctor()
                assert report.ok, report.findings
        finally:
            self.world.close()
            shutil.rmtree(self.folder)

    @contextmanager
    def as_user(self, user: str) -> Generator[Credenda]:
        """Let one tenant do something; the other must not notice, and a crash may end it."""
        others = [one for one in USERS if one != user]
        before = [self.world.rows(one) for one in others]
        try:
            yield self.world.client(user)
        except (Conflict, NotFound, Invalid):
            pass
        except CredendaError:
            if not self.world.blown():
                raise
        if self.world.blown():
            self.world.reopen()
        assert [self.world.rows(one) for one in others] == before, "a foreign tenant changed"

    def memory(self, mem: Credenda, pick: int) -> Memory:
        found = [one for one in mem.list(status=None, limit=50).items if one.status is not Status.DELETED]
        if not found:
            raise NotFound("nothing is held")
        return found[pick % len(found)]

    @rule(user=users, template=sayings, city=st.sampled_from(CITIES), mark=st.sampled_from(MARKS), pick=picks)
    def remember(self, *, user: str, template: str, city: str, mark: str, pick: int) -> None:
        habit, colour = ("morning", "afternoon")[pick % 2], ("green", "red", "blue")[pick % 3]
        text = template.format(city=city, mark=mark, habit=habit, colour=colour)
        with self.as_user(user) as mem:
            receipt = mem.remember(text, session=f"s{pick % 3}", topic=("work", None)[pick % 2])
            self.acknowledged(user, receipt.event_ids)

    def acknowledged(self, user: str, ids: tuple[str, ...]) -> None:
        self.world.acknowledged(user, ids)

    @rule(user=users, template=sayings, city=st.sampled_from(CITIES), mark=st.sampled_from(MARKS), pick=picks)
    def tell(self, *, user: str, template: str, city: str, mark: str, pick: int) -> None:
        """Say something, and let it be believed at once."""
        self.remember(user=user, template=template, city=city, mark=mark, pick=pick)
        self.settle(user)

    @rule(user=users)
    def settle(self, user: str) -> None:
        with self.as_user(user) as mem:
            self.read_all(mem)

    @staticmethod
    def read_all(mem: Credenda) -> None:
        """Run what can run: where the clock went back, some jobs are not due yet."""
        with suppress(Unavailable):
            mem.settle(0.2)

    @rule(user=users, city=st.sampled_from(CITIES), pick=picks)
    def store(self, user: str, city: str, pick: int) -> None:
        unit = MemoryUnit(text=f"Lives in {city}", entity="user", attribute="residence", value=city, pinned=pick == 0)
        with self.as_user(user) as mem:
            mem.store(unit)

    @rule(user=users, pick=picks, city=st.sampled_from(CITIES))
    def correct(self, user: str, pick: int, city: str) -> None:
        with self.as_user(user) as mem:
            mem.correct(self.memory(mem, pick).id, value=city)

    @rule(user=users, pick=picks)
    def forget(self, user: str, pick: int) -> None:
        with self.as_user(user) as mem:
            mem.forget(self.memory(mem, pick).id)

    @rule(user=users, pick=picks)
    def restore(self, user: str, pick: int) -> None:
        with self.as_user(user) as mem:
            mem.restore(self.memory(mem, pick).id)

    @rule(user=users, pick=picks, pinned=st.booleans())
    def pin(self, *, user: str, pick: int, pinned: bool) -> None:
        with self.as_user(user) as mem:
            (mem.manage.pin if pinned else mem.manage.unpin)(self.memory(mem, pick).id)

    @rule(user=users, pick=picks)
    def resolve(self, user: str, pick: int) -> None:
        with self.as_user(user) as mem:
            contests = [one for one in mem.manage.contests() if one.state == "open"]
            if contests:
                case = contests[pick % len(contests)]
                if pick % 2 or len(case.values) < 2:
                    mem.manage.resolve(case.id, keep=case.values[pick % len(case.values)])
                else:
                    mem.manage.resolve(case.id, scopes={"work": case.values[0], "default": case.values[1]})

    @rule(user=users, pick=picks)
    def delete(self, user: str, pick: int) -> None:
        with self.as_user(user) as mem:
            memory = self.memory(mem, pick)
            texts = self.world.will_delete(user, memory=memory)
            mem.delete(memory.id)
            self.world.deleted(user, texts)

    @rule(user=users, pick=picks)
    def delete_event(self, user: str, pick: int) -> None:
        ids = list(self.world.ledgers[user].events)
        if ids:
            with self.as_user(user) as mem:
                event_id = ids[pick % len(ids)]
                texts = self.world.will_delete(user, events=[event_id])
                mem.delete(event_id)
                self.world.deleted(user, texts)

    @rule(user=users, session=st.sampled_from(["s0", "s1", "s2"]))
    def delete_session(self, user: str, session: str) -> None:
        with self.as_user(user) as mem:
            texts = self.world.will_delete(user, events=self.world.events_in(user, session))
            mem.delete_where(session=session)
            self.world.deleted(user, texts)

    @rule(user=users, pick=picks, cascade=st.booleans())
    def undo(self, *, user: str, pick: int, cascade: bool) -> None:
        with self.as_user(user) as mem:
            log = mem.why(self.memory(mem, pick).id).changes
            mem.manage.undo(log[pick % len(log)].id, cascade=cascade)

    @rule(user=users, pick=picks, status=st.sampled_from(["active", "challenged", "invalidated", "archived"]))
    def set_status(self, user: str, pick: int, status: str) -> None:
        with self.as_user(user) as mem:
            mem.manage.set_status(self.memory(mem, pick).id, status, "because")

    @rule(user=users)
    def rebuild(self, user: str) -> None:
        """Nothing differs, so nothing may move."""
        with self.as_user(user) as mem:
            before = self.world.rows(user)
            assert mem.data.rebuild().differences == ()
            assert self.world.rows(user) == before

    @rule(user=users)
    def reextract(self, user: str) -> None:
        """Whatever it changes, it has nothing left to change afterwards."""
        with self.as_user(user) as mem:
            mem.data.rebuild(reextract=True)
            again = mem.data.rebuild(reextract=True, dry_run=True)
            assert again.differences == (), again.differences

    @rule(
        user=users,
        hidden=st.sampled_from(["", "residence", "favourite_colour", "allergy"]),
        confidence=st.sampled_from([None, 0.5]),
    )
    def reading_changes(self, *, user: str, hidden: str, confidence: float | None) -> None:
        """From now on everybody is read otherwise; who asks for it is read anew."""
        self.world.speech.hidden, self.world.speech.confidence = hidden, confidence
        self.reextract(user)

    @rule(user=users)
    def search(self, user: str) -> None:
        with self.as_user(user) as mem:
            mem.search("Where do I live?", session="look")

    @rule(step=steps, back=st.booleans())
    def time_passes(self, *, step: timedelta, back: bool) -> None:
        self.world.move(-step if back and step < timedelta(days=2) else step)

    @rule(user=users, pick=picks)
    def look_back(self, user: str, pick: int) -> None:
        with self.as_user(user) as mem:
            look_back(mem, self.world.ledgers[user], pick)

    @rule(user=users, step=steps, back=st.booleans())
    def look_at(self, *, user: str, step: timedelta, back: bool) -> None:
        shift = step // timedelta(microseconds=1)
        with self.as_user(user) as mem:
            look_at(mem, self.world.clock.us + (-shift if back else shift))

    @rule(user=users, pick=st.integers(0, 3))
    def erase(self, user: str, pick: int) -> None:
        """One time in four: whoever is erased too often has no history to go wrong."""
        if pick:
            return
        self.world.erasing = user
        with self.as_user(user) as mem:
            receipt = mem.erase(user)
            assert receipt.remaining_matches == 0
            self.world.erasing = ""
            self.world.erased(user)

    @rule(user=users)
    def back_up(self, user: str) -> None:
        with self.as_user(user):
            self.world.back_up(user)

    @rule()
    def put_back(self) -> None:
        if not self.world.lit():
            self.world.put_back()

    @rule(user=users, pick=picks)
    def delete_under_hold(self, user: str, pick: int) -> None:
        """Nothing goes, whichever way it is tried."""
        with self.as_user(user) as mem:
            memory = self.memory(mem, pick)
            mem.manage.hold("a case")
            before = self.world.rows(user)
            for attempt in (
                lambda: mem.delete(memory.id),
                lambda: mem.delete_where(before="2100-01-01"),
                lambda: mem.erase(user),
            ):
                with pytest.raises(Conflict):
                    attempt()
            assert self.world.rows(user) == before
            mem.manage.lift_hold("closed")

    @rule(user=users)
    def go_by_age(self, user: str) -> None:
        """A policy takes what is old, and nothing else."""
        with self.as_user(user) as mem:
            due = self.world.clock.us - timedelta(days=300) // timedelta(microseconds=1)
            with self.world.reader(user) as reader:
                old = {one.id for one in events_of(reader) if one.occurred_us < due}
            self.world.ledgers[user].touched |= old
            mem.manage.policy(days=300)
            mem.manage.apply_policies()
            mem.manage.policy(remove=True)

    @rule(user=users, pick=picks, cascade=st.booleans())
    def undo_reading_anew(self, *, user: str, pick: int, cascade: bool) -> None:
        with self.as_user(user) as mem:
            with self.world.reader(user) as reader:
                found = reader.changes(ChangeFilter(kinds=frozenset({ChangeKind.REVISE})))
            if found:
                mem.manage.undo(found[pick % len(found)].id, cascade=cascade)

    @rule(statements=st.integers(1, 60))
    def crash_soon(self, statements: int) -> None:
        self.world.light(statements)

    @rule(user=users)
    def copy(self, user: str) -> None:
        """Export, import elsewhere, export again: the same bytes."""
        with self.as_user(user) as mem:
            first, second = self.folder / "first.jsonl", self.folder / "second.jsonl"
            mem.data.export(first)
            target = self.folder / "copy.db"
            with Credenda.open(target, user=user, clock=self.world.clock, embedder="hashed", workers=False) as copied:
                copied.data.import_(first)
                copied.data.export(second)
            assert first.read_bytes() == second.read_bytes()
        for name in self.folder.glob("copy.db*"):
            name.unlink()

    @invariant()
    def promises_hold(self) -> None:
        if not self.world.lit():
            check(self.world)


EXAMPLES = {"deep": 1_000, "deeper": 10_000}


@pytest.mark.timeout(100_000)  # a deep search runs for as long as it takes
def test_the_promises_hold_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "connect", connect)
    examples = EXAMPLES.get(settings.get_current_profile_name(), 10)
    chosen = settings(
        max_examples=examples,
        stateful_step_count=20,
        deadline=None,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    )
    run_state_machine_as_test(Machine, settings=chosen)
