"""The audit: a record of every call in every outcome, in a chain that shows every change, and no words of anybody."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda, limits
from credenda.errors import Unavailable
from credenda.interfaces.server.audit import Anchors, AuditLog
from credenda.model.server import AuditDraft
from credenda.storage.sql.server_rows import GENESIS, compute_hash, verify_chain
from credenda.testing import ManualClock

from .served import Site, serving
from .terminal import Terminal

START = "2026-03-01T09:00:00Z"
WORD = "Zanzibar"


def live(site: Site) -> str:
    """Make a call of every outcome, and return the token of ana."""
    token, reader = site.token("ana"), site.token("bob", ["memory:read"])
    site.send("POST", "/v1/memories", token, json={"content": f"I live in {WORD}."}, headers={"X-Request-ID": "r1"})
    site.settle()
    memory = site.send("GET", "/v1/memories", token).json()["items"][0]["id"]
    site.send("GET", f"/v1/memories/{memory}/why", token)
    site.tool("search_memories", {"query": WORD}, token)
    site.tool("delete_memory", {"memory_id": "m1-000000"}, token)
    site.tool("pin_memory", {"memory_id": memory}, reader)
    site.send("POST", "/v1/memories", reader, json={"content": WORD})
    site.send("POST", "/v1/memories", token, content=b"{", headers={"Content-Type": "application/json"})
    site.send("GET", "/v1/stats")
    site.send("GET", "/v1/nothing", token)
    site.send("GET", "/livez")
    return token


EXPECTED = [
    ("rest", "remember", 202, ""),
    ("rest", "list", 200, ""),
    ("rest", "why", 200, ""),
    ("mcp", "search", 200, ""),
    ("mcp", "delete", 200, "not_found"),
    ("mcp", "pin", 200, "forbidden"),
    ("rest", "remember", 403, "forbidden"),
    ("rest", "remember", 400, "invalid"),
    ("", "", 401, "unauthenticated"),
    ("", "", 404, "not_found"),
]


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        live(site)
    return Terminal(tmp_path)


def records(terminal: Terminal) -> list[dict[str, Any]]:
    return [json.loads(line) for line in terminal.text("audit", "export").splitlines()]


@pytest.mark.requirement("R-197", "R-199")
def test_every_call_has_a_record_and_none_holds_a_word(terminal: Terminal) -> None:
    found = records(terminal)
    fields = [one["record"] for one in found]
    assert [(one["door"], one["operation"], one["status"], one["code"]) for one in fields] == EXPECTED
    assert [one["user"] for one in found] == ["ana"] * 5 + ["bob"] * 2 + ["ana", None, "ana"]
    assert fields[0]["request_id"] == "r1"
    assert fields[1]["ids"] == fields[5]["ids"] != []
    assert {name[0] for name in fields[0]["ids"]} == {"j", "e"}
    assert set(fields[1]["ids"]) < set(fields[2]["ids"])
    assert fields[1]["ids"][0] in fields[3]["ids"]
    assert {one["scope"] for one in fields} == {"memory:write", "memory:read", "memory:review", ""}
    assert fields[0]["inputs_hash"] != fields[3]["inputs_hash"]
    assert all(one["principal"].startswith("local:p-") for one in fields if one["operation"])
    assert all(one["credential"].startswith("token:") for one in fields if one["operation"])
    assert [one["outcome"] for one in fields] == ["ok"] * 4 + [
        "failed",
        "denied",
        "denied",
        "failed",
        "denied",
        "failed",
    ]
    assert not [word for word in (WORD.casefold(), "ana") if word in json.dumps(fields).casefold()]


def test_a_record_names_every_row_that_an_answer_showed(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        token = site.token("ana")
        for text in ("I live in Linz.", "I'm allergic to penicillin.", "We deploy on Fridays."):
            site.send("POST", "/v1/memories", token, json={"content": text, "session": "talk"})
        site.settle()
        shown = [
            site.send("POST", "/v1/context", token, json={"query": "When do we deploy?"}).text,
            site.send("GET", "/v1/core", token).text,
            site.send("GET", "/v1/session", token, params={"session": "talk"}).text,
        ]
    named = {one["record"]["operation"]: one["record"]["ids"] for one in records(Terminal(tmp_path))}
    for operation, answer in zip(("context", "core", "session"), shown, strict=True):
        assert set(re.findall(r"\b[em][0-9]+-[0-9a-f]{6}\b", answer)) == {
            name for name in named[operation] if name[0] in "em"
        }
        assert len(named[operation]) > 1


@pytest.mark.requirement("R-203", "D-017")
def test_the_chain_covers_every_field_and_begins_at_a_fixed_hash(terminal: Terminal) -> None:
    before = GENESIS
    assert before == sha256(b"\0").digest()
    for one in records(terminal):
        text = json.dumps(one["record"], sort_keys=True, separators=(",", ":"))
        before = compute_hash(before, text.encode())
        assert one["hash"] == before.hex()
    report = terminal.json("audit", "verify")
    assert report == {"ok": True, "records": len(EXPECTED), "head": f"{len(EXPECTED)}:{before.hex()}", "problem": ""}
    assert "all in order" in terminal.text("audit", "verify", "--anchor", report["head"])


def change(sql: str) -> Callable[[sqlite3.Connection], object]:
    return lambda connection: connection.execute(sql)


@pytest.mark.requirement("D-017")
@pytest.mark.parametrize(
    "tamper",
    [
        change("UPDATE audit_records SET record = replace(record, '404', '200') WHERE seq = 10"),
        change("UPDATE audit_records SET record = replace(record, 'remember', 'stats') WHERE seq = 1"),
        change("UPDATE audit_records SET hash = x'" + "00" * 32 + "' WHERE seq = 4"),
        change("DELETE FROM audit_records WHERE seq = 1"),
        change("DELETE FROM audit_records WHERE seq = 5"),
        change("DELETE FROM audit_records WHERE seq = 10"),
        change("DELETE FROM audit_records"),
        change("UPDATE audit_records SET seq = 11 WHERE seq = 10"),
        change("INSERT INTO audit_records SELECT 11, record, hash FROM audit_records WHERE seq = 10"),
    ],
)
def test_an_edit_a_gap_another_order_and_a_missing_end_are_found(
    terminal: Terminal, tamper: Callable[[sqlite3.Connection], object]
) -> None:
    with closing(sqlite3.connect(terminal.db)) as connection:
        tamper(connection)
        connection.commit()
    assert terminal.json("audit", "verify", code=7)["problem"]


def test_a_chain_that_was_made_anew_does_not_lead_through_an_anchor(terminal: Terminal) -> None:
    head = terminal.json("audit", "verify")["head"]
    rows = [(1, b'{"seq":1}', compute_hash(GENESIS, b'{"seq":1}'))]
    forged = verify_chain(rows, (1, rows[0][2]), [head])
    assert (forged.ok, forged.problem) == (False, f"the chain does not lead through the anchor {head}")
    assert verify_chain(rows, (1, rows[0][2])).ok


def test_a_mistyped_anchor_is_no_sign_of_tampering(terminal: Terminal) -> None:
    assert "an anchor is SEQ:HASH" in terminal.error("audit", "verify", "--anchor", "foo", code=2)


@pytest.mark.requirement("R-204")
def test_erasing_a_user_leaves_the_records_and_takes_the_name_away(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        token = live(site)
        erased = site.send("DELETE", "/v1/me", token, json={"confirm": "ana"}).json()
        assert erased["remaining_matches"] == 0
    terminal = Terminal(tmp_path)
    assert terminal.json("audit", "verify")["records"] == len(EXPECTED) + 1
    assert {one["user"] for one in records(terminal)} == {"bob", None}
    with closing(sqlite3.connect(terminal.db)) as connection:
        assert connection.execute("SELECT user_id FROM audit_subjects").fetchall() == [("bob",)]


def draft(number: int) -> AuditDraft:
    return AuditDraft(
        at_us=number,
        request_id=f"r{number}",
        door="rest",
        operation="stats",
        scope="memory:read",
        status=200,
        duration_ms=1.0,
    )


class _Store:
    """Takes records, after it has failed a few times."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.taken: list[str] = []
        self.counts: list[int] = []

    def append_audit(self, drafts: list[AuditDraft]) -> str:
        if self.failures:
            self.failures -= 1
            raise Unavailable("busy")
        self.taken += [one.request_id for one in drafts]
        self.counts += [one.count for one in drafts]
        return f"{len(self.taken)}:{'0' * 64}"


