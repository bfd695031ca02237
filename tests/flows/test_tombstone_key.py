"""The key of the tombstones kept apart from the database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from credenda import Conflict, Credenda, CredendaError, Invalid, NotFound
from credenda.bootstrap import restore_backup
from credenda.testing import ManualClock
from credenda.write.forget.tombstones import hash_text_forms


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    folder = tmp_path / "apart"
    folder.mkdir()
    (folder / "key").write_bytes(bytes(range(32)))
    return folder / "key"


def _open(path: Path, clock: ManualClock, key_file: Path | None) -> Credenda:
    settings = {} if key_file is None else {"tombstone_key_file": str(key_file)}
    return Credenda.open(path, user="ana", clock=clock, workers=False, settings=settings)


def _delete_linz(path: Path, clock: ManualClock, key_file: Path | None) -> None:
    with _open(path, clock, key_file) as mem:
        mem.remember("I live in Linz. I like tea.")
        mem.settle()
        mem.delete(mem.list(attribute="residence").items[0].id)


def _can_guess(path: Path) -> bool:
    """Return whether the database file alone tells that a guessed sentence was deleted."""
    with closing(sqlite3.connect(path)) as file:
        (key,) = file.execute("SELECT hmac_key FROM tenants").fetchone()
        held = {row[0] for row in file.execute("SELECT digest FROM tombstones")}
    return bool(held & set(hash_text_forms(key, "I live in Linz.")))


def test_the_file_alone_does_not_tell_what_was_deleted(path: Path, clock: ManualClock, key_file: Path) -> None:
    _delete_linz(path, clock, key_file)
    assert not _can_guess(path)
    with _open(path, clock, key_file) as mem:
        assert mem.remember("I live in Linz.").refused
        assert mem.data.doctor().findings == ()
        assert mem.data.rebuild(reextract=True, dry_run=True).differences == ()


def test_without_a_key_file_the_file_alone_tells_it(path: Path, clock: ManualClock) -> None:
    _delete_linz(path, clock, None)
    assert _can_guess(path)


def test_a_missing_or_another_key_is_refused(path: Path, clock: ManualClock, key_file: Path) -> None:
    _delete_linz(path, clock, key_file)
    other = key_file.with_name("other")
    other.write_bytes(bytes(32))
    for given, why in ((None, "needs its tombstone key file"), (other, "another tombstone key file")):
        with _open(path, clock, given) as mem, pytest.raises(Conflict, match=why):
            mem.remember("I live in Linz.")
    with _open(path, clock, key_file) as mem:
        assert mem.remember("I live in Linz.").refused


def test_a_memory_that_was_begun_without_one_is_left_alone(path: Path, clock: ManualClock, key_file: Path) -> None:
    _delete_linz(path, clock, None)
    with _open(path, clock, key_file) as mem, pytest.raises(Conflict, match="begun without"):
        mem.remember("I live in Linz.")


@pytest.mark.parametrize(("content", "error"), [(None, NotFound), (b"short", Invalid)])
def test_an_unusable_key_file_opens_nothing(
    path: Path, key_file: Path, content: bytes | None, error: type[CredendaError]
) -> None:
    key_file.unlink()
    if content is not None:
        key_file.write_bytes(content)
    with pytest.raises(error, match="tombstone key file"):
        _open(path, ManualClock("2026-03-01T09:00:00Z"), key_file)
    assert not path.exists()


def test_an_archive_needs_the_same_key(path: Path, clock: ManualClock, key_file: Path) -> None:
    _delete_linz(path, clock, key_file)
    archive = path.with_name("all.jsonl")
    with _open(path, clock, key_file) as mem:
        mem.data.export(archive)
    with _open(path.with_name("plain.db"), clock, None) as mem, pytest.raises(Conflict, match="key file"):
        mem.data.import_(archive)
    with _open(path.with_name("copy.db"), clock, key_file) as mem:
        mem.data.import_(archive)
        assert mem.remember("I live in Linz.").refused


@pytest.mark.sqlite_file  # a backup is a copy of the file
def test_a_backup_needs_the_same_key(
    path: Path, clock: ManualClock, key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _delete_linz(path, clock, key_file)
    backup = path.with_name("backup.db")
    with _open(path, clock, key_file) as mem:
        mem.data.backup(backup)
    monkeypatch.setenv("CREDENDA_TOMBSTONE_KEY_FILE", str(key_file))
    restore_backup(backup, path, replace=True, clock=clock)
    with _open(path, clock, key_file) as mem:
        assert mem.remember("I live in Linz.").refused
