"""What a read costs does not grow with the rows of other tenants, nor with rows that it does not ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

import pytest

from credenda.model.change import ChangeKind
from credenda.model.memory import Memory
from credenda.storage.postgres.connections import Connections, Scope, Session
from credenda.storage.postgres.store import PostgresReader, PostgresStore
from credenda.storage.store import (
    ChangeFilter,
    EventFilter,
    IndexPosition,
    Job,
    JobFilter,
    JobStatus,
    MemoryFilter,
    Reader,
)
from tests.contract.store.build import add, because, held, put, said, vector
from tests.postgres_server import APP, Database, get_server

ANA = "ana"
OTHERS = 16
OWN = 40
_GROW = """
INSERT INTO credenda.tenants (user_id, tag, hmac_key, created_at)
SELECT 'other' || n, lpad(n::text, 6, '0'), 'key', 1
FROM generate_series(1, %(others)s::int) AS n ON CONFLICT DO NOTHING;
INSERT INTO credenda.events (
    user_id, id, role, speaker, source, trust, text, occurred_at, recorded_at, content_hmac, chain_hash
) SELECT 'other' || n, i, 'user', 'user', 'human', 1, 'green tea ' || i, i, i, 'h', 'h'
FROM generate_series(1, %(others)s::int) AS n, generate_series(%(first)s::bigint, %(last)s::bigint) AS i;
INSERT INTO credenda.words (user_id, term, code)
SELECT 'other' || n, term, i << 12 FROM generate_series(1, %(others)s::int) AS n,
    generate_series(%(first)s::bigint, %(last)s::bigint) AS i, unnest(ARRAY['green', 'tea']) AS term;
