"""The state of a slot around a claim: equal values, conflicting values and past values. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from credenda.clock import DAY_US
from credenda.model.attributes import get_attribute, has_same_kind
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Cardinality, Memory, MemoryType, Slot, Status, TypeClass, get_valid_from_us
from credenda.text.changes import is_beside, is_change
from credenda.text.normalize import is_same_value, normalise_name, normalise_text
from credenda.write.reconcile.candidate import Candidate
from credenda.write.reconcile.slots import (
    ASSERTIVE_STANCES,
    CURRENT_STATUSES,
    SlotRows,
    find_weakness,
    get_slot,
    has_other_dose,
    has_other_number,
    has_same_meaning,
    is_denial,
    is_in_conflict,
    is_name_in,
    is_named_as_past,
    is_newly_visible,
    is_renaming,
    is_shortened,
)

_MEDICATION: Final = "medication"
_REVISED: Final = re.compile(
    r"\b(?:instead|rather|after all|reconsidered|changed (?:my|our|his|her|their) minds?|not .{1,60}? but)\b",
    re.IGNORECASE,
)
"""Words of a decision that takes the place of an earlier one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotState:
    """An assertive claim and the memories around it, each group newest first.

    `same` have the same value in its slot; `conflicting` are the values that it contradicts or names as past.
    `unasserted` are plans, suppositions and the like with its value; `unread` have its text but no slot.
    `other_scopes` are of the same pair and class in other scopes.
    `other_class` are the facts that a decision contradicts, or the decisions that contradict a fact; a preference
    stands beside both.
    `past` are the earlier values of the slot.
    """

    candidate: Candidate
    slot: Slot
    known: SlotRows
    same: tuple[Memory, ...]
    conflicting: tuple[Memory, ...]
    unasserted: tuple[Memory, ...]
    unread: tuple[Memory, ...]
    other_scopes: tuple[Memory, ...]
    other_class: tuple[Memory, ...]
    past: tuple[Memory, ...]

    @property
    def claim(self) -> Claim:
        """The normalised claim."""
        return self.candidate.claim

    @property
    def moment_us(self) -> int:
        """The time that the claim is about: a claim of change or ending is about the beliefs at its own time."""
        told = self.claim.move in (UpdateKind.CHANGE, UpdateKind.END)
        return self.candidate.occasion.occurred_us if told else self.candidate.begins_us

    @property
    def standing(self) -> tuple[Memory, ...]:
        """The conflicting values that count: the active ones, or the challenged ones if none is active."""
        active = tuple(rival for rival in self.conflicting if rival.status is Status.ACTIVE)
        return active or self.conflicting

    @property
    def weakness(self) -> str | None:
        """Why the claim cannot replace the conflicting values, or None if it can (D-006)."""
        trust = self.candidate.occasion.trust
        reasons = (find_weakness(self.claim, trust, rival) for rival in self.standing)
        return next((reason for reason in reasons if reason), None)

    def settled(self, twin: Memory) -> bool:
        """Return whether a memory with the same value can be confirmed instead of adding a new one."""
        if is_newly_visible(self.claim, twin) or not has_begun(twin, self.candidate.occasion.now_us):
            return False
        if twin.valid_until_us is not None and twin.valid_until_us <= self.candidate.begins_us:
            return False  # it is true again
        contested = any(rival.status is Status.ACTIVE for rival in self.conflicting)
        return twin.status is Status.ACTIVE or not contested or self.weakness is not None

    @property
    def weaker_duplicates(self) -> tuple[Memory, ...]:
        """Weaker duplicates that the claim makes superfluous."""
        trust = self.candidate.occasion.trust
        return tuple(one for one in self.unasserted + self.unread if find_weakness(self.claim, trust, one) is None)


