"""When a slot becomes a contest: alternating values, open contests, and the answers that govern a slot. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from credenda.clock import DAY_US
from credenda.limits import ALTERNATION_DAYS, CONTEST_DAYS, CONTEST_SUPERSESSIONS
from credenda.model.attributes import get_attribute
from credenda.model.change import Contest, ContestCase, ContestState
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Cardinality, Memory, MemoryType, Relation, Slot, Stance, Status, get_valid_from_us
from credenda.text.changes import is_change, is_of_others, is_return, is_return_to, is_subject
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_value
from credenda.text.passages import format_yearly_day
from credenda.text.tokens import tokenize
from credenda.write.extract.voices import lexicon
from credenda.write.reconcile.slot_state import SlotState
from credenda.write.reconcile.slots import (
    describe_slot,
    display_value,
    find_weakness,
    get_slot,
    has_same_meaning,
    is_denial,
    is_name_in,
    is_named_as_past,
    is_refinement,
    quote_value,
)

_SCHEDULE_WORDS: Final = frozenset({"meeting", "meetings", "schedule", "time", "times", "day", "days", "hours"})
"""Words in an attribute name that mark its value as a habit. Habits alternate; facts such as a residence do not."""

_MEDICATION: Final = "medication"
_NO_SCHEDULE_WORDS: Final = frozenset({"zone"})

_GENERAL: Final = frozenset(
    tokenize("use go work get take start stop switch move change like play learn want need year")
)
"""Words that say nothing of the kind of a thing."""
CHOSEN: Final = frozenset({"service", "tool"})
"""What a thing runs on, which its owner chooses; its other states come and go."""
_MET_AGAIN: Final = re.compile(
    r"\b(?:read|saw|see|seen|watch|hear|met|meet|look|talk|ask|discuss|mention|remember|miss|visit)(?:s|ed|ing)?\b[^,;.]*$",
    re.IGNORECASE,
)
"""Words before what one comes across again, and does not go back to: "I read Kafka again"."""
_STILL_SO: Final = re.compile(r"\bstill\b[^.;]*\bafter all\b", re.IGNORECASE)
"""Words by which an announced change has not come: "we're still on Postgres after all"."""
_STILL: Final = re.compile(r"\bstill\b", re.IGNORECASE)
_REPLACED: Final = frozenset({Relation.CHANGED, Relation.CORRECTED})
"""Relations that count as replacements; refinements, merges and duplicates do not."""


def find_open_contest(scene: SlotState) -> ContestCase | None:
    """Find the open contest about the slot, if any of its memories is still active."""
    return next((one for one in _find_contests(scene, ContestState.OPEN) if find_members(one, scene)), None)


def find_governing_answer(scene: SlotState) -> ContestCase | None:
    """Find the latest answer about the slot, if any of its values is still active."""
    latest = max(
        _find_contests(scene, ContestState.RESOLVED), key=lambda one: (one.resolved_us or 0, one.id), default=None
    )
    return latest if latest is not None and find_members(latest, scene) else None


def find_members(case: ContestCase, scene: SlotState) -> list[Memory]:
    """Return the memories of a contest: its members while it is open, else the memories that now hold its answer."""
    if case.state is ContestState.OPEN:
        return [one for one in scene.known.current if one.id in case.memory_ids and one.status is Status.ACTIVE]
    answered = {normalise_value(value) for value in case.scopes or case.values}
    held = [one for one in scene.same + scene.conflicting + scene.other_scopes if one.status is Status.ACTIVE]
    return [one for one in held if normalise_value(display_value(one)) in answered]


def find_contest_trigger(scene: SlotState) -> str | None:
    """Return the reason to open a contest instead of replacing, or None to allow the replacement (R-083, R-085)."""
    unclear = _explain_unclear_denial(scene)
    if scene.claim.move is UpdateKind.CONTRADICT or unclear is not None:
        return unclear or "both cannot be true, and the words do not say which is"
    resolved = (one.resolved_us or 0 for one in _find_contests(scene, ContestState.RESOLVED))
    since_us = max(resolved, default=None)
    before = [one for one in scene.past if _is_counted(one, since_us)]
    back = explain_return(scene.claim) if _is_stated_return(scene, before) else None
    if scene.claim.cardinality is not Cardinality.SINGLE:
        return back if _is_of_speaker(scene) else None
    if (
        get_attribute(scene.slot.attribute).fixed
        and scene.claim.move is UpdateKind.STATE
        and not is_denial(scene.claim)
    ):
        return f"{describe_slot(scene.slot.entity, scene.slot.attribute)} does not change by itself"
    recent = {one.valid_until_us for one in before if _is_within(one, scene.candidate.begins_us, CONTEST_DAYS)}
    if len(recent) + 1 >= CONTEST_SUPERSESSIONS:
        return f"this would be change {len(recent) + 1} within {CONTEST_DAYS} days"
    if _is_swing(scene, before):
        return f"{quote_value(display_value(scene.claim))} returned without any mention of a change"
    back = back or (explain_return(scene.claim) if _is_return_of_statement(scene) else None)
    return back or _explain_alternation(scene, before)


def _explain_unclear_denial(scene: SlotState) -> str | None:
    """Return the reason to ask which value a denial means that has fewer words: several may be, or it may hurt.

    A medicine is known by its name, whatever its dose; an allergy to nuts is not one to tree nuts.
    """
    value, held = scene.claim.value or "", [one for one in scene.standing if not is_denial(one)]
    wider = [one for one in held if is_name_in(value, one.value or "")]
    sure = scene.slot.attribute == _MEDICATION or not get_attribute(scene.slot.attribute).hurts
    if not is_denial(scene.claim) or not wider or len(wider) < len(held) or (len(wider) == 1 and sure):
        return None
    return f"{quote_value(value)} may mean {' or '.join(quote_value(display_value(one)) for one in wider[::-1])}"


def build_contest(scene: SlotState, members: Iterable[Memory], reason: str) -> Contest:
    """Build the contest between the slot's memories and the claim, newest last."""
    ordered = list(members)[::-1]
    values = tuple(
        {normalise_value(text): text for text in [*map(display_value, ordered), display_value(scene.claim)]}.values()
    )
    return Contest(
        slot=scene.slot,
        memory_ids=(*dict.fromkeys(one.id for one in ordered), scene.candidate.key),
        values=values,
        question=format_question(scene.slot, values),
        reason=reason,
    )


