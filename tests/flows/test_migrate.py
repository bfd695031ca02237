"""`credenda migrate`: every row arrives, twice is once, and what was erased or differs is named and left alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from credenda import Credenda, bootstrap
from credenda.bootstrap import build_parts, migrate_database, resolve_target
from credenda.current_call import use_author
from credenda.errors import Invalid, NotFound, Unavailable
from credenda.interfaces.cli.main import Program, cli
from credenda.model.memory import MemoryUnit
from credenda.services.access import add_member, issue_token
from credenda.storage.store import Store
from credenda.storage.transfer import ARCHIVED
from credenda.testing import ManualClock
from tests.postgres_server import get_server

both = pytest.mark.parametrize("target", ["sqlite", "postgres"], indirect=True)
USERS = ("ana", "bob", "Ana")
Opener = Callable[..., Credenda]


@pytest.fixture
def opened(clock: ManualClock) -> Iterator[Opener]:
    held: list[Credenda] = []

    def open_memory(target: str, user: str = "ana") -> Credenda:
        held.append(Credenda.open(target, user=user, clock=clock, workers=False, embedder="hashed"))
        return held[-1]

    yield open_memory
    for memory in held:
        memory.close()


@pytest.fixture(scope="module")
def module_backend() -> None:
    """Keep on SQLite the file that each test copies."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the memories of all users."""
    path = tmp_path_factory.mktemp("source") / "source.db"
    clock = ManualClock("2026-03-01T09:00:00Z")
    for number, user in enumerate(USERS):
        with Credenda.open(path, user=user, clock=clock, workers=False, embedder="hashed") as memory:
            memory.remember(f"I live in {('Linz', 'Graz', 'Wels')[number]}.", session="first", metadata={"n": number})
            memory.remember("It was a long walk through the old town. " * 40, topic="walks")
            memory.settle()
            clock.advance(timedelta(days=3))
            memory.remember("I moved to Vienna.")
            memory.store(
                MemoryUnit(text="Prefers tea", type="preference", entity="user", attribute="drink", value="tea")
            )
            memory.settle()
            gone = memory.store(MemoryUnit(text="The code of the garage is blue.", type="fact"))
            memory.delete(gone.id)
            memory.search("Where do I live?")
            memory.feedback(memory.list().items[0].id, useful=True)
    return path


@pytest.fixture
def source(filled: Path, tmp_path: Path) -> str:
    shutil.copy(filled, tmp_path / "source.db")
    return f"sqlite:///{tmp_path / 'source.db'}"


@pytest.fixture
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if getattr(request, "param", "sqlite") == "sqlite":
        yield f"sqlite:///{tmp_path / 'target.db'}"
        return
    server = get_server()
    database = server.lend()
    yield database.url()
    server.take_back(database)


def rows(target: str, user: str, only: frozenset[str] = frozenset(ARCHIVED)) -> dict[str, list[object]]:
    parts = build_parts(target, user=user, embedder="none")
    found: dict[str, list[object]] = {}
    with parts.store.dump(user, only=only) as dump:
        for table, row in dump.rows:
            found.setdefault(table, []).append(sorted(row.items()))
    parts.release()
    return found


@both
def test_every_row_of_every_user_arrives_and_is_found_alike(source: str, target: str) -> None:
    report = migrate_database(source, target)
    assert (report.ok, report.moved, report.present, report.unmoved) == (True, 3, 0, ())
    assert report.searches == 3 * 5
    for user in USERS:
        assert rows(target, user) == rows(source, user)
    assert report.rows == {
        table: sum(len(rows(source, user).get(table, ())) for user in USERS)
        for table in ARCHIVED
        if any(rows(source, user).get(table) for user in USERS)
    }
    assert {"events", "passages", "memories", "changes", "tombstones", "embeddings"} <= report.rows.keys()


@both
def test_the_moved_memory_goes_on_where_it_was(source: str, target: str, opened: Opener, clock: ManualClock) -> None:
    migrate_database(source, target)
    clock.advance(timedelta(days=30))
    memory = opened(target)
    memory.remember("I live in Salzburg now.")
    memory.settle()
    assert [one.value for one in memory.list(attribute="residence").items] == ["Salzburg"]
    assert [one.value for one in memory.history(entity="user", attribute="residence")][-1] == "Salzburg"
    assert memory.data.doctor().ok


@both
def test_a_repeated_run_only_verifies(source: str, target: str) -> None:
    migrate_database(source, target)
    before = rows(target, "ana")
    again = migrate_database(source, target)
    assert (again.ok, again.moved, again.present) == (True, 0, 3)
    assert rows(target, "ana") == before


@both
def test_a_run_that_stopped_between_two_users_goes_on(source: str, target: str) -> None:
    class StoppedError(Exception):
        pass

    def stop(_user: str, _step: str) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        migrate_database(source, target, progress=stop)
    report = migrate_database(source, target)
    assert (report.ok, report.moved, report.present) == (True, 2, 1)


