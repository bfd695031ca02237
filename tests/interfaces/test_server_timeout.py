"""A call that takes too long is answered with 504, and its work stops: reads are interrupted, writes do not begin."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from credenda import Credenda
from credenda.current_call import allow_stop, check_deadline, has_deadline, is_over, limit_duration
from credenda.errors import Unavailable
from credenda.interfaces.server.address import Address
from credenda.interfaces.server.process import Plan
from credenda.storage.postgres.connections import Scope
from credenda.storage.postgres.store import PostgresStore
from credenda.storage.sqlite.store import SqliteStore
from credenda.testing import ManualClock
from tests.waiting import PATIENCE_SECONDS

from .served import serving

START = "2026-03-01T09:00:00Z"
CALL_SECONDS = 4.0  # enough to open the memory on a busy machine
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


class Slow:
    """Takes the place of operations, and notes how their work ended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ended = Event()
        self.error: Exception | None = None
        self._remember = Credenda.remember

        def stats(memory: Credenda) -> object:
            return self._note(self._read_endlessly, memory)

        def remember(memory: Credenda, content: str, **given: Any) -> object:  # noqa: ANN401 - as `remember`
            return self._late(memory, content, given)

        monkeypatch.setattr(Credenda, "stats", stats)
        monkeypatch.setattr(Credenda, "remember", remember)

    def _note(self, work: Any, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - any work
        try:
            return work(*given, **named)
        except Exception as error:
            self.error = error
            raise
        finally:
            self.ended.set()

    def _read_endlessly(self, memory: Credenda) -> object:
        store = memory._parts.store  # noqa: SLF001 - a statement that no operation has
        if isinstance(store, PostgresStore):
            with store._connections.transaction(Scope("ana")) as session:  # noqa: SLF001 - as above
                return session.execute(ENDLESS).fetchone()
        assert isinstance(store, SqliteStore)
        with store._readers.take() as connection:  # noqa: SLF001 - as above
            return connection.execute(ENDLESS).fetchone()

    def _late(self, memory: Credenda, content: str, given: dict[str, Any]) -> Any:  # noqa: ANN401 - as `remember`
        def wait_and_remember() -> object:
            while not is_over():
                Event().wait(0.01)
            return self._remember(memory, content, **given)

        return self._note(wait_and_remember)


@pytest.mark.requirement("R-196", "R-198")
def test_a_read_beyond_its_time_is_interrupted_and_answered_with_504(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert Plan(address=Address()).call_seconds == 30.0
    slow = Slow(monkeypatch)
    with (
        caplog.at_level(logging.INFO),
        serving(tmp_path / "memory.db", ManualClock(START), tokens=True, call_seconds=CALL_SECONDS) as site,
    ):
        token = site.token("ana")
        answered = site.send("GET", "/v1/stats", token)
        assert (answered.status_code, answered.json()["code"]) == (504, "TOOL_TIMEOUT")
        assert answered.headers["content-type"] == "application/problem+json"
        assert slow.ended.wait(PATIENCE_SECONDS), "the call has not ended"
        assert isinstance(slow.error, Unavailable)
        assert site.send("GET", "/v1/stats").status_code == 401
    lines = [json.loads(one.getMessage()) for one in caplog.records if one.name == "credenda.server.requests"]
    assert [(one["status"], "caller" in one) for one in lines] == [(504, True), (401, False)]


def test_a_write_beyond_its_time_does_not_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch)
    with serving(tmp_path / "memory.db", ManualClock(START), call_seconds=CALL_SECONDS) as site:
        answered = site.send("POST", "/v1/memories", json={"content": "I live in Linz."})
        assert answered.status_code == 504
        assert slow.ended.wait(PATIENCE_SECONDS), "the call has not ended"
        assert isinstance(slow.error, Unavailable)
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False) as memory:
        assert memory.list(status=None).items == ()
        assert memory._parts.store.users(limit=1) == []  # noqa: SLF001 - nothing was written at all


def test_a_tool_beyond_its_time_is_stopped_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch)
    with serving(tmp_path / "memory.db", ManualClock(START), call_seconds=CALL_SECONDS) as site:
        assert site.tool("get_memory_stats", {}).status_code == 504
        assert slow.ended.wait(PATIENCE_SECONDS), "the call has not ended"
        assert isinstance(slow.error, Unavailable)


def test_a_deadline_holds_inside_its_block_alone() -> None:
    assert not has_deadline()
    check_deadline()
    with limit_duration(60.0):
        check_deadline()
        with limit_duration(-1.0), pytest.raises(Unavailable, match="too long"):
            check_deadline()
        check_deadline()
    assert not has_deadline()


def test_a_stop_holds_inside_its_block_and_reaches_it_from_outside() -> None:
    with allow_stop() as stop:
        check_deadline()
        stop.set()
        with pytest.raises(Unavailable, match="cancelled"):
            check_deadline()
    check_deadline()
    assert not has_deadline()