def build_slot_state(candidate: Candidate, slot: Slot, known: SlotRows) -> SlotState:
    """Sort the known memories by their role around an assertive claim."""
    claim, now_us = candidate.claim, candidate.occasion.now_us
    current = [one for one in sort_newest_first(known.current) if one.status in CURRENT_STATUSES]
    # A corrected sentence of which no value could be read stands in its slot, as its words.
    placed = [(one, get_slot(replace(one, value=one.value or one.text))) for one in current if not one.provisional]
    here = [one for one, its in placed if its == slot]
    firm = [one for one in here if one.stance in ASSERTIVE_STANCES]
    rivals = [one for one in firm if _is_conflicting(claim, one, now_us) or _is_other_dose(candidate, one)]
    rivals = rivals or [one for one in firm if _is_named_by_denial(claim, one)]
    if not rivals and claim.move is UpdateKind.CORRECT:
        rivals = _find_misnamed(claim, firm)
    if not rivals and claim.move is UpdateKind.CHANGE and claim.cardinality is Cardinality.SINGLE:
        rivals = _find_only_value(claim, firm)
    if not rivals and slot.type_class is TypeClass.DECISION:
        rivals = _find_revised_decision(candidate, slot, placed)
    across = [one for one, its in placed if _is_other_class(slot, its) and is_in_conflict(claim, one)]
    across += [one for one, its in placed if one not in across and _is_turned_down(claim, slot, one, its)]
    across = [one for one in across if MemoryType.PREFERENCE not in {claim.type, one.type}]
    return SlotState(
        candidate=candidate,
        slot=slot,
        known=known,
        same=tuple(one for one in firm if has_same_meaning(claim, one) or is_shortened(claim, one)),
        conflicting=tuple(rivals),
        unasserted=tuple(one for one in here if one.stance not in ASSERTIVE_STANCES and _is_fulfilled(claim, one)),
        unread=tuple(one for one in find_same_text(claim, current) if one.provisional or get_slot(one) is None),
        other_scopes=tuple(one for one, its in placed if _is_other_scope(slot, its)),
        other_class=tuple(across),
        past=tuple(
            one for one in sort_newest_first(known.past) if one.stance in ASSERTIVE_STANCES and get_slot(one) == slot
        ),
    )


def sort_newest_first(memories: Iterable[Memory]) -> list[Memory]:
    """Sort memories by when they became valid, the latest first; equal times by id."""
    return sorted(memories, key=lambda one: (-get_valid_from_us(one), one.id))


def find_same_text(claim: Claim, memories: Iterable[Memory]) -> list[Memory]:
    """Return the current memories with the same speaker, text and polarity, newest first."""
    key, speaker = normalise_text(claim.text), normalise_name(claim.speaker)
    return [
        one
        for one in sort_newest_first(memories)
        if one.status in CURRENT_STATUSES
        and normalise_name(one.speaker) == speaker
        and normalise_text(one.text) == key
        and (
            one.stance is claim.stance
            or ({one.stance, claim.stance} <= ASSERTIVE_STANCES and is_denial(one) == is_denial(claim))
        )
    ]


def find_conflicting(memory: Memory, rows: Iterable[Memory]) -> list[Memory]:
    """Return the active memories of the same slot that conflict with a memory."""
    slot = get_slot(memory)
    held = [
        one for one in rows if one.status is Status.ACTIVE and one.stance in ASSERTIVE_STANCES and one.id != memory.id
    ]
    return [one for one in held if slot is not None and get_slot(one) == slot and is_in_conflict(memory, one)]


def has_begun(memory: Memory, now_us: int) -> bool:
    """Return whether a memory is valid by now; a future one conflicts with nothing yet."""
    return get_valid_from_us(memory) <= now_us + DAY_US


def _is_conflicting(claim: Claim, row: Memory, now_us: int) -> bool:
    """Return whether the claim contradicts a value or names it as past."""
    if is_denial(claim):
        return is_in_conflict(claim, row)
    renumbered = claim.move in {UpdateKind.CHANGE, UpdateKind.CORRECT} and has_other_number(
        claim.value or "", row.value or ""
    )
    if renumbered and not is_denial(row) and row.status is Status.ACTIVE:
        return True
    named = is_same_value(row.value, claim.prior) or is_named_as_past(claim, row.value or "")
    if named and not is_denial(row) and not is_same_value(row.value, claim.value):
        return True
    return is_in_conflict(claim, row) and has_begun(row, now_us)


def _is_other_dose(candidate: Candidate, row: Memory) -> bool:
    """Return whether words of change tell another dose of a medicine; those of one message are both taken."""
    claim = candidate.claim
    changed = claim.move in {UpdateKind.CHANGE, UpdateKind.CORRECT} or is_change(claim.text)
    plain = changed and claim.attribute == _MEDICATION and not is_denial(claim) and not is_denial(row)
    since = plain and row.status is Status.ACTIVE and get_valid_from_us(row) < candidate.begins_us
    return since and has_other_dose(claim.value or "", row.value or "")


