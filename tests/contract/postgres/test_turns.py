"""One user's import of 100,000 messages on Postgres keeps no other user waiting."""

# ruff: noqa: SLF001 - what is tested lies behind the verbs of a store
from __future__ import annotations

from threading import Event, Thread

from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.model.claim import Claim, Turn
from credenda.storage.postgres.connections import Scope, Session
from credenda.storage.postgres.store import PostgresStore, run_statement
from credenda.storage.store import Job, JobFilter, JobStatus
from credenda.workers.tenants import AllUsers
from tests.contract.store.build import put
from tests.postgres_server import APP, Database
from tests.waiting import PATIENCE_SECONDS

IMPORTED = 100_000
BATCH = 16
_QUEUE = """
INSERT INTO credenda.operations (user_id, id, kind, first, last, status, created_at, updated_at)
SELECT 'ana', n, 'extract', 1, 1, 'queued', 1, 1 FROM generate_series(2, %s::bigint) AS n
"""
_TOUCHED = """
SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint
FROM pg_stat_xact_all_tables WHERE schemaname = 'credenda'
"""


class Recorder:
    """Reads every message, and finds nothing in it."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def extract(self, turn: Turn) -> list[Claim]:
        self.read.append(turn.event.text)
        return []


def test_an_import_of_100_000_messages_delays_the_word_of_another_user_by_a_batch_or_two(
    database: Database,
) -> None:
    recorder = Recorder()
    parts = build_parts(database.url(), user="ana", embedder="none", extractor=recorder)
    bob, stop, read = parts.for_user("bob"), Event(), Event()
    with Credenda(parts.for_user("ana"), workers=False) as memory:
        memory.remember("imported")
    queue_import(database)

    def work() -> None:
        worker = AllUsers(parts, duties=str)
        while not stop.is_set():
            worker.run_round(stop)
            if "mine" in recorder.read:
                read.set()
        worker.close()

    thread = Thread(target=work)
    thread.start()
    try:
        while len(recorder.read) < BATCH:  # the import is under way
            stop.wait(0.001)
        before = len(recorder.read)
        with Credenda(bob, workers=False) as memory:
            memory.remember("mine")
        assert read.wait(PATIENCE_SECONDS), "the import was not read"
        between = recorder.read.index("mine") - before
    finally:
        stop.set()
        thread.join()
    with parts.store.reader("ana") as reader:
        assert len(reader.jobs(JobFilter(statuses=frozenset({JobStatus.QUEUED}), limit=1_000))) == 1_000
    parts.release()
    assert between <= 3 * BATCH, "the messages of a batch or two, of which each takes some milliseconds"


def test_a_look_for_users_with_work_reads_few_of_an_imports_jobs(database: Database) -> None:
    """Every worker looks four times a second, and before and after each batch of the import."""
    queue_import(database)
    store = PostgresStore(database.url(APP))
    try:
        put(store, "ben", Job(kind="extract"))
        with store._connections.transaction(Scope(server=True)) as session:
            found = [read_page(session, after) for after in ("", "ana", "ben")]
    finally:
        store.close()
    assert [names for names, _ in found] == [["ana"], ["ben"], []]
    assert max(touched for _, touched in found) < IMPORTED // 100


def test_the_age_of_the_oldest_job_is_found_without_reading_the_others(database: Database) -> None:
    """`/metrics` asks for it as often as it is scraped."""
    queue_import(database)
    store = PostgresStore(database.url(APP))
    given: dict[str, object] = {"kinds": '["extract", "think"]'}
    try:
        put(store, "ben", Job(kind="embed"))
        with store._connections.transaction(Scope(server=True)) as session:
            before = count_touched(session)
            row = run_statement(session, "oldest_waiting", given).fetchone()
            touched = count_touched(session) - before
    finally:
        store.close()
    assert row is not None
    assert (row["created_at"], touched <= 64) == (1, True)


def read_page(session: Session, after: str) -> tuple[list[str], int]:
    """Return the users of a page, and how many rows of tables were read for it."""
    before = count_touched(session)
    given = {"now_us": 2, "far_us": 1 << 60, "after_user": after, "kinds": "[]", "other_kinds": "[]"}
    rows = run_statement(session, "users_with_due_jobs", {**given, "limit": 64, "window": 512}).fetchall()
    return [row["user_id"] for row in rows], count_touched(session) - before


def count_touched(session: Session) -> int:
    return sum(int(row[0]) for row in session.execute(_TOUCHED))


def queue_import(database: Database) -> None:
    """Let the jobs of 100,000 messages of Ana wait."""
    with database.connect() as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(_QUEUE, (IMPORTED,))
        connection.execute("ANALYZE credenda.operations")
