"""Vectors are read by an integer that user, model and code make; nothing of another user or model comes with them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from credenda.storage.portable import PlainRow
from credenda.storage.sqlite import migrate
from credenda.storage.sqlite.connection import connect
from credenda.storage.sqlite.dump import dump_rows
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import CODE_BITS, Vector, pack_code

from .build import ANA, opened, put, raw, said

BEN = "ben"
FIRST = pack_code(1, memory=False)


def vector(data: bytes, *, code: int = FIRST, model_id: str = "one") -> Vector:
    return Vector(code, model_id, len(data) // 2, 16, 1.0, data)


def read(store: SqliteStore, user_id: str, model_id: str, *codes: int) -> list[tuple[int, int, bytes]]:
    with store.reader(user_id) as reader:
        return reader.vector_data(codes or (FIRST,), model_id)


def docs(path: Path) -> list[tuple[str, str, int]]:
    with raw(path) as connection:
        found = connection.execute("SELECT user_id, model_id, doc FROM embeddings ORDER BY doc").fetchall()
        spaces = {(user, model): n for user, model, n in connection.execute("SELECT * FROM vector_spaces")}
    assert all(doc >> CODE_BITS == spaces[user, model] for user, model, doc in found)
    return found


@pytest.mark.requirement("R-139", "R-201")
def test_each_user_and_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as store:
        put(store, vector(b"anne"), vector(b"anna", model_id="two"))
        put(store, vector(b"bens"), user_id=BEN)
        assert read(store, ANA, "one") == [(FIRST, 16, b"anne")]
        assert read(store, ANA, "two") == [(FIRST, 16, b"anna")]
        assert read(store, BEN, "one") == [(FIRST, 16, b"bens")]
        assert read(store, BEN, "two") == []
        put(store, vector(b"anew"))
        assert read(store, ANA, "one", FIRST, 7 << 12) == [(FIRST, 16, b"anew")]
    assert len(docs(path)) == 3


@pytest.mark.requirement("R-139", "R-201")
def test_a_vector_that_says_it_is_of_another_user_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as store:
        put(store, vector(b"anne"))
        put(store, vector(b"bens", code=2 * FIRST), user_id=BEN)
    with raw(path) as connection:
        connection.execute("UPDATE embeddings SET user_id = 'ben' WHERE data = x'616e6e65'")
    with opened(path) as store:
        assert read(store, ANA, "one") == []
        assert read(store, BEN, "one") == []


def test_a_number_that_does_not_end_in_its_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as store:
        put(store, vector(b"anne"))
    with raw(path) as connection, pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        connection.execute(
            "INSERT INTO embeddings (user_id, model_id, code, number, dims, bits, scale, data)"
            " VALUES ('ana', 'three', 5, 2, 2, 16, 1.0, x'00000000')"
        )


@pytest.mark.requirement("R-162")
def test_vectors_of_an_older_file_are_found_under_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    older = tuple(one for one in migrate.migrations() if one[0] < 9)
    rows = [(user, model, code << 12) for user in (BEN, ANA) for model in ("two", "one") for code in (3, 1)]
    with pytest.MonkeyPatch.context() as then, closing(connect(str(path))) as connection:
        then.setattr(migrate, "migrations", lambda: older)
        migrate.migrate(connection, 1)
        for number, (user, model, code) in enumerate(rows, 1):
            connection.execute(
                "INSERT OR IGNORE INTO tenants (user_id, number, tag, hmac_key, created_at) VALUES (?, ?, ?, x'00', 1)",
                (user, len(rows) + number, f"0000{number}"),
            )
            data = f"{user} {model} {code}".encode()
            connection.execute(
                "INSERT INTO embeddings VALUES (?, ?, ?, ?, ?, 16, 1.0, ?)",
                (user, model, code, number, len(data), data),
            )
    with opened(path) as store:
        for user, model, code in rows:
            assert read(store, user, model, code) == [(code, 16, f"{user} {model} {code}".encode())]
        put(store, vector(b"anew", code=5 << 12))
        assert read(store, ANA, "one", 5 << 12) == [(5 << 12, 16, b"anew")]
    before = docs(path)
    with raw(path) as connection:
        connection.execute("VACUUM")
    assert docs(path) == before


def test_an_archive_says_nothing_of_the_numbers(tmp_path: Path) -> None:
    """Where a row is kept is no part of it: the same rows under other numbers are the same archive."""
    found: list[list[tuple[str, PlainRow]]] = []
    for name, before in (("plain.db", ()), ("other.db", ("zoe", BEN))):
        with opened(tmp_path / name) as store:
            for user in before:
                put(store, vector(b"else"), user_id=user)
            put(store, said("I like tea."))
            put(store, vector(b"anna", model_id="two"), vector(b"anne"), vector(b"anny", code=3 * FIRST))
        with closing(connect(str(tmp_path / name))) as connection:
            found.append([row for row in dump_rows(connection, ANA) if row[0] == "embeddings"])
    assert found[0] == found[1]
    assert [(row["model_id"], row["code"]) for _, row in found[0]] == [
        ("one", FIRST),
        ("one", 3 * FIRST),
        ("two", FIRST),
    ]
    assert all("doc" not in row for _, row in found[0])
    assert docs(tmp_path / "plain.db") != docs(tmp_path / "other.db")
