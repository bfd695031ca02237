"""Archives that are not what they say: refused with the line at fault, and nothing of them stays."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from credenda import Conflict, Corrupt, Credenda, Invalid, MemoryUnit, NotFound
from credenda.portability import sources as portability_lines
from credenda.testing import ManualClock

Row = dict[str, Any]
Change = Callable[[list[Row]], object]
LONG = "\n\n".join(" ".join(f"{name}{turn}" for turn in range(150)) + "." for name in ("alpha", "beta"))


@pytest.fixture
def archive(tmp_path: Path, clock: ManualClock) -> Path:
    path = tmp_path / "whole.jsonl"
    with Credenda.open(tmp_path / "source.db", user="ana", clock=clock, embedder="hashed", workers=False) as mem:
        mem.remember("I live in Linz.", session="s")
        mem.remember(LONG)
        mem.store(MemoryUnit(text="Likes tea", entity="user", attribute="drink", value="tea"))
        mem.settle()
        mem.data.export(path)
    return path


@pytest.fixture
def empty(tmp_path: Path, clock: ManualClock) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "target.db", user="ana", clock=clock, workers=False) as mem:
        yield mem


@pytest.mark.parametrize("sign", range(120), ids=str)
def test_a_flipped_bit_of_the_header_is_never_another_format(archive: Path, empty: Credenda, sign: int) -> None:
    data = bytearray(archive.read_bytes())
    data[sign] ^= 1
    archive.write_bytes(data)
    with pytest.raises((Corrupt, Conflict)):
        empty.data.import_(archive)
    assert empty.stats().events == 0


def altered(path: Path, change: Change) -> Path:
    """Alter the lines of an archive and give it an end that fits them again, as somebody with bad intent would."""
    tables: list[Row] = [json.loads(line) for line in path.read_text("utf-8").splitlines()][:-1]
    change(tables)
    body = b"".join(json.dumps(table, ensure_ascii=False).encode() + b"\n" for table in tables)
    counts: dict[str, int] = {}
    for table in tables[1:]:
        name = str(table.get("table"))
        counts[name] = counts.get(name, 0) + 1
    end = {"end": {"rows": counts, "sha256": hashlib.sha256(body).hexdigest()}}
    other = path.with_name("altered.jsonl")
    other.write_bytes(body + json.dumps(end).encode())
    return other


def first(tables: list[Row], name: str) -> Row:
    row: Row = next(table["row"] for table in tables if table.get("table") == name)
    return row


def holds_nothing(mem: Credenda) -> bool:
    stats = mem.stats()
    return not (stats.events or stats.memories or stats.changes or stats.jobs or stats.vectors) and mem.data.doctor().ok


def test_an_archive_written_anew_with_the_right_end_is_taken(archive: Path, empty: Credenda) -> None:
    assert empty.data.import_(altered(archive, lambda _: None)).turns == 3


def test_an_archive_cut_off_anywhere_leaves_nothing_behind(archive: Path, empty: Credenda, tmp_path: Path) -> None:
    text = archive.read_bytes()
    ends = [place + 1 for place, sign in enumerate(text) if sign == ord("\n")]
    cut = tmp_path / "cut.jsonl"
    for place in (*ends[:-1], ends[1] + 9, ends[-2] + 9):
        cut.write_bytes(text[:place])
        with pytest.raises(Corrupt, match=r"line \d+"):
            empty.data.import_(cut, format="credenda")
        assert empty.stats().events == 0
    assert holds_nothing(empty)
    empty.data.import_(archive)


def test_a_line_that_is_not_json_is_named(archive: Path, empty: Credenda, tmp_path: Path) -> None:
    broken = archive.read_bytes().splitlines(keepends=True)
    broken[4] = b'{"row": oops}\n'
    (tmp_path / "broken.jsonl").write_bytes(b"".join(broken))
    with pytest.raises(Corrupt, match="line 5 ") as caught:
        empty.data.import_(tmp_path / "broken.jsonl")
    assert caught.value.ids["line"] == "5"
    assert holds_nothing(empty)


@pytest.mark.parametrize(
    "line", [b"[1]", b"7", b'{"table":"events"}', b'{"row":{},"table":7}', b'"\xff"', b"[" * 9_999]
)
def test_lines_that_are_no_rows_are_named(archive: Path, empty: Credenda, line: bytes) -> None:
    broken = archive.read_bytes().splitlines(keepends=True)
    archive.write_bytes(b"".join([*broken[:2], line + b"\n", *broken[3:]]))
    with pytest.raises(Corrupt, match="line 3 "):
        empty.data.import_(archive)


def test_one_altered_letter_is_found(archive: Path, empty: Credenda) -> None:
    archive.write_bytes(archive.read_bytes().replace(b"I live in Linz.", b"I live in Lins.", 1))
    with pytest.raises(Corrupt, match="altered"):
        empty.data.import_(archive)
    assert holds_nothing(empty)


def test_nothing_may_follow_the_end(archive: Path, empty: Credenda) -> None:
    text = archive.read_bytes()
    archive.write_bytes(text + text.splitlines(keepends=True)[1])
    with pytest.raises(Corrupt, match="after the end"):
        empty.data.import_(archive)


@pytest.mark.parametrize(
    ("table", "changed"),
    [
        ("events", {"id": 1 << 31}),
        ("events", {"id": 0}),
        ("events", {"id": "1"}),
        ("events", {"id": 1 << 64}),
        ("events", {"id": True}),
        ("events", {"role": "king"}),
        ("events", {"source": "rumour"}),
        ("events", {"metadata": "{"}),
        ("events", {"text": None}),
        ("events", {"trust": "high"}),
        ("events", {"content_hmac": "text"}),
        ("events", {"content_hmac": {"base64": "!"}}),
        ("events", {"content_hmac": {"hex": "00"}}),
        ("passages", {"ordinal": 4_096}),
        ("passages", {"event": 99}),
        ("passages", {"stop": 10_000_000}),
        ("memories", {"id": 1 << 40}),
        ("memories", {"status": "glorious"}),
        ("memories", {"confidence": 1.5}),
        ("memories", {"tags": "[1"}),
        ("changes", {"delta": "[]"}),
        ("changes", {"kind": "wish"}),
        ("operations", {"status": "resting"}),
        ("embeddings", {"code": 1 << 50}),
        ("embeddings", {"data": {"base64": "AAAA"}}),
        ("embeddings", {"dims": 0}),
    ],
)
def test_a_row_that_no_store_would_hold_is_refused(archive: Path, empty: Credenda, table: str, changed: Row) -> None:
    other = altered(archive, lambda tables: first(tables, table).update(changed))
    with pytest.raises(Corrupt, match=r"line \d+ of the archive"):
        empty.data.import_(other)
    assert holds_nothing(empty)


def with_other_user(tables: list[Row]) -> None:
    first(tables, "events")["user_id"] = "ben"


def with_odd_column(tables: list[Row]) -> None:
    first(tables, "events")["text) --"] = "x"


def without_topic(tables: list[Row]) -> None:
    del first(tables, "events")["topic"]


@pytest.mark.parametrize("change", [with_other_user, with_odd_column, without_topic])
def test_columns_are_those_of_the_table(archive: Path, empty: Credenda, change: Change) -> None:
    with pytest.raises(Corrupt, match="columns"):
        empty.data.import_(altered(archive, change))


def with_snapshot(tables: list[Row]) -> None:
    tables[1]["table"] = "index_blobs"


def with_dropped_table(tables: list[Row]) -> None:
    tables[1]["table"] = "a2a_tasks"


def with_schema(tables: list[Row]) -> None:
    tables[1]["table"] = "sqlite_schema"


def out_of_order(tables: list[Row]) -> None:
    tables.append(tables.pop(1))


@pytest.mark.parametrize("change", [with_snapshot, with_schema, with_dropped_table, out_of_order])
def test_tables_are_known_and_come_in_order(archive: Path, empty: Credenda, change: Change) -> None:
    with pytest.raises(Corrupt):
        empty.data.import_(altered(archive, change))
    assert holds_nothing(empty)


@pytest.mark.parametrize("table", ["entities", "relations", "tool_call_records", "a2a_tasks"])
def test_an_archive_of_an_older_schema_may_name_a_dropped_table(archive: Path, empty: Credenda, table: str) -> None:
    def as_before(tables: list[Row]) -> None:
        tables[0]["schema"] = 9
        tables.append({"table": table, "row": {"id": 1, "name": "Eva"}})

    report = empty.data.import_(altered(archive, as_before))
    assert report.turns == 3
    assert table not in report.rows
    empty.data.export(archive.with_name("anew.jsonl"))
    assert archive.with_name("anew.jsonl").read_bytes() == archive.read_bytes()


def test_a_row_given_twice_is_refused(archive: Path, empty: Credenda) -> None:
    with pytest.raises(Corrupt):
        empty.data.import_(altered(archive, lambda tables: tables.insert(1, tables[1])))


@pytest.mark.parametrize(
    "changed",
    [
        {"tag": '1" OR'},
        {"tag": ""},
        {"tag": 7},
        {"key": base64.b64encode(b"short").decode()},
        {"key": "?"},
        {"created_at": "now"},
    ],
)
def test_a_header_that_names_no_tenant_is_refused(archive: Path, empty: Credenda, changed: Row) -> None:
    with pytest.raises(Corrupt, match="line 1 "):
        empty.data.import_(altered(archive, lambda tables: tables[0]["tenant"].update(changed)))


@pytest.mark.parametrize("changed", [{"version": 2}, {"version": None}, {"schema": 9_999}, {"format": "other"}])
def test_another_format_or_a_newer_version_is_a_conflict(archive: Path, empty: Credenda, changed: Row) -> None:
    other = altered(archive, lambda tables: tables[0].update(changed))
    with pytest.raises(Conflict):
        empty.data.import_(other, format="credenda")
    assert holds_nothing(empty)


@pytest.mark.parametrize("text", [b"hello\n", b"[]\n", b"{}\n", b"\x00\x01"])
def test_something_else_called_an_archive_is_a_conflict(empty: Credenda, tmp_path: Path, text: bytes) -> None:
    (tmp_path / "else.txt").write_bytes(text)
    with pytest.raises(Conflict, match="not a Credenda archive"):
        empty.data.import_(tmp_path / "else.txt", format="credenda")


def test_an_empty_or_missing_archive(empty: Credenda, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(Invalid, match="empty"):
        empty.data.import_(tmp_path / "empty.jsonl", format="credenda")
    with pytest.raises(NotFound):
        empty.data.import_(tmp_path / "missing.jsonl", format="credenda")


def test_damaged_compression_is_corrupt(archive: Path, empty: Credenda, tmp_path: Path) -> None:
    packed = gzip.compress(archive.read_bytes())
    path = tmp_path / "a.jsonl.gz"
    for data in (packed[:-20], packed[: len(packed) // 2], packed[:200] + b"\x00" * 40 + packed[240:]):
        path.write_bytes(data)
        with pytest.raises(Corrupt):
            empty.data.import_(path, format="credenda")
    assert holds_nothing(empty)


def test_a_line_longer_than_any_row_is_named(archive: Path, empty: Credenda, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portability_lines, "LINE_BYTES_MAX", 1_000)
    with pytest.raises(Corrupt, match="too long"):
        empty.data.import_(archive)
    assert holds_nothing(empty)
