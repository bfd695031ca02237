"""Servers of their own: pipes, signals, clients that die, several on one file, and what starting costs."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp import Client

from credenda import Credenda
from tests.waiting import PATIENCE_SECONDS, limit_waiting

from .agent import MODES, REVISIONS, Agent, command, drive
from .terminal import environment, process

CALLS = 8
SERVERS = 3
FOODS = """peanuts shrimp walnuts milk eggs soy wheat sesame celery mustard crab lobster cashews almonds hazelnuts kiwi
    strawberries bananas tomatoes oysters mussels salmon tuna garlic"""
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def tell(number: int) -> str:
    """Return a sentence that gives one memory, another for each of the calls of all servers."""
    return f"I'm allergic to {FOODS.split()[number]}."


def request(number: int, method: str, **params: object) -> bytes:
    """Write one request of the revision without a handshake."""
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": META}}
    return json.dumps(body).encode() + b"\n"


def call(number: int, tool: str, **arguments: object) -> bytes:
    return request(number, "tools/call", name=tool, arguments=arguments)


class Pipe:
    """A server as a child, spoken to line by line."""

    def __init__(self, db: Path, *args: str, user: str = "ana") -> None:
        line = [sys.executable, "-m", "credenda", "--db", str(db), "--user", user, "mcp", *args]
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(line, stdin=pipe, stdout=pipe, stderr=pipe, env=environment())

    def send(self, line: bytes) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(line)
        self.child.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.child.stdout is not None
        return json.loads(self.child.stdout.readline())

    def ask(self, line: bytes) -> dict[str, Any]:
        self.send(line)
        return self.answer()

    def stop_reading(self) -> None:
        assert self.child.stdout is not None
        self.child.stdout.close()
        self.child.stdout = None

    def end(self) -> tuple[int, bytes | None, bytes]:
        """Close the input and wait; returns the exit code and what was still written."""
        out, err = self.child.communicate(timeout=PATIENCE_SECONDS)
        return self.child.returncode, out, err


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def pipe(db: Path) -> Iterator[Pipe]:
    opened = Pipe(db)
    yield opened
    opened.child.kill()
    opened.end()


def held(db: Path, user: str = "ana") -> list[str]:
    """Open the file anew, read what waits, and return what is believed."""
    with Credenda.open(db, user=user, workers=False) as memory:
        memory.settle()
        return sorted(one.text for one in memory.list(limit=50).items)


@pytest.mark.parametrize("mode", MODES)
def test_a_server_of_its_own_serves_both_revisions(mode: str, db: Path) -> None:
    async def body(agent: Agent) -> None:
        assert agent.client.protocol_version == REVISIONS[mode]
        assert (await agent.ask("store_memory", text="I live in Linz."))["data"]["queued"] is True
        assert (await agent.ask("search_memories", query="Where do I live?"))["total"] == 1

    drive(command(db), body, mode)
    assert held(db) == ["I live in Linz."]


def test_three_servers_share_one_file(db: Path) -> None:
    """Each stores and searches while the others do; nothing is lost, nothing fails, each sees all in the end."""

    async def session(number: int) -> None:
        async with Client(command(db)) as client:
            agent = Agent(client)
            for turn in range(CALLS):
                await agent.ask("store_memory", text=tell(number * CALLS + turn), session_id=f"s{number}")
                found = await agent.ask("search_memories", query=tell(number * CALLS + turn))
                assert found["total"] >= 1

    async def all_at_once() -> None:
        with limit_waiting("the end of all conversations"):
            async with anyio.create_task_group() as group:
                for number in range(SERVERS):
                    group.start_soon(session, number)

    anyio.run(all_at_once)
    said = {tell(number * CALLS + turn) for number in range(SERVERS) for turn in range(CALLS)}
    with Credenda.open(db, user="ana", workers=False) as memory:
        memory.settle()
        assert memory.stats().events == len(said)
        assert {
            event.text for one in memory.list(limit=50).items for event, _, _ in memory.why(one.id).evidence
        } == said
        assert memory.data.doctor().ok


def test_tenants_of_two_servers_on_one_file_do_not_meet(db: Path) -> None:
    async def store(agent: Agent) -> str:
        return (await agent.ask("store_memory", text="I live in Linz."))["data"]["event_ids"][0]

    event = drive(command(db, user="ana"), store)

    async def look(agent: Agent) -> None:
        assert (await agent.ask("search_memories", query="Linz"))["total"] == 0
        assert (await agent.fail("delete_memory", memory_id=event))["code"] == "not_found"

    drive(command(db, user="ben"), look)


def test_standard_output_holds_nothing_but_the_protocol(pipe: Pipe) -> None:
    pipe.send(b"this is not JSON\n")
    pipe.send(call(1, "store_memory", text="I live in Linz."))
    pipe.send(call(2, "store_memory", wrong=1))
    pipe.send(request(3, "tools/list"))
    answers = {answer["id"]: answer for answer in (pipe.answer() for _ in range(3))}
    assert set(answers) == {1, 2, 3}
    assert answers[2]["result"]["isError"] is True
    assert answers[3]["result"]["cacheScope"] == "private"
    assert pipe.end() == (0, b"", b"")


CLIENT = """
import sys
sys.path.insert(0, sys.argv[1])
from interfaces.test_mcp_process import Pipe, call
pipe = Pipe(sys.argv[2])
print(pipe.child.pid, flush=True)
for number in range(10_000):
    pipe.ask(call(number, "store_memory", text=f"My hobby is kind{number}."))
    print(number, flush=True)
