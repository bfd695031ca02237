"""Claims about the past: values that had ended when they were stated, and claims imported late. Pure.

Events may be imported after later ones. Their values were true in their time and never replace later values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from credenda.model.attributes import get_attribute, is_valid_value
from credenda.model.change import Change, Forget, Revise, SetStatus, Supersede, end_memory
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import (
    Cardinality,
    Memory,
    Relation,
    Slot,
    Stance,
    Status,
    get_believed_from_us,
    get_valid_from_us,
    has_unknown_start,
)
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name, normalise_value
from credenda.write.reconcile.candidate import Candidate, remove_slot
from credenda.write.reconcile.slot_state import (
    SlotState,
    find_conflicting,
    find_same_text,
    has_begun,
    sort_newest_first,
)
from credenda.write.reconcile.slots import (
    ASSERTIVE_STANCES,
    CURRENT_STATUSES,
    SlotRows,
    display_value,
    find_weakness,
    get_slot,
    has_same_meaning,
    is_another_day,
    is_denial,
    is_in_conflict,
    is_newly_visible,
    quote_value,
)

_CUT: Final = "another value already held by then"
_TRUE_ONCE: Final = frozenset({Relation.CHANGED, Relation.REFINED})
"""Relations of values that were true in their time; a corrected value never was."""


def add_ended_claim(scene: SlotState) -> list[Change] | None:
    """Add a value that had already ended: "until 2022 I worked at …"; the same active value ends then."""
    until_us = _find_latest_end(scene)
    if not scene.candidate.over or until_us is None:
        return None
    saying, reason = scene.candidate, "stated as past"
    ended = [one for one in scene.same if get_valid_from_us(one) <= until_us and scene.settled(one)]
    if ended:
        return [
            change
            for one in ended
            for change in (saying.confirm(one, "restated as past"), _end_memory(one.id, None, until_us, reason))
        ]
    told = next(
        (one for one in scene.past if has_same_meaning(scene.claim, one) and one.valid_until_us == until_us), None
    )
    if told is not None:
        return [saying.confirm(told, "restated")]
    begins_us = scene.claim.valid_from_us
    known = begins_us is not None and begins_us < until_us
    add = saying.add(reason)
    draft = replace(add.draft, valid_from_us=begins_us if known else None, valid_until_us=until_us)
    return [replace(add, draft=draft), _end_memory(add.key, _find_heir(scene, until_us), until_us, reason)]


def _find_latest_end(scene: SlotState) -> int | None:
    """Find when a value had ended at the latest: as told, else when it was told or when the present value began."""
    claim, told_us = scene.claim, scene.candidate.occasion.occurred_us
    if claim.valid_until_us != told_us or claim.valid_from_us is not None:
        return claim.valid_until_us
    began = (get_valid_from_us(one) for one in scene.conflicting if one.status is Status.ACTIVE)
    return min([told_us, *began])


def _find_heir(scene: SlotState, until_us: int) -> str | None:
    """Find the only value of the slot that began when the claim's ended: 85 % of "from 60 % to 85 %"."""
    held = [one for one in scene.known.current if one.status is Status.ACTIVE and get_slot(one) == scene.slot]
    began = [one.id for one in held if get_valid_from_us(one) == until_us and not is_denial(one)]
    return began[0] if len(began) == 1 else None


def insert_past_claim(scene: SlotState) -> list[Change] | None:
    """Insert a claim about an earlier time into the slot's history; the later value stays."""
    later = _find_next(scene)
    if later is None:
        return None
    saying = scene.candidate
    same = _find_covering(scene) or (later if has_same_meaning(scene.claim, later) else None)
    if same is not None and not is_newly_visible(scene.claim, same):
        return [saying.confirm(same, "also stated for an earlier time"), *move_start_back(scene, same)]
    if same is not None and same.status in CURRENT_STATUSES:
        return None
    reason = f"stated for a time before {quote_value(display_value(later))}"
    until_us = max(saying.begins_us, get_valid_from_us(later))
    cut = [_end_memory(one.id, saying.key, saying.begins_us, _CUT) for one in _find_cut_periods(scene)]
    return [saying.add(reason), _end_memory(saying.key, later.id, until_us, reason), *cut]


