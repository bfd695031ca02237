"""A run that is killed leaves its lock: here it is taken over at once, elsewhere its lease must end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from credenda import Conflict, Credenda
from credenda.model.report import ConsolidationReport, DreamReport
from credenda.storage.store import SchedulerLease
from credenda.testing import ManualClock
from credenda.workers.loop import is_gone, name_process
from tests.waiting import PATIENCE_SECONDS

HOLD: Final = """
import sys
from credenda import Credenda
from credenda.workers.loop import hold_lock
with Credenda.open(sys.argv[1], user="ana", workers=False) as mem:
    with hold_lock(mem._parts, sys.argv[2], 360):
        print(mem._parts.owner, flush=True)
        sys.stdin.readline()
"""
RUNS: Final[dict[str, Callable[[Credenda], DreamReport | ConsolidationReport]]] = {
    "dream": lambda mem: mem.manage.dream(),
    "consolidation": lambda mem: mem.manage.consolidate(force=True),
}


def _holding(path: Path, name: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


@pytest.mark.parametrize("name", RUNS)
def test_the_lock_of_a_process_that_was_killed_is_taken_over_at_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    process, _ = _holding(path, name)
    try:
        with Credenda.open(path, user="ana", workers=False) as mem:
            mem.remember("I live in Linz.")
            mem.settle()
            refused = RUNS[name](mem)
            assert (refused.ran, refused.took_over) == (False, False)
            assert "already" in refused.reason
            process.send_signal(signal.SIGKILL)
            process.wait(PATIENCE_SECONDS)
            taken = RUNS[name](mem)
            assert (taken.ran, taken.took_over) == (True, True)
            assert not RUNS[name](mem).took_over
    finally:
        process.kill()
        process.communicate()


def test_a_command_says_that_it_took_a_lock_over(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    process, _ = _holding(path, "dream")
    process.kill()
    process.communicate()
    command = [sys.executable, "-m", "credenda", "--db", str(path), "--user", "ana", "dream"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "An earlier run was killed; this run took over its lock." in told.stdout


def test_only_what_is_known_to_be_gone_is_gone(tmp_path: Path) -> None:
    process, owner = _holding(tmp_path / "memory.db", "dream")
    mine = name_process()
    host, pid, told = owner.split(":")
    machine, boot, space, start, nonce = told.split(".")
    try:
        assert not is_gone(owner, mine)
        assert not is_gone(mine, mine)
        assert not is_gone(f"{mine}:abcde1", mine)
        assert is_gone(f"{host}:{pid}:{machine}.{boot}.{space}.{int(start) - 1}.{nonce}", mine), "the number is reused"
        assert is_gone(f"{host}:{os.getpid()}:{machine}.{boot}.{space}.{start}.{nonce}", mine), (
            "this one has its number"
        )
    finally:
        process.kill()
        process.communicate()
    assert is_gone(owner, mine)
    assert is_gone(f"{owner}:abcde1", mine)
    assert not is_gone(f"elsewhere:{pid}:{told}", mine)
    assert not is_gone(f"{host}:{pid}:{machine}.{boot}.0badf00d.{start}.{nonce}", mine), "numbers of another container"
    assert not is_gone(f"{host}:{pid}:.0badf00d.{space}.{start}.{nonce}", mine), "another machine of this name"
    assert not is_gone("nonsense", mine)
    assert not is_gone("", mine)


def test_who_takes_over_second_is_refused(tmp_path: Path) -> None:
    path, clock = tmp_path / "memory.db", ManualClock("2026-03-01T09:00:00Z")
    with Credenda.open(path, user="ana", clock=clock, workers=False) as mem:
        store, now_us = mem._parts.store, clock.now_us()  # noqa: SLF001 - no public way takes a lock
        gone = SchedulerLease(name="dream", owner="gone", now_us=now_us, until_us=now_us + 360_000_000)
        store.commit("ana", lambda writer: writer.put(gone))
        first, second = (
            SchedulerLease(name="dream", owner=owner, now_us=now_us, until_us=now_us + 360_000_000, over="gone")
            for owner in ("first", "second")
        )
        store.commit("ana", lambda writer: writer.put(first))
        with pytest.raises(Conflict) as refused:
            store.commit("ana", lambda writer: writer.put(second))
        assert refused.value.ids == {"owner": "first"}