INSERT INTO credenda.memories (
    user_id, id, version, text, text_hash, type, memory_type, entity_key, attribute_key, created_at, recorded_at
) SELECT 'other' || n, i, 1, 'green tea', 1, 'fact', 'fact', 'user', 'drink', i, i
FROM generate_series(1, %(others)s::int) AS n, generate_series(%(first)s::bigint, %(last)s::bigint) AS i;
INSERT INTO credenda.operations (user_id, id, kind, first, last, status, created_at, updated_at)
SELECT 'other' || n, i, 'extract', i, i, 'queued', i, i
FROM generate_series(1, %(others)s::int) AS n, generate_series(%(first)s::bigint, %(last)s::bigint) AS i;
INSERT INTO credenda.changes (user_id, id, kind, actor, reason, at, memory, delta)
SELECT 'other' || n, i, 'add', 'rule', 'r', i, i, '{}'
FROM generate_series(1, %(others)s::int) AS n, generate_series(%(first)s::bigint, %(last)s::bigint) AS i;
INSERT INTO credenda.evidence (user_id, memory, event, start, claim_hash, stop)
SELECT 'other' || n, i, i, 0, 'c', 4
FROM generate_series(1, %(others)s::int) AS n, generate_series(%(first)s::bigint, %(last)s::bigint) AS i
"""
_TOUCHED = """
SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint
FROM pg_stat_xact_all_tables WHERE schemaname = 'credenda'
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A reader, and the ids of rows that it has."""

    reader: Reader
    events: list[str]
    memories: tuple[str, ...]


READS: dict[str, Callable[[Asked], object]] = {
    "events": lambda a: a.reader.events(a.events[:3]),
    "events of a session": lambda a: a.reader.find_events(EventFilter(session="s", limit=5)),
    "newest events": lambda a: a.reader.find_events(EventFilter(newest_first=True, limit=5)),
    "memories": lambda a: a.reader.memories(a.memories[:3]),
    "versions": lambda a: a.reader.versions(a.memories[:3]),
    "memories of a slot": lambda a: a.reader.find(MemoryFilter(pair=("user", "drink"))),
    "memories of a text": lambda a: a.reader.find(MemoryFilter(same_text_as=_memory(1).text)),
    "all memories": lambda a: a.reader.find(MemoryFilter()),
    "evidence": lambda a: a.reader.evidence(memory_ids=a.memories[:3]),
    "evidence of events": lambda a: a.reader.evidence(event_ids=a.events[:3]),
    "changes": lambda a: a.reader.changes(ChangeFilter(memory_ids=a.memories[:3])),
    "newest changes": lambda a: a.reader.changes(ChangeFilter(kinds=frozenset({ChangeKind.ADD}), limit=5)),
    "delta": lambda a: a.reader.delta(IndexPosition(), "tiny"),
    "delta after the heads": lambda a: a.reader.delta(a.reader.duties.heads, "tiny"),
    "nominate": lambda a: a.reader.nominate(["green", "tea"], 10),
    "words of memories": lambda a: a.reader.search_memories(["green", "tea"], 10),
    "vectors": lambda a: a.reader.vectors([1 << 12], "tiny"),
    "due jobs": lambda a: a.reader.jobs(JobFilter(statuses=frozenset({JobStatus.QUEUED}), limit=16)),
    "tombstones": lambda a: a.reader.tombstoned([b"d" * 16]),
    "counts": lambda a: a.reader.counts(),
    "heads": lambda a: a.reader.duties.heads,
    "usage": lambda a: a.reader.usage.accesses(a.memories[:3]),
}


def _memory(number: int) -> Memory:
    return held(f"green tea {number}", entity="user", attribute="drink", value="tea")


@pytest.fixture(scope="module")
def measured() -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """How many rows each read touches beside a few rows of others, and beside ten times as many."""
    server = get_server()
    database = server.lend()
    with closing(PostgresStore(database.url(APP))) as store:
        events = put(store, ANA, *(said(f"green tea {number}", session="s") for number in range(OWN)))
        memories = add(store, ANA, *(_memory(number) for number in range(OWN)))
        put(store, ANA, *(because(one, events[0]) for one in memories[:5]), vector(1 << 12))
        put(store, ANA, *(Job(kind="extract", first=1, last=1) for _ in range(OWN)))
    _grow(database, 1, 200)
    few = _measure(database, events, memories)
    _grow(database, 201, 2_000)
    yield few, _measure(database, events, memories)
    server.take_back(database)


def _grow(database: Database, first: int, last: int, *, analyse: bool = True) -> None:
    with database.connect() as connection:
        connection.execute("SET session_replication_role = replica")
        for statement in _GROW.split(";"):
            connection.execute(statement.encode(), {"others": OTHERS, "first": first, "last": last})
        if analyse:
            connection.execute("VACUUM ANALYZE")


def _measure(database: Database, events: list[str], memories: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    with closing(Connections(database.url(APP), None)) as connections:
        for name, read in READS.items():
            with connections.transaction(Scope(ANA)) as session:
                before = _count_touched(session)
                read(Asked(PostgresReader.of_view(session, ANA, b""), events, tuple(memories)))
                found[name] = _count_touched(session) - before
    return found


def _count_touched(session: Session) -> int:
    return sum(int(row[0]) for row in session.execute(_TOUCHED))


@pytest.mark.parametrize("name", list(READS))
def test_a_read_touches_no_more_rows_beside_more_rows_of_others(
    name: str, measured: tuple[dict[str, int], dict[str, int]]
) -> None:
    few, many = measured
    another_way = OWN  # with more rows a plan may visit the own ones once more
    assert many[name] <= min(few[name] + another_way, 6 * OWN)


FRESH = 1_000
"""Rows of each table of a user that was just moved here."""


@pytest.fixture(scope="module")
def unanalysed() -> Iterator[Database]:
    """A database whose rows were all written at once, so that the server has no statistics of them."""
    server = get_server()
    database = server.lend()
    _grow(database, 1, FRESH, analyse=False)
    yield database
    server.take_back(database)


@pytest.mark.requirement("R-210")
@pytest.mark.parametrize("planning", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize(
    ("name", "most"),
    [("delta", 8 * FRESH), ("memories", 10), ("events", 10), ("versions", 10)],
)
def test_a_read_finds_rows_by_their_keys_while_there_are_no_statistics(
    unanalysed: Database, planning: str, name: str, most: int
) -> None:
    """Whoever compares each of 1,000 changed memories with each memory touches a million rows."""
    with (
        closing(Connections(unanalysed.url(APP), None)) as connections,
        connections.transaction(Scope("other1")) as session,
    ):
        session.execute("SELECT set_config('plan_cache_mode', %s, true)", (planning,))
        reader = PostgresReader.of_view(session, "other1", b"")
        events, memories = ([f"{kind}{n}-000001" for n in range(1, 4)] for kind in "em")
        before = _count_touched(session)
        READS[name](Asked(reader, events, tuple(memories)))
        assert 0 < _count_touched(session) - before <= most


_OWN_WORDS = """
INSERT INTO credenda.words (user_id, term, code)
SELECT 'ana', term, i << 12 FROM generate_series(1000, 9000) AS i, unnest(ARRAY['black', 'coffee']) AS term
"""


def test_a_search_by_words_touches_no_rows_of_the_user_that_the_words_do_not_touch() -> None:
    server = get_server()
    database = server.lend()
    with closing(PostgresStore(database.url(APP))) as store:
        events = put(store, ANA, *(said(f"green tea {number}") for number in range(OWN)))
        memories = add(store, ANA, *(_memory(number) for number in range(OWN)))
    before = _measure(database, events, memories)
    with database.connect() as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(_OWN_WORDS)
        connection.execute("VACUUM ANALYZE")
    after = _measure(database, events, memories)
    for name in ("nominate", "words of memories"):
        assert 0 < after[name] <= before[name] + OWN
    server.take_back(database)
