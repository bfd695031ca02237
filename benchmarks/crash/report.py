"""The result of one attack: counts, and a description of each broken promise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from credenda import clock

Note = Callable[[str], None]
_VIOLATIONS_MAX: Final = 50


@dataclass(slots=True)
class AttackReport:
    """The counts of an attack; `cases` is the number of states, faults, calls or surfaces that were checked."""

    name: str
    seed: int
    cases: int = 0
    counts: Counter[str] = field(default_factory=Counter[str])
    violations: list[str] = field(default_factory=list[str])
    started: float = field(default_factory=clock.seconds)
    seconds: float = 0.0

    def add(self, where: str, findings: list[str]) -> None:
        """Add the violations of one case, with the data that repeat it."""
        room = _VIOLATIONS_MAX - len(self.violations)
        self.violations += [f"{where}: {finding}" for finding in findings[:room]]

    def finish(self) -> AttackReport:
        """Note the time that it took."""
        self.seconds = clock.seconds() - self.started
        return self

    def as_document(self) -> dict[str, object]:
        """Return the report as `--json` prints it."""
        return {
            "name": self.name,
            "cases": self.cases,
            "counts": dict(sorted(self.counts.items())),
            "violations": self.violations,
            "seconds": round(self.seconds, 1),
            "seed": self.seed,
        }