def format_question(slot: Slot, values: tuple[str, ...]) -> str:
    """Phrase the question that a contest asks the user."""
    name = describe_slot(slot.entity, slot.attribute)
    subject = f"your {name.lower()}" if slot.entity == "user" else name
    scope = f" ({slot.scope})" if slot.scope else ""
    *others, last = (quote_value(format_yearly_day(value)) for value in values)
    said = f"{', '.join(others)} and {last}" if others else last
    return f"For {subject}{scope} I have heard {said}. Which one holds, or when does each of them?"


def _find_contests(scene: SlotState, state: ContestState) -> list[ContestCase]:
    return [one for one in scene.known.contests if one.state is state and get_contest_slot(one) == scene.slot]


def get_contest_slot(case: ContestCase) -> tuple[str, str, str, str | None, str]:
    """Return the normalised slot of a contest."""
    scope = (normalise_name(case.scope) or None) if case.scope else None
    return (
        normalise_name(case.speaker),
        normalise_name(case.entity),
        normalise_attribute(case.attribute),
        scope,
        case.type_class,
    )


def _is_counted(memory: Memory, since_us: int | None) -> bool:
    """Return whether a memory was replaced since the last answer."""
    until_us = memory.valid_until_us
    return memory.relation in _REPLACED and until_us is not None and (since_us is None or until_us > since_us)


def _is_within(memory: Memory, moment_us: int, days: int) -> bool:
    until_us = memory.valid_until_us
    return until_us is not None and 0 <= moment_us - until_us <= days * DAY_US