def move_start_back(scene: SlotState, twin: Memory) -> list[Change]:
    """Let a value begin at the earlier time for which it is told, unless another one was held between the two."""
    begins_us, since_us = scene.candidate.begins_us, get_valid_from_us(twin)
    doubted = twin.contested or find_weakness(scene.claim, scene.candidate.occasion.trust, twin) is not None
    happened = get_attribute(scene.slot.attribute).episodic
    if begins_us >= since_us or has_unknown_start(twin) or doubted or happened:
        return []
    between = (
        one
        for one in (*scene.known.current, *scene.past)
        if one.stance in ASSERTIVE_STANCES
        and one.status in {Status.ACTIVE, Status.SUPERSEDED}
        and one.relation is not Relation.CORRECTED
        and get_slot(one) == scene.slot
        and is_in_conflict(scene.claim, one)
        and get_believed_from_us(one) < since_us
        and (one.valid_until_us is None or one.valid_until_us > begins_us)
    )
    if any(between):
        return []
    return [Revise(memory_id=twin.id, fields={"valid_from_us": begins_us}, reason="stated for an earlier time")]


def _find_cut_periods(scene: SlotState) -> list[Memory]:
    """Find the periods that span the claim's time, because another value is now known for that time."""
    begins, trust = scene.candidate.begins_us, scene.candidate.occasion.trust
    return [
        one
        for one in scene.past
        if one.relation is Relation.CHANGED
        and is_in_conflict(scene.claim, one)
        and get_valid_from_us(one) < begins < (one.valid_until_us or 0)
        and find_weakness(scene.claim, trust, one) is None
    ]


def _end_memory(memory_id: str, successor: str | None, until_us: int, reason: str) -> Supersede:
    return Supersede(
        memory_id=memory_id,
        successor=successor,
        relation=Relation.CHANGED,
        valid_until_us=until_us,
        reason=reason,
    )


def _find_next(scene: SlotState) -> Memory | None:
    """Find the next value of the slot after the claim's time; None for a claim about the present.

    A correction is about the present whatever date it names, and so is a restatement of the active value.
    """
    occurred_us = scene.candidate.occasion.occurred_us
    present = any(one.status is Status.ACTIVE and get_valid_from_us(one) <= occurred_us for one in scene.same)
    if scene.claim.move is UpdateKind.CORRECT or present:
        return None
    later = [one for one in _list_periods(scene) if get_valid_from_us(one) > scene.moment_us]
    return min(later, key=lambda one: (get_valid_from_us(one), one.id), default=None)


def _find_covering(scene: SlotState) -> Memory | None:
    """Find a period of the same value that covers the claim's time."""
    same = (one for one in _list_periods(scene) if has_same_meaning(scene.claim, one))
    return next((one for one in same if _is_covering(one, scene)), None)


def _is_covering(held: Memory, scene: SlotState) -> bool:
    """Return whether a period spans the claim's time, or begins exactly then."""
    from_us, until_us = get_valid_from_us(held), held.valid_until_us
    spans = from_us <= scene.moment_us and (until_us is None or scene.moment_us < until_us)
    return spans or from_us == scene.candidate.begins_us


def _list_periods(scene: SlotState) -> list[Memory]:
    now_us = scene.candidate.occasion.now_us
    held = [one for one in scene.same + scene.conflicting if one.status is Status.ACTIVE and has_begun(one, now_us)]
    past = [one for one in scene.past if one.relation in _TRUE_ONCE]
    return [one for one in held + past if has_same_meaning(scene.claim, one) or is_in_conflict(scene.claim, one)]


# The statement that a retraction takes back. Pure.


