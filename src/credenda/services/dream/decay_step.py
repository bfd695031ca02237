"""Step 1: the forgetting curve, with the trust of each memory in its half-life (E-066)."""

from __future__ import annotations

from credenda.model.dream import DreamStep
from credenda.services.decay import decay
from credenda.services.dream.step_context import Night

__all__ = ["run_decay"]


def run_decay(night: Night) -> DreamStep:
    """Recompute the retention of each memory; no belief changes."""
    report = decay(night.parts, dry_run=night.dry_run)
    verb = "would move" if night.dry_run else "moved"
    told = f"{report.updated:,} of {report.examined:,} retention scores {verb}; no belief changed."
    return DreamStep(
        name="forgetting",
        told=(told,) if report.updated else (),
        counts={"examined": report.examined, "moved": report.updated},
        moves=report.moves,
    )
