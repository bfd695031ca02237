"""Step 2: pass large, close clusters to the judge of consolidation."""

from __future__ import annotations

from credenda.manage.dream.merge import MergeRules
from credenda.model.dream import DreamStep
from credenda.services.consolidation import run_over
from credenda.services.consolidation_candidates import Wanted
from credenda.services.dream.step_context import Night
from credenda.text.counts import count_noun


def merge(night: Night, rules: MergeRules | None = None) -> DreamStep:
    """Merge equivalent memories in clusters of five or more; memories that differ in meaning stay separate."""
    bounds = rules or MergeRules()
    night.stay()
    settings = night.parts.settings
    wanted = Wanted(
        topic=None,
        threshold=1.0,
        k=settings.memory_consolidation_neighbor_k,
        cluster_max=settings.memory_consolidation_cluster_max,
        floor=bounds.cosine,
        least=bounds.least,
    )
    report = run_over(night.parts, wanted, dry_run=night.dry_run, night=True)
    became, went = ("would become", "would go") if night.dry_run else ("became", "went")
    told: list[str] = []
    if report.memories_consolidated:
        gone, judge = report.memories_consolidated, report.judge
        fewer = f"{became} {report.memories_created:,} or " if report.memories_created else ""
        told.append(f"{count_noun(gone, 'memory')} {fewer}{went} as doubles; judged by {judge}.")
    if report.failed:
        told.append(f"{count_noun(report.failed, 'cluster')} could not be judged and will be tried again.")
    counts = {
        "examined": report.examined,
        "merged": report.memories_consolidated,
        "created": report.memories_created,
        "linked": report.linked,
        "failed": report.failed,
    }
    return DreamStep(name="merge", ran=report.ran, reason=report.reason, told=tuple(told), counts=counts, merged=report)
