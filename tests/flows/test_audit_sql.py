"""An auditor's SQL on the file: `valid_until IS NULL` is the state of the current beliefs, through every change."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, MemoryUnit
from credenda.testing import ManualClock

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
