"""What is not believed on its own word: kept apart as a candidate, until an independent saying vouches for it. Pure.

A candidate stands in no slot and in no answer. It is promoted by the same thing said in another session or from another
source, or by a person (`set_status`). What seems to give orders cannot vouch for itself: for such words only the person
can, and only where they came from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from credenda.model.change import Add, Change, Confirm, Contest, SetStatus, Supersede
from credenda.model.claim import Claim, UpdateKind
from credenda.model.event import DENIED, QUARANTINED, TRUST, Event, Source
from credenda.model.memory import Memory, Relation, Status
from credenda.text.normalize import normalise_name, normalise_text
from credenda.write.reconcile.candidate import Candidate
from credenda.write.reconcile.inputs import SlotRows
from credenda.write.reconcile.slots import get_slot, get_valid_from_us, has_same_meaning

__all__ = ["find_quarantined", "is_suspect", "may_corroborate", "promote_quarantined", "quarantine_claim"]

_LOW_TRUST: Final = 0.45
"""Below this a source is not believed on its own word: what a dream made up, and nothing that was said or read."""
_ORDER: Final = "instruction"
"""The attribute of standing instructions. They reach every prompt, so a document's own are not believed unasked."""
_PERSON: Final = TRUST[Source.HUMAN]
_READ: Final = TRUST[Source.INGEST]


def is_suspect(event: Event, claim: Claim) -> bool:
    """Say whether a claim is not to be believed on its own word."""
    ordered = claim.attribute == _ORDER and event.trust <= _READ
    return QUARANTINED in event.flags or event.trust < _LOW_TRUST or ordered


def find_quarantined(candidate: Candidate, known: SlotRows) -> list[Memory]:
    """Find the candidates that say the same: the same value in the same slot, or the same words of the same speaker."""
    slot, claim = get_slot(candidate.claim), candidate.claim
    words = normalise_text(claim.text)
    return [
        one
        for one in sorted(known.candidates, key=lambda one: (one.created_us, one.id))
        if (slot is not None and get_slot(one) == slot and has_same_meaning(claim, one))
        or (normalise_text(one.text) == words and normalise_name(one.speaker) == normalise_name(claim.speaker))
    ]


def may_corroborate(event: Event, said_before: Sequence[Event]) -> bool:
    """Say whether an event is independent of those that a candidate rests on, and may speak for it."""
    if DENIED in event.flags or not said_before:
        return False
    other_source = all(one.source is not event.source or one.role is not event.role for one in said_before)
    other_session = bool(event.session) and all(one.session and one.session != event.session for one in said_before)
    if QUARANTINED in event.flags:
        return other_source and event.trust >= _PERSON
    return other_source or other_session


def promote_quarantined(changes: Sequence[Change], candidates: Sequence[Memory], candidate: Candidate) -> list[Change]:
    """Let the first candidate be the memory that a decision would have added; the others go into it.

    Where the decision only confirms what is held already, the candidates go into that.
    """
    first, *rest = candidates
    added = next((one for one in changes if isinstance(one, Add) and one.key == candidate.key), None)
    confirmed = next((one.memory_id for one in changes if isinstance(one, Confirm)), None)
    if added is None:
        return [*changes, *(_merge_duplicate(one, confirmed, candidate) for one in candidates if confirmed is not None)]
    reason = "said again, independently"
    step = SetStatus(memory_id=first.id, status=added.draft.status, reason=reason, trust=added.draft.trust)
    others = [_redirect_change(one, added.key, first.id) for one in changes if one is not added]
    return [
        step,
        candidate.confirm(first, reason),
        *others,
        *(_merge_duplicate(one, first.id, candidate) for one in rest),
    ]


def _merge_duplicate(memory: Memory, into: str | None, candidate: Candidate) -> Supersede:
    return Supersede(
        memory_id=memory.id,
        successor=into,
        relation=Relation.DUPLICATE,
        valid_until_us=max(get_valid_from_us(memory), candidate.occasion.now_us),
        reason="said again, independently",
    )


def _redirect_change(change: Change, key: str, memory_id: str) -> Change:
    """Let a change that named the memory to be added name the candidate instead."""
    if isinstance(change, Supersede) and change.successor == key:
        return replace(change, successor=memory_id)
    if isinstance(change, Contest):
        return replace(change, memory_ids=tuple(memory_id if one == key else one for one in change.memory_ids))
    return change


def quarantine_claim(changes: Iterable[Change], same: Sequence[Memory], candidate: Candidate) -> list[Change]:
    """Keep what a suspect claim says as a candidate: it confirms, and moves nothing that is believed."""
    decision = list(changes)
    if candidate.claim.move is UpdateKind.RETRACT:
        return []
    if decision and all(isinstance(one, Confirm) for one in decision):
        return decision
    if same:
        return [candidate.confirm(same[0], "said again, by nobody else")]
    return [candidate.add("nobody else has said it", status=Status.CANDIDATE)]
