"""Two tenants in one file never meet: not by id, not by words, not in ranking, not by the names they have."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from credenda import Conflict, Credenda, Invalid, LimitExceeded, MemoryUnit, NotFound
from credenda.client_data import Data, Jobs
from credenda.client_inspect import Inspect
from credenda.client_manage import Manage
from credenda.model.query import SearchResult
from credenda.testing import ManualClock

SECRET = "zorkmids"


@dataclass(frozen=True, slots=True)
class Foreign:
    """Things of Ana's whose names Ben has learnt."""

    memory: str
    event: str
    contest: str
    change: str
    cursor: str


def _open(path: Path, user: str, clock: ManualClock) -> Credenda:
    return Credenda.open(path, user=user, clock=clock, workers=False)


@pytest.fixture
def ben(path: Path, clock: ManualClock) -> Iterator[Credenda]:
    with _open(path, "ben", clock) as opened:
        opened.store(MemoryUnit(text="Ben likes chess", entity="user", attribute="hobby", value="chess"))
        yield opened


@pytest.fixture
def foreign(mem: Credenda) -> Foreign:
    """Give Ana one of everything; every text of hers says zorkmids."""
    for value, when in (("copper", "2026-01-01"), ("gold", "2026-01-20"), ("copper", "2026-02-10")):
        mem.store(
            MemoryUnit(
                text=f"I prefer {value} {SECRET}",
                type="preference",
                entity="user",
                attribute="currency",
                value=f"{value} {SECRET}",
                created_at=when,
                source_session="s1",
                topic="money",
                pinned=True,
            )
        )
    mem.remember(f"I live in Linz with my {SECRET}.", session="s1", topic="money", idempotency_key="k")
    mem.settle()
    (contest,) = mem.manage.contests()
    memory = mem.list(attribute="currency").items[0]
    explained = mem.why(memory.id)
    cursor = mem.list(limit=1).next_cursor
    assert cursor is not None
    return Foreign(memory.id, explained.evidence[0][0].id, contest.id, explained.changes[0].id, cursor)


BY_ID: dict[str, Callable[[Credenda, Foreign], object]] = {
    "get": lambda ben, ana: ben.get(ana.memory),
    "event": lambda ben, ana: ben.event(ana.event),
    "manage.plan_deletion": lambda ben, ana: ben.manage.plan_deletion(ana.memory),
    "why": lambda ben, ana: ben.why(ana.memory),
    "inspect.uses": lambda ben, ana: ben.inspect.uses(ana.memory),
    "inspect.session": lambda ben, _: ben.inspect.session("s1"),
    "inspect.replay": lambda ben, _: ben.inspect.replay("s1"),
    "history": lambda ben, ana: ben.history(id=ana.memory),
    "changes": lambda ben, ana: ben.changes(ana.event),
    "correct": lambda ben, ana: ben.correct(ana.memory, value="mine"),
    "forget": lambda ben, ana: ben.forget(ana.memory),
    "restore": lambda ben, ana: ben.restore(ana.memory),
    "delete": lambda ben, ana: ben.delete(ana.memory),
    "delete an event": lambda ben, ana: ben.delete(ana.event),
    "feedback": lambda ben, ana: ben.feedback(ana.memory, useful=True),
    "feedback on an event": lambda ben, ana: ben.feedback(ana.event, useful=True),
    "list": lambda ben, ana: ben.list(cursor=ana.cursor),
    "manage.pin": lambda ben, ana: ben.manage.pin(ana.memory),
    "manage.promote": lambda ben, ana: ben.manage.promote(ana.memory),
    "manage.demote": lambda ben, ana: ben.manage.demote(ana.memory),
    "manage.unpin": lambda ben, ana: ben.manage.unpin(ana.memory),
    "manage.set_status": lambda ben, ana: ben.manage.set_status(ana.memory, "archived", "mine"),
    "manage.status_history": lambda ben, ana: ben.manage.status_history(ana.memory),
    "manage.undo": lambda ben, ana: ben.manage.undo(ana.change),
    "manage.resolve": lambda ben, ana: ben.manage.resolve(ana.contest, keep="gold"),
    "manage.resolve a memory": lambda ben, ana: ben.manage.resolve(ana.memory, keep="gold"),
    "manage.outcome": lambda ben, ana: ben.manage.outcome([ana.event]),
    "manage.contest": lambda ben, ana: ben.manage.contest(ana.contest),
    "jobs.get": lambda ben, ana: ben.jobs.get(f"j1-{ana.memory.partition('-')[2]}"),
    "jobs.retry": lambda ben, ana: ben.jobs.retry(f"j1-{ana.memory.partition('-')[2]}"),
    "jobs.cancel": lambda ben, ana: ben.jobs.cancel(f"j1-{ana.memory.partition('-')[2]}"),
}
"""Every public method that takes an id; with a foreign one it finds nothing."""


