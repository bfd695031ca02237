"""An auditor's SQL on the file: `valid_until IS NULL` is the state of the current beliefs, through every change."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda, MemoryUnit
from credenda.model.memory import HELD
from credenda.storage.rows import NO_END
from credenda.testing import ManualClock

from .older import as_of_version

ACTIVE = """
SELECT id, text FROM memories WHERE user_id = ? AND valid_until IS NULL AND confidence >= 0.4
ORDER BY importance DESC, last_accessed DESC LIMIT 10
"""
WEIGHTY = "SELECT * FROM memories WHERE importance > 0.8"


def ask(path: Path, query: str, *values: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query, values).fetchall()


def find_held(mem: Credenda) -> list[str]:
    return sorted(one.text for one in mem.list(limit=50).items if one.valid_until is None)


@pytest.mark.requirement("R-061", "R-154")
def test_the_query_of_the_active_state_gives_the_active_state(mem: Credenda, path: Path, clock: ManualClock) -> None:
    acts = (
        lambda: mem.remember("I work at Google."),
        lambda: mem.remember("I left Google, I'm at Microsoft now."),
        lambda: mem.remember("I live in Porto."),
        lambda: mem.store(MemoryUnit(text="The gate code is on the fridge")),
        lambda: mem.store(MemoryUnit(text="The gate code is on the door")),
        lambda: mem.store(MemoryUnit(text="The ferry leaves at nine")),
        lambda: mem.manage.pin(find("The ferry leaves at nine")),
        lambda: mem.forget(find("The gate code is on the fridge")),
        lambda: mem.restore(find("The gate code is on the fridge")),
        lambda: mem.forget(find("The gate code is on the fridge")),
        lambda: mem.delete(find("The gate code is on the door")),
        lambda: mem.remember("Actually, I live in Braga."),
        lambda: mem.manage.consolidate(force=True),
        mem.manage.decay,
    )

    def find(text: str) -> str:
        return next(one.id for one in mem.list(status=None, limit=50).items if one.text == text)

    for act in acts:
        act()
        mem.settle()
        clock.advance(timedelta(days=1))
        assert sorted(str(row[1]) for row in ask(path, ACTIVE, "ana")) == find_held(mem)
    assert len(find_held(mem)) == 3


def live(mem: Credenda, clock: ManualClock) -> None:
    """Replace, correct, merge, pin, forget and delete, so that every kind of version without an end is there."""
    for text in ("I work at Google.", "I left Google, I'm at Microsoft now.", "Actually, I live in Braga."):
        mem.remember(text)
        mem.settle()
        clock.advance(timedelta(days=1))
    for text in ("The ferry leaves at nine", "The gate is red", "The well is dry", "The well is deep"):
        mem.store(MemoryUnit(text=text))
    ids = {one.text: one.id for one in mem.list().items}
    mem.manage.pin(ids["The ferry leaves at nine"])
    mem.forget(ids["The gate is red"])
    mem.delete(ids["The well is dry"])
    mem.manage.set_status(ids["The well is deep"], "challenged", reason="a neighbour says otherwise")
    mem.manage.consolidate(force=True)


def make_older(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(*row[:-1], None if row[-1] == NO_END else row[-1]) for row in rows]


ENDS = "SELECT id, version, status, expired_at, valid_until FROM memories ORDER BY id, version"


@pytest.mark.sqlite_file  # Postgres has a migration of its own, in tests/contract/postgres/test_upgrade.py
@pytest.mark.requirement("R-061")
def test_the_query_is_true_of_a_file_that_an_older_version_wrote(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "older.db"
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="none") as mem:
        live(mem, clock)
        listed = mem.list(status=None, limit=50).items
        mem.data.export(tmp_path / "newer.jsonl")
    ends = ask(path, ENDS)
    assert sum(row[-1] == NO_END for row in ends) >= 4
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE memories SET valid_until = NULL WHERE valid_until = ?", (NO_END,))
        database.commit()
    as_of_version(path, 19)
    assert ask(path, ENDS) == make_older(ends)
    with pytest.warns(RuntimeWarning, match="schema version 19"):
        mem = Credenda.open(path, user="ana", clock=clock, workers=False, embedder="none")
    with mem:
        assert ask(path, ENDS) == ends
        assert mem.list(status=None, limit=50).items == listed
        held = {one.text for one in listed if one.status in HELD and one.valid_until is None}
        assert {row[1] for row in ask(path, ACTIVE, "ana")} == held
        assert mem.data.rebuild(dry_run=True).differences == ()
        assert mem.data.doctor().ok


def test_an_archive_of_an_older_version_gets_its_ends_too(path: Path, tmp_path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="none") as mem:
        live(mem, clock)
        mem.data.export(tmp_path / "newer.jsonl")
    ends = ask(path, ENDS)
    lines = [json.loads(line) for line in (tmp_path / "newer.jsonl").read_text("utf-8").splitlines()][:-1]
    lines[0]["schema"] = 19
    for line in lines:
        if line.get("table") == "memories" and line["row"]["valid_until"] == NO_END:
            line["row"]["valid_until"] = None
    body = b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
    counts = Counter(line["table"] for line in lines[1:])
    end = {"end": {"rows": counts, "sha256": hashlib.sha256(body).hexdigest()}}
    (tmp_path / "older.jsonl").write_bytes(body + json.dumps(end).encode())
    with Credenda.open(tmp_path / "new.db", user="ana", clock=clock, workers=False, embedder="none") as mem:
        mem.data.import_(tmp_path / "older.jsonl")
        assert ask(tmp_path / "new.db", ENDS) == ends


def test_importance_is_a_column_that_can_be_queried(mem: Credenda, path: Path) -> None:
    mem.store(MemoryUnit(text="Never deploy on a Friday", importance=0.9))
    mem.store(MemoryUnit(text="The printer is grey", importance=0.3))
    assert len(ask(path, WEIGHTY)) == 1


def test_what_was_known_before_stays_known(mem: Credenda, clock: ManualClock) -> None:
    mem.remember("I work at Google.")
    mem.settle()
    then = clock.now()
    clock.advance(timedelta(days=3))
    mem.remember("I left Google, I'm at Microsoft now.")
    mem.settle()
    clock.advance(timedelta(days=3))
    (past,) = mem.list(attribute="employer", known_at=then).items
    assert (past.value, past.valid_until, past.status.value) == ("Google", None, "active")
    for as_of in (then, clock.now()):
        (past,) = mem.list(attribute="employer", known_at=then, as_of=as_of).items
        assert past.value == "Google"
    forgotten = mem.store(MemoryUnit(text="The ferry leaves at nine"))
    clock.advance(timedelta(days=1))
    mem.forget(forgotten.id)
    clock.advance(timedelta(days=1))
    (gone,) = mem.list(status="forgotten", as_of=clock.now()).items
    assert gone.valid_until is None
    mem.restore(forgotten.id)
    assert mem.get(forgotten.id).valid_until is None
    assert mem.data.rebuild().differences == ()
