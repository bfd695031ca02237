"""The attacks by name, each with the number of cases of its long form."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

from credenda.bench.crash.bits import run_bit_flips
from credenda.bench.crash.deletion import run_deletions
from credenda.bench.crash.faults import run_faults
from credenda.bench.crash.fuzz import run_fuzz
from credenda.bench.crash.power_cut import run_power_cuts
from credenda.bench.crash.processes import run_processes
from credenda.bench.crash.report import AttackReport, Note

__all__ = ["ATTACKS", "run_attacks"]


class _Attack(NamedTuple):
    """An attack: its cases by default, and the function that makes them."""

    cases: int
    run: Callable[[int, int, Note], AttackReport]


ATTACKS: Final[Mapping[str, _Attack]] = {
    "power-cut": _Attack(5_900, lambda cases, seed, note: run_power_cuts(cases, seed=seed, note=note)),
    "faults": _Attack(1_100, lambda cases, seed, note: run_faults(cases, seed=seed, note=note)),
    "processes": _Attack(4_600, lambda cases, seed, note: run_processes(cases, seed=seed, note=note)),
    "bits": _Attack(2_000, lambda cases, seed, note: run_bit_flips(cases, seed=seed, note=note)),
    "deletion": _Attack(0, lambda _cases, _seed, note: run_deletions(note=note)),
    "fuzz": _Attack(16_000, lambda cases, seed, note: run_fuzz(cases, seed=seed, note=note)),
}
"""The table of surfaces is always checked whole."""


def run_attacks(names: Collection[str], *, cases: int | None, seed: int, note: Note) -> list[AttackReport]:
    """Run attacks one after another, in the order of the table."""
    return [
        attack.run(attack.cases if cases is None else cases, seed, note)
        for name, attack in ATTACKS.items()
        if name in names
    ]
