"""Addresses that cannot be used: what is wrong is said, and neither an error nor its cause quotes a password."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

import pytest

from credenda.bootstrap import resolve_target
from credenda.errors import Conflict, CredendaError, Invalid, Unavailable
from credenda.storage.postgres.connections import make_arguments
from credenda.storage.postgres.store import PostgresStore
from tests.postgres_server import Database, get_server

SECRET = "s3cr3t"
"""A part of each password."""


def refuse(address: str, kind: type[CredendaError]) -> str:
    """Open an address that is refused, and return the error with all of its causes."""
    with pytest.raises(kind) as refused:
        PostgresStore(address)
    assert refused.value.fix
    return "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ana:p@{SECRET}:w@localhost/mine",
        f"postgresql://ana:p@{SECRET}@localhost/mine",
        f"postgresql://ana:{SECRET}/w@localhost/mine",
        f"postgresql://ana:%{SECRET}@localhost/mine",
        f"postgresql://ana:%00{SECRET}@localhost/mine",
        f"postgresql://ana:{SECRET}@localhost/mine?colour=red",
        f"postgresql://ana:{SECRET}@localhost/mine?connect_timeout=soon",
        f"postgresql://ana:{SECRET}@[::1/mine",
        f"postgresql://ana:{SECRET}@localhost:port/mine",
        f"postgresql://localhost/mine?replica=postgresql%3A%2F%2Fana%3A%25{SECRET}%40localhost%2Fmine%3Freplica%3D1",
    ],
)
def test_an_address_that_cannot_be_read_is_told_without_its_password(address: str) -> None:
    assert SECRET not in refuse(address, Invalid).replace(address, "")


def test_a_silent_machine_counts_as_gone_unless_the_address_has_more_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "60")
    found = make_arguments("postgresql://ana@h/mine?tcp_user_timeout=0")
    assert "connect_timeout" not in found
    assert "tcp_user_timeout" not in found
    assert found["keepalives_idle"] <= 60


def test_a_server_that_is_not_there_is_told_without_the_password() -> None:
    told = refuse(f"postgresql://ana:{SECRET}@/mine?host=/nonexistent", Unavailable)
    assert "No such file or directory" in told
    assert SECRET not in told


@pytest.mark.parametrize(
    "address",
    [f"host=localhost password={SECRET} dbname=mine", f"dbname=mine user={SECRET}", f"postgresql:/ana:{SECRET}@h/mine"],
)
def test_settings_of_postgres_are_no_path(address: str) -> None:
    with pytest.raises(Invalid, match="postgresql://") as refused:
        resolve_target(address)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("user", "name", "words"), [("nix", "postgres", 'role "nix" does not exist'), ("credenda", "nix", 'database "nix"')]
)
def test_a_refused_login_is_told_in_the_words_of_the_server(user: str, name: str, words: str) -> None:
    assert words in refuse(Database(name, get_server()).url(user, direct=True), Unavailable)


@pytest.fixture
def odd() -> Iterator[Database]:
    """A database that does not store every letter."""
    server = get_server()
    with Database("postgres", server).connect() as connection:
        connection.execute("CREATE DATABASE odd OWNER credenda ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        yield Database("odd", server)
        connection.execute("DROP DATABASE odd WITH (FORCE)")


def test_a_database_that_does_not_store_every_letter_is_refused_and_left_alone(odd: Database) -> None:
    assert "LATIN1" in refuse(odd.url(direct=True), Conflict)
    with odd.connect() as connection:
        assert connection.execute("SELECT to_regnamespace('credenda')").fetchone() == (None,)
