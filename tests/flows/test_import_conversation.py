"""Conversation files: who said what, when and where; again and again; and with all that can be wrong in a file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda import Corrupt, Credenda, Invalid, LimitExceeded, NotFound, Unavailable, limits
from credenda.bootstrap import build_parts
from credenda.model.event import Role
from credenda.portability import importing
from credenda.portability import sources as portability_lines
from credenda.portability.importers.messages import name_session
from credenda.portability.importing import import_file
from credenda.storage.store import Writer

from .conftest import Events

Table = dict[str, Any]
TALK: Final[Table] = {
    "conv": "c1",
    "speakers": ["Zoë", "Ana"],
    "sessions": [
        {
            "id": "S1",
            "time": "2023-05-08T13:56:00",
            "turns": [
                {"id": "D1:1", "speaker": "Zoë", "text": "I live in Bern.", "image_caption": "a bear"},
                {"id": "D1:2", "speaker": "ANA", "text": "I live in Linz.", "time": "2023-05-08T16:00:00+02:00"},
                {"id": 3, "speaker": "Assistant", "text": "Noted."},
                {"id": "D1:4", "speaker": " User ", "text": "I prefer tea."},
            ],
        },
        {"id": "S2", "turns": [{"id": "D1:1", "speaker": "Zoë", "text": "", "image_caption": "a lake"}]},
    ],
}


def written(path: Path, *tables: object) -> Path:
    """Write a conversation file; bytes are lines as they are."""
    lines = [table if isinstance(table, bytes) else json.dumps(table).encode() for table in tables]
    body = b"\n".join(lines) + b"\n"
    path.write_bytes(gzip.compress(body) if path.suffix == ".gz" else body)
    return path


def talk(conversation: str, count: int, **turn: object) -> Table:
    turns = [{"id": str(n), "speaker": "Zoë", "text": f"Word{n} here.", **turn} for n in range(count)]
    return {"conv": conversation, "sessions": [{"id": "S", "time": "2024-01-02", "turns": turns}]}


def test_every_turn_keeps_speaker_time_session_and_id(mem: Credenda, tmp_path: Path, events: Events) -> None:
    report = mem.data.import_(written(tmp_path / "talk.jsonl", TALK))
    assert (report.format, report.conversations, report.turns, report.skipped) == ("conversation", 1, 5, 0)
    assert report.problems == ()
    zoe, ana, noted, tea, lake = events()
    assert (zoe.role, zoe.speaker, zoe.text) == (Role.PERSON, "Zoë", "I live in Bern. [image: a bear]")
    assert (zoe.session, zoe.external_id) == ("c1/S1", "D1:1")
    assert zoe.occurred_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert (ana.role, ana.occurred_at) == (Role.USER, datetime(2023, 5, 8, 14, 0, tzinfo=UTC))
    assert (noted.role, noted.external_id) == (Role.ASSISTANT, "3")
    assert (tea.role, tea.speaker) == (Role.USER, "user")
    assert (lake.text, lake.session) == ("[image: a lake]", "c1/S2")
    assert lake.occurred_at == datetime(2026, 3, 1, 9, tzinfo=UTC)


def test_words_are_found_at_once_and_believed_when_read(mem: Credenda, tmp_path: Path) -> None:
    mem.data.import_(written(tmp_path / "talk.jsonl", TALK))
    assert any("Bern" in hit.quote for hit in mem.search("Bern").hits)
    mem.settle()
    assert [memory.value for memory in mem.list(attribute="residence", entity="user").items] == ["Linz"]


def test_the_zone_of_a_bare_time_is_utc_whatever_the_setting(tmp_path: Path, path: Path, events: Events) -> None:
    with Credenda.open(path, user="ana", settings={"time_zone": "Asia/Tokyo"}, workers=False) as mem:
        mem.data.import_(written(tmp_path / "talk.jsonl", TALK))
    assert events()[0].occurred_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


@pytest.mark.requirement("R-066")
def test_repeating_an_import_takes_in_nothing_twice(mem: Credenda, tmp_path: Path) -> None:
    path = written(tmp_path / "talk.jsonl.gz", TALK, talk("c2", 3))
    assert mem.data.import_(path).turns == 8
    again = mem.data.import_(path)
    assert (again.conversations, again.turns, again.skipped) == (2, 0, 8)
    more = mem.data.import_(written(tmp_path / "more.jsonl", talk("c2", 4)))
    assert (more.turns, more.skipped) == (1, 3)
    assert mem.stats().events == 9


def test_a_turn_with_other_words_or_another_time_is_a_problem_and_the_first_stays(
    mem: Credenda, tmp_path: Path
) -> None:
    mem.data.import_(written(tmp_path / "a.jsonl", talk("c", 1)))
    for changed in ({"text": "Other."}, {"time": "2024-03-03"}, {"speaker": "Ben"}):
        report = mem.data.import_(written(tmp_path / "b.jsonl", talk("c", 1, **changed)))
        assert (report.turns, report.skipped) == (0, 0)
        assert "line 1, session S, turn 0: imported before" in report.problems[0]
    assert mem.stats().events == 1


def test_an_import_that_was_interrupted_goes_on(mem: Credenda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "talk.jsonl", talk("c", 200))
    store = mem._parts.store  # noqa: SLF001 - the disk of its database is full
    whole, calls = store.commit, iter(range(100))

    def failing(user_id: str, work: Callable[[Writer], object]) -> object:
        if next(calls) == 2:
            raise Unavailable("the disk is full")
        return whole(user_id, work)

    with monkeypatch.context() as patch:
        patch.setattr(importing, "PATIENCE_STEPS", 0)
        patch.setattr(store, "commit", failing)
        with pytest.raises(Unavailable, match=r"after 128 turns.*the disk is full.*continues where"):
            mem.data.import_(path)
    assert mem.stats().events == 128
    report = mem.data.import_(path)
    assert (report.turns, report.skipped) == (72, 128)


def test_too_much_waiting_work_stops_an_import_that_nobody_reads(
    mem: Credenda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "QUEUED_JOBS", 100)
    monkeypatch.setattr(importing, "PATIENCE_STEPS", 0)
    path = written(tmp_path / "talk.jsonl", talk("c", 150))
    with pytest.raises(Unavailable, match="too many messages wait"):
        mem.data.import_(path)
    mem.settle()
    assert mem.data.import_(path).turns == 86


def test_an_import_waits_for_the_worker_to_keep_up(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUEUED_JOBS", 70)
    with Credenda.open(path, user="ana") as mem:
        assert mem.data.import_(written(tmp_path / "talk.jsonl", talk("c", 200))).turns == 200


@pytest.mark.requirement("S-061")
def test_deleted_things_do_not_come_back_by_import(mem: Credenda, tmp_path: Path) -> None:
    mem.remember("My day rate is 950 zorkmids.")
    mem.settle()
    mem.delete(mem.list().items[0].id)
    report = mem.data.import_(
        written(tmp_path / "a.jsonl", talk("c", 1, speaker="user", text="My day rate is 950 zorkmids. Hi."))
    )
    mem.settle()
    assert "turn 0: restates deleted text" in report.problems[0]
    assert not any("zorkmids" in hit.text for hit in mem.search("zorkmids").hits)


def malformed() -> Iterator[tuple[object, str]]:
    yield b"{not json", "line 2: not JSON"
    yield b'{"conv": "c\xe9"}', "line 2: byte 12 is not UTF-8"
    yield b"[1, 2]", "line 2: it is not an object"
    yield b"[" * 100_000, "line 2: nested too deeply"
    yield {"sessions": []}, "line 2: it has no conv"
    yield {"conv": "  ", "sessions": []}, "line 2: it has no conv"
    yield {"conv": "x"}, "line 2: it has no list of sessions"
    yield {"conv": "x", "sessions": ["S"]}, "line 2, session 1: it is not an object"
    yield {"conv": "x", "sessions": [{"turns": []}]}, "line 2, session 1: it has no id"
    yield {"conv": "x", "sessions": [{"id": "S", "turns": {}}]}, "line 2, session S: it has no list of turns"
    yield {"conv": "x", "sessions": [{"id": "S", "time": "soon", "turns": []}]}, "line 2, session S: its time is not"
    yield {"conv": "x", "sessions": [{"id": "S", "time": 7, "turns": []}]}, "line 2, session S: its time is not text"
    for turn, what in (
        ("hello", "turn 1: it is not an object"),
        ({"speaker": "Zoë", "text": "x"}, "turn 1: it has no id"),
        ({"id": "t", "text": "x"}, "turn t: it has no speaker"),
        ({"id": "t", "speaker": 7, "text": "x"}, "turn t: it has no speaker"),
        ({"id": "t", "speaker": "Zoë", "text": 7}, "turn t: its text is not text"),
        ({"id": "t", "speaker": "Zoë", "text": "x", "image_caption": [1]}, "turn t: its image_caption is not text"),
        ({"id": "t", "speaker": "Zoë", "text": "x", "time": "9999-99-99"}, "turn t: its time is not RFC 3339"),
        ({"id": "t", "speaker": "Zoë", "text": "  "}, "turn t: cannot remember an empty text"),
        ({"id": "t", "speaker": "Zoë", "text": "\ud800"}, "turn t: the text is not valid Unicode"),
        ({"id": "t", "speaker": "Z" * 300, "text": "x"}, "turn t: name has 300 characters"),
        ({"id": "t", "speaker": "Zoë", "text": "x" * (1 << 20) + "y"}, "turn t: a text of 1048577 bytes"),
    ):
        yield {"conv": "x", "sessions": [{"id": "S", "turns": [turn]}]}, f"line 2, session S, {what}"


@pytest.mark.parametrize(("line", "problem"), list(malformed()))
def test_what_is_malformed_is_named_and_passed_over(mem: Credenda, tmp_path: Path, line: object, problem: str) -> None:
    report = mem.data.import_(written(tmp_path / "a.jsonl", talk("a", 1), line, talk("b", 1)))
    assert report.turns == 2
    assert len(report.problems) == 1
    assert report.problems[0].startswith(problem)


def test_many_problems_are_counted_not_listed(mem: Credenda, tmp_path: Path) -> None:
    report = mem.data.import_(written(tmp_path / "a.jsonl", talk("a", 1), *[b"?"] * 250))
    assert report.passed_over == 250
    assert len(report.problems) == 101
    assert report.problems[-1] == "and 150 more problems"


def test_a_line_that_is_too_long_is_passed_over(mem: Credenda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portability_lines, "LINE_BYTES_MAX", 2_000)
    path = written(tmp_path / "a.jsonl.gz", talk("a", 1), talk("b", 1, text="x" * 9_000), talk("c", 1))
    report = mem.data.import_(path)
    assert report.turns == 2
    assert report.problems == ("line 2: the line is too long; split the conversation over several lines",)


def test_a_decompression_bomb_is_refused(mem: Credenda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "UNPACKED_FREE_BYTES", 1 << 20)
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(talk("a", 1)).encode() + b"\n" + b" " * (4 << 20)))
    with pytest.raises(LimitExceeded, match="unpacks to more than"):
        mem.data.import_(path)


def test_a_compressed_file_that_was_cut_off_is_corrupt_and_what_came_before_stays(
    mem: Credenda, tmp_path: Path
) -> None:
    path = written(tmp_path / "a.jsonl.gz", *[talk(f"c{n}", 80, text=f"{n} " * 99) for n in range(9)])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 30])
    with pytest.raises(Corrupt, match="damaged or truncated"):
        mem.data.import_(path)
    path.write_bytes(whole)
    assert mem.data.import_(path).turns + mem.stats().events >= 720
    assert mem.stats().events == 720


def test_progress_rises_to_the_size_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", *[talk(f"c{n}", 1, text="word " * 9_000) for n in range(60)])
    told: list[tuple[int, int | None]] = []
    parts = build_parts(tmp_path / "other.db", user="ana")
    with closing(parts.store):
        import_file(parts, path, progress=lambda done, total: told.append((done, total)))
    assert len(told) > 2
    assert told == sorted(told)
    assert told[-1] == (path.stat().st_size, path.stat().st_size)


def test_a_byte_order_mark_and_blank_lines_do_no_harm(mem: Credenda, tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", b"\xef\xbb\xbf" + json.dumps(talk("a", 1)).encode(), b"", b"  ", talk("b", 1))
    report = mem.data.import_(path)
    assert (report.format, report.turns, report.problems) == ("conversation", 2, ())


def test_a_file_that_cannot_be_told_or_opened(mem: Credenda, tmp_path: Path) -> None:
    cases: dict[str, bytes] = {
        "picture.png": b"\x89PNG\x00\x00",
        "odd.jsonl": b'{"a": 1}\n',
        "list.json": b"[]",
        "wide.txt": "hello".encode("utf-16"),
    }
    for name, data in cases.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(Invalid, match="cannot detect the format"):
            mem.data.import_(tmp_path / name)
    with pytest.raises(Invalid, match="not a format"):
        mem.data.import_(tmp_path / "odd.jsonl", format="docx")
    with pytest.raises(Invalid, match="no file in it has a known format"):
        mem.data.import_(tmp_path)
    with pytest.raises(NotFound):
        mem.data.import_(tmp_path / "missing.jsonl")


def test_a_memory_to_be_read_only_takes_nothing_in(mem: Credenda, path: Path, tmp_path: Path) -> None:
    mem.remember("I live in Linz.")
    file = written(tmp_path / "a.jsonl", talk("a", 1))
    with Credenda.open(path, user="ana", read_only=True) as reading, pytest.raises(Invalid, match="read only"):
        reading.data.import_(file)


@given(ids=st.lists(st.tuples(st.text(alphabet="a/%2F", min_size=1), st.text(alphabet="a/%")), min_size=2, max_size=2))
def test_two_conversations_never_share_a_session(ids: list[tuple[str, str]]) -> None:
    one, other = ids
    assert (name_session(*one) == name_session(*other)) == (one == other)


def test_a_dry_run_counts_what_an_import_would_do_and_stores_nothing(mem: Credenda, tmp_path: Path) -> None:
    path = written(tmp_path / "talk.jsonl", TALK, b"not JSON")
    planned = mem.data.import_(path, dry_run=True)
    assert planned.dry_run
    assert (mem.stats().events, mem.stats().jobs) == (0, {})
    done = mem.data.import_(path)
    assert planned == replace(done, dry_run=True)
    repeated = mem.data.import_(path, dry_run=True)
    assert (repeated.turns, repeated.skipped) == (0, done.turns)


def test_a_dry_run_of_an_archive_says_that_the_memory_is_not_empty(mem: Credenda, tmp_path: Path) -> None:
    mem.data.import_(written(tmp_path / "talk.jsonl", TALK))
    mem.data.export(tmp_path / "saved.jsonl")
    planned = mem.data.import_(tmp_path / "saved.jsonl", dry_run=True)
    assert planned.turns == mem.stats().events
    assert "not empty" in planned.problems[0]
