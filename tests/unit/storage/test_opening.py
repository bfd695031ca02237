"""Opening: by many at once, and one clear error each for what cannot be opened."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from credenda.errors import Corrupt, CredendaError, Invalid, NotFound, Unavailable
from credenda.storage.sqlite import connection as connecting
from tests.waiting import PATIENCE_SECONDS

from .build import events, opened, put, said

OPEN_AND_WRITE = """
import sys
from pathlib import Path
from tests.unit.storage.build import opened, put, said
print("ready", flush=True)
sys.stdin.readline()
with opened(Path(sys.argv[1])) as store:
    for turn in range(5):
        put(store, said(f"{sys.argv[2]}.{turn}"))
"""
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.requirement("R-165")
def test_processes_that_open_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN_AND_WRITE, str(path), str(place)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for place in range(3)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in started:
        process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0
    with opened(path) as store:
        assert sorted(events(store)) == [f"{place}.{turn}" for place in range(3) for turn in range(5)]
        assert store.check("ana") == []


@pytest.mark.parametrize("attempt", range(3))
def test_threads_that_open_a_new_file_at_once_all_succeed(tmp_path: Path, attempt: int) -> None:
    path = tmp_path / f"{attempt}.db"
    start = Barrier(6)

    def open_and_write(place: int) -> None:
        start.wait(timeout=PATIENCE_SECONDS)
        with opened(path) as store:
            put(store, said(str(place)))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(open_and_write, range(6)))
    with opened(path) as store:
        assert sorted(events(store)) == [str(place) for place in range(6)]


def filled(path: Path) -> Path:
    with opened(path) as store:
        put(store, *(said(f"Turn {turn}: " + "word " * 100) for turn in range(50)))
    return path


def cut(path: Path, size: int) -> Path:
    filled(path)
    with path.open("r+b") as file:
        file.truncate(size)
    return path


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def scribbled(path: Path) -> Path:
    """Overwrite the page that lists the tables, behind a sound header."""
    filled(path)
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xa5" * 3_000)
    return path


DAMAGED: dict[str, Callable[[Path], Path]] = {
    "cut inside the header": lambda path: cut(path, 60),
    "cut after the header": lambda path: cut(path, 100),
    "cut after the first page": lambda path: cut(path, 4_096),
    "cut in the middle of a page": lambda path: cut(path, 30_000),
    "scribbled over": scribbled,
    "text": lambda path: written(path, b"just some notes\n"),
    "two bytes": lambda path: written(path, b"hi"),
    "noise": lambda path: written(path, bytes(range(256)) * 64),
}


@pytest.mark.parametrize("damage", list(DAMAGED))
@pytest.mark.parametrize("read_only", [False, True])
def test_a_damaged_file_is_corrupt_and_left_as_it_is(tmp_path: Path, damage: str, *, read_only: bool) -> None:
    path = DAMAGED[damage](tmp_path / "memory.db")
    before = path.read_bytes()
    with pytest.raises(Corrupt), opened(path, read_only=read_only):
        pass
    assert path.read_bytes() == before


def beneath_a_file(folder: Path) -> Path:
    return written(folder / "file", b"") / "memory.db"


NOWHERE: dict[str, Callable[[Path], Path]] = {
    "the folder is missing": lambda folder: folder / "no" / "such" / "memory.db",
    "a file stands in place of the folder": beneath_a_file,
    "the path is a folder": lambda folder: folder,
    "the name is too long": lambda folder: folder / ("a" * 300),
    "the folder's name is too long": lambda folder: folder / ("a" * 300) / "memory.db",
    "the path is empty": lambda _: Path(),
    "the folder takes no files": lambda _: Path("/proc/memory.db"),
}


@pytest.mark.parametrize("place", list(NOWHERE))
def test_a_place_where_no_file_can_be_is_unavailable(tmp_path: Path, place: str) -> None:
    if "takes no files" in place and not Path("/proc/self").exists():
        pytest.skip("only Linux has /proc")
    path = NOWHERE[place](tmp_path)
    with pytest.raises(Unavailable) as raised, opened(path):
        pass
    assert str(path.absolute())[:190] in raised.value.what
    assert raised.value.why
    assert raised.value.fix


@pytest.mark.parametrize("place", [name for name in NOWHERE if name != "the folder takes no files"])
def test_what_is_not_there_cannot_be_read(tmp_path: Path, place: str) -> None:
    with pytest.raises(NotFound), opened(NOWHERE[place](tmp_path), read_only=True):
        pass


def test_an_empty_file_holds_no_memory_yet_and_may_get_one(tmp_path: Path) -> None:
    path = written(tmp_path / "memory.db", b"")
    with pytest.raises(NotFound), opened(path, read_only=True):
        pass
    with opened(path) as store:
        put(store, said("One."))
    with opened(path, read_only=True) as store:
        assert events(store) == ["One."]


def test_a_store_that_is_read_only_reads_and_refuses_to_write(tmp_path: Path) -> None:
    path = filled(tmp_path / "memory.db")
    with opened(path, read_only=True) as store:
        assert len(events(store)) == 50
        assert store.check("ana") == []
        with pytest.raises(Invalid, match="read only"):
            put(store, said("No."))


def test_a_store_that_is_read_only_sees_what_others_write(tmp_path: Path) -> None:
    path = filled(tmp_path / "memory.db")
    with opened(path) as writing, opened(path, read_only=True) as reading:
        put(writing, said("New."))
        assert events(reading)[-1] == "New."


def test_an_odd_name_is_only_a_name(tmp_path: Path) -> None:
    path = filled(tmp_path / "my memory?mode=memory#%41 ü.db")
    assert path.is_file()
    with opened(path, read_only=True) as store:
        assert len(events(store)) == 50


def refuse_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open every file as SQLite does when its permissions allow only reading; holds for root as well."""
    connect = sqlite3.connect

    def read_only(path: str, **options: object) -> sqlite3.Connection:
        uri = path.replace("mode=rw", "mode=ro") if path.startswith("file:") else f"{Path(path).as_uri()}?mode=ro"
        return connect(uri, **(options | {"uri": True}))  # type: ignore[arg-type]

    monkeypatch.setattr(connecting.sqlite3, "connect", read_only)


def test_a_read_only_file_is_unavailable_for_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path / "memory.db")
    refuse_writes(monkeypatch)
    with opened(path) as store:
        with pytest.raises(Unavailable, match="read-only"):
            put(store, said("No."))
        assert len(events(store)) == 50


def test_a_new_file_where_none_may_be_made_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_writes(monkeypatch)
    with pytest.raises(Unavailable, match="cannot be written or opened"), opened(tmp_path / "new.db"):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_a_folder_without_permission_is_unavailable(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=mode)
    with pytest.raises(CredendaError) as raised, opened(folder / "memory.db"):
        pass
    assert isinstance(raised.value, Unavailable)
