"""What a claim meets in its slot: who says the same, who says otherwise, and what was held before. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from credenda.clock import DAY_US
from credenda.model.claim import Claim, Move
from credenda.model.memory import Memory, MemoryType, Slot, Status, TypeClass
from credenda.text.normalize import attribute_key, name_key, same_value, text_key, value_key
from credenda.write.extract.lexicon import lexicon
from credenda.write.reconcile.candidate import Saying
from credenda.write.reconcile.inputs import Known
from credenda.write.reconcile.slots import (
    CURRENT,
    FIRM,
    begins_us,
    contradicts,
    denies,
    outshines,
    same_meaning,
    slot_of,
    weaker,
)
from credenda.write.reconcile.wording import differ_in_one, frame_of, names_one, recounted

_GATHERING: Final = frozenset(
    {"likes", "dislikes", "plays", "speaks", "has", "owns", "event", "experience", "allergy", "child", "pet", "alias"}
)
"""Slots whose values come together, of whomever they are told."""

_TAKING_TURNS: Final = frozenset(
    {
        "prefers",
        "language",
        "framework",
        "library",
        "tool",
        "cloud",
        "uses",
        "does",
        "habit",
        "drinks",
        "plays",
        "hobby",
    }
    | {"doing", "way", "suits", "medication", "practice"}
)
"""Sets in which a value said in the same words with "now" takes the place of the only other one."""

__all__ = ["Scene", "has_begun", "newest_first", "opponents", "same_words", "scene_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A firm claim and the memories around it, each group newest first.

    `twins` hold the same in its slot; `rivals` what it contradicts, or names as past.
    `wishes` are plans, suppositions and the like with its value; `unread` the same words without a slot.
    `elsewhere` are of the same pair and class in other scopes.
    `opposed` are the facts that a decision goes against, or the decisions that go against a fact.
    `past` is what the slot held before.
    """

    saying: Saying
    slot: Slot
    known: Known
    twins: tuple[Memory, ...]
    rivals: tuple[Memory, ...]
    wishes: tuple[Memory, ...]
    unread: tuple[Memory, ...]
    elsewhere: tuple[Memory, ...]
    opposed: tuple[Memory, ...]
    past: tuple[Memory, ...]

    @property
    def claim(self) -> Claim:
        """What was said."""
        return self.saying.claim

    @property
    def moment_us(self) -> int:
        """The time on which its words bear: words of change and ending are about what was held when they were said."""
        told = self.claim.move in (Move.CHANGE, Move.END)
        return self.saying.occasion.occurred_us if told else self.saying.begins_us

    @property
    def standing(self) -> tuple[Memory, ...]:
        """The rivals that count: the active ones, or the doubted ones where nothing else is held."""
        active = tuple(rival for rival in self.rivals if rival.status is Status.ACTIVE)
        return active or self.rivals

    @property
    def weakness(self) -> str | None:
        """Why it cannot replace what stands against it, or None if it can (D-006)."""
        trust = self.saying.occasion.trust
        reasons = (weaker(self.claim, trust, rival) for rival in self.standing)
        return next((reason for reason in reasons if reason), None)

    def settled(self, twin: Memory) -> bool:
        """Say whether a twin can carry this saying as it is; if not, the saying needs a memory of its own."""
        if outshines(self.claim, twin) or not has_begun(twin, self.saying.occasion.now_us):
            return False
        contested = any(rival.status is Status.ACTIVE for rival in self.rivals)
        return twin.status is Status.ACTIVE or not contested or self.weakness is not None

    @property
    def outgrown(self) -> tuple[Memory, ...]:
        """Lesser forms of the same saying that it makes superfluous, unless it is weaker than they are."""
        trust = self.saying.occasion.trust
        return tuple(one for one in self.wishes + self.unread if weaker(self.claim, trust, one) is None)


def scene_of(saying: Saying, slot: Slot, known: Known) -> Scene:
    """Sort what is known around a firm claim."""
    claim, now_us = saying.claim, saying.occasion.now_us
    current = [one for one in newest_first(known.current) if one.status in CURRENT]
    placed = [(one, slot_of(one)) for one in current if not one.provisional]
    here = [one for one, its in placed if its == slot]
    firm = [one for one in here if one.stance in FIRM]
    rivals = [one for one in firm if _is_rival(claim, one, now_us) or _is_older_version(saying, one)]
    if not rivals and claim.move is Move.CORRECT:
        rivals = _misnamed(claim, firm)
    if not rivals and claim.move is Move.CHANGE and claim.type is MemoryType.DECISION:
        rivals = _decided_otherwise(claim, firm)
    if not rivals and claim.move is Move.CHANGE:
        rivals = _said_alike(claim, firm)
    across = [one for one, its in placed if _across_classes(slot, its)]
    return Scene(
        saying=saying,
        slot=slot,
        known=known,
        twins=tuple(one for one in firm if same_meaning(claim, one)),
        rivals=tuple(rivals),
        wishes=tuple(one for one in here if one.stance not in FIRM and _fulfils(claim, one)),
        unread=tuple(one for one in same_words(claim, current) if one.provisional or slot_of(one) is None),
        elsewhere=tuple(one for one, its in placed if _in_another_scope(slot, its)),
        opposed=tuple(one for one in across if contradicts(claim, one)),
        past=tuple(one for one in newest_first(known.past) if one.stance in FIRM and slot_of(one) == slot),
    )


