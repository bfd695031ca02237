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
from credenda.model.claim import Claim, Move
from credenda.model.event import DENIED, QUARANTINED, TRUST, Event, Source
from credenda.model.memory import Memory, Relation, Status
from credenda.text.normalize import name_key, text_key
from credenda.write.reconcile.candidate import Saying
from credenda.write.reconcile.inputs import Known
from credenda.write.reconcile.slots import begins_us, same_meaning, slot_of

__all__ = ["candidates_for", "is_suspect", "kept_apart", "promoted", "vouches"]

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


def candidates_for(saying: Saying, known: Known) -> list[Memory]:
    """Find the candidates that say the same: the same value in the same slot, or the same words of the same speaker."""
    slot, claim = slot_of(saying.claim), saying.claim
    words = text_key(claim.text)
    return [
        one
        for one in sorted(known.candidates, key=lambda one: (one.created_us, one.id))
        if (slot is not None and slot_of(one) == slot and same_meaning(claim, one))
        or (text_key(one.text) == words and name_key(one.speaker) == name_key(claim.speaker))
    ]


def vouches(event: Event, said_before: Sequence[Event]) -> bool:
    """Say whether an event is independent of those that a candidate rests on, and may speak for it."""
    if DENIED in event.flags or not said_before:
        return False
    other_source = all(one.source is not event.source or one.role is not event.role for one in said_before)
    other_session = bool(event.session) and all(one.session and one.session != event.session for one in said_before)
    if QUARANTINED in event.flags:
        return other_source and event.trust >= _PERSON
    return other_source or other_session


def promoted(changes: Sequence[Change], candidates: Sequence[Memory], saying: Saying) -> list[Change]:
    """Let the first candidate be the memory that a decision would have added; the others go into it.

    Where the decision only confirms what is held already, the candidates go into that.
    """
    first, *rest = candidates
    added = next((one for one in changes if isinstance(one, Add) and one.key == saying.key), None)
    confirmed = next((one.memory_id for one in changes if isinstance(one, Confirm)), None)
    if added is None:
        return [*changes, *(_merged(one, confirmed, saying) for one in candidates if confirmed is not None)]
    reason = "said again, independently"
    step = SetStatus(memory_id=first.id, status=added.draft.status, reason=reason, trust=added.draft.trust)
    others = [_renamed(one, added.key, first.id) for one in changes if one is not added]
    return [step, saying.confirm(first, reason), *others, *(_merged(one, first.id, saying) for one in rest)]


def _merged(memory: Memory, into: str | None, saying: Saying) -> Supersede:
    return Supersede(
        memory_id=memory.id,
        successor=into,
        relation=Relation.DUPLICATE,
        valid_until_us=max(begins_us(memory), saying.occasion.now_us),
        reason="said again, independently",
    )


def _renamed(change: Change, key: str, memory_id: str) -> Change:
    """Let a change that named the memory to be added name the candidate instead."""
    if isinstance(change, Supersede) and change.successor == key:
        return replace(change, successor=memory_id)
    if isinstance(change, Contest):
        return replace(change, memory_ids=tuple(memory_id if one == key else one for one in change.memory_ids))
    return change


def kept_apart(changes: Iterable[Change], twins: Sequence[Memory], saying: Saying) -> list[Change]:
    """Keep what a suspect claim says as a candidate: it confirms, and moves nothing that is believed."""
    decision = list(changes)
    if saying.claim.move is Move.RETRACT:
        return []
    if decision and all(isinstance(one, Confirm) for one in decision):
        return decision
    if twins:
        return [saying.confirm(twins[0], "said again, by nobody else")]
    return [saying.add("nobody else has said it", status=Status.CANDIDATE)]
