"""The kill test: kill processes on one file at random points, and check that nothing acknowledged is lost.

Each round starts writers (`writer`), kills some or all of them with SIGKILL at a random point of a random stage
(first open, writing and extraction, settling, closing with its index snapshot), and starts a fresh process
(`check`) to check the file. A file is used for several rounds, so that crashes accumulate.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, Final

from benchmarks import make_environment
from benchmarks.crash.check import LOST
from benchmarks.crash.ledger import Ledger
from benchmarks.crash.writer import Plan, plan_argument
from credenda.clock import seconds

Note = Callable[[str], None]
_ROUNDS_PER_FILE: Final = 5
_RUN_SECONDS: Final = 0.8
_PATIENCE_SECONDS: Final = 120.0
_VICTIM_SHARE: Final = 0.75
_EVERYONE_SHARE: Final = 0.3
_ROLES: Final = ("talker", "keeper", "asker", "talker")
_DELAYS_MS_MAX: Final = {"opening": 40.0, "writing": 15.0, "settling": 120.0, "closing": 40.0}
_STAGES: Final = ("opening", "writing", "writing", "writing", "settling", "closing", "closing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """The time of a kill: milliseconds after a stage began, or a number of facts while writing."""

    stage: str
    facts: int
    delay_ms: float
    everyone: bool


@dataclass(slots=True)
class CrashReport:
    """The result: `violations` describes each broken guarantee; those that begin with "lost:" are losses."""

    seed: int
    rounds: int = 0
    files: int = 0
    kills: Counter[str] = field(default_factory=Counter[str])
    acknowledged: int = 0
    operations: int = 0
    violations: list[str] = field(default_factory=list[str])
    seconds: float = 0.0
    kept: str = ""

    def as_document(self) -> dict[str, object]:
        """Return the report as `--json` prints it."""
        return {
            "rounds": self.rounds,
            "files": self.files,
            "kills": self.kills.total(),
            "kills_by_stage": dict(sorted(self.kills.items())),
            "acks_checked": self.acknowledged,
            "losses": sum(violation.startswith(LOST) for violation in self.violations),
            "violations": self.violations,
            "seconds": round(self.seconds, 1),
            "seed": self.seed,
            "kept": self.kept,
        }


def plan_kill(draw: random.Random) -> Kill:
    """Draw the time of a kill."""
    stage = draw.choice(_STAGES)
    return Kill(
        stage=stage,
        facts=int(1.5 ** draw.uniform(2, 16)),
        delay_ms=draw.uniform(0, _DELAYS_MS_MAX[stage]),
        everyone=draw.random() < _EVERYONE_SHARE,
    )


class _Writer:
    """One running process, with a thread that reads its output."""

    def __init__(self, plan: Plan, kill: Kill | None, kill_all: Event) -> None:
        self.plan = plan
        self.kill = kill
        self.killed = ""
        self.facts: list[dict[str, Any]] = []
        self._kill_all = kill_all
        self._stage = ""
        self._counted = 0
        self._fired = False
        self._lock = Lock()
        self._process = subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-m", "benchmarks.crash.writer", plan_argument(plan)],
            env=make_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._errors = b""
        self._threads = [Thread(target=self._read), Thread(target=self._drain)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - PIPE was asked for
        for line in self._process.stdout:
            if not line.endswith(b"\n"):
                break  # a truncated line was not acknowledged
            fact = json.loads(line)
            self.facts.append(fact)
            self._stage = fact["at"] if fact["e"] == "stage" else self._stage
            self._counted += fact["e"] in ("said", "did", "asked")
            if self.kill is not None and not self._fired and self._is_time(self.kill, fact):
                self._fired = True
                Thread(target=self._strike, args=(self.kill,)).start()

    def _is_time(self, kill: Kill, fact: dict[str, Any]) -> bool:
        if kill.stage == "writing":
            return self._counted >= kill.facts
        return bool(fact["e"] == "stage" and fact["at"] == kill.stage)

    def _strike(self, kill: Kill) -> None:
        time.sleep(kill.delay_ms / 1_000)
        self.strike()
        if kill.everyone:
            self._kill_all.set()

    def strike(self) -> None:
        """Kill the process, unless it has ended."""
        with self._lock:
            if self._process.poll() is None:
                self._process.kill()
                self.killed = {"opened": "writing", "closed": "closing", "": "starting"}.get(self._stage, self._stage)

    def _drain(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 - as above
        self._errors = self._process.stderr.read()

    def ended(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def finish(self) -> list[str]:
        """Wait for the end and return errors other than the kill."""
        code = self._process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        if code == 0 or self.killed:
            return []
        return [f"a {self.plan.role} ended with {code}: {self._errors[-2_000:].decode(errors='replace')}"]


def run_writers(plans: Sequence[tuple[Plan, Kill | None]], ledgers: Mapping[str, Ledger], report: CrashReport) -> None:
    """Run processes until they end or are killed, and record their output in the ledger of their user."""
    kill_all = Event()
    writers = [_Writer(plan, kill, kill_all) for plan, kill in plans]
    deadline = seconds() + _PATIENCE_SECONDS
    while [writer for writer in writers if not writer.ended()]:  # poll all, so that none stays a zombie
        if kill_all.wait(0.01):
            for writer in writers:
                writer.strike()
        if seconds() > deadline:
            report.violations.append(f"a process hangs in round {report.rounds}")
            kill_all.set()
    for writer in writers:
        report.violations += writer.finish()
        report.kills.update([writer.killed] if writer.killed else [])
        for fact in writer.facts:
            report.operations += fact["e"] in ("said", "did", "asked")
            report.violations += ledgers[writer.plan.user].take(fact)


def check_file(ledger: Ledger) -> list[str]:
    """Check the file in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.crash.check"],
        env=make_environment(),
        input=json.dumps(ledger.as_document()).encode(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        return [f"the check ended with {done.returncode}: {done.stderr[-2_000:].decode(errors='replace')}"]
    return json.loads(done.stdout)


def _draw_plans(draw: random.Random, ledger: Ledger, number: int, writers: int) -> list[tuple[Plan, Kill | None]]:
    """Draw the role and kill time of each process of a round; at least one is killed."""
    victims = {place for place in range(writers) if draw.random() < _VICTIM_SHARE} or {draw.randrange(writers)}
    plans: list[tuple[Plan, Kill | None]] = []
    for place in range(writers):
        plan = Plan(
            path=ledger.path,
            user=ledger.user,
            name=f"r{number}w{place}",
            role=_ROLES[place % len(_ROLES)],
            seed=draw.randrange(1 << 30),
            run_seconds=_RUN_SECONDS,
            embedder=ledger.embedder,
            settle=draw.choice((False, True)),
        )
        plans.append((plan, plan_kill(draw) if place in victims else None))
    return plans


def _make_ledger(draw: random.Random, folder: Path, number: int) -> Ledger:
    path = folder / f"memory-{number}.db"
    return Ledger(path=str(path), user="ana", embedder=draw.choice(("none", "hashed")))


def run_crash(rounds: int, *, writers: int = 3, seed: int = 0, note: Note) -> CrashReport:
    """Kill and verify for this many rounds; stop at the first violation, and keep its file."""
    draw = random.Random(seed)
    report = CrashReport(seed=seed)
    start = seconds()
    folder = Path(tempfile.mkdtemp(prefix="credenda-crash-"))
    ledger = _make_ledger(draw, folder, 0)
    for number in range(rounds):
        if number and number % _ROUNDS_PER_FILE == 0:
            ledger = _make_ledger(draw, folder, number)
        report.files += number % _ROUNDS_PER_FILE == 0
        report.rounds += 1
        _run_round(_draw_plans(draw, ledger, number, writers), ledger, report)
        note(f"round {number + 1} of {rounds}: {report.kills.total()} kills, {report.acknowledged} acks checked")
        if report.violations:
            break
    return _finish(report, folder, start)


def run_undisturbed(processes: int, *, run_seconds: float, seed: int = 0, embedder: str = "hashed") -> CrashReport:
    """Run processes on one new file without kills, then verify it; any error of theirs is a violation."""
    draw = random.Random(seed)
    report = CrashReport(seed=seed, rounds=1, files=1)
    start = seconds()
    folder = Path(tempfile.mkdtemp(prefix="credenda-crash-"))
    ledger = Ledger(path=str(folder / "memory.db"), user="ana", embedder=embedder)
    plans = [
        (replace(plan, run_seconds=run_seconds, settle=False), None)
        for plan, _ in _draw_plans(draw, ledger, 0, processes)
    ]
    _run_round(plans, ledger, report)
    return _finish(report, folder, start)


def _run_round(plans: Sequence[tuple[Plan, Kill | None]], ledger: Ledger, report: CrashReport) -> None:
    before = ledger.acknowledged
    run_writers(plans, {ledger.user: ledger}, report)
    report.violations += check_file(ledger)
    report.acknowledged += ledger.acknowledged - before


def _finish(report: CrashReport, folder: Path, start: float) -> CrashReport:
    """Remove the folder, unless a violation needs it."""
    report.seconds = seconds() - start
    if report.violations:
        report.kept = str(folder)
    else:
        shutil.rmtree(folder)
    return report