_KIND: Final = re.compile(
    r"\b(?:that|this|the|my)(?: last)?(?: \w+)? (?P<kind>number|date|time|address|name|price|amount|figure|code|pin"
    r"|email|e-mail|phone)\b",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\d")
_VALUED: Final = {"date": "date", "time": "date", "price": "budget", "amount": "budget", "figure": "budget"}
"""The attribute whose values are of a kind."""
_HAS_KIND: Final[Mapping[str, Callable[[str], bool]]] = {
    "email": lambda words: "@" in words,
    "e-mail": lambda words: "@" in words,
    "address": lambda words: "@" in words or _NUMBER.search(words) is not None,
    "name": lambda words: re.search(r"\b[A-Z]", words) is not None,
}
"""Whether the words of a memory hold a value of a kind; the other kinds need a digit."""


CONTACT: Final = "contact"
"""The slot of somebody's email addresses and numbers that were told without their kind."""
_REACHED_BY: Final = frozenset({"email", "phone_number"})


def choose_named(claim: Claim, found: Iterable[Memory]) -> list[Memory]:
    """Choose the memories that a retraction names: a slot ("my phone number"), a value, or all of somebody.

    None, where it does not say which of several values or people it means: nothing more than it says is forgotten.
    """
    named = normalise_name(claim.entity or "")
    if claim.attribute:
        slot = [one for one in found if normalise_name(one.entity or "") == named]
        if claim.value is not None:
            return [one for one in slot if is_same_value(one.value, claim.value)]
        name = normalise_attribute(claim.attribute)
        own = [one for one in slot if normalise_attribute(one.attribute or "") == name]
        others = slot if name in _REACHED_BY else []
        reached = [one for one in others if one not in own and is_valid_value(name, one.value or "")]
        held = {normalise_value(one.value or "") for one in own or reached if one.status is not Status.SUPERSEDED}
        return [*own, *reached] if len(held) == 1 or claim.cardinality is Cardinality.SET else []
    kept = [one for one in found if _is_about(one, named)]
    owners = {owner for one in kept if (owner := normalise_name(one.entity or "")).endswith(f" {named}")}
    return kept if len(owners) <= 1 else []


def _is_about(memory: Memory, named: str) -> bool:
    owner = normalise_name(memory.entity or "")
    if owner == named or owner.endswith(f" {named}") or owner.startswith((f"{named} ", f"{named}'s ")):
        return True
    of_owner, _, noun = named.rpartition("'s ")
    slot = (owner, normalise_attribute(memory.attribute or "")) == (of_owner, normalise_attribute(noun))
    return slot or is_same_value(memory.value, named)


def is_about_kind(claim: Claim, memories: Iterable[Memory]) -> bool:
    """Return whether a claim refers to a statement with these memories: any, unless a retraction names another kind.

    "Forget that number" is not about "My sister lives in Graz".
    """
    named = _KIND.search(claim.text) if claim.move is UpdateKind.RETRACT else None
    if named is None:
        return True
    kind = named["kind"].lower()
    return any(_has_kind(kind, memory.value or memory.text) for memory in memories)


def _has_kind(kind: str, words: str) -> bool:
    if kind in _VALUED:
        return is_valid_value(_VALUED[kind], words)
    found = _HAS_KIND.get(kind)
    return _NUMBER.search(words) is not None if found is None else found(words)


# Claims that compete for no slot: retractions, claims without a slot, and claims that assert nothing. Pure.


_STANCE_REASONS: Final = {
    Stance.REPORTED: "reported, not first-hand",
    Stance.PLANNED: "planned",
    Stance.CONSIDERED: "only considered",
    Stance.HYPOTHETICAL: "hypothetical",
    Stance.ROLE_PLAY: "said in role play",
    Stance.SARCASTIC: "sarcastic",
}


def retract(candidate: Candidate, known: SlotRows) -> list[Change]:
    """Forget the memories of the speaker's previous statement ("never mind"), and reactivate what they replaced.

    A memory that the statement only confirmed rests on other evidence and stays. The slot that a retraction names
    ("forget my phone number") goes with its earlier values and all its evidence.
    """
    named = candidate.claim.entity is not None
    speaker = normalise_name(candidate.claim.speaker)
    gone = [
        one
        for one in known.previous
        if (one.status in CURRENT_STATUSES or (named and one.status is Status.SUPERSEDED))
        and normalise_name(one.speaker) == speaker
        and (named or not one.confirmations)
    ]
    ids = {one.id for one in gone}
    replaced = [one for one in sort_newest_first(known.past) if one.superseded_by in ids]
    return [
        *(Forget(memory_id=one.id, reason="retracted by the speaker") for one in gone),
        *(_set_active(one, "its replacement was retracted") for one in replaced),
    ]


def match_text_or_add(candidate: Candidate, known: SlotRows) -> list[Change]:
    """Confirm the memory with the same text, or add the claim (R-075).

    Its text identifies a claim without a slot.
    """
    twins = find_same_text(candidate.claim, known.current)
    if not twins:
        return [candidate.add("first statement")]
    best = max(twins, key=lambda one: (not one.provisional, get_slot(one) is not None, get_valid_from_us(one), one.id))
    read_better = best.provisional and not candidate.claim.provisional
    if is_newly_visible(candidate.claim, best) or read_better:
        return [candidate.add("restated with higher confidence"), refine(candidate, candidate.key, best)]
    return [candidate.confirm(best, "restated in the same words"), *reactivate(best, known)]


def add_non_competing(candidate: Candidate, slot: Slot, known: SlotRows) -> list[Change]:
    """Store plans, reports and suppositions without competing: they neither replace nor challenge a belief (D-005).

    A plan that is called off ends, and one that is moved to another day ends for that.
    """
    stance, told_us = candidate.claim.stance, candidate.occasion.occurred_us
    plans = [one for one in known.current if one.status is Status.ACTIVE and _is_same_plan(candidate, slot, one)]
    if stance is Stance.PLANNED and candidate.claim.move is UpdateKind.END:
        return _call_off(candidate, slot, plans, known)
    alike = {stance, Stance.ASSERTED} if stance is Stance.REPORTED else {stance}
    for one in sort_newest_first(known.current):
        same = one.stance in alike and get_slot(one) == slot and is_same_value(one.value, candidate.claim.value)
        same = same and not is_another_day(candidate.claim, one)
        if (
            same
            and one.status in CURRENT_STATUSES
            and not one.provisional
            and not is_newly_visible(candidate.claim, one)
        ):
            return [candidate.confirm(one, "restated"), *reactivate(one, known)]
    moved = stance is Stance.PLANNED and candidate.claim.move is UpdateKind.CHANGE and len(plans) == 1
    return [
        candidate.add(_STANCE_REASONS.get(stance, "starts in the future")),
        *(end_memory(one, told_us, "moved to another day", candidate.key) for one in plans if moved),
    ]


_OTHER_PLAN: Final = re.compile(r"\b(?:of|for) (?:my|our|his|her|their)\b|\blast (?:week|month|year)\b", re.IGNORECASE)
"""Words by which a plan that is called off is another one than the speaker's own to come."""


_JOURNEY: Final = frozenset(
    "trip journey holiday holidays vacation tour visit visiting go going fly flying travel travelling".split()  # noqa: SIM905
)
"""Words of a plan to go somewhere: "the Rome trip" is that of "going to Rome"."""
_SMALL: Final = frozenset(["a", "an", "the", "to", "in", "of", "our", "my"])


def _call_off(candidate: Candidate, slot: Slot, plans: Sequence[Memory], known: SlotRows) -> list[Change]:
    """End the one plan that is called off; where several or none are known, keep the words."""
    off = "called off"
    other = _OTHER_PLAN.search(candidate.claim.text) is not None
    if len(plans) == 1 and not other:
        return [candidate.confirm(plans[0], off), end_memory(plans[0], candidate.occasion.occurred_us, off)]
    before = [one for one in known.past if _is_same_plan(candidate, slot, one)]
    if before and not plans and not other:
        return [candidate.confirm(before[-1], "restated")]
    words = replace(remove_slot(candidate.claim), stance=Stance.ASSERTED)
    return match_text_or_add(replace(candidate, claim=words), known)


def _is_same_plan(candidate: Candidate, slot: Slot, memory: Memory) -> bool:
    """Return whether a memory is a plan of which a claim speaks, perhaps in fewer words, and which it may end."""
    claim = candidate.claim
    if memory.stance is not Stance.PLANNED or get_slot(memory) != slot:
        return False
    told, held = (set(normalise_value(one.value or "").split()) for one in (claim, memory))
    alike = bool(told and held) and (told <= held or held <= told)
    journey = claim.move is UpdateKind.END and told & _JOURNEY and held & _JOURNEY
    alike = alike or bool(journey and told - _JOURNEY - _SMALL <= held)
    return alike and find_weakness(claim, candidate.occasion.trust, memory) is None


def refine(candidate: Candidate, successor: str, lesser: Memory) -> Supersede:
    """Supersede a weaker duplicate of the claim: a plan, a low-confidence memory, an unparsed sentence."""
    was_valid_within = lesser.stance in ASSERTIVE_STANCES and lesser.status is not Status.CHALLENGED
    until_us = candidate.begins_us if was_valid_within else get_valid_from_us(lesser)
    reason = "called off" if is_denial(candidate.claim) else "restated with higher confidence"
    return end_memory(lesser, until_us, reason, successor, relation=Relation.REFINED)


def reactivate(twin: Memory, known: SlotRows) -> list[Change]:
    """Reactivate an archived memory that is stated again, unless a conflicting value is active."""
    if twin.status is not Status.ARCHIVED or find_conflicting(twin, known.current):
        return []
    return [_set_active(twin, "restated")]


def _set_active(memory: Memory, reason: str) -> Change:
    return SetStatus(memory_id=memory.id, status=Status.ACTIVE, reason=reason)
