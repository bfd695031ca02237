"""The judge of the crash benchmark finds what it is there to find: each fault is made by hand, on the raw rows."""

import sqlite3
from pathlib import Path

import pytest

from benchmarks.crash.check import LOST, check
from benchmarks.crash.ledger import Ledger
from credenda import Credenda

TEXT = "Remember that I love a1z0."
PERMIT = "INSERT INTO redaction_permits VALUES ('ana', 'test')"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A settled file with two acknowledged events and one stored memory."""
    path = tmp_path / "memory.db"
    found = Ledger(path=str(path), user="ana", embedder="hashed")
    with Credenda.open(path, user="ana", embedder="hashed", workers=False) as memory:
        for text in (TEXT, "Remember that I love a2z0."):
            found.take({"e": "said", "texts": [text], "ids": memory.remember(text).event_ids})
        memory.settle()
        (held, *_) = memory.list().items
        found.memories[held.id] = ["active"]
        found.texts[held.id] = held.text
    return found


def tampered(ledger: Ledger, *statements: str) -> str:
    """Change rows behind the product's back, then return all findings in one text."""
    connection = sqlite3.connect(ledger.path)
    connection.create_function("credenda_words", 4, lambda *_: "", deterministic=True)
    connection.create_function("credenda_memory_words", 4, lambda *_: "", deterministic=True)
    with connection:
        for statement in (PERMIT, *statements, "DELETE FROM redaction_permits"):
            connection.execute(statement)
    connection.close()
    return "\n".join(check(ledger))


def test_a_file_in_order_has_no_findings(ledger: Ledger) -> None:
    assert check(ledger) == []


def test_a_lost_event_is_found(ledger: Ledger) -> None:
    found = tampered(ledger, "DELETE FROM events WHERE id = 2")
    assert f"{LOST} event e2" in found


def test_an_altered_text_is_found(ledger: Ledger) -> None:
    found = tampered(ledger, "UPDATE events SET text = 'Remember that I love a9z0.' WHERE id = 1")
    assert "is not what was acknowledged" in found


def test_a_gap_in_the_numbers_is_found(ledger: Ledger) -> None:
    found = tampered(ledger, "UPDATE changes SET id = 9 WHERE id = (SELECT max(id) FROM changes)")
    assert "changes are numbered 1 to 9" in found


def test_an_event_that_is_there_twice_is_found(ledger: Ledger) -> None:
    found = tampered(ledger, "UPDATE events SET text = (SELECT text FROM events WHERE id = 1) WHERE id = 2")
    assert "a1z0 is in 2 events" in found


def test_a_claim_that_gave_two_memories_is_found(ledger: Ledger) -> None:
    found = tampered(ledger, "UPDATE memories SET text = (SELECT text FROM events WHERE id = 1)")
    assert "a1z0 is in memories [1, 2]" in found


def test_a_job_that_waits_for_good_is_found(ledger: Ledger) -> None:
    found = tampered(ledger, "UPDATE operations SET status = 'dead' WHERE id = 1")
    assert "1 jobs are dead" in found


def test_a_missing_vector_is_found(ledger: Ledger) -> None:
    found = tampered(ledger, "DELETE FROM embeddings WHERE number = 1", "DELETE FROM index_blobs")
    assert "1 documents have no vector" in found


def test_words_that_should_be_deleted_are_found(ledger: Ledger) -> None:
    name = next(iter(ledger.said))
    ledger.take({"e": "will", "op": "delete", "id": name})
    assert check(ledger) == []  # begun is not done: both outcomes are right
    ledger.take({"e": "did", "op": "delete", "id": name})
    found = "\n".join(check(ledger))
    assert f"event {name} was deleted and still has words" in found
    assert f"search still finds {name}" in found
    assert f"words of deleted {name} are left in events" in found


def test_a_memory_in_another_state_than_acknowledged_is_found(ledger: Ledger) -> None:
    name = next(iter(ledger.memories))
    ledger.take({"e": "will", "op": "forget", "id": name})
    assert check(ledger) == []
    ledger.take({"e": "did", "op": "forget", "id": name})
    assert f"memory {name} is active, not forgotten" in check(ledger)


def test_contradicting_receipts_are_found_when_they_are_entered() -> None:
    ledger = Ledger(path="", user="ana", embedder="none")
    assert ledger.take({"e": "said", "texts": ["a"], "ids": ["e1"], "key": 7}) == []
    assert "key 7" in ledger.take({"e": "said", "texts": ["a"], "ids": ["e2"], "key": 7})[0]
    assert "two different texts" in ledger.take({"e": "said", "texts": ["b"], "ids": ["e1"]})[0]
    assert "2 messages" in ledger.take({"e": "said", "texts": ["c", "d"], "ids": ["e3"]})[0]
    assert ledger.take({"e": "wrong", "what": "talker: broken"}) == ["talker: broken"]
    assert ledger.take({"e": "stage", "at": "opened"}) == []
