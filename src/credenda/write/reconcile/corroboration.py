"""Quarantine: a suspect claim becomes a candidate memory until independent evidence confirms it. Pure.

A candidate belongs to no slot and no search result. The same statement from another session or source promotes it, or
the user does (`set_status`). A statement that looks like prompt injection cannot confirm itself: only the user can, and
only if the candidate came from another source.
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
"""Claims from sources below this trust are quarantined. Only dreams lie below it."""
_ORDER: Final = "instruction"
"""The attribute of standing instructions. They reach every prompt, so those found in documents are quarantined."""
_PERSON: Final = TRUST[Source.HUMAN]
_READ: Final = TRUST[Source.INGEST]


def is_suspect(event: Event, claim: Claim) -> bool:
    """Return whether a claim must be quarantined."""
    ordered = claim.attribute == _ORDER and event.trust <= _READ
    return QUARANTINED in event.flags or event.trust < _LOW_TRUST or ordered


def candidates_for(saying: Saying, known: Known) -> list[Memory]:
    """Find the quarantined memories with the same value in the same slot, or the same text by the same speaker."""
    slot, claim = slot_of(saying.claim), saying.claim
    words = text_key(claim.text)
    return [
        one
        for one in sorted(known.candidates, key=lambda one: (one.created_us, one.id))
        if (slot is not None and slot_of(one) == slot and same_meaning(claim, one))
        or (text_key(one.text) == words and name_key(one.speaker) == name_key(claim.speaker))
    ]


def vouches(event: Event, said_before: Sequence[Event]) -> bool:
    """Return whether an event is independent of the events that support a candidate, and may confirm it."""
    if DENIED in event.flags or not said_before:
        return False
    other_source = all(one.source is not event.source or one.role is not event.role for one in said_before)
    other_session = bool(event.session) and all(one.session and one.session != event.session for one in said_before)
    if QUARANTINED in event.flags:
        return other_source and event.trust >= _PERSON
    return other_source or other_session


def promoted(changes: Sequence[Change], candidates: Sequence[Memory], saying: Saying) -> list[Change]:
    """Promote the first quarantined memory instead of adding a new one; merge the others into it.

    If the decision only confirms a current memory, merge all of them into that.
    """
    first, *rest = candidates
    added = next((one for one in changes if isinstance(one, Add) and one.key == saying.key), None)
    confirmed = next((one.memory_id for one in changes if isinstance(one, Confirm)), None)
    if added is None:
        return [*changes, *(_merged(one, confirmed, saying) for one in candidates if confirmed is not None)]
    reason = "confirmed independently"
    step = SetStatus(memory_id=first.id, status=added.draft.status, reason=reason, trust=added.draft.trust)
    others = [_renamed(one, added.key, first.id) for one in changes if one is not added]
    return [step, saying.confirm(first, reason), *others, *(_merged(one, first.id, saying) for one in rest)]


def _merged(memory: Memory, into: str | None, saying: Saying) -> Supersede:
    return Supersede(
        memory_id=memory.id,
        successor=into,
        relation=Relation.DUPLICATE,
        valid_until_us=max(begins_us(candidate), saying.occasion.now_us),
        reason="confirmed independently",
    )


def _renamed(change: Change, key: str, memory_id: str) -> Change:
    """Redirect a change from the memory to be added to the promoted one."""
    if isinstance(change, Supersede) and change.successor == key:
        return replace(change, successor=memory_id)
    if isinstance(change, Contest):
        return replace(change, memory_ids=tuple(memory_id if one == key else one for one in change.memory_ids))
    return change


def kept_apart(changes: Iterable[Change], twins: Sequence[Memory], saying: Saying) -> list[Change]:
    """Quarantine a suspect claim: confirm its candidate or add one, and change no belief."""
    decision = list(changes)
    if saying.claim.move is Move.RETRACT:
        return []
    if decision and all(isinstance(one, Confirm) for one in decision):
        return decision
    if twins:
        return [saying.confirm(twins[0], "restated, but not independently")]
    return [saying.add("awaits independent confirmation", status=Status.CANDIDATE)]
