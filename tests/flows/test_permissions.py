"""Every file and folder that Credenda makes belongs to its owner alone, whatever the umask says."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.config import get_default_target
from credenda.paths import create_file, create_folder, find_open_paths

pytestmark = [
    pytest.mark.sqlite_file,  # about the permissions of the file
    pytest.mark.skipif(sys.platform == "win32", reason="permissions of files are those of POSIX"),
]


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(root: Path) -> dict[str, int]:
    return {str(one.relative_to(root)): one.stat().st_mode & 0o777 for one in root.rglob("*") if not one.is_symlink()}


@pytest.mark.usefixtures("umask")
def test_all_that_is_made_is_private(tmp_path: Path) -> None:
    with Credenda.open(tmp_path / "m.db", user="ana", workers=False) as mem:
        mem.remember("I live in Linz.")
        mem.settle()
        mem.data.sync_files(tmp_path / "a/b/vault")
        mem.data.export(tmp_path / "m.jsonl")
        mem.data.export(tmp_path / "m.jsonl.gz")
        mem.data.export(tmp_path / "graph.jsonl", "mcp-memory")
        mem.data.backup(tmp_path / "backup.db")
        mem.manage.retention(plot=tmp_path / "plot.svg")
        found = modes(tmp_path)
        with Credenda.open(tmp_path / "m.db", user="ben", workers=False) as ben:
            ben.remember("I live in Wels.")
            ben.erase(confirm="ben")
        found |= modes(tmp_path)
    assert {"m.db", "m.db-wal", "m.db-shm", "backup.db", "a", "a/b", "a/b/vault/.credenda/sync.json"} <= found.keys()
    assert {name: mode for name, mode in found.items() if mode not in (0o600, 0o700)} == {}
    assert all(
        (tmp_path / name).is_dir() == (mode == 0o700) for name, mode in found.items() if (tmp_path / name).exists()
    )


@pytest.mark.usefixtures("umask")
def test_the_default_folder_is_private_with_those_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home/share"))
    monkeypatch.delenv("CREDENDA_DB", raising=False)
    target = Path(get_default_target())
    assert target == tmp_path / "home/share/credenda/memory.db"
    assert set(modes(tmp_path).values()) == {0o700}


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    create_folder(folder / "new")
    assert modes(tmp_path) == {"open": 0o755, "open/new": 0o700}
    (folder / "file").write_bytes(b"x")
    (folder / "file").chmod(0o644)
    create_file(folder / "file")
    assert ((folder / "file").read_bytes(), (folder / "file").stat().st_mode & 0o777) == (b"x", 0o644)


def test_an_open_database_is_warned_about_once_and_found_by_doctor(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    path = folder / "m.db"
    with Credenda.open(path, user="ana", workers=False) as mem:
        mem.remember("I live in Linz.")
        assert mem.data.doctor().ok
    other = folder / "other.db"
    other.write_bytes(path.read_bytes())
    other.chmod(0o644)
    folder.chmod(0o777)
    with caplog.at_level(logging.WARNING):
        with Credenda.open(other, user="ana", workers=False):
            pass
        with Credenda.open(other, user="ana", workers=False) as mem:
            found = mem.data.doctor().findings
    (warning,) = [one for one in caplog.records if "other users" in one.message]
    assert str(other) in warning.message
    assert "Linz" not in warning.message
    assert {one.where for one in found if one.check == "permissions"} >= {str(other), str(folder)}
    with Credenda.open(other, user="ana", workers=False) as mem:
        repaired = {one.where: one.repaired for one in mem.data.doctor(repair=True).findings}
        assert repaired[str(other)]
        assert not repaired[str(folder)]
        assert find_open_paths(other) == [folder]
        folder.chmod(0o700)
        assert mem.data.doctor().ok
