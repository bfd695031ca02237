"""When a slot is no longer decided by itself: alternation, open contests, and answers that govern it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from credenda.clock import DAY_US
from credenda.limits import ALTERNATION_DAYS, CONTEST_DAYS, CONTEST_SUPERSESSIONS
from credenda.model.change import Contest
from credenda.model.claim import Claim, Move
from credenda.model.contest import ContestCase, ContestState
from credenda.model.memory import Cardinality, Memory, MemoryType, Relation, Slot, Status
from credenda.text.normalize import attribute_key, name_key, value_key
from credenda.write.reconcile.slot_state import Scene
from credenda.write.reconcile.slots import denies, label, same_meaning
from credenda.write.reconcile.wording import about, quoted

__all__ = [
    "contest_over",
    "contest_trigger",
    "governing_case",
    "members_of",
    "open_case",
    "question",
    "slot_of_case",
]

_SCHEDULE_WORDS: Final = frozenset({"meeting", "meetings", "schedule", "time", "times", "day", "days", "hours"})
"""Words in an attribute's name that make its value a habit; a habit swings where a fact such as a home moves."""

_NO_SCHEDULE_WORDS: Final = frozenset({"zone"})

_REPLACED: Final = frozenset({Relation.CHANGED, Relation.CORRECTED})
"""Relations that count as supersessions; telling more exactly, merging and finding a double change nothing held."""


def open_case(scene: Scene) -> ContestCase | None:
    """Find the contest about the slot that waits for an answer, while any of its memories is still held."""
    return next((one for one in _cases(scene, ContestState.OPEN) if members_of(one, scene)), None)


def governing_case(scene: Scene) -> ContestCase | None:
    """Find the answer that governs the slot: the latest one, while any of its values is still held as answered."""
    latest = max(_cases(scene, ContestState.RESOLVED), key=lambda one: (one.resolved_us or 0, one.id), default=None)
    return latest if latest is not None and members_of(latest, scene) else None


def members_of(case: ContestCase, scene: Scene) -> list[Memory]:
    """Give the memories that a contest is about: the alternating ones, or those that hold its answer by now."""
    if case.state is ContestState.OPEN:
        return [one for one in scene.known.current if one.id in case.memory_ids and one.status is Status.ACTIVE]
    answered = {value_key(value) for value in case.scopes or case.values}
    held = [one for one in scene.twins + scene.rivals + scene.elsewhere if one.status is Status.ACTIVE]
    return [one for one in held if value_key(label(one)) in answered]


def contest_trigger(scene: Scene) -> str | None:
    """Say why replacing what stands would be one change too many, or None while it may be replaced (R-083, R-085)."""
    if scene.claim.cardinality is not Cardinality.SINGLE:
        return None
    resolved = (one.resolved_us or 0 for one in _cases(scene, ContestState.RESOLVED))
    since_us = max(resolved, default=None)
    before = [one for one in scene.past if _counts(one, since_us)]
    recent = {one.valid_until_us for one in before if _within(one, scene.saying.begins_us, CONTEST_DAYS)}
    if len(recent) + 1 >= CONTEST_SUPERSESSIONS:
        return f"this would be change number {len(recent) + 1} within {CONTEST_DAYS} days"
    if _returns(scene, before):
        return f"{quoted(label(scene.claim))} comes back, and nothing was said about a change"
    return None


def contest_over(scene: Scene, members: Iterable[Memory], reason: str) -> Contest:
    """Leave the slot undecided between its memories and the claim, newest last."""
    ordered = list(members)[::-1]
    values = tuple({value_key(text): text for text in [*map(label, ordered), label(scene.claim)]}.values())
    return Contest(
        slot=scene.slot,
        memory_ids=(*dict.fromkeys(one.id for one in ordered), scene.saying.key),
        values=values,
        question=question(scene.slot, values),
        reason=reason,
    )


def question(slot: Slot, values: tuple[str, ...]) -> str:
    """Ask the person which value holds, or when each does."""
    name = about(slot.entity, slot.attribute)
    subject = f"your {name.lower()}" if slot.entity == "user" else name
    scope = f" ({slot.scope})" if slot.scope else ""
    *others, last = map(quoted, values)
    said = f"{', '.join(others)} and {last}" if others else last
    return f"For {subject}{scope} I have heard {said}. Which one holds, or when does each of them?"


def _cases(scene: Scene, state: ContestState) -> list[ContestCase]:
    return [one for one in scene.known.contests if one.state is state and slot_of_case(one) == scene.slot]


def slot_of_case(case: ContestCase) -> tuple[str, str, str, str | None, str]:
    """Name the slot that a contest is about, as a `Slot` names it."""
    scope = (name_key(case.scope) or None) if case.scope else None
    return name_key(case.speaker), name_key(case.entity), attribute_key(case.attribute), scope, case.type_class


def _counts(memory: Memory, since_us: int | None) -> bool:
    """A replacement counts unless an answer has settled the matter since."""
    until_us = memory.valid_until_us
    return memory.relation in _REPLACED and until_us is not None and (since_us is None or until_us > since_us)


def _within(memory: Memory, moment_us: int, days: int) -> bool:
    until_us = memory.valid_until_us
    return until_us is not None and 0 <= moment_us - until_us <= days * DAY_US


def _returns(scene: Scene, before: list[Memory]) -> bool:
    """Whether a habit is back at an earlier value (A → B → A) without a word of change or correction."""
    claim = scene.claim
    if claim.move is not Move.STATE or denies(claim) or not _is_habit(claim):
        return False
    replaced = any(not denies(rival) for rival in scene.standing)
    moment_us = scene.saying.begins_us
    return replaced and any(same_meaning(claim, one) and _within(one, moment_us, ALTERNATION_DAYS) for one in before)


def _is_habit(claim: Claim) -> bool:
    words = set(attribute_key(claim.attribute or "").split("_"))
    schedule = bool(words & _SCHEDULE_WORDS) and words.isdisjoint(_NO_SCHEDULE_WORDS)
    return claim.type is MemoryType.PREFERENCE or schedule
