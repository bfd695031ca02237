"""A run of decay that is killed half way goes on where it stopped, and no score is lost or doubled."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from credenda import Credenda, MemoryUnit
from credenda.testing import ManualClock
from tests.waiting import PATIENCE_SECONDS

START = "2026-03-01T09:00:00Z"
MEMORIES, BATCH, FILED = 60, 7, 3
KILLED = f"""
import os, signal, sys
from datetime import timedelta
from credenda import Credenda
from credenda.services import lifecycle as decay
from credenda.testing import ManualClock

clock = ManualClock("{START}")
clock.advance(timedelta(days=15))
decay._BATCH = {BATCH}
real, filed = decay._write_scores, []

def strike(*given):
    if len(filed) == {FILED}:
        os.kill(os.getpid(), signal.SIGKILL)
    filed.append(real(*given))

decay._write_scores = strike
with Credenda.open(sys.argv[1], user="ana", clock=clock, embedder="none", workers=False) as mem:
    mem.manage.decay()
"""


def scored(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db, db:
        (count,) = db.execute("SELECT count(*) FROM memories WHERE decay_score IS NOT NULL").fetchone()
    db.close()
    return int(count)


@pytest.mark.requirement("R-100", "R-232")
def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path, clock = tmp_path / "memory.db", ManualClock(START)
    with Credenda.open(path, user="ana", clock=clock, embedder="none", workers=False) as mem:
        for number in range(MEMORIES):
            mem.store(MemoryUnit(text=f"Saw owl number {number}.", layer="episodic"))
        before = mem.stats()
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(path)], check=False, capture_output=True, timeout=PATIENCE_SECONDS
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert scored(path) == BATCH * FILED
    clock.advance(timedelta(days=15))
    with Credenda.open(path, user="ana", clock=clock, embedder="none", workers=False) as mem:
        report = mem.manage.decay()
        assert (report.examined, report.updated) == (MEMORIES - BATCH * FILED,) * 2
        assert scored(path) == MEMORIES
        assert mem.manage.decay().updated == 0
        assert mem.stats() == before
        assert mem.data.doctor().ok
