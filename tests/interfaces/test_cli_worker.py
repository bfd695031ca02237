"""`credenda worker` at the terminal: for one user, or for all users of the database."""

import re
import signal
from pathlib import Path
from threading import Event, current_thread, main_thread

import pytest

from credenda import Credenda
from credenda.errors import Unavailable
from credenda.interfaces.cli.agent_processes import _describe_round
from credenda.workers.tenants import AllUsers

from .terminal import Terminal

PLACES = {"ana": "Linz", "bob": "Graz", "cem": "Wels"}


@pytest.fixture
def ana(tmp_path: Path) -> Terminal:
    terminal = Terminal(tmp_path)
    for user, place in PLACES.items():
        with Credenda.open(terminal.db, user=user, embedder="none", workers=False) as memory:
            memory.remember(f"I live in {place}.")
    return terminal


def homes(terminal: Terminal) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = {}
    for user in PLACES:
        with Credenda.open(terminal.db, user=user, embedder="none", workers=False) as memory:
            found[user] = [held.value for held in memory.list(attribute="residence").items]
    return found


def test_a_worker_serves_one_user_unless_it_is_asked_for_all(ana: Terminal) -> None:
    ana.text("worker", "--once")
    assert homes(ana) == {"ana": ["Linz"], "bob": [], "cem": []}


def test_a_worker_for_all_users_reads_what_each_of_them_said(ana: Terminal) -> None:
    told = ana.text("worker", "--once", "--all-users")
    assert re.search(r"Ran 3 jobs of 3 users( and \d+ scheduled tasks?)?\.", told)
    assert homes(ana) == {user: [place] for user, place in PLACES.items()}
    assert ana.json("worker", "--once", "--all-users") == {"users": 0, "jobs": 0, "tasks": 0}
    assert "Nothing was due." in ana.text("worker", "--once", "--all-users")


def test_a_worker_says_which_scheduled_tasks_it_ran(ana: Terminal) -> None:
    """The count agrees with the tasks that it names before."""
    ran = ana.run("worker", "--once", "--all-users")
    named = [line for line in ran.stderr.splitlines() if line.partition(":")[0] in PLACES]
    assert named
    assert f"and {len(named)} scheduled task" in ran.stdout


def test_the_words_of_a_round_name_what_ran() -> None:
    assert _describe_round({"jobs": 0, "users": 0, "tasks": 2}) == "Ran 2 scheduled tasks."
    assert _describe_round({"jobs": 1, "users": 1, "tasks": 0}) == "Ran 1 job of 1 user."


def test_a_worker_outlives_a_database_that_is_away(ana: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    honest, failures = AllUsers.run_round, iter([Unavailable("the database cannot be reached")])

    def run_round(everyone: AllUsers, stop: Event | None = None) -> int:
        if current_thread() is not main_thread():
            return honest(everyone, stop)
        for failure in failures:
            raise failure
        ran = honest(everyone, stop)
        if not ran:
            signal.raise_signal(signal.SIGTERM)
        return ran

    monkeypatch.setattr(AllUsers, "run_round", run_round)
    assert "trying again: the database cannot be reached" in ana.run("worker", "--all-users").stderr
    assert homes(ana) == {user: [place] for user, place in PLACES.items()}


def test_the_name_of_a_user_stays_on_the_line_of_a_task(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    with Credenda.open(terminal.db, user="ana\nben: decay", embedder="none", workers=False) as memory:
        memory.remember("I live in Linz.")
    told = terminal.run("worker", "--once", "--all-users").stderr.splitlines()
    assert told
    assert {line.partition(": ")[0] for line in told} == {"ana ben"}