def newest_first(memories: Iterable[Memory]) -> list[Memory]:
    """Order memories by when they became true, the latest first; equal times by id."""
    return sorted(memories, key=lambda one: (-begins_us(one), one.id))


def same_words(claim: Claim, memories: Iterable[Memory]) -> list[Memory]:
    """Give the current memories of the same speaker with the same words, meant in the same way, newest first."""
    key, speaker = text_key(claim.text), name_key(claim.speaker)
    return [
        one
        for one in newest_first(memories)
        if one.status in CURRENT
        and name_key(one.speaker) == speaker
        and text_key(one.text) == key
        and (one.stance is claim.stance or ({one.stance, claim.stance} <= FIRM and denies(one) == denies(claim)))
    ]


def opponents(memory: Memory, rows: Iterable[Memory]) -> list[Memory]:
    """Give the active memories of the same slot that a memory cannot stand beside."""
    slot = slot_of(memory)
    held = [one for one in rows if one.status is Status.ACTIVE and one.stance in FIRM and one.id != memory.id]
    return [one for one in held if slot is not None and slot_of(one) == slot and contradicts(memory, one)]


def has_begun(memory: Memory, now_us: int) -> bool:
    """Say whether a memory holds by now; one about the future competes with nothing yet."""
    return begins_us(memory) <= now_us + DAY_US


def _is_rival(claim: Claim, row: Memory, now_us: int) -> bool:
    """A value that the claim names as past, and one that it contradicts, are rivals."""
    if denies(claim):
        return contradicts(claim, row)
    renumbered = claim.move in {Move.CHANGE, Move.CORRECT} and recounted(claim.value or "", row.value or "")
    if renumbered and not denies(row) and row.status is Status.ACTIVE:
        return True
    named = not denies(row) and same_value(row.value, claim.prior) and not same_value(row.value, claim.value)
    return named or _told_closer(claim, row) or (contradicts(claim, row) and has_begun(row, now_us))


def _is_older_version(saying: Saying, row: Memory) -> bool:
    """Say whether a named thing is said again, later, with another number: "Python 3.9", then "Python 3.12"."""
    value = saying.claim.value or ""
    if denies(saying.claim) or denies(row) or lexicon().category(value) is None:
        return False
    return row.status is Status.ACTIVE and begins_us(row) < saying.begins_us and recounted(value, row.value or "")


def _told_closer(claim: Claim, row: Memory) -> bool:
    """Say whether a value of a set is said again with what one is in it: "plays football as a goalkeeper"."""
    if denies(row) or row.status is not Status.ACTIVE:
        return False
    less, more = value_key(row.value or ""), value_key(claim.value or "")
    return bool(less) and more.startswith((f"{less} as a ", f"{less} as an "))


def _misnamed(claim: Claim, firm: list[Memory]) -> list[Memory]:
    """Find the only named thing of a set that a correction names anew."""
    named = [one for one in firm if one.status is Status.ACTIVE and not denies(one)]
    wrong = [one for one in named if names_one(claim, one) and not same_meaning(claim, one)]
    return wrong if len(named) == len(wrong) == 1 and not denies(claim) else []


def _decided_otherwise(claim: Claim, firm: list[Memory]) -> list[Memory]:
    """Find the only decision of a set that a change of mind can be about: "… instead"."""
    held = [one for one in firm if one.status is Status.ACTIVE and not same_meaning(claim, one)]
    return held if len(held) == 1 and not denies(claim) else []


def _said_alike(claim: Claim, firm: list[Memory]) -> list[Memory]:
    """Find the only value of a set that was told in the same words: "I write in Java", "I write in Kotlin now"."""
    attribute = attribute_key(claim.attribute or "")
    of_a_thing = attribute not in _GATHERING and name_key(claim.entity or "") != name_key(claim.speaker)
    if denies(claim) or not (of_a_thing or attribute in _TAKING_TURNS):
        return []
    held = [one for one in firm if one.status is Status.ACTIVE and not denies(one)]
    if len(held) != 1 or same_meaning(claim, held[0]):
        return []
    alike = frame_of(claim.text, claim.value) == frame_of(held[0].text, held[0].value)
    return held if alike and differ_in_one(claim.value or "", held[0].value or "") else []


def _fulfils(claim: Claim, wish: Memory) -> bool:
    return not denies(claim) and same_value(claim.value, wish.value)


def _in_another_scope(slot: Slot, other: Slot | None) -> bool:
    return other is not None and other.scope != slot.scope and other._replace(scope=slot.scope) == slot


def _across_classes(slot: Slot, other: Slot | None) -> bool:
    """Decisions and beliefs bear on each other; procedures stand beside both (R-018)."""
    if other is None or {slot.type_class, other.type_class} != {TypeClass.BELIEF, TypeClass.DECISION}:
        return False
    return other._replace(type_class=slot.type_class) == slot
