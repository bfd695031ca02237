"""Quarantine: a suspect claim becomes a candidate memory until independent evidence confirms it. Pure.

A candidate belongs to no slot and no search result. The same statement from another session or source promotes it, or
the user does (`set_status`). A statement that looks like prompt injection cannot confirm itself: only the user can, and
only if the candidate came from another source. A standing instruction is in force only in the user's own words: those
of a model, another person, a document or a file that a server received wait, however often they are repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from credenda.model.change import Add, Change, Confirm, Contest, Forget, Pin, Restore, SetStatus, Supersede
from credenda.model.claim import Claim, UpdateKind
from credenda.model.event import DENIED, OWN_SOURCES, QUARANTINED, TRUST, UPLOADED, Event, NewEvent, Role, Source
from credenda.model.memory import Memory, Relation, Status
from credenda.text.normalize import normalise_name, normalise_text
from credenda.write.reconcile.candidate import Candidate
from credenda.write.reconcile.inputs import SlotRows
from credenda.write.reconcile.slots import get_slot, get_valid_from_us, has_same_meaning

__all__ = [
    "find_quarantined",
    "hold_back_instructions",
    "is_foreign_instruction",
    "is_suspect",
    "is_users_own",
    "may_corroborate",
    "promote_quarantined",
    "quarantine_claim",
]

_LOW_TRUST: Final = 0.45
"""Claims from sources below this trust are quarantined. Only dreams lie below it."""
_ORDER: Final = "instruction"
"""The attribute of standing instructions, which reach every prompt."""
_UPLOADED: Final = "uploaded to a server; awaits the user's confirmation"
_PERSON: Final = TRUST[Source.HUMAN]


def is_suspect(event: Event, claim: Claim) -> bool:
    """Return whether a claim must be quarantined."""
    return QUARANTINED in event.flags or event.trust < _LOW_TRUST or is_foreign_instruction(event, claim)


def is_foreign_instruction(event: Event, claim: Claim) -> bool:
    """Return whether a claim is a standing instruction in other words than the user's own."""
    return claim.attribute == _ORDER and (UPLOADED in event.flags or not is_users_own(event))


def is_users_own(event: Event | NewEvent) -> bool:
    """Return whether the words of an event are the user's own."""
    return event.role is Role.USER and event.source in OWN_SOURCES


def find_quarantined(candidate: Candidate, known: SlotRows) -> list[Memory]:
    """Find the quarantined memories with the same value in the same slot, or the same text by the same speaker."""
    slot, claim = get_slot(candidate.claim), candidate.claim
    words = normalise_text(claim.text)
    return [
        one
        for one in sorted(known.candidates, key=lambda one: (one.created_us, one.id))
        if (slot is not None and get_slot(one) == slot and has_same_meaning(claim, one))
        or (normalise_text(one.text) == words and normalise_name(one.speaker) == normalise_name(claim.speaker))
    ]


def may_corroborate(event: Event, said_before: Sequence[Event]) -> bool:
    """Return whether an event is independent of the events that support a candidate, and may confirm it."""
    if DENIED in event.flags or not said_before:
        return False
    other_source = all(_is_from_elsewhere(one, event) for one in said_before)
    other_session = bool(event.session) and all(one.session and one.session != event.session for one in said_before)
    if QUARANTINED in event.flags:
        return other_source and event.trust >= _PERSON
    return other_source or other_session


def _is_from_elsewhere(before: Event, event: Event) -> bool:
    """Return whether an event has another source or speaker, or is said now while the other one was uploaded."""
    is_said_now = UPLOADED in before.flags and UPLOADED not in event.flags
    return before.source is not event.source or before.role is not event.role or is_said_now


def hold_back_instructions(instructions: Iterable[Memory], pinned: Iterable[Memory]) -> list[Change]:
    """Return the changes after which these memories govern no prompt until the user confirms them.

    No belief becomes a candidate, so that an instruction is forgotten, and restored as one.
    """
    changes: list[Change] = [Pin(memory_id=one.id, pinned=False, reason=_UPLOADED) for one in pinned]
    for one in instructions:
        changes.append(Forget(memory_id=one.id, reason=_UPLOADED))
        changes.append(Restore(memory_id=one.id, status=Status.CANDIDATE, reason=_UPLOADED))
    return changes


def promote_quarantined(changes: Sequence[Change], candidates: Sequence[Memory], candidate: Candidate) -> list[Change]:
    """Promote the first quarantined memory instead of adding a new one; merge the others into it.

    If the decision only confirms a current memory, merge all of them into that.
    """
    first, *rest = candidates
    added = next((one for one in changes if isinstance(one, Add) and one.key == candidate.key), None)
    confirmed = next((one.memory_id for one in changes if isinstance(one, Confirm)), None)
    if added is None:
        return [*changes, *(_merge_duplicate(one, confirmed, candidate) for one in candidates if confirmed is not None)]
    reason = "confirmed independently"
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
        reason="confirmed independently",
    )


def _redirect_change(change: Change, key: str, memory_id: str) -> Change:
    """Redirect a change from the memory to be added to the promoted one."""
    if isinstance(change, Supersede) and change.successor == key:
        return replace(change, successor=memory_id)
    if isinstance(change, Contest):
        return replace(change, memory_ids=tuple(memory_id if one == key else one for one in change.memory_ids))
    return change


def quarantine_claim(changes: Iterable[Change], same: Sequence[Memory], candidate: Candidate) -> list[Change]:
    """Quarantine a suspect claim: confirm its candidate or add one, and change no belief."""
    decision = list(changes)
    if candidate.claim.move is UpdateKind.RETRACT:
        return []
    if decision and all(isinstance(one, Confirm) for one in decision):
        return decision
    if same:
        return [candidate.confirm(same[0], "restated, but not independently")]
    return [candidate.add("awaits independent confirmation", status=Status.CANDIDATE)]
