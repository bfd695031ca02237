"""Attacks on the audit: edits of every field and type, a chain made anew, names of pseudonyms, and hostile texts."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from credenda import Credenda
from credenda.current_call import add_model_use
from credenda.errors import Invalid
from credenda.interfaces.authorization import Principal
from credenda.interfaces.server import process
from credenda.interfaces.server.audit import Anchors, AuditLog, read_anchors
from credenda.interfaces.web.routes import Sessions
from credenda.model.server import AuditDraft
from credenda.storage.sql.server_rows import GENESIS, compute_hash, make_harmless, verify_chain, write_record
from credenda.testing import ManualClock

from .served import serving
from .terminal import Terminal

START = "2026-03-01T09:00:00Z"
KEY = b"k" * 32


def make_draft(number: int, **given: Any) -> AuditDraft:  # noqa: ANN401 - fields of a draft
    fields: dict[str, Any] = {"at_us": number, "request_id": f"r{number}", "status": 200, "duration_ms": 1.5}
    return AuditDraft(**{**fields, **given})


drafts = st.builds(
    make_draft,
    st.integers(0, 2**60),
    door=st.sampled_from(["rest", "mcp", ""]),
    operation=st.sampled_from(["search", "remember", ""]),
    ids=st.lists(st.sampled_from(["m1-000001", "e2-000001"]), max_size=3).map(tuple),
    status=st.sampled_from([0, 200, 401, 504]),
    code=st.sampled_from(["", "not_found"]),
    tokens_in=st.integers(0, 9),
    cost_usd=st.floats(0, 9),
    inputs=st.text(max_size=4),
)


def make_chain(calls: list[AuditDraft]) -> list[tuple[int, bytes | None, bytes | None]]:
    last, rows = GENESIS, list[tuple[int, bytes | None, bytes | None]]()
    for seq, draft in enumerate(calls, 1):
        record = write_record(draft, seq=seq, pseudonym="", input_key=KEY, name=str).encode()
        last = compute_hash(last, record)
        rows.append((seq, record, last))
    return rows


@pytest.mark.requirement("D-017", "R-203")
@given(st.lists(drafts, min_size=1, max_size=6), st.data())
def test_any_single_edit_of_any_record_is_found(calls: list[AuditDraft], data: st.DataObject) -> None:
    rows = make_chain(calls)
    head = (rows[-1][0], rows[-1][2])
    assert verify_chain(rows, head).ok
    place = data.draw(st.integers(0, len(rows) - 1))
    seq, record, stored = rows[place]
    assert record is not None
    fields = json.loads(record)
    field = data.draw(st.sampled_from(sorted(fields)))
    other = data.draw(st.one_of(st.none(), st.integers(), st.text(max_size=5), st.just([])))
    at = data.draw(st.integers(0, len(record) - 1))
    bit = 1 << data.draw(st.integers(0, 7))
    edited = json.dumps({**fields, field: other}, sort_keys=True, separators=(",", ":")).encode()
    flipped = record[:at] + bytes([record[at] ^ bit]) + record[at + 1 :]
    spoiled = [(seq, new, stored) for new in (edited, flipped, record + b" ", record[:-1], b"", None) if new != record]
    spoiled += [(seq, record, bad) for bad in (None, b"", bytes(32), GENESIS)]
    spoiled += [(number, record, stored) for number in (0, -seq, seq + 1, seq - 1)]
    for bad in spoiled:
        assert not verify_chain([*rows[:place], bad, *rows[place + 1 :]], head).ok
    assert not verify_chain([*rows[:place], *rows[place + 1 :]], head).ok
    assert not verify_chain([*rows[: place + 1], *rows[place:]], head).ok
    for wrong in ((head[0] - 1, head[1]), (head[0], GENESIS), (head[0], None), (0, GENESIS)):
        assert not verify_chain(rows, wrong).ok


@given(st.lists(drafts, min_size=2, max_size=6), st.data())
def test_a_chain_that_was_cut_or_made_anew_misses_an_anchor(calls: list[AuditDraft], data: st.DataObject) -> None:
    rows = make_chain(calls)
    anchors = [f"{seq}:{stored.hex()}" for seq, _, stored in rows if stored is not None]
    assert verify_chain(rows, (rows[-1][0], rows[-1][2]), anchors).ok
    cut = rows[: data.draw(st.integers(0, len(rows) - 1))]
    head = (cut[-1][0], cut[-1][2]) if cut else (0, GENESIS)
    assert verify_chain(cut, head).ok  # which is why heads are kept elsewhere
    assert not verify_chain(cut, head, anchors[-1:]).ok
    anew = make_chain([make_draft(1, code="forged"), *calls[1:]])
    assert not verify_chain(anew, (anew[-1][0], anew[-1][2]), anchors[:1]).ok


Tamper = Callable[[sqlite3.Connection], object]


def run(sql: str) -> Tamper:
    return lambda connection: connection.execute(sql)


def of_types(tamper: Tamper) -> Any:  # noqa: ANN401 - pytest has no public name for it
    """Name what only a column of SQLite takes, which holds values of any type."""
    return pytest.param(tamper, marks=pytest.mark.sqlite_file)


def shift(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE audit_records SET seq = -seq")
    connection.execute("UPDATE audit_records SET seq = -seq - 1")


@pytest.mark.parametrize(
    "tamper",
    [
        of_types(run("UPDATE audit_records SET record = CAST(record AS BLOB) WHERE seq = 2")),
        of_types(run("UPDATE audit_records SET hash = hex(hash) WHERE seq = 2")),
        of_types(run("UPDATE audit_records SET hash = 32 WHERE seq = 3")),
        run("UPDATE audit_records SET record = record || ' ' WHERE seq = 1"),
        run("INSERT INTO audit_records SELECT -1, record, hash FROM audit_records WHERE seq = 1"),
        run("INSERT INTO audit_records SELECT 0, record, hash FROM audit_records WHERE seq = 1"),
        run("DELETE FROM audit_head"),
        of_types(run("UPDATE audit_head SET hash = hex(hash)")),
        run("UPDATE audit_head SET hash = x'00'"),
        run("UPDATE audit_subjects SET user_id = 'eva'"),
        run("UPDATE audit_subjects SET input_key = x'00'"),
        run("UPDATE audit_subjects SET pseudonym = pseudonym || '0'"),
        run("UPDATE audit_names SET name = 'other'"),
        run("UPDATE audit_names SET user_id = 'bob'"),
        shift,
    ],
)
def test_edits_of_types_numbers_and_names_are_found_in_the_database(tmp_path: Path, tamper: Tamper) -> None:
    terminal = Terminal(tmp_path)
    with Credenda.open(terminal.db, user="ana", workers=False) as memory:
        memory.remember("I live in Linz.")
        audit = memory._parts.store.audit  # noqa: SLF001 - what a server appends to
        audit.append_audit([make_draft(1, user="ana", actor="desk"), make_draft(2, user="ana"), make_draft(3)])
    assert terminal.json("audit", "verify")["records"] == 3
    with closing(sqlite3.connect(terminal.db)) as connection:
        tamper(connection)
        connection.commit()
    assert terminal.json("audit", "verify", code=7)["problem"]


def test_two_processes_append_to_one_chain(tmp_path: Path) -> None:
    with (
        Credenda.open(tmp_path / "memory.db", user="ana", workers=False) as first,
        Credenda.open(tmp_path / "memory.db", user="bob", workers=False) as second,
    ):

        def append(memory: Credenda) -> None:
            for number in range(40):
                memory._parts.store.audit.append_audit([make_draft(number)] * 3)  # noqa: SLF001 - as above

        threads = [Thread(target=append, args=(memory,)) for memory in (first, second) for _ in range(2)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        report = first._parts.store.audit.verify_audit()  # noqa: SLF001 - as above
    assert (report.ok, report.records) == (True, 2 * 2 * 40 * 3)


# What a record says, and of whom


class _Person:
    """An issuer of identities whose subjects are names of people."""

    async def identify(self, _: object) -> Principal:
        return Principal(
            issuer="https://id.example",
            subject="ana@example.org",
            tenant="ana",
            scopes=frozenset({"memory:read", "memory:write"}),
            client="<b>desk</b>",
        )


def make_access(*_: object) -> process._Access:  # pyright: ignore[reportPrivateUsage] - in place of another issuer
    identify = _Person().identify
    return process._Access(identify=identify, sessions=Sessions(identify))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - as above


def read_records(terminal: Terminal) -> list[dict[str, Any]]:
    return [json.loads(line) for line in terminal.text("audit", "export").splitlines()]


@pytest.mark.requirement("D-018")
def test_people_and_agents_have_pseudonyms_whose_names_an_erasure_deletes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("credenda.interfaces.server.process._make_access", make_access)
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        site.token("ana")
        site.send("POST", "/v1/memories", json={"content": "I live in Linz.", "agent": "Anas Schreibtisch"})
    terminal = Terminal(tmp_path)
    shown = read_records(terminal)[0]
    assert (shown["principal"], shown["actor"]) == ("https://id.example:ana@example.org", "Anas Schreibtisch")
    assert shown["record"]["client"] == "_b_desk_/b_"
    text = json.dumps(shown["record"])
    assert not [name for name in ("ana@", "Schreibtisch", '"ana"') if name in text]
    guesses = [hashlib.sha256(name.encode()).hexdigest()[:16] for name in ("ana", "erased-ana", "Anas Schreibtisch")]
    assert not [guess for guess in guesses if guess in text]  # no name is found by hashing guesses
    with Credenda.open(terminal.db, user="ana", workers=False) as memory:
        assert memory.erase(confirm="ana").remaining_matches == 0
    anonymous = read_records(terminal)[0]
    assert (anonymous["user"], anonymous["actor"]) == (None, None)
    assert anonymous["record"] == shown["record"]
    assert terminal.json("audit", "verify")["ok"]
    assert b"Schreibtisch" not in terminal.db.read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        " =1",
        "a\r\nb",
        "\x1b[31m",
        "<script>x</script>",
        "a\u202eb",
        "[x](y)",
        "`id`",
        "x" * 999,
    ],
)
def test_free_text_is_harmless_in_terminals_tables_and_pages(text: str) -> None:
    shown = make_harmless(text)
    assert len(shown) <= 128
    assert not shown.startswith(("=", "+", "-", "@", " "))
    assert not [sign for sign in shown if sign in "<>&\"'`[]()|=" or not sign.isprintable()]


def test_texts_of_callers_are_neutralised_in_every_field(tmp_path: Path) -> None:
    hostile = "=cmd|'/C calc'!A1\x1b<img src=x>"
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False) as memory:
        memory.remember("I live in Linz.")
        audit = memory._parts.store.audit  # noqa: SLF001 - as above
        texts = dict.fromkeys(("request_id", "client", "door", "operation", "scope", "code", "issuer"), hostile)
        audit.append_audit([make_draft(1, user="ana", subject=hostile, actor=hostile, ids=(hostile,), **texts)])
    line = Terminal(tmp_path).text("audit", "export")
    assert not [part for part in ("=cmd", "|'", "<img", "\\u001b", "\x1b") if part in line]


@pytest.mark.requirement("R-197")
def test_failures_time_outs_and_refusals_have_records_with_what_models_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(_: Credenda) -> None:
        add_model_use(70, 7, 0.25)
        raise RuntimeError("Zanzibar")

    monkeypatch.setattr(Credenda, "stats", break_down)
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True, rate=0.001) as site:
        token, other = site.token("ana"), site.token("bob")
        assert site.send("GET", "/v1/stats", token, headers={"User-Agent": "robot/2.0 (Anas Mac)"}).status_code == 500
        assert site.send("GET", "/v1/stats", token).status_code == 429
        assert site.send("GET", "/v1/memories", other, headers={"Origin": "https://evil.example"}).status_code == 403
    fields = [one["record"] for one in read_records(Terminal(tmp_path))]
    assert [(one["status"], one["outcome"], one["code"]) for one in fields] == [
        (500, "failed", "internal"),
        (429, "limited", "rate_limited"),
        (403, "denied", "forbidden"),
    ]
    assert (fields[0]["tokens_in"], fields[0]["tokens_out"], fields[0]["cost_usd"]) == (70, 7, 0.25)
    assert fields[0]["client"] == "robot/2.0"
    assert fields[0]["duration_ms"] >= 0
    assert "Zanzibar" not in json.dumps(fields)


# Anchors


def test_the_first_head_of_a_day_and_the_last_one_are_anchored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, day = tmp_path / "anchors.jsonl", 86_400_000_000
    heads = [f"{number}:{number:064x}" for number in range(5)]
    anchors = Anchors(path)
    with caplog.at_level(logging.INFO):
        for head, now_us in zip(heads, (1, 2, day - 1, day, day + 1), strict=True):
            anchors.note(head, now_us)
        anchors.close(day + 2)
        anchors.close(day + 3)
    assert read_anchors(path) == [heads[0], heads[3], heads[4]]
    assert path.stat().st_mode & 0o777 == 0o600
    assert [json.loads(one.getMessage())["audit_head"] for one in caplog.records] == [heads[0], heads[3], heads[4]]


def test_an_anchor_that_cannot_be_written_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "later" / "anchors.jsonl"
    anchors = Anchors(path)
    anchors.note(f"1:{'a' * 64}", 1)
    path.parent.mkdir()
    anchors.note(f"2:{'b' * 64}", 2)
    assert read_anchors(path) == [f"2:{'b' * 64}"]


def test_verification_reads_the_anchors_of_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "anchors.jsonl"
    monkeypatch.setenv("CREDENDA_AUDIT_ANCHOR_FILE", str(path))
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        for _ in range(3):
            site.send("GET", "/v1/stats", site.token("ana"))
    terminal = Terminal(tmp_path)
    assert terminal.json("audit", "verify")["ok"]
    with closing(sqlite3.connect(terminal.db)) as connection:
        connection.execute("DELETE FROM audit_records")
        connection.execute("DELETE FROM audit_head")
        connection.commit()
    assert terminal.json("audit", "verify", "--anchors", "")["ok"]
    assert "anchor" in terminal.json("audit", "verify", code=7)["problem"]
    path.write_text(path.read_text()[:-9])
    assert "no anchor" in terminal.error("audit", "verify", code=2)
    with pytest.raises(Invalid, match="cannot be read"):
        read_anchors(tmp_path / "none")


# The queue


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=5)
@given(st.integers(1, 50))
def test_calls_beyond_the_queue_share_a_record_that_counts_them(monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    monkeypatch.setattr("credenda.limits.AUDIT_WAITING", 10)
    monkeypatch.setattr("credenda.limits.AUDIT_STRANGERS", 0)  # the record that counts is written at the end alone
    monkeypatch.setattr("credenda.interfaces.server.audit._RETRY_SECONDS", 0.001)
    taken: list[AuditDraft] = []

    class Store:
        is_stuck = True

        def append_audit(self, drafts: list[AuditDraft]) -> str:
            if self.is_stuck:
                raise Invalid("stuck")
            taken.extend(drafts)
            return f"1:{'0' * 64}"

    store: Any = Store()
    log = AuditLog(store, ManualClock(START), Anchors(None))
    for number in range(20 + more):
        log.add(make_draft(number, status=503, code="unavailable"))
    assert log.is_full
    assert log.waiting == 20
    store.is_stuck = False
    log.close()
    assert [one.count for one in taken] == [1] * 20 + [more]
    assert (taken[-1].status, taken[-1].code) == (503, "unavailable")


@pytest.mark.parametrize(("tokens", "audit", "records"), [(False, None, 0), (False, True, 1), (True, False, 0)])
def test_an_audit_without_tokens_is_asked_for(tmp_path: Path, tokens: bool, audit: bool | None, records: int) -> None:  # noqa: FBT001 - the choices
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=tokens, audit=audit) as site:
        site.send("GET", "/v1/stats")
    terminal = Terminal(tmp_path)
    assert terminal.json("audit", "verify")["records"] == records
    assert all(one["record"]["principal"].startswith("local:p-") for one in read_records(terminal))
