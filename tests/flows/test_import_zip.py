"""Zips: damaged, encrypted, bombs, odd names; nothing is unpacked to disk and nothing escapes."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from credenda import Corrupt, Credenda, Invalid, LimitExceeded, limits

from .exports import said, tree, zipped


def conversation(name: str) -> list[object]:
    return [tree(name, said(1, "user", f"Words of {name}. " * 50))]


def test_a_zip_that_was_cut_off_is_corrupt(mem: Credenda, tmp_path: Path) -> None:
    path = zipped(tmp_path / "e.zip", ("conversations.json", conversation("a")))
    whole = path.read_bytes()
    for size in (len(whole) - 10, len(whole) // 2, 30):
        path.write_bytes(whole[:size])
        with pytest.raises(Corrupt, match="list of files is damaged or truncated"):
            mem.data.import_(path)
    assert mem.stats().events == 0


def test_a_damaged_member_is_passed_over_and_the_others_are_read(mem: Credenda, tmp_path: Path) -> None:
    members = [(f"conversations-00{n}.json", conversation(f"c{n}")) for n in range(3)]
    path = zipped(tmp_path / "e.zip", *members)
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        begin = archive.infolist()[1].header_offset
    data[begin + 70 : begin + 90] = bytes(20)
    path.write_bytes(bytes(data))
    report = mem.data.import_(path)
    assert report.turns == 2
    assert any("conversations-001.json" in problem for problem in report.problems)


def test_an_encrypted_member_says_so(mem: Credenda, tmp_path: Path) -> None:
    path = zipped(tmp_path / "e.zip", ("conversations.json", conversation("a")))
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    path.write_bytes(bytes(data))
    with pytest.raises(Invalid, match="is encrypted"):
        mem.data.import_(path)


def test_a_bomb_is_refused_by_ratio_and_by_size(mem: Credenda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "UNPACKED_FREE_BYTES", 1 << 20)
    body = json.dumps(conversation("a")).encode()[:-1] + b" " * (8 << 20) + b"]"
    path = zipped(tmp_path / "e.zip", ("conversations.json", body))
    with pytest.raises(LimitExceeded, match="unpacks to more than 200 times its size"):
        mem.data.import_(path)
    monkeypatch.setattr(limits, "UNPACKED_RATIO", 1 << 20)
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 2 << 20)
    with pytest.raises(LimitExceeded, match="unpacks to more than"):
        mem.data.import_(path)


def test_a_bomb_of_many_small_members_is_counted_together(
    mem: Credenda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "UNPACKED_FREE_BYTES", 1 << 20)
    blank = b"[" + b" " * (600 << 10) + b"]"
    members: list[tuple[str, object]] = [(f"conversations-{n:03}.json", blank) for n in range(20)]
    path = zipped(tmp_path / "e.zip", ("conversations.json", conversation("a")), *members)
    with pytest.raises(LimitExceeded, match="unpacks to more than"):
        mem.data.import_(path)


def test_too_many_files_are_refused(mem: Credenda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "IMPORT_FILES", 3)
    members: list[tuple[str, object]] = [(f"{n}/conversations.json", conversation(str(n))) for n in range(4)]
    with pytest.raises(LimitExceeded, match="holds more than 3 files"):
        mem.data.import_(zipped(tmp_path / "e.zip", *members))
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.txt").write_text("Words.")
    with pytest.raises(LimitExceeded, match="holds more than 3 files"):
        mem.data.import_(folder)


def test_names_that_climb_out_of_a_folder_are_only_names(mem: Credenda, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    names = ("../../conversations.json", "/tmp/conversations-001.json", "C:\\conversations-002.json")  # noqa: S108 - never opened
    path = zipped(inside / "e.zip", *((name, conversation(name)) for name in names))
    report = mem.data.import_(path)
    assert report.turns == 2
    assert sorted(one.name for one in tmp_path.rglob("*.json")) == []


def test_names_are_shown_without_what_a_terminal_obeys(mem: Credenda, tmp_path: Path) -> None:
    path = zipped(tmp_path / "e.zip", ("\x1b[31mred/conversations.json", [*conversation("a"), 7]))
    report = mem.data.import_(path)
    assert report.problems == ("\ufffd[31mred/conversations.json, conversation 2: it is not an object",)


def test_a_file_of_a_folder_that_cannot_be_read_is_passed_over(mem: Credenda, tmp_path: Path) -> None:
    folder = tmp_path / "deep"
    below = folder / "/".join("d" * 50)
    below.mkdir(parents=True)
    (below / "a.txt").write_text("One.")
    (folder / "b.txt").write_bytes(gzip.compress(b"Two.\n\n" * 9_000)[:-30])
    (folder / "c.txt").write_text("Three.")
    report = mem.data.import_(folder)
    assert report.turns == 3
    assert report.problems == ("b.txt: its compressed data are damaged or truncated",)


def test_a_name_that_occurs_twice_is_read_twice_and_nothing_is_filed_twice(mem: Credenda, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = zipped(
            tmp_path / "e.zip",
            ("conversations.json", conversation("a")),
            ("conversations.json", conversation("a") + conversation("b")),
        )
    report = mem.data.import_(path)
    assert (report.turns, report.skipped) == (2, 1)


def test_a_zip_of_something_else_cannot_be_told(mem: Credenda, tmp_path: Path) -> None:
    path = zipped(tmp_path / "e.zip", ("picture.png", b"\x89PNG"), ("empty/", b""))
    with pytest.raises(Invalid, match="no file in it has a known format"):
        mem.data.import_(path)
    with pytest.raises(Invalid, match="contains no file of the format chatgpt"):
        mem.data.import_(path, format="chatgpt")
    with pytest.raises(Invalid, match="an archive is one file"):
        mem.data.import_(path, format="credenda")
    with pytest.raises(Invalid, match="it has no file"):
        mem.data.import_(zipped(tmp_path / "none.zip"))
