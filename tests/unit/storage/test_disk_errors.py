"""A full disk, a lock that fails, forgotten bytes, and what a check finds."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda.errors import Unavailable
from credenda.model.change import ChangeKind
from credenda.storage.sqlite.connection import GroupCommit
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import Job, JobStatus, Redaction, Snapshot, Vector, pack_code

from .build import ANA, events, failure, held, logged, opened, put, raw, refusing, said, writer_of


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with opened(tmp_path / "memory.db") as made:
        yield made


def test_a_full_disk_loses_nothing_acknowledged_and_writing_works_again(store: SqliteStore) -> None:
    put(store, said("Before."))
    connection = writer_of(store)
    pages = int(connection.execute("PRAGMA page_count").fetchone()[0])
    connection.execute(f"PRAGMA max_page_count = {pages + 8}")
    acknowledged = ["Before."]

    def fill() -> None:
        for turn in range(1_000):
            text = f"Turn {turn}: " + "word " * 200
            put(store, said(text))
            acknowledged.append(text)

    with pytest.raises(Unavailable, match="disk is full"):
        fill()
    assert 1 < len(acknowledged) < 1_000
    assert events(store) == acknowledged
    with pytest.raises(Unavailable, match="disk is full"):
        put(store, said("too much " * 20_000))
    connection.execute("PRAGMA max_page_count = 1000000")
    put(store, said("After."))
    assert events(store) == [*acknowledged, "After."]
    assert store.check(ANA) == []


def test_a_file_system_that_cannot_lock_is_named(tmp_path: Path) -> None:
    connection = refusing(tmp_path / "memory.db")
    commits = GroupCommit(connection, "/mnt/share/memory.db")
    connection.refused = {"BEGIN IMMEDIATE": failure(sqlite3.SQLITE_IOERR_LOCK)}
    with pytest.raises(Unavailable, match=r"^/mnt/share/memory\.db cannot be locked: .*network"):
        commits.run(lambda: None)
    commits.close()


SECRETS = ("saffronhoard", "xylophonist", "quetzalcoatl")


def test_redacted_words_are_nowhere_in_the_files(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as store:
        event_id, _ = put(store, said(f"The {SECRETS[0]} is here."), said("I like tea."))
        memory_id, _ = put(store, held(f"Ana is a {SECRETS[1]}."), held("Ana likes tea."))
        put(store, logged(ChangeKind.ADD, memory_id), Snapshot(name="words", blobs=(SECRETS[2].encode(),)))
        put(store, Redaction(id=event_id, at_us=1), Redaction(id=memory_id, at_us=1))
    content = b"".join(entry.read_bytes() for entry in tmp_path.iterdir())
    assert b"I like tea." in content
    assert [secret for secret in SECRETS if secret.encode() in content] == []


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A file with two events, two memories that the log explains, and their vectors; every check holds."""
    path = tmp_path / "memory.db"
    with opened(path) as store:
        ids = put(store, held("Ana likes tea."), held("Ana likes jam."))
        put(store, *(logged(ChangeKind.ADD, memory_id) for memory_id in ids))
        put(store, said("I like tea."), said("I like jam."))
        codes = [pack_code(number, memory=memory) for number in (1, 2) for memory in (False, True)]
        put(store, *(Vector(code=code, model_id="m", dims=1, bits=8, scale=1.0, data=b"123456789") for code in codes))
        assert store.check(ANA) == []
    return path


PERMIT = "INSERT INTO redaction_permits SELECT user_id, 'forgery' FROM tenants"
TAMPERED = [
    ("UPDATE events SET text = 'I like gin.' WHERE id = 1", "journal_text"),
    ("UPDATE events SET speaker = 'ben' WHERE id = 1", "journal_chain"),
    ("UPDATE events SET occurred_at = 1 WHERE id = 2", "journal_chain"),
    ("UPDATE events SET chain_hash = x'00' WHERE id = 2", "journal_chain"),
    ("DELETE FROM events WHERE id = 1", "journal_chain"),
    ("DELETE FROM events WHERE id = 1", "journal_numbers"),
    ("DELETE FROM changes WHERE id = 1", "change_numbers"),
    ("DELETE FROM changes WHERE id = 1", "change_log"),
    ("DELETE FROM memories WHERE id = 1", "vectors"),
    ("UPDATE memories SET expired_at = 1 WHERE id = 1", "current_version"),
    ("UPDATE memories SET superseded_by = 77 WHERE id = 1", "successor"),
    ("INSERT INTO evidence VALUES ('ana', 1, 77, 0, 1, x'00', NULL)", "evidence"),
    ("INSERT INTO evidence VALUES ('ana', 77, 1, 0, 1, x'00', NULL)", "evidence"),
    ("UPDATE embeddings SET code = 77 << 12 WHERE code = 1 << 12", "vectors"),
]


@pytest.mark.parametrize(("script", "check"), TAMPERED)
def test_a_check_finds_what_was_tampered_with(sound: Path, script: str, check: str) -> None:
    with raw(sound) as connection:
        connection.execute(PERMIT)
        connection.execute(script)
    with opened(sound, read_only=True) as store:
        findings = store.check(ANA)
    assert check in {finding.check for finding in findings}
    assert not any("tea" in finding.detail or "gin" in finding.detail for finding in findings)


def test_a_check_names_jobs_that_gave_up(store: SqliteStore) -> None:
    put(store, Job(kind="extract", status=JobStatus.DEAD))
    assert [finding.check for finding in store.check(ANA)] == ["dead_jobs"]


def test_a_broken_word_index_is_found_and_made_afresh(sound: Path) -> None:
    with opened(sound) as store:
        put(store, Snapshot(name="words", blobs=(b"image",)))
        tag = writer_of(store).execute("SELECT tag FROM tenants").fetchone()[0]
        writer_of(store).execute("INSERT INTO search_index (rowid, tenant, body) VALUES (99, ?, 'ghost')", (tag,))
        assert [(finding.check, finding.repaired) for finding in store.check(ANA)] == [("full_text", False)]
        assert [(finding.check, finding.repaired) for finding in store.check(ANA, repair=True)] == [("full_text", True)]
        assert store.check(ANA) == []
        with store.reader(ANA) as reader:
            assert len(reader.nominate(["tea"], 10)) == 2
            assert reader.snapshot("words") == ()


def test_the_chain_of_one_tenant_does_not_depend_on_another(sound: Path) -> None:
    with opened(sound) as store:
        put(store, said("Ben's."), user_id="ben")
    with raw(sound) as connection:
        connection.execute(PERMIT)
        connection.execute("UPDATE events SET role = 'person' WHERE user_id = 'ben'")
    with opened(sound, read_only=True) as store:
        assert store.check(ANA) == []
        assert [finding.check for finding in store.check("ben")] == ["journal_chain"]
