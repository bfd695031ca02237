"""Store new input: `remember` and `store`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from credenda import limits
from credenda.model.claim import Claim, Span
from credenda.model.event import ClaimReceipt, Event, Receipt, Role, Source
from credenda.model.memory import MemoryType
from credenda.runtime import Parts
from credenda.services.believed_messages import commit_with_beliefs
from credenda.services.bursts import hold_back_burst
from credenda.storage.store import EventFilter, Writer
from credenda.write.extract.prose import find_unread
from credenda.write.intake.validate import Accepted, Submission, accept
from credenda.write.journal import (
    Compared,
    commit_compared,
    file_submission,
)
from credenda.write.reconcile_job import apply_claims
from credenda.write.same_utterance import HEARD_EVENTS, find_quoted

__all__ = ["keep", "remember"]

_SPEAKING: Final = frozenset({Role.USER, Role.PERSON})


def remember(parts: Parts, submission: Submission) -> Receipt:
    """Store messages as events and return when they are on disk; a job derives the beliefs."""
    accepted = accept(
        submission, policy=parts.settings.secrets_policy, zone=parts.settings.zone, now_us=parts.clock.now_us()
    )
    accepted = hold_back_burst(parts, accepted)
    with parts.active_calls:
        receipt = commit_compared(parts.store, parts.user_id, [accepted], _file, extractor=parts.extractor)
    if receipt.queued and not parts.jobs_ready.is_set():
        parts.jobs_ready.set()
    unread = _list_unread(accepted)
    return replace(receipt, unread=unread) if unread else receipt


def _list_unread(accepted: Accepted) -> tuple[str, ...]:
    """Name the parts of messages from which no claims are extracted because they are too long."""
    return tuple(
        f"characters {start} to {stop} of message {number}: too long to extract claims from; send it in parts"
        for number, event in enumerate(accepted.events, 1)
        if event.role in _SPEAKING
        for start, stop in find_unread(event.text)
    )


def _file(writer: Writer, compared: Sequence[Compared]) -> Receipt:
    said = compared[0].events
    plain = len(said) == 1 and not (said[0].topic or said[0].tags or said[0].expires_us)  # nothing beside the words
    if plain and said[0].source is Source.AI and compared[0].accepted.idempotency_key is None:
        recent = writer.find_events(EventFilter(limit=HEARD_EVENTS, newest_first=True))
        if (quoted := find_quoted(recent, said[0])) is not None:
            return Receipt(job_id=None, event_ids=(quoted.id,), queued=False, cached=True)
    return file_submission(writer, compared[0])


def keep(parts: Parts, submission: Submission) -> Receipt:
    """Store messages as events and each as a verbatim memory, in one commit, without extraction.

    A message longer than a memory is cut in the memory; the event has its full text.
    """
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None
    accepted = accept(submission, policy=parts.settings.secrets_policy, zone=parts.settings.zone, now_us=now_us)

    def believe(writer: Writer, ids: tuple[str, ...]) -> tuple[ClaimReceipt, ...]:
        turns = [(event, (_make_verbatim_claim(event),)) for event in writer.events(ids)]
        apply_claims(writer, turns, now_us, embeds=embeds)
        return ()

    return commit_with_beliefs(parts, accepted, believe)


def _make_verbatim_claim(event: Event) -> Claim:
    text = event.text.strip()[: limits.MEMORY_TEXT_CHARACTERS]
    return Claim(text=text, type=MemoryType.FACT, span=Span(event.id, 0, len(event.text)), speaker=event.speaker)
