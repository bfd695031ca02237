"""Step 7: old rows of operational logs go; the journal and the change log stay whole (E-072)."""

from __future__ import annotations

from credenda.manage.dream.prune import PruneRules, prune_before_us
from credenda.model.dream import DreamStep
from credenda.operations.dream.night import Night
from credenda.storage.store import Prune

__all__ = ["prune"]


def prune(night: Night, rules: PruneRules | None = None) -> DreamStep:
    """Take away old showings that nobody judged, and old finished jobs, a few at a time."""
    bounds = rules or PruneRules()
    before_us = prune_before_us(bounds, night.now_us)
    found = night.see(lambda reader: reader.prunable(before_us))
    rounds = -(-max(found.values(), default=0) // bounds.together)
    for _ in range(0 if night.dry_run else rounds):
        night.stay()
        night.parts.foreground.wait_idle(1.0)
        row = Prune(before_us=before_us, limit=bounds.together)
        night.parts.store.commit(night.parts.user_id, lambda writer, row=row: writer.put(row))
    verb = "would go" if night.dry_run else "went"
    names = " and ".join(f"{count:,} {name}" for name, count in found.items() if count)
    told = (f"{names} older than {bounds.keep_days} days {verb}; nothing that was said.",) if names else ()
    return DreamStep(name="prune", told=told, counts=found)
