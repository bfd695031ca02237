"""Several processes on one file, undisturbed: no error, nothing lost, nothing doubled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.crash.kills import run_undisturbed
from credenda import Credenda

OPEN_AND_SAY = """
import sys
from credenda import Credenda
import credenda.client
print("ready", flush=True)
sys.stdin.readline()
with Credenda.open(sys.argv[1], user="ana") as memory:
    print(*memory.remember(sys.argv[2]).event_ids, flush=True)
"""
SAY_MUCH = """
import sys
from credenda import Credenda
with Credenda.open(sys.argv[1], user="ana") as memory:
    for number in range(150):
        memory.remember(f"Remember that I love herb{number}.")
        print(number, flush=True)
    memory.settle()
"""

SAY_UNTIL_TOLD = """
import sys
from threading import Thread
from credenda import Credenda
told = Thread(target=sys.stdin.readline)
told.start()
with Credenda.open(sys.argv[1], user="ana", workers=False) as memory:
    print("ready", flush=True)
    number = 0
    while told.is_alive():
        memory.remember(f"Remember that I love herb{number}.")
        number += 1
"""


def started(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.requirement("D-011")
def test_eight_processes_share_a_file_without_an_error() -> None:
    report = run_undisturbed(8, run_seconds=0.5, seed=5)
    assert report.violations == []
    assert report.acknowledged >= 8


@pytest.mark.parametrize("attempt", range(3))
@pytest.mark.requirement("D-011")
def test_two_processes_may_open_a_new_file_at_the_same_moment(tmp_path: Path, attempt: int) -> None:
    path = tmp_path / f"memory-{attempt}.db"
    texts = ["I live in Linz.", "I'm allergic to peanuts."]
    processes = [started(OPEN_AND_SAY, str(path), text) for text in texts]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    results = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], results
    ids = {out.strip() for out, _ in results}
    assert len(ids) == 2
    with Credenda.open(path, user="ana", workers=False) as memory:
        memory.settle()
        assert memory.stats().events == 2
        assert {item.value for item in memory.list().items} == {"Linz", "peanuts"}
        assert memory.data.doctor().ok


@pytest.mark.requirement("D-011")
def test_a_reader_sees_a_growing_and_consistent_store_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Credenda.open(path, user="ana", workers=False) as memory:
        memory.remember("Remember that I love herb0.")
        writer = started(SAY_MUCH, str(path))
        assert writer.stdout is not None
        seen = 0
        for line in writer.stdout:
            number = json.loads(line)
            if number % 20 == 0:
                events = memory.stats().events
                assert events >= max(seen, number + 2)  # what the other process was told is there for us at once
                seen = events
                assert memory.search(f"herb{number}").hits
        _, errors = writer.communicate()
        assert writer.returncode == 0, errors
        memory.settle()
        assert memory.stats().events == 151
        assert memory.data.doctor().ok


@pytest.mark.requirement("D-011")
def test_settling_ends_though_another_process_never_stops_writing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    writer = started(SAY_UNTIL_TOLD, str(path))
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    with Credenda.open(path, user="ana", workers=False) as memory:
        memory.remember("I'm allergic to peanuts.")
        memory.settle(30.0)
        assert [held.value for held in memory.list(attribute="allergy").items] == ["peanuts"]
        assert writer.poll() is None
    _, errors = writer.communicate("stop\n")
    assert writer.returncode == 0, errors
