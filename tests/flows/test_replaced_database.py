"""After a restore, an import or a move of files, every process searches the rows that are there, new and old."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Self

import pytest

from credenda import Credenda, bootstrap, restore_backup
from credenda.index.cache import name_snapshot
from credenda.index.resident import ResidentIndex
from credenda.storage.store import Delta, IndexPosition, Snapshot
from credenda.testing import ManualClock
from tests.waiting import PATIENCE_SECONDS

OLD = ("Zorkmid is a coin.", "Frobozz is a wizard.", "Quendor is a kingdom.", "Grue is a monster.")
NEW = ("Lantern is brass.", "Mailbox is small.", "Trapdoor is closed.", "Sword is elvish.", "Thief is lurking.")
OPENING = """
import sys
from credenda import Credenda
for line in sys.stdin:
    with Credenda.open(sys.argv[1], user="ana", workers=False, embedder="none") as memory:
        print([hit.quote for hit in memory.search(line.strip(), kinds=["event"]).hits], flush=True)
"""
KEEPING = """
import sys
from credenda import Credenda
with Credenda.open(sys.argv[1], user="ana", workers=False, embedder="none") as memory:
    for line in sys.stdin:
        print([hit.quote for hit in memory.search(line.strip(), kinds=["event"]).hits], flush=True)
"""


@contextmanager
def _opened(path: Path, clock: ManualClock) -> Generator[Credenda]:
    with Credenda.open(path, user="ana", clock=clock, embedder="none", workers=False) as memory:
        yield memory


def _say(path: Path, clock: ManualClock, *texts: str) -> None:
    with _opened(path, clock) as memory:
        for text in texts:
            memory.remember(text)
        memory.settle()


def _hits(path: Path, clock: ManualClock, word: str) -> list[str]:
    with _opened(path, clock) as memory:
        return [hit.quote for hit in memory.search(word, kinds=["event"]).hits]


def _check(path: Path, clock: ManualClock, *texts: str) -> None:
    for text in texts:
        assert _hits(path, clock, text.split()[0])[:1] == [text]
    with _opened(path, clock) as memory:
        assert memory.data.doctor().findings == ()


@pytest.fixture
def old(path: Path, clock: ManualClock) -> Path:
    """A database with a backup and a plain copy of its first state beside it, and an index of more in this process."""
    _say(path, clock, OLD[0])
    with _opened(path, clock) as memory:
        memory.data.backup(path.with_name("backup.db"))
    shutil.copy(path, path.with_name("copy.db"))
    _say(path, clock, *OLD[1:])
    assert _hits(path, clock, "Grue") == [OLD[3]]
    return path


def _restored(path: Path) -> None:
    restore_backup(path.with_name("backup.db"), path, replace=True)


def _moved(path: Path) -> None:
    path.with_name("copy.db").replace(path)


def _overwritten(path: Path) -> None:
    shutil.copy(path.with_name("copy.db"), path)


REPLACED = pytest.mark.parametrize("replaced", [_restored, _moved, _overwritten])


@pytest.mark.sqlite_file  # another file takes the place of the file
@REPLACED
def test_a_process_searches_the_rows_of_the_database_that_replaced_the_one_it_knew(
    old: Path, clock: ManualClock, replaced: Callable[[Path], None]
) -> None:
    replaced(old)
    assert _hits(old, clock, "Grue") == []
    _say(old, clock, *NEW)
    _check(old, clock, OLD[0], *NEW)


@pytest.mark.sqlite_file  # as above
@REPLACED
def test_new_rows_up_to_the_old_head_are_found_though_nobody_searched_before(
    old: Path, clock: ManualClock, replaced: Callable[[Path], None]
) -> None:
    replaced(old)
    _say(old, clock, *NEW[:3])
    _check(old, clock, OLD[0], *NEW[:3])
    assert _hits(old, clock, "Grue") == []


class _Process:
    """Another process that searches: with the database open all the time, or opened for each search."""

    def __init__(self, code: str, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, word: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(word, file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=PATIENCE_SECONDS)


@pytest.mark.sqlite_file  # as above
def test_a_process_that_closed_the_database_searches_what_another_one_restored(old: Path, clock: ManualClock) -> None:
    with _Process(OPENING, old) as other:
        assert other.ask("Grue") == str([OLD[3]])
        _restored(old)
        _say(old, clock, *NEW[:3])
        assert [other.ask(text.split()[0]) for text in NEW[:3]] == [str([text]) for text in NEW[:3]]
        assert other.ask("Grue") == "[]"


def test_a_process_searches_an_older_archive_that_another_one_imported_after_an_erasure(
    path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    _say(path, clock, OLD[0])
    with _opened(path, clock) as memory:
        memory.data.export(tmp_path / "old.jsonl")
    _say(path, clock, *OLD[1:])
    with _Process(KEEPING, path) as other, _opened(path, clock) as memory:
        assert other.ask("Grue") == str([OLD[3]])
        memory.erase("ana")
        memory.data.import_(tmp_path / "old.jsonl")
        for text in NEW[:3]:
            memory.remember(text)
        memory.settle()
        assert [other.ask(text.split()[0]) for text in NEW[:3]] == [str([text]) for text in NEW[:3]]
        assert other.ask("Grue") == "[]"
    _check(path, clock, OLD[0], *NEW[:3])


def _plant_wrong_index(path: Path) -> None:
    """Store an index in which two messages have each other's words."""
    store = bootstrap.open_store(path)
    with store.reader("ana") as reader:
        first, second, *rest = reader.delta(IndexPosition(), None).documents
        wrong = ResidentIndex(model_id=None)
        swapped = (replace(first, text=second.text), replace(second, text=first.text), *rest)
        wrong.fold(Delta(heads=reader.duties.heads, documents=swapped))
        wrong.lineage = reader.duties.lineage(wrong.heads)
        name = name_snapshot(None, reader.tenant.tag)
    store.commit("ana", lambda writer: writer.put(Snapshot(name=name, blobs=wrong.to_blobs())))
    store.close()


def test_doctor_compares_the_words_of_an_index_and_repairs_it(path: Path, clock: ManualClock) -> None:
    _say(path, clock, *OLD[:2])
    _plant_wrong_index(path)
    assert _hits(path, clock, "Zorkmid") == [OLD[1]]
    with _opened(path, clock) as memory:
        report = memory.data.doctor()
        assert not report.ok
        assert {(one.check, one.where) for one in report.findings} == {
            ("index", "the index in memory"),
            ("index", "the stored index"),
        }
        assert memory.data.doctor(repair=True).ok
    _check(path, clock, *OLD[:2])


def test_a_rebuild_drops_a_wrong_index_in_every_process(path: Path, clock: ManualClock) -> None:
    _say(path, clock, *OLD[:2])
    _plant_wrong_index(path)
    with _Process(KEEPING, path) as other:
        assert other.ask("Zorkmid") == str([OLD[1]])
        with _opened(path, clock) as memory:
            memory.data.rebuild()
        assert other.ask("Zorkmid") == str([OLD[0]])
    _check(path, clock, *OLD[:2])