def _is_swing(scene: SlotState, before: list[Memory]) -> bool:
    """Return whether a habit returns to an earlier value (A → B → A) without a cue of change or correction.

    A fact about the speaker does if that is soon; the states of a thing come and go.
    """
    habit = _is_habit(scene.claim)
    days = ALTERNATION_DAYS if habit else CONTEST_DAYS
    plain = scene.claim.move is UpdateKind.STATE and (habit or _is_of_speaker(scene))
    return plain and _is_return(scene, before, days)


def _explain_alternation(scene: SlotState, before: list[Memory]) -> str | None:
    """Return the reason of a contest if both a claim's value and the present one held before (A → B → A → B)."""
    claim = scene.claim
    rivals = [one for one in scene.standing if not is_denial(one)]
    over = claim.move is UpdateKind.CORRECT or any(_is_named_as_over(one, claim) for one in rivals)
    former = {normalise_value(display_value(one)) for one in before}
    again = next((one for one in rivals if normalise_value(display_value(one)) in former), None)
    if over or again is None or not _is_return(scene, before, None):
        return None
    return f"{quote_value(display_value(claim))} and {quote_value(display_value(again))} alternate"


def _is_stated_return(scene: SlotState, before: list[Memory]) -> bool:
    """Return whether words say that an earlier value is back, or a change is told to one that held lately.

    Such a value may hold beside the present one, in the case that the words name, so the user is asked once; unless
    they name the present one as past, "I moved from Graz back to Linz", or whoever proposed the claim names it.
    """
    claim = scene.claim
    if claim.scope or _is_explained(scene):
        return False
    words = is_return(claim.text)
    return (words or claim.move is UpdateKind.CHANGE) and _is_return(scene, before, None if words else ALTERNATION_DAYS)


def _is_explained(scene: SlotState) -> bool:
    """Return whether a claim says what became of the present value, by its words or as a correction."""
    claim = scene.claim
    rivals = [one for one in scene.standing if not is_denial(one)]  # that it had ended tells nothing of the present
    told = any(one.id == claim.rival or _is_named_as_over(one, claim) for one in rivals)
    return told or claim.move is UpdateKind.CORRECT


def _is_return_of_statement(scene: SlotState) -> bool:
    """Return whether words say that a value is back which was said before the present one, and not believed.

    Who "moved back to Linz" tells of a move, and may have named the town for another reason.
    """
    claim, said_us = scene.claim, scene.known.said_us
    rivals = [one for one in scene.standing if not is_denial(one)]
    if said_us is None or not rivals or claim.scope or is_denial(claim) or _is_explained(scene):
        return False
    moved = is_return_to(claim.text, claim.text.find(claim.value or ""))
    return is_return(claim.text) and not moved and all(said_us < get_valid_from_us(one) for one in rivals)


def _is_named_as_over(memory: Memory, claim: Claim) -> bool:
    """Return whether a claim's sentence says what became of the value of a memory: as past, or in a clause about it.

    "The Audi broke down, so I drive the Golf again" does, and "I drove the Golf again because my son had the Audi" not.
    """
    return is_named_as_past(claim, memory.value or "") or is_subject(claim.text, memory.value or "")


def find_stated_since(scene: SlotState) -> Memory | None:
    """Find the one value that took the place of a claim's own, or stands beside it since a change to it was told.

    A slot of several values keeps both: "I drive a Skoda", "I drive a Tesla now", "the Skoda again".
    """
    claim = scene.claim
    words = _STILL.sub(" ", claim.text)  # what is still so in one case says nothing of the other values of a set
    told = claim.move in {UpdateKind.CHANGE, UpdateKind.STATE} and not is_denial(claim)
    told = told and (is_return(words) or _STILL_SO.search(claim.text) is not None)
    at = claim.text.find(claim.value or "")
    told = told and not is_of_others(claim.text, at) and _MET_AGAIN.search(claim.text, 0, max(at, 0)) is None
    chosen = _is_of_speaker(scene) or scene.slot.attribute in CHOSEN
    if not told or not chosen or find_governing_answer(scene) is not None:
        return None
    others = [one for one in (*scene.known.current, *scene.other_scopes) if _is_other_value(scene, one)]
    twins = [one for one in (*scene.same, *scene.other_scopes) if has_same_meaning(claim, one)]
    twins = twins or [one for one in scene.known.elsewhere if has_same_meaning(claim, one)]
    twin = next((one for one in twins if one.status is Status.ACTIVE and not one.contested), None)
    if twin is None and not scene.conflicting:
        heirs = {one.superseded_by for one in scene.past if has_same_meaning(claim, one)}
        since = {one.id: one for one in others if one.id in heirs}
    elif twin is None:
        return None
    else:
        told_since = [one for one in others if is_newer_than(claim, twin, one, standing=one in scene.standing)]
        alike = [one for one in told_since if _is_of_one_kind(twin, one)]  # "I write Python in VS Code now"
        since = {one.id: one for one in (alike if len(told_since) > 1 else told_since)}
    rival = next(iter(since.values())) if len(since) == 1 else None
    if rival is not None and _is_named_as_over(rival, claim):
        return None
    return rival if rival is not None and find_weakness(claim, scene.candidate.occasion.trust, rival) is None else None


