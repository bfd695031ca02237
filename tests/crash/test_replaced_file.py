"""A database that is removed or replaced while processes have it open: they notice, and no other file gets its log."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from credenda import Credenda, Unavailable, restore_backup
from tests.waiting import PATIENCE_SECONDS

KEPT = "I live in Linz."
LOST = "I like zorkmids."
WORKING = """
import sys
from credenda import Credenda, CredendaError
memory = Credenda.open(sys.argv[1], user="ana", workers=False, embedder="none")
memory.remember("I like zorkmids.")
memory.settle()
print("ready", flush=True)
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    try:
        if word == "say":
            memory.remember(rest)
            print("said", flush=True)
        else:
            print([hit.quote for hit in memory.search(rest, kinds=["event"]).hits], flush=True)
    except CredendaError as error:
        print(error.code, str(error), flush=True)
memory.close()
"""


def _opened(path: Path) -> Credenda:
    return Credenda.open(path, user="ana", workers=False, embedder="none")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "memory.db"
    with _opened(place) as memory:
        memory.remember(KEPT)
        memory.settle()
        memory.data.backup(tmp_path / "backup.db")
    return place


class Working:
    """Another process that has the database open and a message in its log that no backup has."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKING, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.hear() == "ready"

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def ask(self, line: str) -> str:
        assert self.process.stdin is not None
        print(line, file=self.process.stdin, flush=True)
        return self.hear()

    def end(self) -> None:
        self.process.communicate(timeout=PATIENCE_SECONDS)


@pytest.fixture
def working(path: Path) -> Iterator[Working]:
    made = Working(path)
    yield made
    made.end()


def _remove(path: Path) -> None:
    path.unlink()


def _replace(path: Path) -> None:
    path.with_name("backup.db").replace(path)


@pytest.mark.parametrize("moved", [_remove, _replace])
@pytest.mark.parametrize("line", ["say I like tea.", "search Linz"])
def test_a_client_notices_at_its_next_call(
    path: Path, working: Working, moved: Callable[[Path], None], line: str
) -> None:
    moved(path)
    before = path.read_bytes() if path.exists() else b""
    told = working.ask(line)
    word = "replaced" if before else "removed"
    assert told.startswith(f"unavailable {path} was {word} while it was open: ")
    assert told.endswith("close this memory and open it again; nothing was written")
    working.end()
    assert (path.read_bytes() if path.exists() else b"") == before


def test_who_opens_the_new_file_searches_it_while_the_old_one_is_still_open(path: Path, working: Working) -> None:
    _replace(path)
    with _opened(path) as memory:
        assert [hit.quote for hit in memory.search("Linz", kinds=["event"]).hits] == [KEPT]
        assert memory.search("zorkmids", kinds=["event"]).hits == ()
        memory.remember("I like tea.")
        assert working.ask("say I like coffee.").startswith("unavailable ")
        working.end()
        memory.remember("I like trains.")
        memory.settle()
        assert memory.data.doctor().ok
    with _opened(path) as memory:
        assert memory.stats().events == 3
        assert memory.data.doctor().ok


@pytest.mark.parametrize("restored", [_replace, _remove])
def test_the_log_that_a_killed_process_left_is_not_written_into_the_next_file(
    path: Path, working: Working, restored: Callable[[Path], None]
) -> None:
    working.process.send_signal(signal.SIGKILL)
    working.process.wait()
    log = path.with_name("memory.db-wal")
    left = log.read_bytes()
    assert LOST.encode() in left
    restored(path)
    if restored is _remove:
        restore_backup(path.with_name("backup.db"), path)
    with _opened(path) as memory:
        assert [hit.quote for hit in memory.search("Linz", kinds=["event"]).hits] == [KEPT]
        assert memory.stats().events == 1
        assert memory.data.doctor().ok
    assert path.with_name("memory.db-wal.aside-1").read_bytes() == left


def test_a_log_of_the_database_itself_is_replayed(path: Path, working: Working) -> None:
    working.process.send_signal(signal.SIGKILL)
    working.process.wait()
    with _opened(path) as memory:
        assert memory.stats().events == 2


def test_a_client_of_this_process_notices_too_and_may_open_the_new_file(path: Path) -> None:
    memory = _opened(path)
    memory.remember(LOST)
    _replace(path)
    with pytest.raises(Unavailable, match="replaced while it was open"):
        memory.search("Linz")
    with pytest.raises(Unavailable, match="replaced while it was open"):
        memory.remember("I like tea.")
    with _opened(path) as again:
        again.remember("I like trains.")
        memory.close()
        assert again.stats().events == 2
        assert again.data.doctor().ok
