"""A few connections that many users share: no user sees the row of another, whatever ends a transaction."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import LiteralString, cast

import pytest

from credenda.errors import CredendaError
from credenda.storage.postgres.connections import Connections, Scope, Session
from credenda.storage.postgres.statements import load_statements
from tests.postgres_server import APP, Database

USERS = tuple(f"user{number}" for number in range(12))
ROUNDS = 24
_SEEN = "SELECT user_id, value FROM watermarks"
_SECRET = "INSERT INTO watermarks (user_id, name, value, updated_at) VALUES (%s, 'mine', %s, 1)"


_KEPT = """
SELECT (SELECT count(*) FROM pg_cursors), to_regclass('pg_temp.kept'), coalesce(current_setting('peek.kept', true), '')
"""


class LeftError(Exception):
    """The caller leaves in the middle."""


@pytest.fixture
def service(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connections]:
    """The connections of the service: three for twelve users, each of whom has a number of their own."""
    monkeypatch.setattr("credenda.storage.postgres.connections._POOL_MAX", 3)
    opened = Connections(database.url(APP), None)
    for number, user in enumerate(USERS):
        with opened.transaction(Scope(user), write=True) as session:
            session.execute(_SECRET, (user, number))
    yield opened
    opened.close()


def read(session: Session) -> None:
    session.execute("SELECT 1")


def fail(session: Session) -> None:
    session.execute("SELECT 1 / 0")


def run_out_of_time(session: Session) -> None:
    session.execute("SET LOCAL statement_timeout = 1")
    session.execute("SELECT value, pg_sleep(60) FROM watermarks")


def get_cancelled(session: Session) -> None:
    session.execute("SELECT pg_cancel_backend(pg_backend_pid())")


def lose_the_connection(session: Session) -> None:
    session.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def leave(_: Session) -> None:
    raise LeftError


def keep_everything(session: Session) -> None:
    session.execute("CREATE TEMP TABLE IF NOT EXISTS kept AS SELECT * FROM credenda.watermarks")
    session.execute("DECLARE kept CURSOR WITH HOLD FOR SELECT * FROM credenda.watermarks")
    session.execute("SELECT set_config('peek.kept', 'x', false)")


def go_back(session: Session) -> None:
    session.execute("SAVEPOINT before")
    session.execute("SELECT set_config('app.current_user_id', '', true)")
    session.execute("ROLLBACK TO before")


ENDS: dict[Callable[[Session], None], type[Exception] | None] = {
    read: None,
    fail: CredendaError,
    run_out_of_time: CredendaError,
    get_cancelled: CredendaError,
    leave: LeftError,
    keep_everything: None,
    go_back: None,
    lose_the_connection: CredendaError,
}
"""Ways in which a transaction ends, with the error that its caller gets."""


@pytest.mark.requirement("R-209")
def test_many_users_share_few_connections_whatever_ends_their_transactions(service: Connections) -> None:

    def call(number: int) -> list[object]:
        user, seen = USERS[number], list[object]()
        for turn in range(ROUNDS):
            with service.transaction(Scope(user)) as session:
                seen += [tuple(row) for row in session.execute(_SEEN)]
                assert [tuple(row) for row in session.execute(_KEPT)] == [(0, None, "")]
            end, error = list(ENDS.items())[(number + turn) % len(ENDS)]
            expected = pytest.raises(error) if error else nullcontext()
            with expected, service.transaction(Scope(user), write=True) as session:
                end(session)
                seen += [tuple(row) for row in session.execute(_SEEN)]
        return seen

    with ThreadPoolExecutor(len(USERS)) as pool:
        found = list(pool.map(call, range(len(USERS))))
    for number, seen in enumerate(found):
        assert len(seen) > ROUNDS
        assert set(seen) == {(USERS[number], number)}


def test_no_statement_uses_a_channel_that_the_walls_do_not_cover() -> None:
    """Notifications, large objects and other servers know no rows, so no policy holds for them."""
    channel = re.compile(r"\b(notify|listen|pg_notify|lo_\w+|dblink\w*|copy|pg_read_\w+)\b", re.IGNORECASE)
    assert [name for name, statement in load_statements().items() if channel.search(statement)] == []


def test_the_texts_of_running_statements_have_no_words(service: Connections, database: Database) -> None:
    """Another login sees nothing at all; the same login sees the statement, whose words are parameters."""
    with service.transaction(Scope("user1"), write=True) as session:
        session.execute("UPDATE watermarks SET name = %s", ("Rosebud",))
        with database.connect(APP) as other:
            texts = [row[0] for row in other.execute(cast("LiteralString", "SELECT query FROM pg_stat_activity"))]
        with database.connect("postgres") as administrator:
            administrator.execute("DROP ROLE IF EXISTS stranger")
            administrator.execute("CREATE ROLE stranger LOGIN")
            with database.connect("stranger") as stranger:
                others = stranger.execute(
                    "SELECT DISTINCT query FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> pg_backend_pid()"
                ).fetchall()
            administrator.execute("DROP ROLE stranger")
    assert any("UPDATE watermarks" in text for text in texts)
    assert "Rosebud" not in repr(texts)
    assert others == [("<insufficient privilege>",)]