"""


def test_a_client_that_dies_mid_call_costs_nothing_acknowledged(db: Path) -> None:
    """The client is killed at whatever it is doing; its server ends by itself, and another finds what was answered."""
    line = [sys.executable, "-c", CLIENT, str(Path(__file__).parents[1]), str(db)]
    client = subprocess.Popen(line, stdout=subprocess.PIPE, env=environment())
    assert client.stdout is not None
    server = os.pidfd_open(int(client.stdout.readline()))
    answered = [int(client.stdout.readline()) for _ in range(CALLS)]
    client.kill()
    answered += [int(number) for number in client.communicate(timeout=PATIENCE_SECONDS)[0].split()]
    assert client.returncode == -signal.SIGKILL
    assert select.select([server], [], [], PATIENCE_SECONDS)[0], "the server outlived its client"
    os.close(server)

    async def body(agent: Agent) -> None:
        for number in answered:
            assert (await agent.ask("search_memories", query=f"kind{number}"))["total"] >= 1

    drive(command(db), body)


def test_a_server_that_is_killed_mid_call_costs_nothing_acknowledged(db: Path) -> None:
    """What was answered is there; the rest is whole or absent."""
    pipe = Pipe(db)
    acknowledged = [tell(number) for number in range(CALLS)]
    for number, text in enumerate(acknowledged):
        assert pipe.ask(call(number, "store_memory", text=text))["result"]["structuredContent"]["status"] == "ok"
    for number in range(CALLS, 3 * CALLS):
        pipe.send(call(number, "store_memory", text=tell(number)))
    pipe.child.kill()
    assert pipe.end()[0] == -signal.SIGKILL
    known = {tell(number) for number in range(3 * CALLS)}
    assert set(acknowledged) <= set(held(db)) <= known
    with Credenda.open(db, user="ana", workers=False) as memory:
        assert memory.data.doctor().ok


def test_a_call_under_way_when_the_input_ends_is_finished(db: Path) -> None:
    pipe = Pipe(db)
    assert "result" in pipe.ask(request(1, "tools/list"))
    for number in range(CALLS):
        pipe.send(call(number, "store_memory", text=tell(number)))
    code, out, err = pipe.end()
    assert (code, err) == (0, b"")
    messages = [json.loads(line) for line in (out or b"").splitlines()]
    answered = [message["id"] for message in messages if "result" in message]  # an error acknowledges nothing
    assert {tell(number) for number in answered} <= set(held(db))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_with_the_input_open(number: signal.Signals, db: Path) -> None:
    pipe = Pipe(db)
    pipe.ask(call(1, "store_memory", text="I live in Linz."))
    pipe.ask(call(2, "search_memories", query="Linz"))
    pipe.child.send_signal(number)
    assert pipe.child.wait(timeout=PATIENCE_SECONDS) == 0
    assert pipe.end() == (0, b"", b"")
    assert held(db) == ["I live in Linz."]


def test_a_client_that_stops_reading_ends_it_quietly(db: Path) -> None:
    pipe = Pipe(db)
    pipe.ask(request(1, "tools/list"))
    pipe.stop_reading()
    pipe.send(request(2, "tools/list"))
    code, _, err = pipe.end()
    assert (code, err) == (0, b"")


def test_a_read_only_server_offers_and_changes_nothing(db: Path) -> None:
    drive(command(db), lambda agent: agent.ask("store_memory", text="I live in Linz."))
    assert held(db) == ["I live in Linz."]
    before = db.read_bytes()
    given = command(db)
    given.args.insert(2, "--read-only")

    async def body(agent: Agent) -> None:
        tools = [tool.name for tool in (await agent.client.list_tools()).tools]
        assert "search_memories" in tools
        assert "store_memory" not in tools
        assert (await agent.ask("search_memories", query="Linz"))["total"] == 1

    drive(given, body)
    assert db.read_bytes() == before


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--db", "mongodb://host/db", "mcp"], 2, b"is not a kind of database"),
        (["--user", " ", "mcp"], 2, b"needs a user"),
        (["mcp", "--toolset", "huge"], 2, b"'huge' is not one of"),
    ],
    ids=["target", "user", "toolset"],
)
def test_what_cannot_be_opened_is_said_in_one_line(args: list[str], code: int, said: bytes) -> None:
    done = process(*args)
    assert (done.returncode, done.stdout) == (code, b"")
    assert said in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_without_the_package_it_says_how_to_install_it() -> None:
    program = (
        "import sys; sys.modules['mcp'] = None; sys.modules['mcp_types'] = None\n"
        "from credenda.interfaces.cli.main import cli; sys.exit(cli.main(['mcp'], standalone_mode=False))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment(), timeout=PATIENCE_SECONDS, check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert 'in a clone of Credenda, pip install ".[mcp]"' in line


def test_calls_under_way_when_the_input_ends_are_finished_and_answered(db: Path) -> None:
    """A script may write its calls, close its end, and read."""
    lines = [call(number, "store_memory", text=tell(number)) for number in range(CALLS)]
    done = process("--db", str(db), "--user", "ana", "mcp", stdin=b"".join(lines))
    assert (done.returncode, done.stderr) == (0, b"")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert {answer["id"] for answer in answers} == set(range(CALLS))
    assert all(answer["result"]["structuredContent"]["status"] == "ok" for answer in answers)
    assert held(db) == sorted(map(tell, range(CALLS)))


ODD = [
    b"",
    b"\n\n\n",
    b"null\n[]\n5\n",
    b'{"jsonrpc": "2.0", "id": [1], "method": "tools/list"}\n',
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}}\n',
    b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n',
    b"\xff\xfe\x00\n",
    b"[" * 100_000 + b"\n",
    b'{"half": ',
]


@pytest.mark.parametrize("sent", ODD, ids=[repr(one[:30]) for one in ODD])
def test_odd_input_ends_in_silence(sent: bytes, db: Path) -> None:
    done = process("--db", str(db), "mcp", stdin=sent)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


UNREADABLE = [
    b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "store_memory", "text": "\\ud83d"}}',
    b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": []}',
    b'{"jsonrpc": "1.0", "id": 7, "method": "tools/list"}',
    b'{"id": 7, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": 7, "method": 5}',
]


@pytest.mark.parametrize("sent", UNREADABLE)
def test_a_request_that_cannot_be_read_is_answered_and_the_next_one_served(sent: bytes, pipe: Pipe) -> None:
    refused = pipe.ask(sent + b"\n")
    assert (refused["id"], refused["error"]["code"]) == (7, -32600)
    assert "tools" in pipe.ask(request(8, "tools/list"))["result"]


def test_the_last_line_needs_no_end(db: Path) -> None:
    done = process("--db", str(db), "--user", "ana", "mcp", stdin=call(1, "store_memory", text="I like tea.").strip())
    assert json.loads(done.stdout)["result"]["structuredContent"]["status"] == "ok"


def test_what_is_stored_is_believed_soon_after_without_anybody_waiting(db: Path) -> None:
    async def body(agent: Agent) -> None:
        await agent.ask("store_memory", text="I live in Linz.")
        while (await agent.ask("get_memory_stats"))["pending_extractions"]:
            await anyio.lowlevel.checkpoint()
        (memory,) = (await agent.ask("inspect_memories"))["memories"]
        assert memory["value"] == "Linz"

    drive(command(db), body)


def test_target_and_tenant_may_come_from_the_environment(db: Path) -> None:
    env = environment(CREDENDA_DB=str(db), CREDENDA_USER="ana")
    done = process("mcp", stdin=call(1, "store_memory", text="I live in Linz."), env=env)
    assert json.loads(done.stdout)["result"]["isError"] is False
    assert (held(db), held(db, user="default")) == (["I live in Linz."], [])