def _import_a_note(ben: Credenda, folder: Path) -> object:
    (folder / "note.txt").write_text("I like tea.", "utf-8")
    return ben.data.import_(folder / "note.txt"), ben.data.import_(folder / "note.txt")


def _code(folder: Path) -> Path:
    (folder / "code").mkdir()
    (folder / "code" / "app.py").write_text("def run(): ...\n", "utf-8")
    return folder / "code"


def _assertions(folder: Path) -> Path:
    (folder / "beliefs.test").write_text("expect: residence(user) == Graz\n", "utf-8")
    return folder / "beliefs.test"


def _sync(ben: Credenda, folder: Path) -> object:
    """Give all that lies in a folder which Ben's memory writes."""
    report = ben.data.sync_files(folder / "vault")
    return report, [one.read_text("utf-8") for one in (folder / "vault").rglob("*") if one.is_file()]


OPEN: dict[str, Callable[[Credenda, Path], object]] = {
    "search": lambda ben, _: ben.search(SECRET, include=("superseded", "low_confidence", "archived")).hits,
    "context": lambda ben, _: ben.context(f"{SECRET} Linz").text,
    "list": lambda ben, _: ben.list(status=None, limit=50).items,
    "history": lambda ben, _: ben.history(entity="user", attribute="currency"),
    "diff": lambda ben, _: (ben.diff("2000-01-01"), ben.diff("2000-01-01", axis="valid")),
    "manage.core": lambda ben, _: (ben.manage.core(), ben.manage.core()),
    "manage.decay": lambda ben, _: (ben.manage.decay(dry_run=True), ben.manage.decay()),
    "manage.consolidate": lambda ben, _: (ben.manage.consolidate(dry_run=True), ben.manage.consolidate(force=True)),
    "manage.dream": lambda ben, _: (ben.manage.dream(dry_run=True), ben.manage.dream()),
    "manage.lifecycle": lambda ben, _: (ben.manage.lifecycle(dry_run=True), ben.manage.lifecycle()),
    "manage.compress": lambda ben, _: (ben.manage.compress(), ben.manage.compress(dry_run=False)),
    "manage.schedule": lambda ben, _: (ben.manage.schedule(run=True), ben.manage.schedule()),
    "manage.retention": lambda ben, folder: (
        ben.manage.retention(plot=folder / "curves.svg"),
        (folder / "curves.svg").read_text("utf-8"),
    ),
    "manage.contests": lambda ben, _: ben.manage.contests(),
    "manage.extract": lambda ben, _: ben.manage.extract(dry_run=True, model="openai:gpt-5-mini"),
    "stats": lambda ben, _: ben.stats(),
    "manage.loops": lambda ben, _: ben.manage.loops(days=3650),
    "manage.undo_where": lambda ben, _: (ben.manage.undo_where(session="s1"), ben.manage.undo(since="2020-01-01")),
    "remember": lambda ben, _: ben.remember("I like tea.", idempotency_key="k"),
    "store": lambda ben, _: ben.store(
        MemoryUnit(text="Pays in gold", entity="user", attribute="currency", value="gold")
    ),
    "settle": lambda ben, _: ben.settle(),
    "start_worker": lambda ben, _: ben.start_worker(),
    "data.audit": lambda ben, _: ben.data.audit(),
    "data.doctor": lambda ben, _: ben.data.doctor(),
    "data.rebuild": lambda ben, _: ben.data.rebuild(),
    "data.reembed": lambda ben, _: ben.data.reembed("hashed"),
    "data.export": lambda ben, folder: (
        ben.data.export(folder / "ben.jsonl"),
        (folder / "ben.jsonl").read_text("utf-8"),
    ),
    "data.import_": _import_a_note,
    "data.scan": lambda ben, folder: (ben.data.scan(_code(folder)), ben.search("run", mode="codebase")),
    "data.sync_files": _sync,
    "manage.drift": lambda ben, folder: ben.manage.drift([_code(folder)], fix=True),
    "manage.policy": lambda ben, _: (ben.manage.policy(), ben.manage.policy(30, topic="money")),
    "manage.apply_policies": lambda ben, _: (ben.manage.policy(1), ben.manage.apply_policies()),
    "manage.hold": lambda ben, _: ben.manage.hold("a case of Ben's"),
    "manage.lift_hold": lambda ben, _: (ben.manage.hold("a case"), ben.manage.lift_hold("closed")),
    "manage.holds": lambda ben, _: ben.manage.holds(),
    "data.backup": lambda ben, folder: ben.data.backup(folder / "copy.db"),
    "jobs.list": lambda ben, _: ben.jobs.list(),
    "jobs.start": lambda ben, _: ben.jobs.start("consolidate"),
    "inspect.browse": lambda ben, _: ben.inspect.browse(),
    "inspect.entities": lambda ben, _: ben.inspect.entities(),
    "inspect.test": lambda ben, folder: ben.inspect.test(_assertions(folder)),
    "inspect.sessions": lambda ben, _: ben.inspect.sessions(),
    "inspect.extraction": lambda ben, _: ben.inspect.extraction("I moved to Graz. I like tea."),
    "inspect.context": lambda ben, _: ben.inspect.context(f"{SECRET} home"),
    "inspect.score": lambda ben, _: ben.inspect.score("You like tea.", "I like tea."),
    "inspect.scores": lambda ben, _: ben.inspect.scores(),
    "inspect.costs": lambda ben, _: ben.inspect.costs(),
    "inspect.verify_audit": lambda ben, _: ben.inspect.verify_audit(),
    "inspect.export_audit": lambda ben, folder: (
        ben.inspect.export_audit(folder / "audit.jsonl"),
        (folder / "audit.jsonl").read_text("utf-8"),
    ),
    "inspect.export_compliance": lambda ben, folder: (
        ben.inspect.export_compliance(folder / "report.jsonl"),
        (folder / "report.jsonl").read_text("utf-8"),
    ),
    "erase": lambda ben, folder: ben.erase("ben", export=folder / "ben.jsonl"),
    "delete_where": lambda ben, _: (ben.delete_where(session="s1"), ben.delete_where(topic="money")),
}
"""Every public method that takes none; none of Ana's words or numbers are in its answer."""
MARKS = {"data.backup": pytest.mark.sqlite_file}  # a backup is a copy of the file


