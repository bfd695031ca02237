"""Errors of the system on files, each in our words."""

import errno
import os
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

from credenda.errors import Unavailable
from credenda.interfaces.cli.main import _run_guarded
from credenda.paths import find_obstacle, make_file_error
from credenda.portability.atomic_write import replace_file
from credenda.storage.sqlite.connection import to_credenda_error


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EROFS, "the disk is mounted read-only"),
        (errno.EACCES, "permission was denied"),
        (errno.ENAMETOOLONG, "its name is too long"),
        (errno.EISDIR, "it is a folder"),
    ],
)
def test_an_error_says_what_why_and_what_to_do(number: int, why: str) -> None:
    told = make_file_error("/data/a.db", OSError(number, os.strerror(number)))
    assert isinstance(told, Unavailable)
    assert (told.what, told.why) == ("/data/a.db cannot be written", why)
    assert told.fix


def test_an_error_without_a_meaning_of_ours_keeps_the_words_of_the_system() -> None:
    assert make_file_error("x", OSError(errno.EXDEV, "Invalid cross-device link")).why == "Invalid cross-device link"


def test_a_full_disk_ends_an_export_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable, match="the disk is full; free some space"), replace_file(tmp_path / "a") as file:
        file.write(b"a")
    assert list(tmp_path.iterdir()) == []


READ_ONLY = SimpleNamespace(f_flag=os.ST_RDONLY, f_blocks=9, f_bavail=9)
FULL = SimpleNamespace(f_flag=0, f_blocks=9, f_bavail=0)


@pytest.mark.parametrize(
    ("disk", "code"),
    [(READ_ONLY, sqlite3.SQLITE_READONLY), (FULL, sqlite3.SQLITE_IOERR_SHMSIZE), (FULL, sqlite3.SQLITE_CANTOPEN)],
)
def test_the_reason_that_sqlite_does_not_know_comes_from_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: SimpleNamespace, code: int
) -> None:
    def look(_: str) -> SimpleNamespace:
        return disk

    monkeypatch.setattr(os, "statvfs", look)
    error = sqlite3.OperationalError("failed")
    error.sqlite_errorcode = code
    why = "the disk is full" if disk is FULL else "the disk is mounted read-only"
    assert why in str(to_credenda_error(error, str(tmp_path / "memory.db")))


def test_obstacles_are_found_on_the_way(tmp_path: Path) -> None:
    assert find_obstacle(str(tmp_path / "memory.db")) is None
    found = [find_obstacle(str(place)) for place in (tmp_path, tmp_path / "no" / "a.db", tmp_path / ("a" * 300) / "a")]
    assert [one and one.errno for one in found] == [errno.EISDIR, errno.ENOENT, errno.ENAMETOOLONG]


def test_a_command_tells_an_error_on_a_file_that_nothing_else_caught(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/data/a.db")

    assert _run_guarded(fail, as_json=False) == Unavailable.exit_code
    assert capsys.readouterr().err == (
        "error: /data/a.db cannot be used: the disk is full; free some space and try again\n"
    )
