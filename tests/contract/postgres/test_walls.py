"""The walls between tenants: what somebody could try who may run any statement as the service, for one tenant.

The one thing that the database cannot refuse is a statement that names another tenant in its own settings; no statement
is ever built from the words of a user, and the last tests here prove that with hostile words.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, LiteralString, cast

import psycopg
import pytest
from psycopg import sql

from credenda.errors import CredendaError
from credenda.storage.postgres.connections import Connections, Scope
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.store import EventFilter
from tests.contract.postgres.walls import ANA, BOB, ESCAPES, SECRET, fill, list_columns, list_tables
from tests.contract.store.build import put, said, see, texts
from tests.postgres_server import APP, Database, get_server


@pytest.fixture(scope="module")
def walled() -> Iterator[Database]:
    """A database with a row of Ana and one of Bob in every table; whoever changes it undoes that."""
    server = get_server()
    lent = server.lend()
    fill(lent)
    with lent.connect() as connection:
        connection.execute("ANALYZE")
    yield lent
    server.take_back(lent)


@pytest.fixture(scope="module")
def tables(walled: Database) -> list[str]:
    with walled.connect() as connection:
        return list_tables(connection)


@pytest.fixture
def service(walled: Database) -> Iterator[Connections]:
    """The connections of the service, which logs in as a role that owns nothing."""
    opened = Connections(walled.url(APP), None)
    yield opened
    opened.close()


class UndoneError(Exception):
    """Undoes what an attempt did."""


def attempt(service: Connections, statement: str, user: str = ANA, *, keep: bool = False) -> str:
    """Run statements for a tenant, and return all that comes back: the rows, or every text of the error."""
    told = ""
    try:
        with suppress(UndoneError), service.transaction(Scope(user), write=True) as session:
            told = run_all(session.execute("SELECT 1").connection, statement)
            if not keep:
                raise UndoneError
    except CredendaError as error:
        cause = error.__cause__
        assert isinstance(cause, psycopg.Error)
        diag = cause.diag
        more = (diag.message_primary, diag.message_detail, diag.message_hint, diag.context, diag.constraint_name)
        return f"refused: {error} {cause} {more}"
    return told


def name_table(statement: str, table: str) -> str:
    """Put the name of a table into a statement."""
    return statement.replace("TABLE", table)


def run_all(connection: psycopg.Connection[Any], statement: str) -> str:
    """Run statements, and return the rows of the last one that gives any."""
    if statement.startswith("COPY") and statement.endswith("STDOUT"):
        with connection.cursor().copy(cast("LiteralString", statement)) as copy:
            return repr([bytes(block) for block in copy])
    cursor = connection.execute(cast("LiteralString", statement))
    told = ""
    more: bool | None = True
    while more:
        told = repr(cursor.fetchall()) if cursor.description else told
        more = cursor.nextset()
    return told


# ---------------------------------------------------------------------------------------------- forgetting the filter


@pytest.mark.requirement("R-209")
def test_a_query_without_a_filter_returns_the_rows_of_the_tenant_alone(service: Connections, tables: list[str]) -> None:
    for table in tables:
        assert attempt(service, name_table("SELECT user_id FROM TABLE", table)) == "[('ana',)]", table
        assert attempt(service, name_table("SELECT * FROM TABLE WHERE user_id = 'bob'", table)) == "[]", table


def test_a_transaction_without_a_tenant_sees_nothing(service: Connections, tables: list[str]) -> None:
    for table in tables:
        assert attempt(service, name_table("SELECT user_id FROM TABLE", table), "") == "[]", table


def test_a_change_without_a_filter_reaches_the_rows_of_the_tenant_alone(
    database: Database,
) -> None:
    tables = fill(database)
    service = Connections(database.url(APP), None)
    for table in tables:
        attempt(service, name_table("UPDATE TABLE SET user_id = user_id", table), keep=True)
        attempt(service, name_table("DELETE FROM TABLE", table), keep=True)
    service.close()
    with database.connect() as connection:
        for table in tables:
            kept = connection.execute(
                sql.SQL("SELECT count(*) FROM credenda.{} WHERE user_id = 'bob'").format(sql.Identifier(table))
            ).fetchone()
            assert kept == (1,), table


@pytest.mark.usefixtures("tables")
def test_no_row_can_be_given_to_another_tenant(service: Connections, tables: list[str]) -> None:
    for table in tables:
        told = attempt(service, name_table("UPDATE TABLE SET user_id = 'bob'", table))
        assert "row-level security" in told or "append-only" in told or "are" in told, f"{table}: {told}"
        assert told.startswith("refused"), table


# ---------------------------------------------------------------------------------------------- a list of escapes


@pytest.mark.requirement("R-209", "R-202")
@pytest.mark.parametrize("name", list(ESCAPES))
@pytest.mark.usefixtures("tables")
def test_an_escape_fails(name: str, service: Connections, walled: Database) -> None:
    told = attempt(service, ESCAPES[name], keep=True)
    assert SECRET not in told
    assert SECRET.encode().hex() not in told
    assert BOB not in told.replace("'bob'", "")
    with walled.connect() as connection:
        kept = connection.execute(
            """SELECT (SELECT count(*) FROM credenda.events WHERE user_id = 'bob'),
                (SELECT count(*) FROM credenda.contests WHERE user_id = 'bob'),
                (SELECT count(*) FROM credenda.tombstones WHERE user_id = 'bob'),
                (SELECT bool_and(relrowsecurity AND relforcerowsecurity) FROM pg_class
                    WHERE relname = 'events' AND relnamespace = 'credenda'::regnamespace),
                (SELECT rolbypassrls FROM pg_roles WHERE rolname = 'credenda_app')"""
        ).fetchone()
    assert kept == (1, 1, 1, True, False)


REAL = (
    "search path",
    "definer function",
    "cheap function first",
    "copy of a query",
    "copy of a table",
    "view",
    "cursor",
    "no tenant",
    "row security off",
    "statistics",
    "error of a cast",
    "prepared statement",
    "statistics of expressions",
    "place of a row",
    "sample",
    "system columns",
    "temporary table",
    "do block that raises it",
)


@pytest.mark.usefixtures("tables")
def test_the_attempts_are_real(service: Connections, walled: Database) -> None:
    """As the superuser the same statements do find the secret: the list tests the walls and not its own mistakes."""
    with walled.connect() as connection:
        for name in REAL:
            connection.execute("BEGIN")
            try:
                told = run_all(connection, ESCAPES[name])
            except psycopg.Error as error:
                told = str(error)
            connection.execute("ROLLBACK")
            assert SECRET in told, name
    assert SECRET in attempt(service, "SELECT text FROM events", BOB)


# ---------------------------------------------------------------------------------------------- existence


def test_a_key_in_use_tells_nothing_about_another_tenant(
    service: Connections, tables: list[str], walled: Database
) -> None:
    """The row of another tenant is refused alike whether its key is taken or free."""
    with walled.connect() as connection:
        columns = {table: list_columns(connection, table) for table in tables}
    for table in tables:
        names = [name for name, _ in columns[table]]
        told: list[str] = []
        for other in ("bob", "nobody at all"):
            cells = ["%s" if name == "user_id" else f"(SELECT NULL::{kind})" for name, kind in columns[table]]
            row = f"({', '.join(names)}) VALUES ({', '.join(cells)})".replace("%s", f"'{other}'")
            told.append(attempt(service, name_table("INSERT INTO TABLE ", table) + row).replace(other, "X"))
        assert told[0].startswith("refused"), table
        assert told[0] == told[1], table


def test_a_taken_key_of_another_tenant_is_refused_before_it_is_looked_up(service: Connections) -> None:
    text = "INSERT INTO watermarks (user_id, name, value, updated_at) VALUES ('{}', '{}', 1, 1)"
    taken, free = (attempt(service, text.format(*key)) for key in ((BOB, SECRET), ("nobody", SECRET)))
    assert "row-level security" in taken
    assert taken == free
    upsert = f"{text.format(BOB, SECRET)} ON CONFLICT (user_id, name) DO UPDATE SET value = 2 RETURNING *"
    assert attempt(service, upsert) == taken


def test_an_id_of_another_user_is_answered_like_one_that_nobody_has(database: Database) -> None:
    store = PostgresStore(database.url(APP))
    (foreign,) = put(store, BOB, said(SECRET))
    (own,) = put(store, ANA, said("mine"))
    free = foreign.replace(foreign.rpartition("-")[2], "00000" + own[-1])
    told: list[str] = []
    for name in (foreign, free):
        with pytest.raises(CredendaError) as caught:
            see(store, ANA, lambda reader, name=name: reader.events([name]))
        told.append(str(caught.value).replace(name, "ID"))
    assert told[0] == told[1]
    store.close()


# ---------------------------------------------------------------------------------------------- pooled connections


@pytest.fixture
def single(walled: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connections]:
    """The connections of the service, of which there is one only, so that every transaction has the same one."""
    monkeypatch.setattr("credenda.storage.postgres.connections._POOL_MAX", 1)
    opened = Connections(walled.url(APP), None)
    yield opened
    opened.close()


LEFTOVERS: dict[str, tuple[str, str]] = {
    "prepared statement": ("PREPARE peek AS SELECT text FROM credenda.events", "EXECUTE peek"),
    "generic plan": (
        "SET plan_cache_mode = force_generic_plan; PREPARE peek AS SELECT text FROM credenda.events; EXECUTE peek",
        "EXECUTE peek",
    ),
    "temporary view": ("CREATE TEMP VIEW peek AS SELECT text FROM credenda.events", "SELECT text FROM peek"),
    "temporary function": (
        "CREATE FUNCTION pg_temp.peek() RETURNS SETOF text LANGUAGE sql AS $$ SELECT text FROM credenda.events $$",
        "SELECT pg_temp.peek()",
    ),
    "temporary table": (
        "CREATE TEMP TABLE peek AS SELECT text FROM credenda.events",
        "SELECT text FROM pg_temp.peek",
    ),
    "temporary table in the path": (
        "CREATE TEMP TABLE events AS SELECT text FROM credenda.events",
        "SELECT text FROM events",
    ),
    "cursor that stays": (
        "DECLARE peek CURSOR WITH HOLD FOR SELECT text FROM credenda.events",
        "FETCH ALL FROM peek",
    ),
    "value in a setting": (
        "SELECT set_config('peek.seen', string_agg(text, ','), false) FROM credenda.events",
        "SELECT text || coalesce(current_setting('peek.seen', true), '') FROM credenda.events",
    ),
    "savepoint": ("SAVEPOINT before; SELECT text FROM credenda.events", "ROLLBACK TO before"),
    "setting of the session": ("SET app.current_user_id = 'bob'; SET app.scope = 'server'", "SELECT text FROM events"),
    "path of the session": ("SET search_path = pg_temp", "SELECT text FROM events"),
    "error": ("SELECT 1 / 0", "SELECT text FROM events"),
    "rolled back": ("ROLLBACK; SELECT 1", "SELECT text FROM events"),
}


@pytest.mark.parametrize("name", list(LEFTOVERS))
@pytest.mark.usefixtures("tables")
def test_a_connection_carries_nothing_from_one_tenant_to_the_next(name: str, single: Connections) -> None:
    before, after = LEFTOVERS[name]
    attempt(single, before, BOB, keep=True)
    told = attempt(single, after)
    assert told == "[('mine',)]" or told.startswith("refused")
    assert SECRET not in told
    assert attempt(single, "SELECT text FROM events") == "[('mine',)]"


@pytest.mark.usefixtures("tables")
def test_a_connection_whose_statement_was_cancelled_carries_nothing_over(single: Connections) -> None:
    told = attempt(single, "SET LOCAL statement_timeout = 50; SELECT text, pg_sleep(30) FROM events", BOB)
    assert told.startswith("refused")
    assert attempt(single, "SELECT text FROM events") == "[('mine',)]"


@pytest.mark.usefixtures("tables")
def test_a_connection_that_the_server_ended_is_replaced(single: Connections, walled: Database) -> None:
    attempt(single, "SELECT 1", BOB)
    with walled.connect() as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s AND datname = %s",
            (APP, walled.name),
        )
    assert attempt(single, "SELECT text FROM events") == "[('mine',)]"


# ---------------------------------------------------------------------------------------------- hostile words

HOSTILE: tuple[str, ...] = (
    "'; SELECT set_config('app.current_user_id', 'bob', false); --",
    "\\'; SET app.scope = 'server'; --",
    "ana' OR '1'='1",
    "$$; SET app.current_user_id = 'bob'; $$",
    "E'\\047; RESET ROLE; --",
    "%s %(user_id)s {user_id} :user_id",
    'ana"; DROP TABLE credenda.events; --',
    "bob\u200b",
    "\uff22\uff2f\uff22",
    "Bob",
    " bob",
    "bob ",
)


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_are_only_words(words: str, database: Database) -> None:
    """As the name of a tenant, and as every text that a caller may give, they are stored and found as they are."""
    store = PostgresStore(database.url(APP))
    put(store, BOB, said(SECRET))
    put(store, words, said(words, session=words, topic=words, speaker=words, external_id=words))
    assert texts(see(store, words, lambda reader: reader.find_events(EventFilter(limit=None)))) == [words]
    for wanted in (EventFilter(session=words), EventFilter(topic=words), EventFilter(source=words)):
        assert SECRET not in repr(see(store, words, lambda reader, wanted=wanted: reader.find_events(wanted)))
    see(store, words, lambda reader: reader.search_memories([words], 10))
    see(store, words, lambda reader: reader.nominate([words], 10))
    assert words in store.users(limit=100)
    assert see(store, BOB, lambda reader: reader.counts()).events == 1
    store.close()


def test_a_statement_of_a_user_runs_with_parameters_alone(database: Database) -> None:
    """The words of a memory are never part of a statement, so that no log of statements has them."""
    store = PostgresStore(database.url(APP))
    put(store, BOB, said(SECRET))
    with database.connect() as connection:
        (seen,) = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%%' || %s || '%%'", ("Rosebud",)
        ).fetchone() or (None,)
    assert seen == 0
    store.close()


def test_every_table_is_behind_a_forced_wall(database: Database) -> None:
    with database.connect() as connection:
        open_tables = connection.execute(
            """SELECT c.relname FROM pg_class AS c
            WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p')
                AND c.relname NOT IN ('schema_version', 'identity')
                AND NOT (
                    c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (
                        SELECT 1 FROM pg_policy AS y
                        WHERE y.polrelid = c.oid AND y.polqual IS NOT NULL AND y.polwithcheck IS NOT NULL
                    )
                )"""
        ).fetchall()
        assert open_tables == []
        assert len(list_tables(connection)) > 25
