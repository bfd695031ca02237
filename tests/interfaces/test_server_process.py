"""Servers in processes of their own: what they print, SIGTERM, SIGKILL in the middle of writes, and other clients."""

from __future__ import annotations

import json
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock
from typing import IO, Any, cast

import anyio
import httpx2
import pytest
from mcp import Client

from credenda import Credenda
from tests.waiting import PATIENCE_SECONDS, limit_waiting

from .agent import MODES, REVISIONS, Agent
from .certificates import write_certificate
from .terminal import Terminal, environment

WRITERS = 8


class Server:
    """A server as a child process; its address is read from what it prints."""

    def __init__(self, *args: str, **env: str) -> None:
        line = [sys.executable, "-m", "credenda", "--user", "ana", "serve", "--port", "0", *args]
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(line, stderr=pipe, stdout=pipe, text=True, env=environment(**env))
        self.printed = ""
        for told in cast("IO[str]", self.child.stderr):
            self.printed += told
            if told.endswith("stop with Ctrl-C\n"):
                break
        found = re.match(r"Listening on (https?://127\.0\.0\.1:\d+)\n", self.printed)
        assert found is not None, self.printed
        self.url = found[1]

    def end(self, number: signal.Signals) -> tuple[int, str]:
        """Send a signal and wait; returns the exit code and the rest of standard error."""
        self.child.send_signal(number)
        out, err = self.child.communicate(timeout=PATIENCE_SECONDS)
        assert out == ""
        return self.child.returncode, err


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def server(db: Path) -> Iterator[Server]:
    opened = Server("--db", str(db))
    yield opened
    opened.child.kill()
    opened.child.communicate(timeout=PATIENCE_SECONDS)


def test_a_server_with_tokens_prints_a_link_that_logs_in_once(db: Path) -> None:
    server = Server("--db", str(db), "--auth", "token")
    try:
        link = re.search(
            rf"log in as ana, once and within ten minutes: ({server.url}/login\?code=(\S+))\n", server.printed
        )
        assert link is not None, server.printed
        sent: Any = {"data": {"code": link[2]}, "headers": {"Origin": server.url}}
        assert httpx2.get(link[1], timeout=PATIENCE_SECONDS).status_code == 200
        assert httpx2.post(f"{server.url}/login", timeout=PATIENCE_SECONDS, **sent).status_code == 303
        assert httpx2.post(f"{server.url}/login", timeout=PATIENCE_SECONDS, **sent).status_code == 401
    finally:
        server.end(signal.SIGTERM)


@pytest.mark.requirement("R-168", "R-184")
def test_a_server_says_how_to_connect_serves_both_revisions_and_ends_at_sigterm(db: Path, server: Server) -> None:
    async def body(mode: str) -> None:
        with limit_waiting("the end of a conversation with a server"):
            async with Client(f"{server.url}/mcp", mode=mode) as client:
                assert client.protocol_version == REVISIONS[mode]
                agent = Agent(client)
                assert (await agent.ask("store_memory", text=f"My hobby is {mode}ing."))["data"]["queued"] is True
                assert (await agent.ask("search_memories", query=f"{mode}ing"))["total"] == 1
                assert await agent.read("credenda://core") == ""

    for mode in MODES:
        anyio.run(body, mode)
    code, printed = server.end(signal.SIGTERM)
    assert code == 0
    assert f"claude mcp add --transport http credenda {server.url}/mcp" in server.printed
    assert printed == "stopped\n"
    with Credenda.open(db, user="ana", workers=False) as memory:
        assert memory.stats().events == len(MODES)


