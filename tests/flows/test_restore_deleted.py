"""A backup that is restored does not bring back what was deleted since it was made."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, CredendaError, Invalid, NotFound, restore_backup
from credenda.testing import ManualClock

pytestmark = pytest.mark.sqlite_file  # a backup of a file is restored

WORD = "zorkmidsplendour"


@pytest.fixture
def saved(mem: Credenda, tmp_path: Path) -> Path:
    """A backup of three sentences and of another user's."""
    mem.remember(f"I'm allergic to {WORD}. I live in Linz.")
    mem.remember("My sister lives in Graz.")
    mem.settle()
    mem.data.backup(tmp_path / "copy.db")
    return tmp_path / "copy.db"


def opened(path: Path, clock: ManualClock) -> Credenda:
    return Credenda.open(path, user="ana", clock=clock, workers=False)


def memory_of(mem: Credenda, value: str) -> str:
    return next(one.id for one in mem.list(limit=50).items if one.value == value)


@pytest.mark.requirement("S-062", "D-019")
def test_a_memory_deleted_since_is_deleted_in_the_backup_too(
    saved: Path, mem: Credenda, path: Path, clock: ManualClock
) -> None:
    mem.delete(memory_of(mem, WORD))
    mem.close()
    report = restore_backup(saved, path, replace=True, clock=clock)
    assert report.deleted
    assert not report.unread
    assert WORD.encode() not in path.read_bytes()
    with opened(path, clock) as again:
        assert {one.value for one in again.list(limit=50).items} >= {"Linz"}
        assert again.data.doctor().ok
        receipt = again.remember(f"I'm allergic to {WORD}.")
        again.settle()
        assert receipt.refused
        assert again.search(WORD).abstained
        assert any("Linz" in hit.quote for hit in again.search("Where do I live?").hits)


@pytest.mark.requirement("S-062", "D-019")
def test_an_event_deleted_since_goes_and_the_rest_stays(
    saved: Path, mem: Credenda, path: Path, clock: ManualClock
) -> None:
    (event,) = [one for one in mem.search("sister Graz", kinds=("event",)).hits if "sister" in one.text]
    mem.delete(event.id)
    mem.close()
    assert restore_backup(saved, path, replace=True, clock=clock).deleted
    assert b"Graz" not in path.read_bytes()
    with opened(path, clock) as again:
        assert {one.value for one in again.list(limit=50).items} >= {"Linz", WORD}
        assert again.data.doctor().ok


def test_what_was_said_again_on_purpose_may_be_said_again(
    saved: Path, mem: Credenda, path: Path, clock: ManualClock
) -> None:
    mem.delete(memory_of(mem, WORD))
    mem.remember(f"I'm allergic to {WORD}.", allow_deleted=True)
    mem.settle()
    mem.close()
    restore_backup(saved, path, replace=True, clock=clock)
    with opened(path, clock) as again:
        assert not again.remember(f"I'm allergic to {WORD}.").refused


def test_a_hold_that_was_lifted_since_hinders_nothing(
    mem: Credenda, tmp_path: Path, path: Path, clock: ManualClock
) -> None:
    mem.remember(f"I'm allergic to {WORD}.")
    mem.settle()
    mem.manage.hold("case 7")
    mem.data.backup(tmp_path / "copy.db")
    mem.manage.lift_hold("settled")
    mem.delete(memory_of(mem, WORD))
    mem.close()
    assert restore_backup(tmp_path / "copy.db", path, replace=True, clock=clock).deleted
    assert WORD.encode() not in path.read_bytes()


def test_ids_of_another_history_are_left_alone(saved: Path, mem: Credenda, path: Path, clock: ManualClock) -> None:
    """After a restore the same ids are given out anew; a later backup of the first history has others' words there."""
    mem.remember("I play the violin.")
    mem.settle()
    later = saved.with_name("later.db")
    mem.data.backup(later)
    mem.close()
    restore_backup(saved, path, replace=True, clock=clock)
    clock.advance(timedelta(seconds=1))
    with opened(path, clock) as other:
        other.remember("My favourite colour is teal.")
        other.settle()
        other.delete(memory_of(other, "teal"))
    report = restore_backup(later, path, replace=True, clock=clock)
    assert report.deleted == 0
    with opened(path, clock) as again:
        assert any("violin" in one.text for one in again.list(limit=50).items)
        assert again.remember("My favourite colour is teal.").refused


def test_a_database_that_cannot_be_read_says_so(saved: Path, mem: Credenda, path: Path, clock: ManualClock) -> None:
    mem.delete(memory_of(mem, WORD))
    mem.close()
    path.write_bytes(b"not a database" * 500)
    report = restore_backup(saved, path, replace=True, clock=clock)
    assert report.unread
    assert report.deleted == 0


@pytest.mark.requirement("S-062")
def test_deletions_are_carried_to_another_place(saved: Path, mem: Credenda, path: Path, clock: ManualClock) -> None:
    mem.delete(memory_of(mem, WORD))
    mem.data.backup(path.with_name("later.db"))
    before = path.read_bytes()
    for number, source in enumerate((path, path.with_name("later.db"))):
        place = path.parent / f"elsewhere{number}.db"
        report = restore_backup(saved, place, deletions=source, clock=clock)
        assert (bool(report.deleted), report.replayed, report.unread) == (True, True, "")
        assert WORD.encode() not in place.read_bytes()
        with opened(place, clock) as again:
            assert {one.value for one in again.list(limit=50).items} >= {"Linz"}
            assert again.remember(f"I have an allergy to {WORD}.").refused
            assert again.data.doctor().ok
    assert path.read_bytes() == before


def test_restored_elsewhere_it_says_that_no_deletion_was_replayed(
    saved: Path, mem: Credenda, clock: ManualClock, tmp_path: Path
) -> None:
    mem.delete(memory_of(mem, WORD))
    report = restore_backup(saved, tmp_path / "elsewhere.db", clock=clock)
    assert (report.deleted, report.replayed) == (0, False)
    assert WORD.encode() in (tmp_path / "elsewhere.db").read_bytes()


def test_who_is_erased_where_the_deletions_are_is_erased(
    saved: Path, mem: Credenda, path: Path, clock: ManualClock
) -> None:
    mem.erase(confirm="ana")
    place = path.with_name("elsewhere.db")
    report = restore_backup(saved, place, deletions=path, clock=clock)
    assert (report.erased, report.users) == (1, 0)
    assert WORD.encode() not in place.read_bytes()


def test_deletions_of_other_memories_or_of_no_database_change_nothing(
    saved: Path, clock: ManualClock, tmp_path: Path
) -> None:
    place, other = tmp_path / "elsewhere.db", tmp_path / "other.db"
    with opened(other, clock) as stranger:
        stranger.remember("I live in Wels.")
    (tmp_path / "text.db").write_text("no database", "utf-8")
    for deletions, error in (
        (tmp_path / "none.db", NotFound),
        (other, Invalid),
        (tmp_path / "text.db", CredendaError),
        (tmp_path, CredendaError),
    ):
        with pytest.raises(error):
            restore_backup(saved, place, deletions=deletions, clock=clock)
        assert not place.exists()
