"""The attacks by name, each with the number of cases of its long form."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple, Protocol

from benchmarks.crash.deletion import run_deletions
from benchmarks.crash.disk_shim import run_bit_flips, run_power_cuts
from benchmarks.crash.faults import run_faults
from benchmarks.crash.fuzz import run_fuzz
from benchmarks.crash.processes import run_processes
from benchmarks.crash.report import AttackReport, Note


class _Run(Protocol):
    def __call__(self, cases: int, /, *, seed: int, note: Note) -> AttackReport: ...


class _Attack(NamedTuple):
    """An attack: its cases by default, and the function that makes them."""

    cases: int
    run: _Run


def _run_deletions(cases: int, *, seed: int, note: Note) -> AttackReport:
    """Check the whole table of surfaces; it has no seed, and as many cases as it has."""
    del cases, seed
    return run_deletions(note=note)


ATTACKS: Final[Mapping[str, _Attack]] = {
    "power-cut": _Attack(5_900, run_power_cuts),
    "faults": _Attack(1_100, run_faults),
    "processes": _Attack(4_600, run_processes),
    "bits": _Attack(2_000, run_bit_flips),
    "deletion": _Attack(0, _run_deletions),
    "fuzz": _Attack(16_000, run_fuzz),
}


def run_attacks(names: Collection[str], *, cases: int | None, seed: int, note: Note) -> list[AttackReport]:
    """Run attacks one after another, in the order of the table."""
    return [
        attack.run(attack.cases if cases is None else cases, seed=seed, note=note)
        for name, attack in ATTACKS.items()
        if name in names
    ]
