"""Watching a server: the probe, the figures of /metrics, and `credenda doctor --server`."""

from __future__ import annotations

import json
import logging
import ssl
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest

from credenda import Credenda, Invalid, Unavailable, restore_backup
from credenda.bootstrap import PROBE_USER, build_parts
from credenda.clock import SystemClock
from credenda.interfaces.authorization import SCOPES
from credenda.interfaces.cli.server_commands import check_server
from credenda.interfaces.server.metrics import Probe
from credenda.model.server import ServerReport
from credenda.services.access import issue_token
from credenda.testing import ManualClock
from tests.waiting import await_that

from .certificates import write_certificate
from .running import Running, running
from .terminal import Terminal

START = "2026-03-01T09:00:00Z"


def results(report: ServerReport) -> dict[str, bool | None]:
    return {one.check: one.ok for one in report.checks}


def describe(report: ServerReport) -> dict[str, str]:
    return {one.check: "; ".join(filter(None, (one.detail, one.fix))) for one in report.checks}


def wait_for_probe(server: Running) -> ServerReport:
    await_that(lambda: results(check_server(server.url)).get("probe") is not None, "the first probe")
    return check_server(server.url)


def test_a_server_writes_reads_and_finds_a_message_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path / "memory.db", monkeypatch, workers=True, probe_seconds=0.05) as server:
        report = wait_for_probe(server)
        assert report.ok, report
        assert [one.check for one in report.checks] == [
            "livez",
            "oldest unread message",
            "readyz",
            "version",
            "token",
            "clock",
            "probe",
        ]
        assert all(one.ok for one in report.checks)
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False) as memory:
        assert memory.stats().events == 0
        assert memory._parts.store.users(limit=9) == [PROBE_USER]  # noqa: SLF001 - all users


def test_a_probe_that_nobody_reads_fails_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("credenda.interfaces.server.metrics._READ_SECONDS", 0.1)
    with (
        caplog.at_level(logging.WARNING),
        running(tmp_path / "memory.db", monkeypatch, probe_seconds=0.05) as server,
    ):
        report = wait_for_probe(server)
    assert (report.ok, results(report)["probe"]) == (False, False)
    assert (report.oldest_unread_seconds or 0) > 0
    assert "the probe failed: the message was not read" in caplog.text


def test_the_user_of_the_probe_is_nobody_else_and_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credenda.interfaces.server.metrics._EVENTS_MAX", 2)
    with pytest.raises(Invalid, match="reserved"):
        Credenda.open(tmp_path / "memory.db", user=PROBE_USER)
    parts = build_parts(tmp_path / "memory.db", user="ana", settings={"embedder": "none"})
    with Credenda(parts, workers=False) as ana:
        with pytest.raises(Invalid, match="reserved"):
            ana.for_user(PROBE_USER)
        ana.remember("I live in Linz.")
        probe = Probe(parts, Event(), 60.0)
        with Credenda(probe._parts, workers=True) as memory:  # noqa: SLF001 - as its thread does
            for _ in range(3):
                probe.run_once(memory)
                assert probe.last is not None
                assert probe.last.ok
            assert memory.stats().events == 1
        assert ana.stats().events == 1
        assert ana.data.backup(tmp_path / "copy.db").users == 1
        assert restore_backup(tmp_path / "copy.db", tmp_path / "again.db").users == 1


