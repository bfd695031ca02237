"""A backup holds all that was acknowledged before it, and restoring one brings nobody back who was erased since."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from credenda import Conflict, Corrupt, Credenda, Invalid, NotFound, Unavailable, restore_backup
from credenda.storage.transfer import locate_ledger, read_ledger
from credenda.testing import ManualClock

from .older import upgraded

pytestmark = pytest.mark.sqlite_file  # a backup is a copy of the file

WORD = "zorkmidsplendour"
WRITING = """
import sys
from credenda import Credenda
with Credenda.open(sys.argv[1], user="ana", workers=False, embedder="none") as memory:
    for number in range(10**9):
        memory.remember(f"Note {number} of ana.")
        print(number, flush=True)
"""


def _texts(path: Path, user: str, clock: ManualClock) -> list[str]:
    with Credenda.open(path, user=user, clock=clock, workers=False) as mem:
        assert mem.data.doctor().ok
        return [memory.text for memory in mem.list(limit=50).items]


@pytest.fixture
def two(path: Path, mem: Credenda, clock: ManualClock) -> Credenda:
    mem.remember(f"I'm allergic to {WORD}.")
    mem.settle()
    with Credenda.open(path, user="ben", clock=clock, workers=False) as ben:
        ben.remember("I live in Linz.")
        ben.settle()
    return mem


def test_a_backup_restores_all_users(two: Credenda, tmp_path: Path, clock: ManualClock) -> None:
    report = two.data.backup(tmp_path / "copy.db")
    assert (report.users, report.size_bytes) == (2, (tmp_path / "copy.db").stat().st_size)
    assert sorted(one.name for one in tmp_path.iterdir() if "copy" in one.name) == ["copy.db"]
    restored = restore_backup(tmp_path / "copy.db", tmp_path / "again.db", clock=clock)
    assert (restored.users, restored.erased) == (2, 0)
    assert _texts(tmp_path / "again.db", "ana", clock) == [f"I'm allergic to {WORD}."]
    assert _texts(tmp_path / "again.db", "ben", clock) == ["I live in Linz."]


def test_a_backup_of_an_older_schema_restores_all_users(two: Credenda, tmp_path: Path, clock: ManualClock) -> None:
    two.data.backup(tmp_path / "copy.db")
    with upgraded():
        assert restore_backup(tmp_path / "copy.db", tmp_path / "again.db", clock=clock).users == 2
        assert _texts(tmp_path / "again.db", "ana", clock) == [f"I'm allergic to {WORD}."]
        assert _texts(tmp_path / "again.db", "ben", clock) == ["I live in Linz."]
    with closing(sqlite3.connect(tmp_path / "again.db")) as raw:
        assert raw.execute("SELECT count(*) FROM notes").fetchone() == (0,)


def test_a_backup_made_while_others_write_holds_what_was_acknowledged_before(
    path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITING, str(path)], stdout=subprocess.PIPE, text=True) as writing:
        assert writing.stdout is not None
        try:
            acknowledged = -1
            while acknowledged < 50:
                acknowledged = int(writing.stdout.readline())
            with Credenda.open(path, user="ana", workers=False, embedder="none") as mem:
                mem.data.backup(tmp_path / "copy.db")
        finally:
            writing.kill()
    restore_backup(tmp_path / "copy.db", tmp_path / "again.db", clock=clock)
    with closing(sqlite3.connect(tmp_path / "again.db")) as raw:
        texts = {row[0] for row in raw.execute("SELECT text FROM events")}
    assert {f"Note {number} of ana." for number in range(acknowledged + 1)} <= texts
    with Credenda.open(tmp_path / "again.db", user="ana", clock=clock, workers=False) as again:
        assert again.data.doctor().ok


@pytest.mark.requirement("D-019")
@pytest.mark.parametrize("left", ["everything", "without the database", "without the ledger of the backup"])
def test_a_restored_backup_is_cleaned_of_who_was_erased_since(
    two: Credenda, path: Path, clock: ManualClock, *, left: str
) -> None:
    tmp_path = path.parent
    two.manage.hold("a case")
    two.data.backup(tmp_path / "copy.db")
    two.manage.lift_hold("closed")
    receipt = two.erase("ana")
    assert receipt.backups == (str(tmp_path / "copy.db"),)
    two.close()
    if left == "without the database":
        path.unlink()
        locate_ledger(path).unlink()
    elif left == "without the ledger of the backup":
        locate_ledger(tmp_path / "copy.db").unlink()
    report = restore_backup(tmp_path / "copy.db", path, replace=True, clock=clock)
    assert (report.users, report.erased) == (1, 1)
    assert WORD.encode() not in path.read_bytes()
    assert _texts(path, "ana", clock) == []
    assert _texts(path, "ben", clock) == ["I live in Linz."]
    assert restore_backup(tmp_path / "copy.db", path, replace=True, clock=clock).erased == 1


def test_who_began_anew_after_an_erasure_stays_in_a_later_backup(
    two: Credenda, path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    two.erase("ana")
    two.remember("I like tea.")
    two.settle()
    two.data.backup(tmp_path / "copy.db")
    two.close()
    assert restore_backup(tmp_path / "copy.db", path, replace=True, clock=clock).erased == 0
    assert _texts(path, "ana", clock) == ["I like tea."]


def test_who_was_imported_again_on_purpose_stays_too(
    two: Credenda, path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    two.data.backup(tmp_path / "old.db")
    two.erase("ana", export=tmp_path / "all.jsonl")
    two.data.import_(tmp_path / "all.jsonl")
    two.data.backup(tmp_path / "copy.db")
    two.close()
    assert restore_backup(tmp_path / "copy.db", path, replace=True, clock=clock).erased == 0
    assert _texts(path, "ana", clock) == [f"I'm allergic to {WORD}."]


def test_an_archive_of_an_erased_user_lifts_the_erasure_of_the_user_of_that_name_alone(
    two: Credenda, path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    old, archive = tmp_path / "old.db", tmp_path / "all.jsonl"
    two.data.backup(old)
    two.erase("ana", export=archive)
    with Credenda.open(path, user="carl", clock=clock, workers=False) as carl:
        assert not carl.data.import_(archive).lifted_erasure
        assert _texts(path, "carl", clock) == [f"I'm allergic to {WORD}."]
        assert restore_backup(old, tmp_path / "first.db", clock=clock).erased == 1
        assert _texts(tmp_path / "first.db", "ana", clock) == []
        carl.erase("carl")
    assert len(read_ledger(old)) == len(read_ledger(path)) == 2
    assert two.data.import_(archive, dry_run=True).lifted_erasure
    assert two.data.import_(archive).lifted_erasure
    assert len(read_ledger(old)) == len(read_ledger(path)) == 1
    assert restore_backup(old, tmp_path / "second.db", clock=clock).erased == 0
    two.close()


def test_a_database_is_replaced_only_when_asked_and_by_nothing_damaged(
    two: Credenda, path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    copy = tmp_path / "copy.db"
    two.data.backup(copy)
    with pytest.raises(Conflict, match="there already"):
        restore_backup(copy, path, clock=clock)
    with pytest.raises(Unavailable, match="in use"):
        restore_backup(copy, path, replace=True, clock=clock)
    two.close()
    with pytest.raises(NotFound):
        restore_backup(tmp_path / "none.db", path, replace=True, clock=clock)
    with pytest.raises(Invalid):
        restore_backup(path, path, replace=True, clock=clock)
    whole, before = copy.read_bytes(), path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"not a database at all" * 500, b"", _altered(copy, tmp_path)):
        copy.write_bytes(damaged)
        with pytest.raises(Corrupt):
            restore_backup(copy, path, replace=True, clock=clock)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir() if ".part" in one.name] == []


def _altered(copy: Path, folder: Path) -> bytes:
    """Forge one event inside a copy, past the triggers."""
    forged = folder / "forged.db"
    forged.write_bytes(copy.read_bytes())
    with closing(sqlite3.connect(forged)) as raw:
        raw.execute("DROP TRIGGER events_keep")
        raw.execute("UPDATE events SET text = 'forged' WHERE user_id = 'ben'")
        raw.commit()
    return forged.read_bytes()


def test_a_backup_never_takes_the_place_of_something_else(mem: Credenda, path: Path, tmp_path: Path) -> None:
    mem.remember("I live in Linz.")
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Ana", "utf-8")
    with pytest.raises(Conflict):
        mem.data.backup(letter)
    for place in (path, tmp_path):
        with pytest.raises(Invalid):
            mem.data.backup(place)
    with pytest.raises(Unavailable):
        mem.data.backup(tmp_path / "no such folder" / "copy.db")
    assert letter.read_text("utf-8") == "Dear Ana"
    mem.data.backup(tmp_path / "copy.db")
    mem.data.backup(tmp_path / "copy.db")


def _letter(place: Path, _: Path) -> None:
    place.write_text("Dear Ana", "utf-8")


def _photos(place: Path, _: Path) -> None:
    with closing(sqlite3.connect(place)) as other:
        other.execute("CREATE TABLE photos (name TEXT)")
        other.commit()


def _another_memory(place: Path, _: Path) -> None:
    with Credenda.open(place, user="ana", workers=False, embedder="none") as other:
        other.remember("I live in Graz.")


def _used_backup(place: Path, backup: Path) -> None:
    place.write_bytes(backup.read_bytes())
    with Credenda.open(place, user="ana", workers=False, embedder="none") as other:
        other.remember("I live in Graz.")


@pytest.mark.parametrize("write", [_letter, _photos, _another_memory, _used_backup])
def test_what_took_the_place_of_a_backup_is_not_overwritten(
    mem: Credenda, tmp_path: Path, write: Callable[[Path, Path], None]
) -> None:
    mem.remember("I live in Linz.")
    mem.data.backup(tmp_path / "other.db")
    place = tmp_path / "copy.db"
    mem.data.backup(place)
    place.unlink()
    write(place, tmp_path / "other.db")
    before = place.read_bytes()
    with pytest.raises(Conflict, match=r"copy\.db is there already"):
        mem.data.backup(place)
    assert place.read_bytes() == before


def test_a_backup_replaces_neither_a_link_nor_a_file_with_a_log(mem: Credenda, path: Path, tmp_path: Path) -> None:
    mem.remember("I live in Linz.")
    mem.data.backup(tmp_path / "copy.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "copy.db")
    (tmp_path / "nowhere.db").symlink_to(tmp_path / "nothing.db")
    for name in ("link.db", "nowhere.db"):
        with pytest.raises(Invalid, match="it is a link"):
            mem.data.backup(tmp_path / name)
    (tmp_path / "copy.db-wal").write_bytes(b"a log")
    with pytest.raises(Conflict, match=r"copy\.db-wal is there already"):
        mem.data.backup(tmp_path / "copy.db")
    assert (tmp_path / "link.db").is_symlink()
    assert not (tmp_path / "nothing.db").exists()
    assert path.exists()


def test_a_backup_moved_to_another_name_may_be_replaced_there(mem: Credenda, tmp_path: Path) -> None:
    mem.data.backup(tmp_path / "copy.db")
    (tmp_path / "copy.db").rename(tmp_path / "moved.db")
    mem.remember("I live in Linz.")
    assert mem.data.backup(tmp_path / "moved.db").users == 1


def test_another_programs_database_is_not_replaced_even_when_asked(mem: Credenda, tmp_path: Path) -> None:
    mem.data.backup(tmp_path / "copy.db")
    with closing(sqlite3.connect(tmp_path / "photos.db")) as other:
        other.execute("CREATE TABLE photos (name TEXT)")
        other.commit()
    before = (tmp_path / "photos.db").read_bytes()
    with pytest.raises(Conflict, match="another program's database"):
        restore_backup(tmp_path / "copy.db", tmp_path / "photos.db", replace=True)
    assert (tmp_path / "photos.db").read_bytes() == before


def test_a_database_with_a_damaged_text_is_corrupt_and_may_be_replaced(
    mem: Credenda, path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    mem.remember("I live in Linz.")
    mem.data.backup(tmp_path / "copy.db")
    mem.close()
    whole = path.read_bytes()
    at = whole.rindex(b"CREATE TABLE tenants")
    path.write_bytes(whole[:at] + b"CREATE TABL\xff" + whole[at + 12 :])
    with pytest.raises(Corrupt, match="not a sound database"):
        Credenda.open(path, user="ana", clock=clock, workers=False)
    restore_backup(tmp_path / "copy.db", path, replace=True, clock=clock)
    with Credenda.open(path, user="ana", clock=clock, workers=False) as again:
        assert again.stats().events == 1


def test_a_database_under_a_legal_hold_is_not_replaced(
    two: Credenda, path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    two.data.backup(tmp_path / "copy.db")
    two.manage.hold("a case")
    two.remember("I like tea.")
    two.settle()
    two.close()
    with pytest.raises(Conflict, match="legal hold"):
        restore_backup(tmp_path / "copy.db", path, replace=True, clock=clock)
    assert "I like tea." in _texts(path, "ana", clock)
    assert restore_backup(tmp_path / "copy.db", tmp_path / "elsewhere.db", clock=clock).users == 2
