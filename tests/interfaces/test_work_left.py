"""Processes that end in the middle of their work: nobody waits for their leases, and what is unread is read."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.hook_files import find_places, list_waiting
from tests.waiting import PATIENCE_SECONDS, await_that

from .hooked import CodingAgent
from .terminal import environment

pytestmark = [
    pytest.mark.sqlite_file(reason="hooks and servers look into the file for what is unread"),
    pytest.mark.skipif(sys.platform != "linux", reason="the processes of a file are found in /proc"),
]
CITIES = ["Linz", "Graz", "Wels", "Steyr", "Bregenz", "Dornbirn", "Villach", "Leoben", "Krems", "Traun"]
MESSAGES = 48


@pytest.fixture
def agent(folder: Path) -> Iterator[CodingAgent]:
    found = CodingAgent(folder)
    yield found
    await_that(lambda: not list_processes(found.database), "the end of the processes of a file")


def list_processes(database: Path) -> list[int]:
    """Return the processes whose command line names a database."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(database) in (folder / "cmdline").read_bytes().decode(errors="replace").split("\0"):
                found.append(int(folder.name))
    return found


def start(agent: CodingAgent, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", "credenda", "--db", agent.target, "--user", "ana", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment())


def call_hook(agent: CodingAgent, event: str) -> None:
    command = [sys.executable, "-P", "-m", "credenda", "hook", event, "--db", agent.target, "--user", "ana"]
    told = {"session_id": "s2", "cwd": "/", "source": "resume"}
    subprocess.run(command, input=json.dumps(told).encode(), check=True, env=environment(), timeout=PATIENCE_SECONDS)


def tell(agent: CodingAgent, count: int) -> None:
    """Have messages stored, and read by nobody."""
    with agent.open() as memory:
        for number in range(count):
            memory.remember(f"I was born in {CITIES[number % 10]} in {1900 + number}.", session=f"s{number}")


def count_jobs(agent: CodingAgent, *states: str) -> int:
    sql = "SELECT count(*) FROM operations WHERE status IN (SELECT value FROM json_each(?))"
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(f"file:{agent.database}?mode=ro", uri=True)) as db:
        return db.execute(sql, (json.dumps(states),)).fetchone()[0]
    return 0


def await_reading(agent: CodingAgent) -> None:
    await_that(lambda: not count_jobs(agent, "queued", "processing", "failed"), "every message to be read")


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd"])
def test_what_nobody_read_is_read_where_a_session_begins_or_ends(agent: CodingAgent, event: str) -> None:
    tell(agent, 1)
    call_hook(agent, event)
    await_reading(agent)
    with agent.open() as memory:
        assert [one.value for one in memory.list().items] == ["Linz"]


def test_no_process_starts_where_everything_is_read(agent: CodingAgent) -> None:
    agent.teach("I live in Linz.")
    for event in ("SessionStart", "SessionEnd", "Stop"):
        call_hook(agent, event)
        assert not list_processes(agent.database)
    places = find_places(agent.target, "ana")
    assert not (Path(places.folder) / "started").exists()


def test_a_lease_of_a_process_that_was_killed_is_taken_over_at_once(agent: CodingAgent) -> None:
    tell(agent, MESSAGES)
    worker = start(agent, "worker", "--once")
    await_that(lambda: count_jobs(agent, "processing") and count_jobs(agent, "complete"), "the middle of the work")
    worker.kill()
    worker.communicate()
    assert count_jobs(agent, "processing")
    call_hook(agent, "SessionStart")
    await_reading(agent)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("words", [("worker", "--once"), ("worker",)])
def test_a_worker_hands_its_leases_back(agent: CodingAgent, words: tuple[str, ...], number: signal.Signals) -> None:
    tell(agent, MESSAGES)
    worker = start(agent, *words)
    await_that(lambda: count_jobs(agent, "processing") and count_jobs(agent, "complete"), "the middle of the work")
    worker.send_signal(number)
    worker.communicate(timeout=PATIENCE_SECONDS)
    assert not count_jobs(agent, "processing")
    with Credenda.open(agent.target, user="ana", workers=False) as memory:
        memory.settle()
        assert memory.stats().events == MESSAGES


@pytest.mark.parametrize("how", ["closed input", "signal", "signal, and killed soon"])
def test_a_server_leaves_nothing_unread(agent: CodingAgent, how: str) -> None:
    """Codex kills its servers less than a twentieth of a second after the signal, and Claude Code after half of one."""
    for number in range(MESSAGES):
        agent.session = f"s{number}"
        agent.say(f"I was born in {CITIES[number % 10]} in {1900 + number}.")
    server = start(agent, "mcp")
    await_that(lambda: count_jobs(agent, "processing", "complete"), "the first message to be read")
    if how == "closed input":
        assert server.stdin is not None
        server.stdin.close()
        server.stdin = None
    else:
        server.send_signal(signal.SIGTERM)
    if how == "signal, and killed soon":
        await_that(lambda: len(list_processes(agent.database)) > 1 or server.poll() is not None, "another process")
        server.kill()
    server.communicate(timeout=PATIENCE_SECONDS)
    await_that(lambda: not list_processes(agent.database), "the end of the processes of a file")
    assert not count_jobs(agent, "queued", "processing", "failed")
    assert not list_waiting(find_places(agent.target, "ana"))
    with agent.open() as memory:
        assert memory.stats().events == MESSAGES


def test_a_server_that_did_nothing_starts_nothing(agent: CodingAgent) -> None:
    tell(agent, 1)  # and no hook has ever run: who wants no plugin has no processes of it
    server = start(agent, "mcp")
    server.communicate(timeout=PATIENCE_SECONDS)
    assert not list_processes(agent.database)
    assert count_jobs(agent, "queued") == 1
    assert not Path(find_places(agent.target, "ana").folder).exists()
