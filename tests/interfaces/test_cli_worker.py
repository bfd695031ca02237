"""`credenda worker` at the terminal: for one user, or for all users of the database."""

from pathlib import Path

import pytest

from credenda import Credenda

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
    assert "Ran 3 jobs of 3 users." in ana.text("worker", "--once", "--all-users")
    assert homes(ana) == {user: [place] for user, place in PLACES.items()}
    assert ana.json("worker", "--once", "--all-users") == {"users": 0, "jobs": 0}
