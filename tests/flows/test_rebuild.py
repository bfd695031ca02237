"""Beliefs made again from the change log, and the doctor that compares them with the rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from credenda import Corrupt, Credenda
from credenda.index import cache
from credenda.model.report import DoctorReport
from credenda.testing import ManualClock

Say = Callable[..., None]


@contextmanager
def raw(path: Path) -> Generator[sqlite3.Connection]:
    """Reach into the file behind the product's back."""
    with closing(sqlite3.connect(path)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        connection.commit()


def rows(path: Path, *tables: str) -> list[list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as connection:
        return [connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables]  # noqa: S608 - our own


@pytest.fixture
def lived(mem: Credenda, say: Say) -> Credenda:
    """A memory in which everything has happened that happens: changed, corrected, confirmed, contested, answered."""
    say("I live in Linz.", "I moved to Graz.", "No, I live in Wien.", "My favourite colour is green.", days=20)
    say("My favourite colour is green.", "I'm allergic to peanuts.", "What if I lived in Rome?", days=5)
    say("I prefer morning meetings.", "I prefer afternoon meetings.", "I prefer morning meetings.", days=5)
    by_value = {memory.value: memory.id for memory in mem.list(status=None, limit=50).items}
    mem.manage.pin(by_value["peanuts"])
    mem.forget(by_value["green"])
    mem.restore(by_value["green"])
    mem.correct(by_value["green"], value="teal")
    (contest,) = mem.manage.contests()
    mem.manage.resolve(contest.id, keep="morning")
    mem.search("What am I allergic to?", session="s")
    mem.settle()
    return mem


BELIEFS = ("memories", "evidence", "contests")


@pytest.mark.requirement("C-003", "S-100")
def test_the_log_folds_into_the_very_rows(lived: Credenda, path: Path) -> None:
    before = rows(path, *BELIEFS)
    report = lived.data.rebuild()
    assert (report.differences, report.unexplained, report.applied) == ((), (), False)
    assert (report.redacted, report.unsupported) == (0, 0)
    assert report.compared == len(lived.list(status=None, limit=50).items)
    assert rows(path, *BELIEFS) == before


@pytest.mark.requirement("C-003", "S-100")
def test_beliefs_that_were_lost_are_made_again_from_the_log(lived: Credenda, path: Path) -> None:
    before, found = rows(path, *BELIEFS), [hit.quote for hit in lived.search("Where do I live?").hits]
    with raw(path) as connection:
        for table in BELIEFS:
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our own
    assert not lived.data.rebuild(dry_run=True).applied
    assert rows(path, *BELIEFS) == [[], [], []]
    report = lived.data.rebuild()
    assert report.applied
    counted = [("last_accessed", "access_count")]
    assert [_without(table, counted) for table in _named(path)] == [
        _without(table, counted) for table in _named(path, before)
    ]
    assert [hit.quote for hit in lived.search("Where do I live?").hits] == found
    assert lived.data.doctor().ok


def _named(path: Path, given: list[list[tuple[object, ...]]] | None = None) -> list[list[dict[str, object]]]:
    with closing(sqlite3.connect(path)) as connection:
        found = rows(path, *BELIEFS) if given is None else given
        names = [[column[1] for column in connection.execute(f"PRAGMA table_info({table})")] for table in BELIEFS]
    return [
        [dict(zip(columns, row, strict=True)) for row in table] for columns, table in zip(names, found, strict=True)
    ]


def _without(table: list[dict[str, object]], names: list[tuple[str, ...]]) -> list[dict[str, object]]:
    left_out = {name for several in names for name in several}
    return [{name: value for name, value in row.items() if name not in left_out} for row in table]


DAMAGE = {
    "a value": "UPDATE memories SET value = 'Rome' WHERE id = 1",
    "a status": "UPDATE memories SET status = 'active', valid_until = NULL WHERE id = 1 AND expired_at IS NULL",
    "a pin": "UPDATE memories SET pinned = 1 - pinned WHERE id = 2",
    "a version": "DELETE FROM memories WHERE id = 1 AND version = 1",
    "a memory": "DELETE FROM memories WHERE id = 3",
    "confirmations": "UPDATE memories SET confirmations = 9",
    "evidence": "DELETE FROM evidence WHERE memory = 2",
    "more evidence": "INSERT INTO evidence SELECT user_id, 1, 3, 0, x'00', 1, NULL FROM tenants",
    "a contest": "UPDATE contests SET state = 'open'",
    "a lost contest": "DELETE FROM contests",
    "a contest's member": "UPDATE contests SET memories = replace(memories, 'm', 'm99')",
    "an end": "UPDATE memories SET superseded_by = 99 WHERE superseded_by IS NOT NULL",
}


@pytest.mark.requirement("C-003")
@pytest.mark.parametrize("what", list(DAMAGE))
def test_the_doctor_names_what_differs_from_the_log_and_puts_it_right(lived: Credenda, path: Path, what: str) -> None:
    before = _named(path)
    with raw(path) as connection:
        connection.execute(DAMAGE[what])
    report = lived.data.doctor()
    (finding,) = [one for one in report.findings if one.check == "change_fold"]
    assert not report.ok
    assert finding.where[0] in "mk"
    assert "rebuild" in finding.fix
    assert lived.data.doctor(repair=True).ok
    assert lived.data.doctor().ok
    counted = [("last_accessed", "access_count")] if what.startswith("a ") else []
    assert [_without(table, counted) for table in _named(path)] == [_without(table, counted) for table in before]


ORPHANS = {
    "vectors": "UPDATE embeddings SET code = 777 << 12 WHERE number = 1",
    "passages": "INSERT INTO passages SELECT user_id, 777, 0, 0, 1 FROM tenants",
    "accesses": "INSERT INTO access_log SELECT user_id, 's', 777, 1, 1, 1, 0 FROM tenants",
    "jobs": "UPDATE operations SET last = 777 WHERE id = 1",
    "evidence": "INSERT INTO evidence SELECT user_id, 777, 1, 0, x'00', 1, NULL FROM tenants",
}


@pytest.mark.requirement("C-003")
@pytest.mark.parametrize("check", list(ORPHANS))
def test_the_doctor_takes_away_what_belongs_to_nothing(path: Path, clock: ManualClock, check: str) -> None:
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="hashed") as mem:
        mem.remember("I live in Linz.")
        mem.settle()
        with raw(path) as connection:
            connection.execute(ORPHANS[check])
        report = mem.data.doctor()
        assert check in [finding.check for finding in report.findings]
        assert all(finding.where and finding.fix for finding in report.findings)
        assert mem.data.doctor(repair=True).ok
        assert mem.data.doctor().ok


@pytest.mark.requirement("C-003")
@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM changes WHERE id = 2",
        "UPDATE events SET speaker = 'nobody' WHERE id = 1",
        "UPDATE events SET text = 'I live in Rome.' WHERE id = 1",
    ],
)
def test_nothing_is_made_from_a_damaged_journal_or_log(lived: Credenda, path: Path, damage: str) -> None:
    with raw(path) as connection:
        connection.execute(damage)
        connection.execute("UPDATE memories SET value = 'Rome' WHERE id = 1")
    before = rows(path, *BELIEFS, "events", "changes")
    with pytest.raises(Corrupt, match="damaged log"):
        lived.data.rebuild()
    assert not lived.data.doctor(repair=True).ok
    assert rows(path, *BELIEFS, "events", "changes") == before


