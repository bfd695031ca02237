"""Erasure among real processes: killed half way it ends later, and it ends beside readers, writers and workers."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.transfer import locate_ledger

WORD = "zorkmidsplendour"
KILLED = """
import os, signal, sys
from credenda.storage.sqlite import erase
from credenda.storage.sqlite.store import SqliteStore
path, name = sys.argv[1:]
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
store = SqliteStore(path)
setattr(erase, name, die)
store.erase("ana")
"""
NEIGHBOUR = """
import sys
from credenda import Credenda
with Credenda.open(sys.argv[1], user="ben", workers=True, embedder="none") as memory:
    for number in range(10**9):
        memory.remember(f"Remember that I love herb{number}.")
        print(number, flush=True)
"""
SEARCHING = """
import sys
from credenda import Credenda
with Credenda.open(sys.argv[1], user="ana", workers=True, embedder="none") as memory:
    while line := sys.stdin.readline():
        print(len(memory.search(line.strip()).hits), flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "memory.db"
    with Credenda.open(place, user="ana", workers=False, embedder="none") as mem:
        for number in range(60):
            mem.remember(f"My {WORD} number {number} is in the safe.")
        mem.settle()
    with Credenda.open(place, user="ben", workers=False, embedder="none") as mem:
        mem.remember("I live in Linz.")
        mem.settle()
    return place


def _raw(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


def _unfinished(path: Path) -> int:
    store = SqliteStore(str(path), read_only=True)
    try:
        with store._readers.take() as reading:  # noqa: SLF001 - what no call shows
            return int(reading.execute("SELECT count(*) FROM erasures WHERE finished_at IS NULL").fetchone()[0])
    finally:
        store.close()


@pytest.mark.requirement("R-204", "D-019")
@pytest.mark.parametrize(
    ("name", "committed"),
    [
        ("_delete_indexed_words", False),
        ("_record_erasure", False),
        ("empty_whole_log", True),
        ("search_probes", True),
        ("add_to_ledger", True),
    ],
)
def test_an_erasure_that_was_killed_resumes_and_ends(path: Path, *, name: str, committed: bool) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), name], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert _unfinished(path) == committed
    with Credenda.open(path, user="ana", workers=False, embedder="none") as mem:
        assert mem.stats().events == (0 if committed else 60)
        if not committed:
            assert mem.data.doctor().ok
            assert mem.erase("ana").rows > 60
        assert mem.erase("ana").remaining_matches == 0
        assert mem.data.doctor().ok
    assert _unfinished(path) == 0
    assert locate_ledger(path).is_file()
    assert WORD.encode() not in _raw(path)
    with Credenda.open(path, user="ben", workers=False, embedder="none") as mem:
        assert [memory.value for memory in mem.list().items] == ["Linz"]


def _started(code: str, path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _asked(process: subprocess.Popen[str], line: str | None = None) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    if line is not None:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
    return process.stdout.readline()


@pytest.mark.requirement("R-204", "R-205")
def test_an_erasure_ends_beside_a_writer_and_a_process_that_holds_the_index(path: Path) -> None:
    with _started(NEIGHBOUR, path) as writing, _started(SEARCHING, path) as searching:
        try:
            assert int(_asked(searching, f"{WORD} safe")) > 0
            while int(_asked(writing)) < 20:
                pass
            with Credenda.open(path, user="ana", workers=False, embedder="none") as mem:
                receipt = mem.erase("ana")
            assert receipt.rows > 60
            assert int(_asked(searching, f"{WORD} safe")) == 0
            acknowledged = int(_asked(writing))
        finally:
            writing.kill()
            searching.kill()
    with Credenda.open(path, user="ana", workers=False, embedder="none") as mem:
        assert mem.erase("ana").remaining_matches == 0
        assert mem.stats().events == 0
    assert WORD.encode() not in _raw(path)
    with Credenda.open(path, user="ben", workers=False, embedder="none") as mem:
        mem.settle()
        assert mem.stats().events >= acknowledged + 1
        assert mem.data.doctor().ok
