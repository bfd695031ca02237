"""Twelve processes of three users on one file, some of them killed: nothing is lost, and nobody meets another.

Each process stores, searches, corrects, deletes, undoes, consolidates, backs up, exports, syncs pages and erases
guests, with a worker in the background.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.crash.kills import CrashReport, Kill, check_file, plan_kill, run_writers
from benchmarks.crash.ledger import Ledger
from benchmarks.crash.report import AttackReport, Note
from benchmarks.crash.writer import Plan

_USERS: Final = ("ana", "bo", "Ana")
"""Two names differ only in case, which must not matter."""
_ROLES: Final = ("everyone", "keeper", "everyone", "saver")
_KILLED_SHARE: Final = 0.3
_ROUNDS_PER_FILE: Final = 2


def _make_ledgers(folder: Path) -> dict[str, Ledger]:
    folder.mkdir()
    path = str(folder / "memory.db")
    return {user: Ledger(path=path, user=user, embedder="hashed") for user in _USERS}


def _plan_round(
    draw: random.Random, ledgers: dict[str, Ledger], *, processes: int, name: str, run_seconds: float
) -> list[tuple[Plan, Kill | None]]:
    """Give each process a user, a role and perhaps the time of its death."""
    plans: list[tuple[Plan, Kill | None]] = []
    for place in range(processes):
        ledger = ledgers[_USERS[place % len(_USERS)]]
        plan = Plan(
            path=ledger.path,
            user=ledger.user,
            name=f"{name}w{place}",
            role=_ROLES[place // len(_USERS) % len(_ROLES)],
            seed=draw.randrange(1 << 30),
            run_seconds=run_seconds,
            embedder=ledger.embedder,
        )
        ledger.prefixes.append(f"{plan.name}t")
        plans.append((plan, plan_kill(draw) if draw.random() < _KILLED_SHARE else None))
    return plans


def run_processes(
    operations: int, *, seed: int, note: Note, processes: int = 12, run_seconds: float = 20.0
) -> AttackReport:
    """Run rounds until so many operations were made, and check the file of each round for every user."""
    report = AttackReport("operations of processes", seed)
    draw = random.Random(seed)
    rounds = CrashReport(seed=seed)
    with tempfile.TemporaryDirectory(prefix="credenda-processes-") as parent:
        ledgers: dict[str, Ledger] = {}
        while report.cases < operations and not report.violations:
            number = report.counts["rounds"]
            if number % _ROUNDS_PER_FILE == 0:
                ledgers = _make_ledgers(Path(parent) / str(number))
            run_writers(
                _plan_round(draw, ledgers, processes=processes, name=f"r{number}", run_seconds=run_seconds),
                ledgers,
                rounds,
            )
            found = [*rounds.violations, *(one for ledger in ledgers.values() for one in check_file(ledger))]
            report.add(f"round {number}", found)
            report.cases = rounds.operations
            report.counts["rounds"] += 1
            report.counts["kills"] = rounds.kills.total()
            note(f"{report.cases} of {operations} operations, {len(report.violations)} violations")
    report.counts["processes"] = processes
    return report.finish()