@pytest.mark.requirement("C-007", "S-062", "S-099")
def test_what_was_deleted_does_not_return_with_a_rebuild(lived: Credenda, path: Path) -> None:
    by_value = {memory.value: memory.id for memory in lived.list(status=None, limit=50).items}
    lived.delete(by_value["peanuts"])
    with raw(path) as connection:
        connection.execute("UPDATE memories SET status = 'active', text = 'forged' WHERE status = 'deleted'")
    assert lived.data.rebuild().applied
    gone = lived.data.rebuild(dry_run=True)
    assert gone.differences == ()
    assert not [memory for memory in lived.list(status=None, limit=50).items if memory.value == "peanuts"]
    assert b"allergic to peanuts" not in b"".join(one.read_bytes() for one in path.parent.glob(f"{path.name}*"))


@pytest.mark.requirement("C-003")
def test_a_log_of_an_older_version_is_folded_as_far_as_it_goes(lived: Credenda, path: Path) -> None:
    """Once the log kept neither evidence nor contests, and deleting emptied it."""
    by_value = {memory.value: memory.id for memory in lived.list(status=None, limit=50).items}
    lived.delete(by_value["peanuts"])
    number = int(by_value["peanuts"][1:].partition("-")[0])
    with raw(path) as connection:
        for change, delta in connection.execute("SELECT id, delta FROM changes").fetchall():
            older = {name: value for name, value in json.loads(delta).items() if name != "e"}
            older.get("a", {}).pop("case", None)
            connection.execute(
                "UPDATE changes SET delta = ?, checksum = NULL WHERE id = ?", (json.dumps(older), change)
            )
        connection.execute("UPDATE changes SET delta = '{}' WHERE memory = ?", (number,))
    before = rows(path, *BELIEFS)
    report = lived.data.rebuild()
    assert report.differences == ()
    assert report.redacted == 1
    assert report.unsupported == report.compared
    assert rows(path, *BELIEFS) == before
    assert lived.data.doctor().ok


