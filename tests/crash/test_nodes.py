"""Servers and workers on one database, each a process of its own, killed at random under load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.nodes.kills import NodesReport, check_user, run_nodes
from benchmarks.nodes.load import Acknowledged
from benchmarks.nodes.neighbour import run_neighbour
from benchmarks.nodes.scale import run_scale
from benchmarks.nodes.sizes import TAGS, list_limits, measure_sizes
from benchmarks.tables import format_neighbour, format_scale
from credenda import Credenda
from credenda.bootstrap import build_parts
from tests.postgres_server import get_server

KILLED = ("ConnectionRefusedError", "ConnectionResetError", "BrokenPipeError", "RemoteDisconnected", "IncompleteRead")
"""Errors of a caller whose server is killed before or while it sends a request, or in the middle of an answer."""
LOST = Acknowledged("ana", "Remember that I love u0n9z0.", "e9-000000")


@pytest.fixture
def postgres() -> Iterator[str]:
    server = get_server()
    database = server.lend()
    yield database.url()
    server.take_back(database)


@pytest.mark.requirement("R-071")
def test_killed_servers_and_workers_lose_nothing_and_do_nothing_twice(postgres: str) -> None:
    report = run_nodes(postgres, run_seconds=5, servers=2, workers=2, kill_every_seconds=1, seed=7)
    assert report.violations == []
    assert report.kills.total() >= 2
    assert report.acknowledged > 0
    assert report.jobs >= report.acknowledged * 2
    assert set(report.retries) <= {*KILLED, "503"}


def test_the_check_finds_what_is_lost_doubled_or_of_another(tmp_path: Path) -> None:
    target = str(tmp_path / "memory.db")
    said: list[Acknowledged] = []
    with Credenda.open(target, user="ana", embedder="hashed", workers=False) as memory:
        for number in (1, 2):
            text = f"Remember that I love u0n{number}z0."
            said.append(Acknowledged("ana", text, memory.remember(text).event_ids[0]))
        memory.settle()
    assert find(target, said) == []
    assert find(target, [*said, LOST]) == ["lost: e9-000000 of ana"]
    with Credenda.open(target, user="ana", embedder="hashed", workers=False) as memory:
        memory.remember("Remember that I love u0n2z0.")
        memory.remember("Remember that I love u3n1z0.")
        memory.settle()
    found = Counter(problem.split(" of ")[0] for problem in find(target, said))
    assert found["2 events"] == 1
    assert any("what another said" in problem for problem in find(target, said))
    assert any("messages of ana became memories" in problem for problem in find(target, said))


def find(target: str, said: list[Acknowledged]) -> list[str]:
    parts = build_parts(target, user="ana", embedder="hashed")
    try:
        return list(check_user(parts, "ana", said, NodesReport(seed=0, servers=0, workers=0)))
    finally:
        parts.release()


@pytest.fixture
def few_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.nodes.sizes._REPEATS", 3)
    for module in ("scale", "sizes"):
        monkeypatch.setattr(f"benchmarks.nodes.{module}._USERS_OF_TASKS", 2)


@pytest.mark.usefixtures("few_repeats")
def test_the_scale_benchmark_measures_every_step(tmp_path: Path) -> None:
    document = run_scale(
        f"sqlite:///{tmp_path / 'memory.db'}",
        processes=[1, 2],
        users=2,
        messages=4,
        run_seconds=0.2,
        tenants=[2, 4],
        note=lambda _: None,
    )
    assert [one["jobs"] for one in document["jobs"]] == [4, 4]
    assert [one["jobs"] for one in document["tasks"]] == [4 * 6, 3 * 6], "of each user who was new in that pass"
    assert document["acks"][0]["ratio"] == 1
    assert [one["processes"] for one in document["acks"]] == [1, 2]
    assert all(one["a_second"] > 0 for one in (*document["acks"], *document["jobs"], *document["tasks"]))
    assert [one["users"] for one in document["tenants"]] == [2, 4]
    assert "jobs/s" in format_scale(document)


@pytest.mark.usefixtures("few_repeats")
def test_the_scale_benchmark_grows_by_copies_of_rows(postgres: str) -> None:
    """The copies are users like any other: their journals are sound, some of them wait, and the walls stand again."""
    rows = measure_sizes(postgres, [10, 220], lambda _: None)
    assert [one["users"] for one in rows] == [10, 220]
    assert all(one["bytes_a_user"] > 0 and one["ack_client"] > 0 for one in rows)
    parts = build_parts(postgres, user="copy 7", embedder="none")
    try:
        assert len(parts.store.users(limit=1_000)) == 222
        assert parts.store.users_with_due_jobs(parts.clock.now_us(), limit=2) == ["copy 100", "copy 200"]
        with Credenda(parts.for_user("copy 7"), workers=False) as memory:
            assert memory.search("Where do I live?").hits[0].quote == "I live in Graz."
            assert memory.data.doctor().ok
    finally:
        parts.release()


def test_limits_follow_from_the_figures() -> None:
    acts = dict.fromkeys(("ack", "search", "due", "page", "tasks", "decay", "passed"), 2.0)
    row = {f"{act}_{side}": ms for act, ms in acts.items() for side in ("client", "server")}
    limits = list_limits({**row, "users": 1_000, "bytes_a_user": 4_000, "connections_max": 240})
    assert {one["limit"]: one["value"] for one in limits} == {
        "users of a database": TAGS,
        "users whose tasks one worker runs in a day": 86_400_000 / (24 * 4),
        "seconds in which one worker passes all users": 4,
        "idle workers that take a core of Postgres": 125,
        "acknowledgements a second of a core of Postgres": 500,
        "searches a second of a core of Postgres": 500,
        "users on a terabyte": 250_000_000,
        "processes that Postgres has connections for": 10,
    }


def test_the_benchmark_of_a_neighbour_counts_what_was_read_meanwhile(postgres: str) -> None:
    document = run_neighbour(postgres, messages=300, together=100, words=2, note=lambda _: None)
    assert 0 <= document["between_max"] <= document["read"]
    assert document["read"] > 0
    assert "messages of the import" in format_neighbour(document)
