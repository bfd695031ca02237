"""Step 7: delete old rows of operational logs; the journal and the change log stay complete (E-072)."""

from __future__ import annotations

from credenda.manage.dream.prune import PruneRules
from credenda.model.dream import DreamStep
from credenda.services.dream.step_context import Night
from credenda.storage.store import Prune
from credenda.text.counts import count_kind


def prune(night: Night, rules: PruneRules | None = None) -> DreamStep:
    """Delete old impressions without feedback and old finished jobs, in small batches."""
    bounds = rules or PruneRules()
    showings_us, jobs_us = bounds.before_us(night.now_us)
    found = night.see(lambda reader: reader.duties.prunable(showings_us, jobs_us))
    rounds = -(-max(found.values(), default=0) // bounds.rows_per_batch)
    row = Prune(showings_before_us=showings_us, jobs_before_us=jobs_us, limit=bounds.rows_per_batch)
    for _ in range(0 if night.dry_run else rounds):
        night.stay()
        night.parts.active_calls.wait_idle(1.0)
        night.parts.store.commit(night.parts.user_id, lambda writer: writer.put(row))
    verb = "would go" if night.dry_run else "went"
    days = {"showings": bounds.impressions_days, "jobs": bounds.jobs_days}
    told = [f"{count_kind(count, name)} older than {days[name]} days {verb}." for name, count in found.items() if count]
    return DreamStep(name="prune", told=tuple(told), counts=found)