@pytest.mark.requirement("C-003", "S-054")
def test_deriving_afresh_by_the_same_rules_changes_nothing(lived: Credenda, path: Path) -> None:
    before = rows(path, *BELIEFS, "changes")
    report = lived.data.rebuild(reextract=True)
    assert report.differences == ()
    assert report.kept == ()
    assert rows(path, *BELIEFS, "changes") == before


@pytest.mark.parametrize("reextract", [False, True])
def test_who_never_wrote_has_nothing_to_rebuild(mem: Credenda, *, reextract: bool) -> None:
    report = mem.data.rebuild(reextract=reextract)
    assert (report.compared, report.differences, report.applied) == (0, (), False)
    assert mem.data.doctor(repair=True).ok


SNAPSHOT_DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "flipped": lambda data: data[:200] + b"\xff" + data[201:],
    "cut off": lambda data: data[:100],
    "empty": lambda _: b"",
    "of another version": lambda data: data.replace(b"version", b"versiom"),
}


@pytest.mark.requirement("S-091", "S-100")
@pytest.mark.parametrize("damage", [*SNAPSHOT_DAMAGE, "gone"])
def test_a_damaged_index_image_is_made_anew(
    path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(cache, "_SAVE_LEAST", 0)

    def found() -> list[str]:
        with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="hashed") as mem:
            parts = mem._parts  # noqa: SLF001 - the index in memory is to be forgotten
            parts.indexes.drop("ana", store=parts.store_name)
            if not mem.stats().events:
                mem.remember("I live in Linz.")
                mem.remember("I'm allergic to peanuts.")
                mem.settle()
            hits = [hit.quote for hit in mem.search("What am I allergic to?").hits]
            reports.append(mem.data.doctor())
            assert mem.data.doctor(repair=True).ok
            assert mem.data.doctor().findings == ()
            return hits

    reports: list[DoctorReport] = []
    before = found()
    with raw(path) as connection:
        (data,) = connection.execute("SELECT data FROM index_blobs").fetchone()
        if damage == "gone":
            connection.execute("DELETE FROM index_blobs")
        else:
            connection.execute("UPDATE index_blobs SET data = ?", (SNAPSHOT_DAMAGE[damage](data),))
    assert found() == before
    places = [[(one.check, one.where) for one in report.findings] for report in reports]
    assert places == [[], [("index", "the bytes of the stored index")] if damage != "gone" else []]
