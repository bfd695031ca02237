"""Processes are killed with SIGKILL at random points; what they were told is done must be there afterwards."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.crash.kills import run_crash
from credenda import Conflict, Credenda

SAY_AND_DIE = """
import os, signal, sys
from credenda import Credenda
memory = Credenda.open(sys.argv[1], user="ana", workers=False)
receipt = memory.remember(sys.argv[2], idempotency_key="first")
print(receipt.event_ids[0], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""

READ_FOR_EVER = """
import sys
from threading import Event
from credenda import Credenda

class Stuck:
    def extract(self, turn):
        print("reading", flush=True)
        Event().wait()

memory = Credenda.open(sys.argv[1], user="ana", extractor=Stuck())
memory.remember("I'm allergic to peanuts.")
Event().wait()
"""


def said_by_a_process_that_dies(path: Path, text: str) -> str:
    """Run a process that is killed right after its acknowledgement; returns the id that it was given."""
    done = subprocess.run(
        [sys.executable, "-c", SAY_AND_DIE, str(path), text], capture_output=True, text=True, check=False
    )
    assert done.returncode == -9, done.stderr
    return done.stdout.strip()


@pytest.mark.requirement("D-011", "R-052")
def test_what_was_acknowledged_before_a_kill_is_read_afterwards_and_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    event_id = said_by_a_process_that_dies(path, "I'm allergic to peanuts.")
    with Credenda.open(path, user="ana", workers=False) as memory:
        again = memory.remember("I'm allergic to peanuts.", idempotency_key="first")
        assert (again.cached, again.event_ids) == (True, (event_id,))
        with pytest.raises(Conflict):
            memory.remember("I'm allergic to hazelnuts.", idempotency_key="first")
        memory.settle()
        (held,) = memory.list().items
        assert held.value == "peanuts"
        assert [event.id for event, _, _ in memory.why(held.id).evidence] == [event_id]


@pytest.mark.requirement("D-011", "R-052")
def test_a_key_repeated_after_a_kill_is_filed_once_by_whoever_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    ids = {said_by_a_process_that_dies(path, "I'm allergic to peanuts.") for _ in range(2)}
    assert len(ids) == 1
    with Credenda.open(path, user="ana", workers=False) as memory:
        memory.settle()
        assert memory.stats().events == 1
        assert memory.data.doctor().ok


@pytest.mark.requirement("D-011", "R-052")
def test_a_job_of_a_killed_process_is_taken_over_before_anyone_has_asked_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    reader = subprocess.Popen([sys.executable, "-c", READ_FOR_EVER, str(path)], stdout=subprocess.PIPE, text=True)
    assert reader.stdout is not None
    assert reader.stdout.readline() == "reading\n"
    reader.kill()
    reader.stdout.read()  # its end of the pipe is closed: it is dead, but still in the table of processes
    with Credenda.open(path, user="ana", workers=False) as memory:
        memory.settle(20.0)  # a lease lasts longer
        assert [held.value for held in memory.list().items] == ["peanuts"]
    assert reader.wait() == -9
    reader.stdout.close()


@pytest.mark.requirement("D-011", "R-052")
def test_rounds_of_random_kills_break_no_promise() -> None:
    report = run_crash(2, writers=3, seed=21, note=print)
    assert report.violations == []
    assert report.kills.total() >= 2
    assert report.acknowledged > 0
