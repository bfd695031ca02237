"""Step 6: check memories about code against the folders in the settings; no other folder is read."""

from __future__ import annotations

from collections import Counter
from typing import Final

from credenda.model.change import Actor
from credenda.model.dream import DreamStep
from credenda.services.dream.step_context import Night
from credenda.services.drift import drift, read_opted_in_folders
from credenda.text.counts import count_noun

__all__ = ["run_drift"]

_SHOWN: Final = 5


def run_drift(night: Night) -> DreamStep:
    """Check memories against the folders in `drift_roots` (E-071); invalidate them only if the settings say so."""
    settings = night.parts.settings
    roots = read_opted_in_folders(settings)
    if not roots:
        return DreamStep(name="drift", ran=False, reason="no folder is opted in (drift_roots)")
    report = drift(night.parts, roots, fix=settings.drift_action == "fix" and not night.dry_run, actor=Actor.DREAM)
    levels = Counter(finding.level for finding in report.findings)
    told = [
        f"Agreement of code and memories: {report.score} of 100; {sum(report.checked.values()):,} claims were checked."
    ]
    told += [f"{one.memory_id}: {one.what} ({one.code})." for one in report.findings[:_SHOWN]]
    if len(report.findings) > _SHOWN:
        told.append(f"{len(report.findings) - _SHOWN:,} more findings.")
    if report.invalidated:
        told.append(
            f"{count_noun(len(report.invalidated), 'memory', 'was')} invalidated; `credenda undo` reverses this."
        )
    counts = {"score": report.score, "claims": sum(report.checked.values()), **levels}
    counts["invalidated"] = len(report.invalidated)
    return DreamStep(
        name="drift",
        ran=report.ran,
        reason=report.reason,
        told=tuple(told) if report.findings else (),
        counts=counts,
        drift=report,
    )
