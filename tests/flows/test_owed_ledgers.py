"""What an erasure owes to a backup is tried again and reported; it never keeps anybody from opening the database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from credenda import Corrupt, Credenda, Unavailable, restore_backup
from credenda.storage.transfer import locate_ledger, read_ledger
from credenda.testing import ManualClock

pytestmark = pytest.mark.sqlite_file  # the ledgers lie beside the file and its backups

WORD = "zorkmidsplendour"
DAMAGED = b"no line of a ledger\n{}\n"


@pytest.fixture
def backup(path: Path, tmp_path: Path, clock: ManualClock) -> Path:
    """A backup in a folder of its own, of a database with two users."""
    place = tmp_path / "disk" / "backup.db"
    place.parent.mkdir()
    for user, text in (("ana", f"I'm allergic to {WORD}."), ("ben", "I live in Linz.")):
        with Credenda.open(path, user=user, clock=clock, workers=False) as memory:
            memory.remember(text)
            memory.settle()
    with Credenda.open(path, user="ben", clock=clock, workers=False) as memory:
        memory.data.backup(place)
    return place


def _block(backup: Path) -> Callable[[], object]:
    """Put a folder in the place of the ledger, which nobody can write, not even root; return how to undo it."""
    place = locate_ledger(backup)
    place.mkdir()
    return place.rmdir


def _unmount(backup: Path) -> Callable[[], object]:
    """Take the folder of the backup away, as with a disk that is not mounted."""
    away = backup.parent.with_name("away")
    backup.parent.rename(away)
    return lambda: away.rename(backup.parent)


def _listed(backup: Path) -> int:
    return len(read_ledger(backup))


@pytest.mark.parametrize("hidden", [_block, _unmount])
def test_an_erasure_says_what_it_owes_and_everybody_may_open_and_write(
    path: Path, backup: Path, clock: ManualClock, hidden: Callable[[Path], Callable[[], object]]
) -> None:
    seen = hidden(backup)
    with Credenda.open(path, user="ana", clock=clock, workers=False) as ana:
        receipt = ana.erase("ana")
        assert receipt.remaining_matches == 0
        assert list(receipt.owed) == [str(backup)]
    for _ in range(2):
        with Credenda.open(path, user="ben", clock=clock, workers=False) as ben:
            ben.remember("I like tea.")
            ben.settle()
            (finding,) = ben.data.doctor().findings
            assert (finding.check, finding.where) == ("ledgers", str(backup))
    seen()
    with Credenda.open(path, user="ben", clock=clock, workers=False) as ben:
        assert ben.data.doctor().ok
    assert _listed(backup) == 1
    path.unlink()
    locate_ledger(path).unlink()
    assert restore_backup(backup, path, clock=clock).erased == 1
    assert WORD.encode() not in path.read_bytes()


def test_a_restore_honours_an_erasure_that_the_backup_does_not_list(
    path: Path, backup: Path, clock: ManualClock
) -> None:
    seen = _block(backup)
    with Credenda.open(path, user="ana", clock=clock, workers=False) as ana:
        ana.erase("ana")
    seen()
    assert restore_backup(backup, path, replace=True, clock=clock).erased == 1
    with Credenda.open(path, user="ana", clock=clock, workers=False) as ana:
        assert ana.stats().events == 0
    assert _listed(path) == 1


@pytest.mark.parametrize("beside", ["backup", "database"])
def test_a_damaged_ledger_is_set_aside_and_reported(path: Path, backup: Path, clock: ManualClock, beside: str) -> None:
    with Credenda.open(path, user="ben", clock=clock, workers=False) as ben:
        ben.erase("ben")
    place = locate_ledger(backup if beside == "backup" else path)
    kept = place.read_bytes()
    place.write_bytes(DAMAGED + kept)
    with Credenda.open(path, user="ana", clock=clock, workers=False) as ana:
        assert ana.erase("ana").owed == {}
        (finding,) = ana.data.doctor().findings
        assert finding.where == f"{place}.damaged-1"
    assert Path(finding.where).read_bytes() == DAMAGED + kept
    assert _listed(backup) == _listed(path) == 2
    with Credenda.open(path, user="ben", clock=clock, workers=False) as ben:
        ben.remember("I like tea.")
    assert restore_backup(backup, path, replace=True, clock=clock).users == 0


def test_a_backup_with_a_damaged_ledger_is_not_restored_where_nothing_else_lists_its_erasures(
    path: Path, backup: Path, tmp_path: Path, clock: ManualClock
) -> None:
    with Credenda.open(path, user="ana", clock=clock, workers=False) as ana:
        ana.erase("ana")
    locate_ledger(backup).write_bytes(DAMAGED)
    with pytest.raises(Corrupt, match="restore an intact copy of it, or move it away"):
        restore_backup(backup, tmp_path / "elsewhere.db", clock=clock)
    assert not (tmp_path / "elsewhere.db").exists()
    assert restore_backup(backup, path, replace=True, clock=clock).erased == 1


def test_an_import_after_an_erasure_cancels_the_entry_of_a_backup_later(
    path: Path, backup: Path, tmp_path: Path, clock: ManualClock
) -> None:
    with Credenda.open(path, user="ana", clock=clock, workers=False) as ana:
        ana.erase("ana", export=tmp_path / "ana.jsonl")
        assert _listed(backup) == 1
        entry = locate_ledger(backup).read_bytes()
        locate_ledger(backup).unlink()
        seen = _block(backup)
        ana.data.import_(tmp_path / "ana.jsonl")
        assert not ana.data.doctor().ok
        seen()
        locate_ledger(backup).write_bytes(entry)
        assert ana.data.doctor(repair=True).ok
    assert _listed(backup) == 0


def test_a_backup_that_failed_is_owed_nothing(path: Path, tmp_path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, workers=False) as ana:
        ana.remember(f"I'm allergic to {WORD}.")
        with pytest.raises(Unavailable, match="cannot be written"):
            ana.data.backup(tmp_path / "missing" / "backup.db")
        receipt = ana.erase("ana")
        assert (receipt.backups, receipt.owed) == ((), {})
        assert ana.data.doctor().ok


def test_a_worker_tries_again(path: Path, backup: Path, clock: ManualClock) -> None:
    seen = _block(backup)
    with Credenda.open(path, user="ana", clock=clock, workers=False) as ana:
        ana.erase("ana")
        seen()
        assert ana._parts.store.retry_owed() == {}  # noqa: SLF001 - as a worker calls it once a minute
    assert _listed(backup) == 1


def test_a_backup_that_was_deleted_is_owed_nothing(path: Path, backup: Path, clock: ManualClock) -> None:
    backup.unlink()
    with Credenda.open(path, user="ana", clock=clock, workers=False) as ana:
        receipt = ana.erase("ana")
    assert (receipt.backups, receipt.owed) == ((), {})
