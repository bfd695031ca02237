"""A file of an older schema is upgraded with a word about it, and a copy of it as it was stays beside it, once."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from credenda import Conflict, Credenda, Unavailable, restore_backup
from credenda.storage.transfer import locate_ledger

from .older import NEXT, OLD, as_of_version, upgraded

pytestmark = pytest.mark.sqlite_file  # the copy is one of the file

COMMAND = """
from credenda.interfaces.cli.main import main
from tests.flows.older import upgraded
with upgraded():
    main()
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A memory as today's version left it, which is an older one beside the next."""
    path = tmp_path / "memory.db"
    with upgraded(), Credenda.open(path, user="ana", workers=False, embedder="none") as mem:
        mem.remember("My boat is called Petrel.")
        mem.settle()
    as_of_version(path, OLD)
    return path


def _read_version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT max(version) FROM schema_version").fetchone()[0]


@contextmanager
def _open(path: Path) -> Generator[Credenda]:
    with upgraded(), Credenda.open(path, user="ana", workers=False, embedder="none") as mem:
        yield mem


def test_the_command_line_says_once_that_it_upgrades_and_keeps_the_file(old: Path) -> None:
    before = old.read_bytes()
    command = [sys.executable, "-c", COMMAND, "--db", str(old), "--user", "ana", "--json", "search", "boat"]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2))
    assert f"has schema version {OLD} and is upgraded" in first.stderr
    assert f"{old}.schema-{OLD} keeps it as it was" in first.stderr
    assert "schema" not in second.stderr
    assert all("Petrel" in json.dumps(json.loads(one.stdout)) for one in (first, second))
    copy = Path(f"{old}.schema-{OLD}")
    assert sorted(one.name for one in old.parent.glob("*schema*")) == [copy.name]
    assert (_read_version(copy), _read_version(old)) == (OLD, NEXT)
    assert len(copy.read_bytes()) == len(before)


def test_the_copy_is_a_backup_that_is_restored_and_told_of_erasures(old: Path, tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="keeps it as it was"), _open(old) as mem:
        mem.erase(confirm="ana")
    copy = Path(f"{old}.schema-{OLD}")
    assert locate_ledger(copy).is_file()
    with upgraded():
        restored = restore_backup(copy, tmp_path / "again.db")
    assert (restored.users, restored.erased) == (0, 1)
    assert list(tmp_path.glob("again*schema*")) == []


def test_an_earlier_copy_is_never_written_over(old: Path) -> None:
    copy = Path(f"{old}.schema-{OLD}")
    copy.write_text("an earlier one", "utf-8")
    with pytest.warns(RuntimeWarning, match=rf"schema-{OLD}-2 keeps it"), _open(old):
        pass
    assert copy.read_text("utf-8") == "an earlier one"
    assert _read_version(Path(f"{copy}-2")) == OLD


def test_a_file_that_cannot_be_copied_is_not_upgraded(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("credenda.storage.sqlite.store.tempfile.mkstemp", refuse)
    with pytest.raises(Unavailable, match=f"schema-{OLD} cannot be written: the disk is full"), _open(old):
        pass
    assert _read_version(old) == OLD
    assert list(old.parent.glob("*schema*")) == []


def test_a_new_file_and_one_of_today_are_opened_without_a_word(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with Credenda.open(tmp_path / "new.db", user="ana", workers=False, embedder="none"):
                pass
    assert list(tmp_path.glob("*schema*")) == []


def test_a_file_from_before_the_first_release_is_refused_with_a_way_and_left_as_it_is(old: Path) -> None:
    with closing(sqlite3.connect(old, isolation_level=None)) as database:
        database.execute("DELETE FROM schema_version")
        database.execute("INSERT INTO schema_version VALUES (12, 1, 'older')")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = old.read_bytes()
    for read_only in (False, True):
        with pytest.raises(Conflict, match="has schema version 12") as refused:
            Credenda.open(old, user="ana", read_only=read_only, workers=False, embedder="none")
        assert "credenda export" in refused.value.fix
    assert old.read_bytes() == before
    assert list(old.parent.glob("*schema*")) == []
