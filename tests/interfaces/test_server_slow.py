"""Clients that are slow or too many: heads, bodies and readers, oversized bodies, and the memory that they cost."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from credenda import Credenda, limits
from credenda.clock import seconds
from credenda.interfaces.server import process
from credenda.testing import ManualClock
from tests.waiting import PATIENCE_SECONDS

from .running import Running, running
from .served import MCP_HEADERS, serving

START = "2026-03-01T09:00:00Z"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.setattr(limits, "HTTP_HEAD_SECONDS", 0.3)
    monkeypatch.setattr(limits, "HTTP_SEND_SECONDS", 0.3)
    with running(tmp_path / "memory.db", monkeypatch) as found:
        yield found


def read_all(caller: socket.socket) -> bytes:
    """Read until the other side closes or cuts the connection."""
    found = b""
    try:
        while piece := caller.recv(65_536):
            found += piece
    except ConnectionResetError:
        pass
    return found


@pytest.mark.parametrize("sent", [b"", b"GET /livez HT", b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b\r\n"])
def test_a_head_that_does_not_arrive_is_not_waited_for(server: Running, sent: bytes) -> None:
    with server.connect() as caller:
        caller.sendall(sent)
        assert read_all(caller) == b""


def test_a_second_head_that_does_not_arrive_is_not_waited_for(server: Running) -> None:
    with server.connect() as caller:
        caller.sendall(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /liv")
        answered = read_all(caller)
    assert answered.startswith(b"HTTP/1.1 200")
    assert answered.count(b"HTTP/1.1") == 1


def test_a_client_that_does_not_read_is_cut_off_and_others_are_served(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer_at_length(_: Credenda) -> str:
        return "x" * (32 << 20)  # more than any socket takes

    monkeypatch.setattr(Credenda, "stats", answer_at_length)
    monkeypatch.setattr(limits, "HTTP_HEAD_SECONDS", PATIENCE_SECONDS)  # the other waits for the first
    with server.connect(receive_bytes=4_096) as caller, server.connect() as other:
        caller.sendall(b"GET /v1/stats HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert caller.recv(12) == b"HTTP/1.1 200"
        begun = seconds()
        other.sendall(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert read_all(other).startswith(b"HTTP/1.1 200")
        while seconds() - begun < 1.0:  # long enough to be cut
            Event().wait(0.1)
        assert len(read_all(caller)) < 32 << 20


def test_connections_beyond_the_bound_are_told_to_come_back(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HTTP_CONNECTIONS", 1)
    monkeypatch.setattr(limits, "HTTP_HEAD_SECONDS", PATIENCE_SECONDS)
    with server.connect() as first, server.connect() as second:
        first.sendall(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert first.recv(12) == b"HTTP/1.1 200"
        second.sendall(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        head, _, body = read_all(second).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503")
    assert b"Retry-After: 1" in head
    assert json.loads(body)["code"] == "unavailable"


def test_a_slow_body_is_not_waited_for(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HTTP_READ_SECONDS", 0.3)
    head = b"POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    head += b"Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    with server.connect() as caller:
        caller.sendall(head)
        assert caller.recv(12) == b"HTTP/1.1 408"


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/search", "/mcp"])
def test_an_oversized_body_is_refused_at_every_door(tmp_path: Path, path: str) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START)) as site:
        body = b'{"content": "' + b"x" * limits.HTTP_BODY_BYTES + b'"}'
        assert site.send("POST", path, content=body, headers=MCP_HEADERS).status_code == 413

        def pieces() -> Iterator[bytes]:  # without a length
            for _ in range(5):
                yield b"x" * (1 << 20)

        assert site.send("POST", path, content=pieces(), headers=MCP_HEADERS).status_code == 413


def test_a_user_has_a_bound_over_all_tokens_and_each_token_one_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_BURST_SECONDS", 1.8e6)
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True, rate=1e-6) as site:
        tokens = [site.token("ana", name=f"t{number}") for number in range(5)]
        bob = site.token("bob")
        # a caller has a burst of 1.8, all callers of a user twice as much, and no permit comes back meanwhile
        first = [site.send("GET", "/v1/stats", tokens[0]).status_code for _ in range(3)]
        others = [site.send("GET", "/v1/stats", token).status_code for token in tokens[1:]]
        assert (first, others) == ([200, 429, 429], [200, 200, 429, 429])
        assert site.send("GET", "/v1/stats", bob).status_code == 200
