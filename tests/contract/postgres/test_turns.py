"""One user's import of 100,000 messages on Postgres keeps no other user waiting."""

from __future__ import annotations

from threading import Event, Thread
from time import process_time

from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.model.claim import Claim, Turn
from credenda.storage.store import JobFilter, JobStatus
from credenda.workers.tenants import AllUsers
from tests.postgres_server import Database

IMPORTED = 100_000
_QUEUE = """
INSERT INTO credenda.operations (user_id, id, kind, first, last, status, created_at, updated_at)
SELECT 'ana', n, 'extract', 1, 1, 'queued', 1, 1 FROM generate_series(2, %s::bigint) AS n
"""


class Recorder:
    """Reads every message, and finds nothing in it."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def extract(self, turn: Turn) -> list[Claim]:
        self.read.append(turn.event.text)
        return []


def test_an_import_of_100_000_messages_delays_the_word_of_another_user_by_less_than_a_second(
    database: Database,
) -> None:
    recorder = Recorder()
    parts = build_parts(database.url(), user="ana", embedder="none", extractor=recorder)
    bob, stop, read = parts.for_user("bob"), Event(), Event()
    with Credenda(parts.for_user("ana"), workers=False) as memory:
        memory.remember("imported")
    with database.connect() as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(_QUEUE, (IMPORTED,))
        connection.execute("ANALYZE credenda.operations")

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
        while len(recorder.read) < 16:  # the import is under way
            stop.wait(0.001)
        before = len(recorder.read)
        with Credenda(bob, workers=False) as memory:
            memory.remember("mine")
        started = process_time()
        assert read.wait(30)
        took = process_time() - started
        between = recorder.read.index("mine") - before
    finally:
        stop.set()
        thread.join()
    with parts.store.reader("ana") as reader:
        assert len(reader.jobs(JobFilter(statuses=frozenset({JobStatus.QUEUED}), limit=1_000))) == 1_000
    parts.release()
    assert between <= 3 * 16
    assert took < 1, "seconds of processor time, which other work on the machine does not lengthen"