def _methods() -> set[str]:
    names = {name for name, _ in inspect.getmembers(Credenda, inspect.isfunction)}
    names |= {f"manage.{name}" for name, _ in inspect.getmembers(Manage, inspect.isfunction)}
    names |= {f"data.{name}" for name, _ in inspect.getmembers(Data, inspect.isfunction)}
    names |= {f"jobs.{name}" for name, _ in inspect.getmembers(Jobs, inspect.isfunction)}
    names |= {f"inspect.{name}" for name, _ in inspect.getmembers(Inspect, inspect.isfunction)}
    return {name for name in names if "_" not in (name[0], name.rpartition(".")[2][0])} - {"close", "for_user"}


@pytest.mark.requirement("R-201", "R-202")
def test_the_tables_here_name_every_public_method() -> None:
    tried = {name.partition(" ")[0] for name in (*BY_ID, *OPEN)}
    assert tried == _methods()


def _all_of(mem: Credenda) -> object:
    return (
        mem.list(status=None, limit=50),
        mem.manage.contests(),
        mem.stats(),
        [mem.why(memory.id) for memory in mem.list(status=None, limit=50).items],
    )


@pytest.mark.requirement("R-201", "R-202")
@pytest.mark.parametrize("name", list(BY_ID))
def test_a_foreign_id_is_not_found_and_nothing_of_anas_moves(
    mem: Credenda, ben: Credenda, foreign: Foreign, name: str
) -> None:
    before = _all_of(mem), _all_of(ben)
    with pytest.raises(NotFound) as caught:
        BY_ID[name](ben, foreign)
    assert SECRET not in str(caught.value)
    assert (_all_of(mem), _all_of(ben)) == before


@pytest.mark.requirement("R-201", "R-202")
@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in OPEN])
def test_what_needs_no_id_shows_nothing_of_anas(
    mem: Credenda, ben: Credenda, foreign: Foreign, *, name: str, tmp_path: Path
) -> None:
    before = _all_of(mem)
    answer = OPEN[name](ben, tmp_path)
    shown = json.dumps(repr(answer))
    for word in (SECRET, "Linz", foreign.memory.partition("-")[2]):
        assert word not in shown
    assert _all_of(mem) == before


def test_bens_counts_are_his_own(mem: Credenda, ben: Credenda, foreign: Foreign) -> None:
    assert foreign.memory
    stats = ben.stats()
    assert (stats.events, stats.total, stats.changes, stats.open_contests) == (1, 1, 1, 0)
    assert mem.stats().open_contests == 1


@pytest.mark.requirement("D-010")
def test_the_same_key_belongs_to_each(mem: Credenda, ben: Credenda) -> None:
    one = mem.remember("I live in Linz.", idempotency_key="k")
    two = ben.remember("I live in Graz.", idempotency_key="k")
    assert (one.cached, two.cached) == (False, False)
    assert set(one.event_ids).isdisjoint(two.event_ids)
    assert ben.remember("I live in Graz.", idempotency_key="k").event_ids == two.event_ids
    with pytest.raises(Conflict):
        ben.remember("I live in Linz.", idempotency_key="k")
    for client in (mem, ben):
        client.settle()
    assert [memory.value for memory in ben.list(attribute="residence").items] == ["Graz"]


