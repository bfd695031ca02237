"""Whatever is named as a file or folder, the answer is one error of ours, and nothing changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda
from credenda.errors import CredendaError, Invalid, Unavailable
from credenda.paths import check_path, find_path_kind

CALLS: dict[str, Callable[[Credenda, Any], object]] = {
    "export": lambda mem, path: mem.data.export(path),
    "import": lambda mem, path: mem.data.import_(path),
    "backup": lambda mem, path: mem.data.backup(path),
    "scan": lambda mem, path: mem.data.scan(path),
    "pages": lambda mem, path: mem.data.sync_files(path),
    "pages back": lambda mem, path: mem.data.rebuild(from_files=path),
    "drift": lambda mem, path: mem.manage.drift(path),
    "drift of two": lambda mem, path: mem.manage.drift([path, path]),
    "plot": lambda mem, path: mem.manage.retention(plot=path),
    "price": lambda mem, path: mem.manage.extract(path, dry_run=True),
    "erase": lambda mem, path: mem.erase("ana", export=path),
}
WRONG: list[Any] = ["", " ", 5, b"x", {"a": 1}, object(), "a\x00b", "half \ud800 pair", "x" * 5_000]


@pytest.fixture
def mem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Credenda]:
    monkeypatch.chdir(tmp_path)
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False) as opened:
        opened.remember("I live in Graz.")
        opened.settle()
        yield opened


@pytest.mark.parametrize("name", CALLS)
def test_what_names_no_file_is_an_error_of_ours(mem: Credenda, tmp_path: Path, name: str) -> None:
    before = mem.stats(), sorted(tmp_path.iterdir())
    for path in WRONG:
        with pytest.raises(CredendaError):
            CALLS[name](mem, path)
    assert (mem.stats(), sorted(tmp_path.iterdir())) == before


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.sqlite_file] if name == "backup" else [])  # it is a copy of the file
        for name in CALLS
        if name != "price"
    ],
)
def test_what_may_not_be_looked_at_is_unavailable(
    mem: Credenda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    closed = tmp_path / "closed"
    monkeypatch.setattr(os, "stat", _refusing(os.stat, closed))
    monkeypatch.setattr(os, "open", _refusing(os.open, closed))
    monkeypatch.setattr(os, "mkdir", _refusing(os.mkdir, closed))
    before = mem.stats()
    with pytest.raises(Unavailable, match="permission was denied"):
        CALLS[name](mem, closed / "inner")
    assert mem.stats() == before


def _refusing(real: Callable[..., object], closed: Path) -> Callable[..., object]:
    def call(path: object, *args: object, **named: object) -> object:
        if isinstance(path, str | Path) and Path(path).is_relative_to(closed):
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **named)

    return call


@pytest.mark.sqlite_file  # a backup is a copy of the file
@pytest.mark.skipif(os.name == "nt", reason="names of files are Unicode there")
def test_a_name_that_is_no_unicode_is_a_name_except_for_a_backup(mem: Credenda) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    Path(name).write_text("I like tea.\n", "utf-8")
    assert mem.data.import_(name).turns == 1
    with pytest.raises(Invalid, match="not Unicode"):
        mem.data.backup(os.fsdecode(b"caf\xe9.db"))


def test_a_path_is_a_text_or_knows_its_text(tmp_path: Path) -> None:
    assert check_path(tmp_path) == check_path(str(tmp_path)) == tmp_path
    with pytest.raises(Invalid, match="it is a bytes"):
        check_path(b"x")


def test_what_stands_at_a_path(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert [find_path_kind(one) for one in (tmp_path, tmp_path / "file", os.devnull)] == ["folder", "file", "other"]
    assert find_path_kind(tmp_path / "nothing") is find_path_kind(tmp_path / "file" / "below") is None


@pytest.mark.parametrize("target", [":memory:", "sqlite:///:memory:"])
def test_a_name_for_a_database_without_a_file_makes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Invalid, match="temporary folder"):
        Credenda.open(target, user="ana")
    assert not list(tmp_path.iterdir())