def test_nothing_acknowledged_is_lost_by_a_kill_in_the_middle_of_writes(db: Path, server: Server) -> None:
    acknowledged, lock, enough = list[str](), Lock(), Event()

    def write(writer: int) -> None:
        with httpx2.Client(base_url=server.url, timeout=PATIENCE_SECONDS) as client, suppress(httpx2.TransportError):
            for number in range(10_000):
                text = f"My hobby is kind{writer}n{number}."
                answered = client.post("/v1/memories", json={"content": text})
                if answered.status_code == 429:
                    time.sleep(float(answered.headers["Retry-After"]))
                    continue
                assert answered.status_code == 202
                with lock:
                    acknowledged.append(answered.json()["event_ids"][0])
                    if len(acknowledged) >= 100:
                        enough.set()

    with ThreadPoolExecutor(WRITERS) as pool:
        running = [pool.submit(write, writer) for writer in range(WRITERS)]
        assert enough.wait(PATIENCE_SECONDS), "too few calls were answered"
        server.child.kill()
        for one in running:
            one.result()
    server.child.wait(PATIENCE_SECONDS)
    with Credenda.open(db, user="ana", workers=False) as memory:
        for event_id in acknowledged:
            assert memory.event(event_id).event.text.startswith("My hobby is kind")
        assert memory.data.doctor().ok


def test_a_request_under_way_is_answered_before_the_end(server: Server) -> None:
    body = json.dumps({"content": "I live in Linz."}).encode()
    host, port = server.url.removeprefix("http://").split(":")
    head = (
        f"POST /v1/memories HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    with socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS) as caller:
        caller.sendall(f"{head}\r\nExpect: 100-continue\r\n\r\n".encode())
        assert caller.recv(64).startswith(b"HTTP/1.1 100")  # the request is being served
        server.child.send_signal(signal.SIGTERM)
        caller.sendall(body)
        assert caller.recv(4_096).startswith(b"HTTP/1.1 202")
    assert server.end(signal.SIGTERM)[0] == 0


def test_the_demo_is_served_from_a_database_that_goes_away(tmp_path: Path) -> None:
    server = Server("--demo", "--access-log", TMPDIR=str(tmp_path))
    try:
        counted = httpx2.get(f"{server.url}/v1/stats", timeout=PATIENCE_SECONDS).json()
    finally:
        code, printed = server.end(signal.SIGINT)
    assert counted["events"] > 100
    assert code == 0
    assert '"route": "/v1/stats", "status": 200' in printed
    assert list(tmp_path.iterdir()) == []


def test_a_server_speaks_tls(db: Path, tmp_path: Path) -> None:
    certificate, key = write_certificate(tmp_path)
    server = Server("--db", str(db), "--tls-cert", str(certificate), "--tls-key", str(key))
    try:
        assert server.url.startswith("https://")
        trusting = ssl.create_default_context(cafile=str(certificate))
        assert httpx2.get(f"{server.url}/livez", verify=trusting, timeout=PATIENCE_SECONDS).json() == {"status": "ok"}
    finally:
        code, _ = server.end(signal.SIGTERM)
    assert code == 0


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--host", "0.0.0.0"), "--trust-proxy"),  # noqa: S104 - it is refused
        (("--host", "0.0.0.0", "--trust-proxy", "--url", "https://a.example", "--auth", "none"), "--auth none"),  # noqa: S104 - as above
        (("--url", "memory"), "--url https://"),
        (("--demo",), "--demo and --db"),
    ],
)
def test_a_server_that_would_expose_a_memory_does_not_start(tmp_path: Path, args: tuple[str, ...], told: str) -> None:
    terminal = Terminal(tmp_path)
    assert told in terminal.error("serve", *args, code=2)
    assert not terminal.db.exists()


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert port in Terminal(tmp_path).error("serve", "--port", port, code=5)


def test_what_does_not_serve_loads_no_server_library(db: Path) -> None:
    script = (
        "import sys; from credenda.interfaces.cli.main import cli;"
        f"cli.main(['--db', {str(db)!r}, 'stats'], standalone_mode=False);"
        "assert not {'starlette', 'uvicorn', 'mcp', 'anyio'} & sys.modules.keys(), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, env=environment())


def test_without_its_libraries_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ModuleNotFoundError("No module named 'mcp'", name="mcp")

    monkeypatch.setattr("credenda.interfaces.mcp.sdk_lazy.load_late", fail)
    assert 'in a clone of Credenda, pip install ".[server]"' in Terminal(tmp_path).error("serve", code=2)