def test_the_same_words_are_kept_by_each(mem: Credenda, ben: Credenda) -> None:
    for client in (mem, ben):
        client.remember("I live in Linz.")
        client.store(MemoryUnit(text="Likes tea"))
        client.settle()
    for client in (mem, ben):
        (memory,) = client.list(attribute="residence").items
        assert (memory.text, memory.confirmations) == ("I live in Linz.", 0)
        assert client.search("Where do I live? Linz").hits[0].id == memory.id
        assert [one.confirmations for one in client.list().items if one.text == "Likes tea"] == [0]


def test_what_one_deletes_the_other_keeps_and_may_say(mem: Credenda, ben: Credenda) -> None:
    for client in (mem, ben):
        client.remember("I live in Linz.")
        client.settle()
    mem.delete(mem.list(attribute="residence").items[0].id)
    ben.remember("I live in Linz.")
    ben.settle()
    assert [memory.confirmations for memory in ben.list(attribute="residence").items] == [1]
    assert ben.stats().tombstones == 0
    assert ben.search("Linz").hits


SAID = [
    "I live in Linz.",
    "My sister works at Bosch in Linz.",
    "I'm allergic to dust and pollen.",
    "We deploy the payments service on Fridays.",
    "I prefer tea to coffee in the morning.",
]


def _answers(result: SearchResult) -> list[tuple[object, ...]]:
    return [(hit.kind, hit.quote, hit.score, tuple(sorted(hit.terms.items())), hit.flags) for hit in result.hits]


@pytest.mark.parametrize("embedder", ["none", "hashed"])
def test_a_noisy_neighbour_moves_no_score(tmp_path: Path, clock: ManualClock, embedder: str) -> None:
    found: list[Any] = []
    for name, noisy in (("quiet.db", False), ("noisy.db", True)):
        path = tmp_path / name
        if noisy:
            with Credenda.open(path, user="ben", clock=clock, embedder=embedder, workers=False) as ben:
                for number in range(60):
                    ben.remember(f"Linz Linz Bosch tea dust Fridays {number} payments allergic coffee.")
                ben.settle()
        with Credenda.open(path, user="ana", clock=clock, embedder=embedder, workers=False) as ana:
            for text in SAID:
                ana.remember(text, session="s1")
            ana.settle()
            asked = ("Where do I live?", "Linz", "allergic", "When do we deploy?", "tea or coffee", "Bosch sister")
            found.append([_answers(ana.search(query, explain=True)) for query in asked])
            found.append(ana.context("Linz tea").text.count("\n"))
    assert found[:2] == found[2:]
    assert all(found[0])


NAMES = [
    ("ana", "Ana", "aná", "ANA", "ana ", "anä"),
    ("o'brien", 'o"brien', "o;brien", "o%brien", "o_brien", "o\\brien"),
    ("安娜", "アナ", "👩‍💻", "👩", "a\u0301", "á"),
    ("*", "?", "a OR b", "ana' OR '1'='1", "--", "tenant"),
    ("x" * 255, "x" * 256),
]


@pytest.mark.requirement("R-201")
@pytest.mark.parametrize("names", NAMES, ids=["case", "quotes", "scripts", "wildcards", "long"])
def test_names_that_look_alike_are_tenants_apart(path: Path, clock: ManualClock, names: tuple[str, ...]) -> None:
    for place, name in enumerate(names):
        with _open(path, name, clock) as client:
            assert client.user == name
            assert client.stats().events == 0
            assert client.search(f"Word{place - 1} note").hits == ()
            client.remember(f"Word{place} is my note.")
            client.store(MemoryUnit(text=f"Value{place} note", entity="user", attribute="note", value=f"Value{place}"))
            client.settle()
    for place, name in enumerate(names):
        with _open(path, name, clock) as client:
            assert client.stats().events == 2
            said = " ".join(hit.quote for hit in client.search("note", limit=50).hits)
            assert [f"Word{other}" in said for other in range(len(names))] == [
                other == place for other in range(len(names))
            ]
            assert [memory.value for memory in client.list(attribute="note").items] == [f"Value{place}"]


@pytest.mark.parametrize("name", ["", " ", "\n\t", "x" * 257, "half \ud800"])
def test_a_name_that_cannot_be_a_tenants_is_refused(path: Path, name: str) -> None:
    with pytest.raises((Invalid, LimitExceeded)):
        Credenda.open(path, user=name)
    assert not path.exists()