def test_a_message_that_waits_too_long_is_the_first_thing_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock(START)
    path = tmp_path / "memory.db"
    with Credenda.open(path, user="bob", workers=False, clock=clock) as bob:
        bob.remember("I live in Linz.")
        clock.advance(timedelta(minutes=10))
        assert bob.stats().oldest_unread_seconds == 600
        assert bob.data.doctor().oldest_unread_seconds == 600
        bob.settle()
        assert bob.stats().oldest_unread_seconds == 0
        bob.remember("I work in Graz.")
    with running(path, monkeypatch, probe_seconds=0) as server:
        report = check_server(server.url, SystemClock())
    assert (report.ok, results(report)["oldest unread message"]) == (False, False)
    assert describe(report)["probe"] == "none runs; set probe_seconds for the server"
    terminal = Terminal(tmp_path, user="bob")
    assert next(iter(terminal.json("stats"))) == "oldest_unread_seconds"
    assert next(iter(terminal.json("doctor"))) == "oldest_unread_seconds"
    assert terminal.text("stats").startswith("oldest unread")
    assert terminal.text("doctor").startswith("Oldest unread message:")


def test_a_token_decides_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.db"
    parts = build_parts(path, user="ana", settings={"embedder": "none"})
    reader, admin = (
        issue_token(parts, name, scopes=scopes, allowed=SCOPES, expires="never").token
        for name, scopes in (("reader", ["memory:read"]), ("admin", list(SCOPES)))
    )
    parts.release()
    with running(path, monkeypatch, tokens=True, workers=True, probe_seconds=0) as server:
        found: dict[str, ServerReport] = {}
        for token in ("", "credenda_wrong", reader, admin):
            monkeypatch.setenv("CREDENDA_TOKEN", token)
            found[token] = check_server(server.url)
        monkeypatch.setenv("CREDENDA_TOKEN", admin)
        shown = Terminal(tmp_path).run("doctor", "--server", server.url)
        clock = ManualClock("2020-01-01T00:00:00Z")
        late = check_server(server.url, clock)
    assert {token: results(report)["token"] for token, report in found.items()} == {
        "": False,
        "credenda_wrong": False,
        reader: True,
        admin: True,
    }
    assert [found[token].ok for token in found] == [False, False, True, True]
    assert found[""].oldest_unread_seconds is None
    for token in ("", "credenda_wrong"):
        told = describe(found[token])
        assert told["probe"] == told["oldest unread message"] == "not shown; give a valid token in CREDENDA_TOKEN"
    assert describe(found[reader])["probe"] == "not shown; use a token with the scope memory:admin"
    assert found[reader].oldest_unread_seconds == 0
    assert admin not in shown.output + repr(list(found.values()))
    assert "No problem was found." in shown.stdout
    assert results(late)["clock"] is False


def test_a_server_in_its_first_seconds_has_no_probe_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path / "memory.db", monkeypatch) as server:
        assert describe(check_server(server.url))["probe"] == "there was none yet"


def test_a_server_that_fails_blames_no_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path / "memory.db", monkeypatch) as server:
        monkeypatch.setattr("credenda.services.stats.count_stats", fail)
        monkeypatch.setattr("credenda.services.settle.measure_oldest_unread", fail)
        report = check_server(server.url)
    told = describe(report)
    assert report.ok is False
    assert told["token"] == "the answer was 503"
    assert told["oldest unread message"] == "not shown: the answer was 503; look at the log of the server"
    assert told["probe"] == "there was none yet"


def fail(*_: object) -> None:
    raise Unavailable("the database is away")


def test_a_certificate_that_is_not_trusted_is_named(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*write_certificate(tmp_path))
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.handle_request)
        thread.start()
        told = describe(check_server(f"https://127.0.0.1:{server.server_port}"))["livez"]
        thread.join()
    assert told.startswith("TLS: self-signed certificate; ")
    assert told.endswith("in SSL_CERT_FILE")


def test_a_server_that_is_not_there_is_told_with_exit_code_7(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    told = terminal.json("doctor", "--server", "http://127.0.0.1:1", code=7)
    assert [(one["check"], one["ok"]) for one in told["checks"]] == [("livez", False)]
    assert not terminal.db.exists()
    assert "not the address" in terminal.error("doctor", "--server", "memory", code=2)
    assert "exclude" in terminal.error("doctor", "--server", "http://127.0.0.1:1", "--repair", code=2)
    assert json.dumps(told)