def test_records_that_cannot_be_written_wait_and_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credenda.interfaces.server.audit._RETRY_SECONDS", 0.01)
    store: Any = _Store(failures=3)
    log = AuditLog(store, ManualClock(START), Anchors(None))
    for number in range(600):
        log.add(draft(number))
    while store.failures:
        log.add(draft(600 + store.failures))
    log.close()
    log.close()
    assert store.taken[:600] == [f"r{number}" for number in range(600)]


def test_a_full_queue_refuses_calls_so_that_none_goes_unrecorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        token = site.token("ana")
        monkeypatch.setattr(AuditLog, "is_full", True)
        refused = site.send("GET", "/v1/stats", token)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert site.send("GET", "/livez").status_code == 200


def test_a_server_without_tokens_keeps_no_records(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START)) as site:
        site.send("GET", "/v1/stats")
    assert Terminal(tmp_path).json("audit", "verify")["records"] == 0
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False) as memory:
        assert memory.stats().events == 0


def test_a_user_reads_the_records_of_the_own_memory_in_pages(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        token = live(site)
        assert site.send("GET", "/v1/audit", site.token("ana", ["memory:read"])).status_code == 403
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        seen, cursor = list[Any](), ""
        while cursor is not None:
            page = site.send("GET", "/v1/audit", token, params={"limit": 2, **({"cursor": cursor} if cursor else {})})
            seen += page.json()["items"]
            cursor = page.json()["next_cursor"]
        read = [(one["fields"]["operation"], one["fields"]["status"]) for one in seen]
        statuses = [("remember", 202), ("list", 200), ("why", 200), ("search", 200), ("delete", 200), ("remember", 400)]
        assert read[: len(statuses)] == statuses
        assert len({one["fields"]["user"] for one in seen}) == 1
        assert site.send("GET", "/v1/audit", site.token("eva")).json()["items"] == []
        assert site.send("GET", "/v1/audit", token, params={"cursor": "x"}).status_code == 404


def test_a_flood_without_a_token_is_counted_and_not_listed() -> None:
    store: Any = _Store(failures=0)
    log = AuditLog(store, ManualClock(START), Anchors(None))
    count = 20 * limits.AUDIT_STRANGERS
    for number in range(count):
        log.add(replace(draft(number), user="", status=401))
        log.add(replace(draft(count + number), user="ana"))
    log.close()
    assert len(store.taken) < count + 2 * limits.AUDIT_STRANGERS
    assert sum(store.counts) == 2 * count, "every call is accounted for"


def test_a_tool_that_does_not_exist_is_recorded_as_a_failure(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        site.tool("rob_memory", {}, site.token("ana"))
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False) as memory:
        assert [one.fields["code"] for one in memory.data.audit().items] == ["not_found"]
