"""An upgrade without a pause: old nodes serve and start beside a new one, until what they read is taken away.

No second release on Postgres exists yet, so that the next version is made up here: a column and a table more before, an
index and a column less after.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from queue import SimpleQueue
from threading import Event

import pytest

from credenda import Credenda
from credenda.errors import Conflict, CredendaError, Unavailable
from credenda.storage.postgres import migrate as migrations
from credenda.storage.postgres.migrate import Step, get_latest_version, load_steps, migrate
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.rows import NO_END
from credenda.storage.store import EventFilter
from tests.contract.store.build import ANA, put, said, see, texts
from tests.postgres_server import APP, Database, get_server
from tests.waiting import PATIENCE_SECONDS

NEXT = get_latest_version() + 1
PRE = """
-- What the next version adds; the old one does not know it.
ALTER TABLE contests ADD COLUMN urgency bigint NOT NULL DEFAULT 0;
CREATE TABLE notes (
    user_id text COLLATE "C" NOT NULL,
    id bigint NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, id)
) PARTITION BY HASH (user_id);
CREATE TABLE notes_0 PARTITION OF notes FOR VALUES WITH (MODULUS 1, REMAINDER 0);
"""
POST = "ALTER TABLE access_log DROP COLUMN shown;"
_SCHEMA = """
SELECT 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull::text
FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
WHERE c.relnamespace = 'credenda'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL SELECT 'index', tablename, indexname, indexdef, '' FROM pg_indexes WHERE schemaname = 'credenda'
UNION ALL SELECT 'policy', tablename, policyname, qual, with_check FROM pg_policies WHERE schemaname = 'credenda'
UNION ALL SELECT 'wall', relname, relrowsecurity::text, relforcerowsecurity::text, coalesce(relacl::text, '')
FROM pg_class WHERE relnamespace = 'credenda'::regnamespace AND relkind IN ('r', 'p')
UNION ALL SELECT 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid), '' FROM pg_trigger
WHERE NOT tgisinternal
UNION ALL SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid), '' FROM pg_constraint
WHERE connamespace = 'credenda'::regnamespace
UNION ALL SELECT 'version', version::text, half, description, '' FROM credenda.schema_version
"""


@contextmanager
def upgraded() -> Generator[None]:
    """Let the code of this process be that of the next version."""
    steps = (*load_steps(), Step(NEXT, "pre", "more", PRE), Step(NEXT, "post", "less", POST))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "load_steps", lambda: steps)
        yield


@pytest.fixture
def database() -> Iterator[Database]:
    """A database of its own, because the next version stays in it."""
    made = get_server().create_empty("upgraded")
    migrate(made.url())
    yield made
    with get_server().lend().connect() as connection:
        connection.execute("DROP DATABASE upgraded WITH (FORCE)")


def read_schema(database: Database) -> set[tuple[object, ...]]:
    with database.connect() as connection:
        return set(connection.execute(_SCHEMA).fetchall())


def say(store: PostgresStore, text: str) -> None:
    put(store, ANA, said(text))


def read(store: PostgresStore) -> list[str]:
    return texts(see(store, ANA, lambda reader: reader.find_events(EventFilter(limit=None))))


@pytest.mark.requirement("R-210")
def test_an_old_node_serves_while_the_next_version_comes(database: Database) -> None:
    """Its calls go on during the first half and after it, and it may start again."""
    stop, calls = Event(), SimpleQueue[str]()

    def serve(memory: Credenda) -> None:
        for number in count():
            if stop.is_set():
                return
            memory.remember(f"My phone number is {number}.")
            memory.settle()
            assert memory.search("What is my phone number?").hits
            calls.put("served")

    with Credenda.open(database.url(), user=ANA, workers=False) as old, ThreadPoolExecutor(1) as threads:
        served = threads.submit(serve, old)
        calls.get(timeout=PATIENCE_SECONDS)
        with upgraded():
            assert migrate(database.url()) == [f"{NEXT} pre"]
            new = PostgresStore(database.url())
            say(new, "Said to the new node.")
            new.close()
        for _ in range(calls.qsize() + 2):  # those that were made meanwhile, and two whole ones after it
            calls.get(timeout=PATIENCE_SECONDS)
        stop.set()
        served.result()
        assert old.data.doctor().ok
    for login in ("credenda", APP):
        with Credenda.open(database.url(login), user=ANA, workers=False) as again:
            again.remember("I moved to Wels.")
            again.settle()
            assert again.data.doctor().ok


def test_who_upgrades_by_opening_is_told_what_to_do_next(database: Database) -> None:
    with upgraded(), pytest.warns(RuntimeWarning, match=rf"had schema version {NEXT - 1} and has {NEXT} now"):
        PostgresStore(database.url()).close()
    with upgraded():
        PostgresStore(database.url()).close()


def test_what_was_taken_away_keeps_an_old_node_from_starting(database: Database) -> None:
    with upgraded():
        assert migrate(database.url(), post=True) == [f"{NEXT} pre", f"{NEXT} post"]
        PostgresStore(database.url(APP)).close()
    for login in ("credenda", APP):
        with pytest.raises(Conflict, match=f"version {NEXT}"):
            PostgresStore(database.url(login))


def test_a_new_node_of_the_service_waits_for_the_owner(database: Database) -> None:
    with upgraded(), pytest.raises(Conflict, match="brings it up to date"):
        PostgresStore(database.url(APP))


def test_a_schema_that_was_upgraded_in_halves_equals_a_fresh_one(database: Database) -> None:
    store = PostgresStore(database.url())
    say(store, "One.")
    store.close()
    fresh = get_server().create_empty("fresh")
    try:
        with upgraded():
            migrate(database.url())
            assert migrate(database.url(), post=True) == [f"{NEXT} post"]
            migrate(fresh.url())
            assert read_schema(database) == read_schema(fresh)
            walled = {row[1:4] for row in read_schema(database) if row[0] == "wall" and str(row[1]).startswith("notes")}
            assert walled == {("notes", "true", "true"), ("notes_0", "true", "true")}
            again = PostgresStore(database.url(APP))
            assert read(again) == ["One."]
            again.close()
    finally:
        with database.connect() as connection:
            connection.execute("DROP DATABASE fresh WITH (FORCE)")


def test_a_half_that_fails_leaves_nothing_behind(database: Database) -> None:
    before = read_schema(database)
    broken = (*load_steps(), Step(NEXT, "pre", "broken", PRE + "SELECT 1 / 0;"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "load_steps", lambda: broken)
        with pytest.raises(CredendaError):
            migrate(database.url())
    assert read_schema(database) == before


def test_a_half_that_cannot_have_a_lock_gives_it_up_and_says_so(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others who need the table would wait behind it."""
    monkeypatch.setattr(migrations, "_LOCK_TIMEOUT", "SET LOCAL lock_timeout = '10ms'")
    before = read_schema(database)
    with database.connect() as reader, upgraded():
        reader.execute("BEGIN; LOCK TABLE credenda.contests IN ACCESS SHARE MODE")
        with pytest.raises(Unavailable):
            migrate(database.url())
        reader.execute("COMMIT")
        assert read_schema(database) == before
        assert migrate(database.url()) == [f"{NEXT} pre"]


def test_ended_versions_of_an_older_database_get_their_cell(database: Database) -> None:
    """For every user, although the walls hide their rows from the owner; the current ones keep NULL."""
    ends = "SELECT user_id, id, version, valid_until FROM credenda.memories ORDER BY user_id, id, version"
    for user in (ANA, "bo"):
        with Credenda.open(database.url(), user=user, workers=False) as mem:
            for text in ("I work at Hooli.", "I left Hooli, I'm at Initech now.", "I live in Bergen."):
                mem.remember(text)
                mem.settle()
            mem.forget(mem.list(attribute="residence").items[0].id)
    with database.connect() as connection:
        written = connection.execute(ends).fetchall()
        assert {row[0] for row in written if row[-1] == NO_END} == {ANA, "bo"}
        assert {row[0] for row in written if row[-1] is None} == {ANA, "bo"}
        connection.execute("UPDATE credenda.memories SET valid_until = NULL WHERE valid_until = %s", (NO_END,))
        connection.execute("DELETE FROM credenda.schema_version WHERE version = 2")
    with pytest.warns(RuntimeWarning, match="schema version 1"):
        PostgresStore(database.url()).close()
    with database.connect() as connection:
        assert connection.execute(ends).fetchall() == written
