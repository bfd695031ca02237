"""Who may open a database: an owner, that sets it up and works as the service, and a login of the service."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import LiteralString, cast
from urllib.parse import quote

import psycopg
import pytest

from credenda.errors import Conflict, Forbidden, Invalid, NotFound, Unavailable
from credenda.storage.postgres.connections import Scope
from credenda.storage.postgres.migrate import get_latest_version, load_steps, migrate
from credenda.storage.postgres.statements import load_statements
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.store import EventFilter
from tests.contract.store.build import ANA, put, said, see, texts
from tests.postgres_server import APP, Database, get_server


@pytest.fixture
def empty() -> Iterator[Database]:
    """A database without the schema."""
    server = get_server()
    made = server.create_empty("empty")
    yield made
    run(server.lend(), "DROP DATABASE empty WITH (FORCE)")


def run(database: Database, *statements: str) -> None:
    """Run statements as the superuser, one by one."""
    with database.connect() as connection:
        for statement in statements:
            connection.execute(cast("LiteralString", statement))


def current_role(store: PostgresStore) -> tuple[str, str]:
    with store._connections.transaction(store._own(ANA)) as session:  # noqa: SLF001 - the role is nobody else's business
        row = session.execute("SELECT current_user, session_user").fetchone()
    assert row is not None
    return str(row[0]), str(row[1])


@pytest.mark.requirement("R-207")
def test_the_owner_of_an_empty_database_sets_it_up_and_works_as_the_service(empty: Database) -> None:
    store = PostgresStore(empty.url())
    put(store, ANA, said("One."))
    assert texts(see(store, ANA, lambda reader: reader.find_events(EventFilter()))) == ["One."]
    assert current_role(store) == ("credenda_service", "credenda")
    store.close()
    assert migrate(empty.url()) == []


@pytest.mark.requirement("R-207")
def test_the_service_has_a_login_of_its_own_that_owns_nothing(database: Database) -> None:
    store = PostgresStore(database.url(APP))
    put(store, ANA, said("One."))
    assert current_role(store) == (APP, APP)
    store.close()


@pytest.mark.requirement("R-209")
@pytest.mark.parametrize(
    ("change", "undo", "power"),
    [
        ("ALTER ROLE credenda_app SUPERUSER", "ALTER ROLE credenda_app NOSUPERUSER", "superuser"),
        ("ALTER ROLE credenda_app BYPASSRLS", "ALTER ROLE credenda_app NOBYPASSRLS", "BYPASSRLS"),
        ("GRANT credenda TO credenda_app", "REVOKE credenda FROM credenda_app", "owns the table"),
        ("ALTER ROLE credenda_service BYPASSRLS", "ALTER ROLE credenda_service NOBYPASSRLS", ""),
        (
            "ALTER TABLE credenda.events OWNER TO credenda_app",
            "ALTER TABLE credenda.events OWNER TO credenda",
            "owns the table events",
        ),
    ],
)
def test_a_role_that_could_pass_the_walls_is_refused_and_told_why(
    database: Database, change: str, undo: str, power: str
) -> None:
    run(database, change)
    try:
        if power:
            with pytest.raises(Forbidden, match=power) as refused:
                PostgresStore(database.url(APP))
            assert refused.value.fix
        else:  # a power of a role is not inherited: only who works as it has it
            with pytest.raises(Forbidden, match="BYPASSRLS"):
                PostgresStore(database.url())
            PostgresStore(database.url(APP)).close()
    finally:
        run(database, undo)


def test_a_superuser_is_refused_even_for_an_empty_database(empty: Database) -> None:
    with pytest.raises(Forbidden, match="superuser"):
        PostgresStore(empty.url("postgres"))
    with empty.connect() as connection:
        assert connection.execute("SELECT to_regnamespace('credenda')").fetchone() == (None,)


def test_an_owner_who_may_not_create_roles_is_told_what_to_run(empty: Database) -> None:
    run(empty, "CREATE ROLE plain LOGIN", "ALTER DATABASE empty OWNER TO plain")
    try:
        with pytest.raises(Forbidden, match="plain_service") as refused:
            PostgresStore(empty.url("plain"))
        run(empty, *refused.value.fix.split("`")[1].split("; "))
        PostgresStore(empty.url("plain")).close()
        run(empty, "DROP SCHEMA credenda CASCADE", "DROP OWNED BY plain_service")
    finally:
        run(empty, "ALTER DATABASE empty OWNER TO credenda", "DROP ROLE IF EXISTS plain_service", "DROP ROLE plain")


@pytest.mark.parametrize("grant", ["", "GRANT credenda_service TO stranger WITH INHERIT FALSE"])
def test_a_login_without_the_role_of_the_service_is_told_what_to_grant(database: Database, grant: str) -> None:
    run(database, "CREATE ROLE stranger LOGIN", *filter(None, [grant]))
    try:
        with pytest.raises(Conflict, match="has no access") as refused:
            PostgresStore(database.url("stranger"))
        run(database, refused.value.fix.split("`")[1])
        PostgresStore(database.url("stranger")).close()
    finally:
        run(database, "DROP ROLE stranger")


def test_a_login_that_may_not_create_the_schema_is_told_so(empty: Database) -> None:
    with pytest.raises(Forbidden, match="may not create the schema"):
        PostgresStore(empty.url(APP))


def test_an_owner_may_have_any_name(empty: Database) -> None:
    """A name that Postgres quotes, such as one with a hyphen, is the same role at the second opening."""
    name = "Own-er's %"
    run(empty, f'CREATE ROLE "{name}" LOGIN CREATEROLE', f'ALTER DATABASE empty OWNER TO "{name}"')
    address = empty.url(quote(name), direct=True)
    try:
        PostgresStore(address).close()
        store = PostgresStore(address)
        assert current_role(store) == (f"{name}_service", name)
        assert store.describe_backend()["login"] == f"{name}, which owns the tables"
        store.close()
    finally:
        run(empty, "ALTER DATABASE empty OWNER TO credenda", "DROP SCHEMA credenda CASCADE")
        run(empty, f'DROP OWNED BY "{name}_service"', f'DROP ROLE "{name}_service"', f'DROP ROLE "{name}"')


@pytest.mark.parametrize("user", ["credenda", APP])
def test_only_the_owner_begins_a_memory_and_never_to_read(empty: Database, user: str) -> None:
    with pytest.raises((NotFound, Forbidden, Unavailable)):
        PostgresStore(empty.url(user), read_only=True)
    with empty.connect() as connection:
        assert connection.execute("SELECT to_regnamespace('credenda')").fetchone() == (None,)


@pytest.mark.parametrize("user", ["credenda", APP])
def test_a_newer_schema_is_refused_and_left_alone(database: Database, user: str) -> None:
    version = get_latest_version() + 1
    with database.connect() as connection:
        connection.execute("INSERT INTO credenda.schema_version VALUES (%s, 'pre', 1, 'later')", (version,))
        connection.execute("INSERT INTO credenda.schema_version VALUES (%s, 'post', 1, 'later')", (version,))
    try:
        with pytest.raises(Conflict, match=f"version {version}"):
            PostgresStore(database.url(user))
    finally:
        run(database, "DELETE FROM credenda.schema_version WHERE description = 'later'")


def test_a_login_of_the_service_leaves_an_older_schema_to_the_owner(database: Database) -> None:
    run(database, "UPDATE credenda.schema_version SET version = version - 100")
    try:
        with pytest.raises((Conflict, NotFound), match="schema"):
            PostgresStore(database.url(APP))
    finally:
        run(database, "UPDATE credenda.schema_version SET version = version + 100")


@pytest.mark.requirement("R-207", "R-211")
def test_all_calls_share_one_pool_which_ends_with_the_store(database: Database) -> None:
    store = PostgresStore(database.url(APP))
    used: set[psycopg.Connection] = set()
    for _ in range(5):
        with store._connections.transaction(Scope(ANA)) as session:  # noqa: SLF001 - the pool is behind the store
            used.add(session.execute("SELECT 1").connection)
    (connection,) = used
    assert not connection.closed
    store.close()
    assert connection.closed
    with pytest.raises(Unavailable, match="closed"):
        see(store, ANA, lambda reader: reader.counts())


@pytest.mark.requirement("R-207")
def test_no_placeholder_of_the_other_backend_is_left_in_a_statement() -> None:
    assert [name for name, text in load_statements().items() if re.search(r"\?|(?<![:\w]):[a-z_]", text)] == []


def test_limits_of_the_database_do_not_stop_a_migration(empty: Database) -> None:
    run(empty, "ALTER DATABASE empty SET statement_timeout = '40ms'", "ALTER DATABASE empty SET search_path = nowhere")
    assert migrate(empty.url())


def test_a_transaction_that_the_server_ends_is_unavailable(store: PostgresStore) -> None:
    def linger() -> None:
        with store._connections.transaction(Scope(ANA)) as session:  # noqa: SLF001 - the pool is behind the store
            session.execute("SET LOCAL transaction_timeout = 1; SELECT pg_sleep(60)")

    with pytest.raises(Unavailable, match="25P04"):
        linger()


@pytest.mark.requirement("R-211")
def test_a_migration_has_a_first_half_and_runs_once(empty: Database) -> None:
    comments = [line for step in load_steps() for line in step.script.splitlines() if line.startswith("--")]
    assert any(";" in line for line in comments)
    assert [step.half for step in load_steps()][:1] == ["pre"]
    assert migrate(empty.url()) == [f"{step.version} {step.half}" for step in load_steps()]
    assert migrate(empty.url(), post=True) == []
    with pytest.raises(Forbidden, match="does not own"):
        migrate(empty.url(APP))


def test_a_store_opened_to_read_only_refuses_to_write(database: Database) -> None:
    store = PostgresStore(database.url(), read_only=True)
    with pytest.raises(Invalid, match="read only"):
        put(store, ANA, said("One."))
    assert see(store, ANA, lambda reader: reader.tenant.tag) == ""
    store.close()


def test_no_tenant_has_an_empty_name(store: PostgresStore) -> None:
    """An unset setting reads as an empty text, and would be that tenant."""
    with pytest.raises(Invalid):
        put(store, "", said("One."))


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        PostgresStore("postgresql://nobody@/nothing?host=/nonexistent")


def test_the_journal_and_the_log_cannot_be_altered(store: PostgresStore, database: Database) -> None:
    """Not even by a superuser, whose own triggers run like those of everybody."""
    put(store, ANA, said("One."))
    with database.connect() as connection:
        for change in ("UPDATE credenda.events SET text = 'x'", "DELETE FROM credenda.events"):
            with pytest.raises(psycopg.errors.RestrictViolation, match="append-only"):
                connection.execute(cast("LiteralString", change))
