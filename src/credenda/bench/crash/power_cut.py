"""Power cuts: the disk states that a cut can leave at any write are opened and checked.

An application works on a database while every write below SQLite is recorded. From the record, states are generated in
which unflushed writes are dropped, reordered or torn. The engine opens each, and each acknowledgement before the cut is
compared with it.
"""

from __future__ import annotations

import random
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from credenda import Credenda, CredendaError
from credenda.bench.crash.acts import Acts, TokenSource
from credenda.bench.crash.check import check
from credenda.bench.crash.disk_shim import install_shim
from credenda.bench.crash.disk_trace import DiskState, DiskTrace, generate_states
from credenda.bench.crash.ledger import Ledger
from credenda.bench.crash.report import AttackReport, Note

__all__ = ["record_trace", "run_power_cuts"]

_NAME: Final = "memory.db"
_USER: Final = "ana"
_SESSIONS: Final = 3
_ACTS: Final = 7
"""Acts of a session; each session opens and closes the database, which also checkpoints and removes its log."""
_STATES_PER_TRACE: Final = 400
_THOROUGH_EVERY: Final = 8
"""Of so many states one is also settled and searched."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """One generated state with everything that repeats its check."""

    trace: DiskTrace
    state: DiskState
    embedder: str
    thorough: bool


def record_trace(seed: int, *, honest: bool = True, embedder: str = "none") -> DiskTrace:
    """Record an application at work on a new database, in a process that ends: nobody holds its leases afterwards."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_record, seed, honest, embedder).result()


def _record(seed: int, honest: bool, embedder: str) -> DiskTrace:  # noqa: FBT001 - called across processes
    """Perform acts on a new database; the same seed performs the same acts."""
    trace = DiskTrace(honest=honest)
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="credenda-power-cut-") as folder, install_shim(trace):
        for session in range(_SESSIONS):
            with Credenda.open(Path(folder) / _NAME, user=_USER, embedder=embedder, workers=False) as memory:
                acts = Acts(memory, TokenSource(f"s{session}"), trace.tell, Path(folder))
                for _ in range(_ACTS):
                    acts.perform("everyone", draw)
    return trace


def _check_cut(cut: _Cut) -> list[str]:
    """Write the state to a folder, open it, and return every broken promise."""
    with tempfile.TemporaryDirectory(prefix="credenda-power-cut-") as folder:
        for name, content in cut.state.files.items():
            (Path(folder) / name).write_bytes(content)
        ledger = Ledger(path=str(Path(folder) / _NAME), user=_USER, embedder=cut.embedder)
        for position, fact in cut.trace.facts:
            if position <= cut.state.position:
                ledger.take(fact)
        try:
            return check(ledger, thorough=cut.thorough)
        except CredendaError as error:
            return [f"it cannot be opened: {error}"]
        except Exception as error:  # noqa: BLE001 - any other error is a violation as well
            return [f"{type(error).__name__}: {error}"]


def run_power_cuts(states: int, *, seed: int, note: Note, honest: bool = True) -> AttackReport:
    """Check so many different states, from as many records as that takes."""
    report = AttackReport("power cuts", seed)
    while report.cases < states:
        number = report.counts["records"]
        embedder = ("none", "hashed")[number % 2]
        trace = record_trace(seed * 1_000 + number, honest=honest, embedder=embedder)
        report.counts["records"] += 1
        report.counts["recorded operations"] += len(trace.operations)
        report.counts["acknowledgements"] += len(trace.facts)
        draw = random.Random(f"{seed} {number}")
        for state in generate_states(trace, min(_STATES_PER_TRACE, states - report.cases), draw):
            thorough = report.cases % _THOROUGH_EVERY == 0
            report.cases += 1
            report.counts[state.mode] += 1
            found = _check_cut(_Cut(trace, state, embedder, thorough))
            report.add(f"record {number}, cut at {state.position}, {state.mode}", found)
        note(f"{report.cases} of {states} states checked, {len(report.violations)} violations")
        if report.violations:
            break
    return report.finish()
