"""Store messages together with their beliefs, in one commit and without a job that derives any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from credenda.model.event import ClaimReceipt, Receipt
from credenda.runtime import Parts
from credenda.storage.job_kinds import EMBED, KEEP
from credenda.storage.plan import commit_decided
from credenda.storage.records import mark_complete
from credenda.storage.store import Job, Writer
from credenda.storage.turns import take_turn
from credenda.write.intake.validate import Accepted
from credenda.write.journal import compare_with_tombstones, file_events, find_earlier_receipt, make_job

__all__ = ["Believe", "commit_with_beliefs"]

Believe = Callable[[Writer, tuple[str, ...]], tuple[ClaimReceipt, ...]]
"""Applies the claims about filed events, named by their ids, and returns the results to show."""


def commit_with_beliefs(parts: Parts, accepted: Accepted, believe: Believe) -> Receipt:
    """File messages and the beliefs that `believe` makes; a call repeated with its key gets its first receipt.

    Where `believe` raises, nothing is stored.
    """

    def decide(writer: Writer) -> Receipt:
        earlier = find_earlier_receipt(writer, accepted)
        if earlier is not None:
            return earlier
        ids, refused = file_events(writer, compare_with_tombstones(writer, accepted, parts.extractor))
        results = believe(writer, ids)
        return Receipt(job_id=None, event_ids=ids, queued=False, refused=refused, claims=results)

    def finish(writer: Writer, receipt: Receipt) -> Receipt:
        if receipt.cached or not receipt.event_ids:
            return receipt
        job = mark_complete(make_job(writer, accepted, receipt.event_ids, KEEP))
        job_id = writer.put(job)
        if parts.embedder is not None:
            writer.put(Job(kind=EMBED, first=job.first, last=job.last))
        return replace(receipt, job_id=job_id)

    with parts.active_calls, take_turn(parts.store, parts.user_id):
        return commit_decided(parts.store, parts.user_id, decide, finish)