@both
def test_the_way_back_gives_the_same_rows(source: str, target: str, tmp_path: Path) -> None:
    back = f"sqlite:///{tmp_path / 'back.db'}"
    migrate_database(source, target)
    report = migrate_database(target, back)
    assert (report.ok, report.moved, report.searches) == (True, 3, 15)
    for user in USERS:
        assert rows(back, user) == rows(source, user)


def test_a_failure_inside_a_user_leaves_nothing_of_it(
    source: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> Iterator[object]:
        raise OSError(5, "Input/output error")
        yield

    with monkeypatch.context() as patch:
        patch.setattr("credenda.storage.sqlite.check.dump_rows", broken)
        with pytest.raises(OSError, match="Input/output"):
            migrate_database(source, target)
    assert rows(target, "Ana") == {}
    assert migrate_database(source, target).ok


class Outage:
    """A verb of the target's store that is unavailable for some calls, and the pauses of the migration meanwhile."""

    def __init__(self, patch: pytest.MonkeyPatch, target: str, verb: str, *, times: int, user: str = "") -> None:
        self.left, self.pauses = times, list[float]()
        honest = bootstrap.open_store

        def open_store(place: str, **given: Any) -> Store:  # noqa: ANN401 - as the function itself has it
            store = honest(place, **given)
            if place == resolve_target(target):
                patch.setattr(store, verb, self._break(getattr(store, verb), user))
            return store

        patch.setattr(bootstrap, "open_store", open_store)
        patch.setattr("credenda.services.migrate.pause", self.pauses.append)

    def _break(self, honest: Callable[..., object], user: str) -> Callable[..., object]:
        def fail(*given: object, **more: object) -> object:
            if self.left and (not user or user in given):
                self.left -= 1
                raise Unavailable("the database took too long", why="a statement was stopped")
            return honest(*given, **more)

        return fail


@pytest.mark.parametrize("verb", ["dump", "load", "reader", "erasures", "take_over"])
def test_a_database_that_is_away_for_a_while_is_waited_for(
    source: str, target: str, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    steps: list[str] = []
    outage = Outage(monkeypatch, target, verb, times=2)
    report = migrate_database(source, target, progress=lambda _, step: steps.append(step))
    assert (report.ok, report.moved + report.present, report.searches) == (True, 3, 15)
    assert outage.pauses == [1.0, 2.0]
    told = [step for step in steps if "trying again" in step]
    assert told[0] == "the database took too long; a statement was stopped; trying again in 1 s"
    assert len(told) == 2


@pytest.mark.parametrize("target", ["postgres"], indirect=True)
def test_a_connection_that_the_server_ends_while_a_user_is_copied_costs_one_try(
    source: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    ended: list[str] = []

    def end(_: str, step: str) -> None:
        if "rows copied" in step and not ended:
            ended.append(step)
            with psycopg.connect(target.replace("//credenda@", "//postgres@")) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )

    monkeypatch.setattr("credenda.services.migrate._STEP_ROWS", 5)
    monkeypatch.setattr("credenda.services.migrate.pause", pauses.append)
    report = migrate_database(source, target, progress=end)
    assert (report.ok, report.moved, report.searches) == (True, 3, 15)
    assert (ended, pauses) == (["5 rows copied"], [1.0])
    for user in USERS:
        assert rows(target, user) == rows(source, user)


def test_a_user_who_cannot_be_read_in_time_is_named_and_the_others_are_moved(
    source: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        outage = Outage(patch, target, "load", times=99, user="bob")
        report = migrate_database(source, target)
    assert (report.ok, report.moved) == (False, 2)
    assert [(one.user, one.why) for one in report.unmoved] == [
        ("bob", "the database took too long; a statement was stopped")
    ]
    assert outage.pauses == [1.0, 2.0, 4.0, 8.0]
    assert migrate_database(source, target).moved == 1


def test_a_database_that_stays_away_ends_the_run(source: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is waited for with two users, so that thousands of users are not waited for one by one."""
    outage = Outage(monkeypatch, target, "load", times=99)
    with pytest.raises(Unavailable, match="took too long"):
        migrate_database(source, target)
    assert outage.pauses == [1.0, 2.0, 4.0, 8.0] * 2


def test_a_memory_that_was_written_to_since_is_named_and_left_alone(source: str, target: str, opened: Opener) -> None:
    migrate_database(source, target)
    opened(target, "bob").remember("I have a cat.")
    before = rows(target, "bob")
    report = migrate_database(source, target)
    assert (report.ok, report.present) == (False, 2)
    assert [(one.user, "events (" in one.why) for one in report.unmoved] == [("bob", True)]
    assert rows(target, "bob") == before


@both
def test_another_memory_under_the_same_name_is_never_merged(source: str, target: str, opened: Opener) -> None:
    opened(target, "bob").remember("I am somebody else.")
    report = migrate_database(source, target)
    assert [one.user for one in report.unmoved] == ["bob"]
    assert report.moved == len(USERS) - 1


@both
def test_what_was_erased_in_the_target_does_not_come_back(source: str, target: str, opened: Opener) -> None:
    migrate_database(source, target)
    opened(target, "bob").erase("bob")
    report = migrate_database(source, target)
    assert [one.user for one in report.unmoved] == ["bob"]
    assert "erased" in report.unmoved[0].why
    assert rows(target, "bob") == {}


@both
def test_the_ledger_of_erasures_moves_along(source: str, target: str, opened: Opener, tmp_path: Path) -> None:
    migrate_database(source, f"sqlite:///{tmp_path / 'old.db'}")
    opened(source, "bob").erase("bob")
    report = migrate_database(source, target)
    assert (report.ok, report.erasures) == (True, 1)
    late = migrate_database(f"sqlite:///{tmp_path / 'old.db'}", target)
    assert [one.user for one in late.unmoved] == ["bob"]


@both
def test_tokens_and_members_move_once(source: str, target: str) -> None:
    parts = build_parts(source, user="ana", embedder="none")
    issued = issue_token(parts, "laptop", scopes=("memory:read",), allowed=("memory:read",), expires="never")
    add_member(parts, "bob", role="reader")
    parts.release()
    first, again = migrate_database(source, target), migrate_database(source, target)
    assert (first.tokens, first.members, again.tokens, again.members) == (1, 1, 0, 0)
    moved = build_parts(target, user="ana", embedder="none")
    found = moved.store.tokens.find_token(issued.id)
    assert found is not None
    assert found.token.user == "ana"
    assert [one.subject for one in moved.store.members.list_members("ana")] == ["bob"]
    moved.release()


@both
def test_nobody_enters_the_memory_of_another_user_of_the_same_name(source: str, target: str, opened: Opener) -> None:
    parts = build_parts(source, user="ana", embedder="none")
    issued = issue_token(parts, "laptop", scopes=("memory:read",), allowed=("memory:read",), expires="never")
    add_member(parts, "bob", role="reader")
    parts.release()
    opened(target, "ana").remember("My doctor is Dr. Stone.")
    report = migrate_database(source, target)
    assert ([one.user for one in report.unmoved], report.tokens, report.members) == (["ana"], 0, 0)
    moved = build_parts(target, user="ana", embedder="none")
    assert moved.store.tokens.find_token(issued.id) is None
    assert moved.store.members.list_members("ana") == []
    moved.release()


@both
def test_the_authors_of_a_shared_memory_move_along(source: str, target: str, opened: Opener) -> None:
    parts = build_parts(source, user="ana", embedder="none")
    member = add_member(parts, "bob", role="writer")
    parts.release()
    with use_author(member.id):
        written = opened(source).remember("We meet on Friday.").event_ids[0]
    migrate_database(source, target)
    moved = build_parts(target, user="ana", embedder="none")
    with moved.store.reader("ana") as reader:
        assert reader.authors([written], []) == {written: "bob"}
    moved.release()


def test_one_user_moves_alone(source: str, target: str) -> None:
    report = migrate_database(source, target, user="ana")
    assert (report.ok, report.moved) == (True, 1)
    assert rows(target, "bob") == {}
    new = target.replace("target.db", "new.db")
    with pytest.raises(NotFound, match="nobody"):
        migrate_database(source, new, user="nobody")
    assert not Path(new.removeprefix("sqlite:///")).exists()


def test_a_missing_source_makes_no_target(tmp_path: Path, source: str, target: str) -> None:
    with pytest.raises(NotFound, match=r"--from: there is no memory at .*check the address"):
        migrate_database(tmp_path / "missing.db", target)
    with pytest.raises(Unavailable, match=r"--to: .*its folder does not exist"):
        migrate_database(source, tmp_path / "missing" / "new.db")
    assert not (tmp_path / "target.db").exists()
    with pytest.raises(Invalid, match="itself"):
        migrate_database(source, source)


def test_the_command_shows_counts_and_exits_with_4_for_a_conflict(
    source: str, target: str, opened: Opener, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("migrate", "--from", source, "--to", target) == 0
    assert "3 users moved" in capsys.readouterr().out
    opened(target, "bob").remember("I have a cat.")
    assert run("--json", "migrate", "--from", source, "--to", target) == 4
    shown = json.loads(capsys.readouterr().out)
    assert (shown["ok"], shown["present"], shown["unmoved"][0]["user"]) == (False, 2, "bob")


def run(*arguments: str) -> int:
    assert isinstance(cli, Program)
    return int(cli.main(list(arguments), standalone_mode=False))