def is_newer_than(claim: Claim, twin: Memory, other: Memory, *, standing: bool = False) -> bool:
    """Return whether a change to another value was told after the one that a claim says is back.

    Values of a set may have nothing to do with each other: both are of one kind, or told in some of the same words,
    unless the claim contradicts the other one (`standing`).
    """
    if get_valid_from_us(other) <= get_valid_from_us(twin):
        return False
    words = {*tokenize(twin.text), *tokenize(claim.text)} - _GENERAL
    near = not words.isdisjoint(tokenize(other.text)) or _is_of_one_kind(twin, other)
    return standing or (near and is_change(other.text))


def _is_of_one_kind(one: Memory, other: Memory) -> bool:
    kind = lexicon().category(display_value(one))
    return kind is not None and kind == lexicon().category(display_value(other))


def _is_of_speaker(scene: SlotState) -> bool:
    """Return whether a claim is about its speaker; the states of a thing come and go."""
    return scene.slot.entity in {scene.slot.speaker, "user"}


def _is_other_value(scene: SlotState, memory: Memory) -> bool:
    """Return whether a memory holds another value in a claim's slot, in whatever scope."""
    slot = get_slot(memory)
    return (
        memory.status is Status.ACTIVE
        and memory.stance is Stance.ASSERTED
        and not memory.contested
        and slot is not None
        and slot._replace(scope=scene.slot.scope) == scene.slot
        and not has_same_meaning(scene.claim, memory)
    )


def explain_back(scene: SlotState) -> str | None:
    """Return the reason of a change to an earlier value of the slot, None for a new value."""
    if not _is_return(scene, [one for one in scene.past if _is_counted(one, None)], None):
        return None
    if is_return(scene.claim.text):
        return explain_return(scene.claim)
    return f"{quote_value(display_value(scene.claim))} held before and is back"


def explain_return(claim: Claim) -> str:
    """Return the reason of a contest about a value that is said to be back."""
    return f"{quote_value(display_value(claim))} is said to be back"


def _is_return(scene: SlotState, before: list[Memory], days: int | None) -> bool:
    """Return whether a claim has a value that was replaced, at most some days before, by one that stands."""
    claim, moment_us = scene.claim, scene.candidate.begins_us
    return (
        not is_denial(claim)
        and any(not is_denial(rival) for rival in scene.standing)
        and any(_is_former(claim, one) and (days is None or _is_within(one, moment_us, days)) for one in before)
    )


def _is_former(claim: Claim, memory: Memory) -> bool:
    """Return whether a claim has the value of a memory, or a more exact one that is back."""
    finer = is_return(claim.text) and not is_denial(memory) and is_refinement(claim.value or "", memory.value or "")
    return finer or has_same_meaning(claim, memory)


def _is_habit(claim: Claim) -> bool:
    words = set(normalise_attribute(claim.attribute or "").split("_"))
    schedule = bool(words & _SCHEDULE_WORDS) and words.isdisjoint(_NO_SCHEDULE_WORDS)
    return claim.type is MemoryType.PREFERENCE or schedule