def _is_named_by_denial(claim: Claim, row: Memory) -> bool:
    """Return whether one of both denies what the other one holds with more words: "metformin", "metformin 500mg".

    A denied medicine is held again by its name and a dose; another denial stays beside a value of more words.
    """
    if is_denial(claim) == is_denial(row) or row.status is not Status.ACTIVE:
        return False
    if is_denial(claim):
        ends = claim.move is UpdateKind.END or get_attribute(claim.attribute or "").hurts
        return ends and is_name_in(claim.value or "", row.value or "")
    return claim.attribute == _MEDICATION and is_name_in(row.value or "", claim.value or "")


def _find_misnamed(claim: Claim, firm: list[Memory]) -> list[Memory]:
    """Find the only named value of a set that a correction renames."""
    named = [one for one in firm if one.status is Status.ACTIVE and not is_denial(one)]
    wrong = [one for one in named if is_renaming(claim, one) and not has_same_meaning(claim, one)]
    return wrong if len(named) == len(wrong) == 1 and not is_denial(claim) else []


def _find_only_value(claim: Claim, firm: list[Memory]) -> list[Memory]:
    """Find the only value of a slot, of the same kind, that a change of a single value replaces."""
    named = [one for one in firm if one.status is Status.ACTIVE and not is_denial(one)]
    other = [
        one for one in named if not has_same_meaning(claim, one) and has_same_kind(claim.value or "", one.value or "")
    ]
    return other if len(named) == len(other) == 1 and not is_denial(claim) else []


def _find_revised_decision(candidate: Candidate, slot: Slot, placed: list[tuple[Memory, Slot | None]]) -> list[Memory]:
    """Find the only earlier decision about the thing of a claim that says that the mind was changed.

    "Now" may tell a further decision about the thing; of two names it tells that one takes the place of the other.
    """
    claim = candidate.claim
    plain = is_change(claim.text) and _is_name(claim.value)
    if is_denial(claim) or is_beside(claim.text) or not (plain or _REVISED.search(claim.text)):
        return []
    found = [
        one
        for one, its in placed
        if its is not None
        and its._replace(scope=slot.scope) == slot
        and one.status is Status.ACTIVE
        and one.stance in ASSERTIVE_STANCES
        and not is_denial(one)
        and get_valid_from_us(one) < candidate.begins_us
        and _has_same_subject(claim, one)
    ]
    named = [one for one in found if _is_name(one.value)]
    found = named if plain or (len(found) > 1 and _is_name(claim.value)) else found
    return found if len(found) == 1 and not has_same_meaning(claim, found[0]) else []


def _is_name(value: str | None) -> bool:
    return (value or "")[:1].isupper()


def _has_same_subject(claim: Claim, memory: Memory) -> bool:
    """Return whether two decisions are for the same thing, by their scopes or by the scope and words of the other."""
    if claim.scope and normalise_name(claim.scope) == normalise_name(memory.scope or ""):
        return True
    return _is_for(memory.text, claim.scope) or _is_for(claim.text, memory.scope)


def _is_for(text: str, thing: str | None) -> bool:
    """Return whether a text ends a phrase with "for" on a thing: "for the shop database instead", no part of it."""
    phrase = rf"\bfor (?:the |our |my |this )?{re.escape(thing or '')}(?!\s+(?!instead|now|after|rather)\w|\w)"
    return bool(thing) and re.search(phrase, text, re.IGNORECASE) is not None


def _is_fulfilled(claim: Claim, wish: Memory) -> bool:
    """Return whether a claim tells what came of a plan or wish: it is so, or it is over before it began."""
    settles = not is_denial(claim) or claim.move is UpdateKind.END
    return settles and is_same_value(claim.value, wish.value)


def _is_other_scope(slot: Slot, other: Slot | None) -> bool:
    return other is not None and other.scope != slot.scope and other._replace(scope=slot.scope) == slot


def _is_other_class(slot: Slot, other: Slot | None) -> bool:
    """Return whether one is a decision and the other a belief in the same slot (R-018)."""
    if other is None or {slot.type_class, other.type_class} != {TypeClass.BELIEF, TypeClass.DECISION}:
        return False
    return other._replace(type_class=slot.type_class) == slot


def _is_turned_down(claim: Claim, slot: Slot, memory: Memory, its: Slot | None) -> bool:
    """Return whether a decision names the value of a fact as the alternative that it rejects, in whatever scope."""
    decided = slot.type_class is TypeClass.DECISION and is_same_value(memory.value, claim.prior)
    return decided and its is not None and _is_other_class(slot, its._replace(scope=slot.scope))
