"""Decide what a new claim changes: ordered exact rules, with no similarity threshold (R-074). Pure.

`decide` applies rules to a claim with a slot; the first rule that returns changes wins. Two values are the same only if
their normal forms are equal, and in doubt both are kept. The caller reads `SlotRows` and applies the changes in one
transaction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from credenda.limits import CONTEST_MEMBERS
from credenda.model.change import Change, SetStatus, Supersede
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Memory, Relation, Status, TypeClass
from credenda.write.reconcile.candidate import claim_hash, make_candidate
from credenda.write.reconcile.contest_trigger import (
    build_contest,
    find_contest_trigger,
    find_governing_answer,
    find_members,
    find_open_contest,
)
from credenda.write.reconcile.inputs import SlotRows, StatementContext
from credenda.write.reconcile.non_competing import add_non_competing, match_text_or_add, reactivate, refine, retract
from credenda.write.reconcile.past_claims import add_ended_claim, insert_past_claim
from credenda.write.reconcile.slot_state import SlotState, build_slot_state, find_conflicting, sort_newest_first
from credenda.write.reconcile.slots import (
    ASSERTIVE_STANCES,
    display_value,
    find_weakness,
    get_slot,
    get_valid_from_us,
    has_same_meaning,
    is_denial,
    is_in_conflict,
    is_newly_visible,
)
from credenda.write.reconcile.wording import explain_replacement, is_named_kind, is_refinement, quote_value

__all__ = ["SlotRows", "StatementContext", "claim_hash", "decide"]


def decide(claim: Claim, known: SlotRows, occasion: StatementContext, read: Claim | None = None) -> list[Change]:
    """Return the changes of one claim. The order of `known` does not matter, and the result is repeatable.

    `read` is the claim as extracted, if it was moved to another slot since: its hash identifies the evidence.
    """
    saying = make_candidate(claim, occasion, read)
    if claim.move is UpdateKind.RETRACT:
        return retract(saying, known)
    slot = get_slot(saying.claim)
    if slot is None or claim.provisional:
        return match_text_or_add(saying, known)
    if claim.stance not in ASSERTIVE_STANCES or (saying.is_future and not is_denial(saying.claim)):
        return add_non_competing(saying, slot, known)
    scene = build_slot_state(saying, slot, known)
    return next(changes for branch in _DECISION_RULES if (changes := branch(scene)) is not None)


def _confirm_same(scene: SlotState) -> list[Change] | None:
    """Same slot and value: confirm the memory instead of adding a copy (D-008)."""
    twin = next((one for one in _sort_active_first(scene.same) if scene.settled(one)), None)
    if twin is None:
        return None
    return [
        scene.candidate.confirm(twin, "restated"),
        *_reactivate_challenged(scene, twin),
        *(refine(scene.candidate, twin.id, one) for one in scene.weaker_duplicates),
        *_supersede_conflicting(scene, _find_left_behind(scene, twin), twin.id),
    ]


def _find_left_behind(scene: SlotState, twin: Memory) -> list[Memory]:
    """Find the memories that end although the value is not new.

    These are values that the claim names as past, and values that a future value replaces once it has begun. An open
    contest stays open.
    """
    if scene.weakness is not None or twin.status is not Status.ACTIVE:
        return []
    return [
        one for one in scene.standing if not is_in_conflict(scene.claim, one) or not (one.contested or twin.contested)
    ]


def _confirm_unscoped(scene: SlotState) -> list[Change] | None:
    """Confirm a scoped value that is restated without its scope; "everywhere now" is a change instead."""
    repeats = scene.claim.move is UpdateKind.STATE or find_governing_answer(scene) is not None
    if scene.slot.scope is not None or not repeats:
        return None
    for one in scene.other_scopes:
        if (
            one.stance in ASSERTIVE_STANCES
            and has_same_meaning(scene.claim, one)
            and not is_newly_visible(scene.claim, one)
        ):
            return [scene.candidate.confirm(one, "restated without its scope"), *reactivate(one, scene.known)]
    return None


def _confirm_vaguer(scene: SlotState) -> list[Change] | None:
    """Confirm the current value when the less specific value that it refined is restated."""
    if scene.claim.move is not UpdateKind.STATE:
        return None
    held = {one.id: one for one in scene.standing if one.status is Status.ACTIVE}
    links = {one.id: one.superseded_by for one in scene.past if one.relation is Relation.REFINED}
    vaguer = [one.id for one in scene.past if one.id in links and has_same_meaning(scene.claim, one)]
    for start in vaguer:
        reached: str | None = start
        for _ in links:
            reached = links.get(reached, reached) if reached else None
        if reached in held:
            return [scene.candidate.confirm(held[reached], "restated less specifically")]
    return None


def _challenge_weaker(scene: SlotState) -> list[Change] | None:
    """Store a claim with clearly lower confidence or trust than the current value as challenged (D-006)."""
    if not scene.conflicting or scene.weakness is None:
        return None
    reason = f"contradicts {quote_value(display_value(scene.standing[0]))}, but {scene.weakness}"
    return [scene.candidate.add(reason, status=Status.CHALLENGED)]


def _join_open_contest(scene: SlotState) -> list[Change] | None:
    """Add a conflicting value to the open contest of its slot; replace nothing."""
    case = find_open_contest(scene)
    if case is None or not scene.conflicting:
        return None
    replaced = {one.id for one in scene.same}
    members = [one for one in sort_newest_first(find_members(case, scene)) if one.id not in replaced]
    return _contest_claim(scene, members, "its contest is still open")


def _reopen_contest(scene: SlotState) -> list[Change] | None:
    """Reopen the contest when a value differs from the user's answer."""
    case = find_governing_answer(scene)
    if case is None or (is_denial(scene.claim) and not scene.conflicting):
        return None
    members = [one for one in scene.standing if one.status is Status.ACTIVE] or find_members(case, scene)
    return _contest_claim(scene, members, "differs from the answer to its contest")


def _add_uncontradicted(scene: SlotState) -> list[Change] | None:
    """Add a claim without a conflict: a new set value, another scope, a first value, or a denial."""
    return None if scene.conflicting else [*_add_claim(scene, "first statement"), *_challenge_facts(scene)]


def _open_contest(scene: SlotState) -> list[Change] | None:
    """Open a contest for a slot that keeps changing or a habit that alternates (R-012, R-086)."""
    if all(_classify_relation(scene, one) is Relation.REFINED for one in scene.standing):
        return None
    reason = find_contest_trigger(scene)
    return None if reason is None else _contest_claim(scene, scene.standing, reason)


def _replace_conflicting(scene: SlotState) -> list[Change]:
    """Supersede what the newest assertive claim contradicts, and keep its validity interval (R-077)."""
    return [
        *_add_claim(
            scene,
            explain_replacement(
                _classify_relation(scene, scene.standing[0]),
                display_value(scene.claim),
                display_value(scene.standing[0]),
            ),
        ),
        *_supersede_conflicting(scene, scene.conflicting, scene.candidate.key),
        *_challenge_facts(scene),
    ]


_DECISION_RULES: Final[tuple[Callable[[SlotState], list[Change] | None], ...]] = (
    add_ended_claim,
    insert_past_claim,
    _confirm_same,
    _confirm_unscoped,
    _confirm_vaguer,
    _challenge_weaker,
    _join_open_contest,
    _reopen_contest,
    _add_uncontradicted,
    _open_contest,
    _replace_conflicting,
)
"""The rules for an assertive claim, in order; the last one always applies."""


def _add_claim(scene: SlotState, reason: str) -> list[Change]:
    """Add the claim and supersede its weaker duplicates."""
    lesser = [*scene.same, *scene.weaker_duplicates]
    return [
        scene.candidate.add(reason, begins_us=_get_start_us(scene)),
        *(refine(scene.candidate, scene.candidate.key, one) for one in lesser),
    ]


def _contest_claim(scene: SlotState, members: list[Memory] | tuple[Memory, ...], reason: str) -> list[Change]:
    """Open a contest over the newest values; supersede those beyond its capacity as true in their time."""
    room = CONTEST_MEMBERS - 1
    return [
        *_add_claim(scene, reason),
        *(_evict_from_contest(scene, one) for one in members[room:]),
        build_contest(scene, members[:room], reason),
    ]


def _evict_from_contest(scene: SlotState, member: Memory) -> Supersede:
    return Supersede(
        memory_id=member.id,
        successor=scene.candidate.key,
        relation=Relation.CHANGED,
        valid_until_us=_get_end_us(scene, member),
        reason=f"removed from the contest, which holds at most {CONTEST_MEMBERS} values",
    )


def _get_start_us(scene: SlotState) -> int:
    """Return when the claim became valid: a correction is valid since the wrong value was."""
    corrects = scene.claim.move is UpdateKind.CORRECT and scene.standing
    if scene.claim.valid_from_us is not None or not corrects:
        return scene.candidate.begins_us
    return min(scene.candidate.begins_us, *map(get_valid_from_us, scene.standing))


def _classify_relation(scene: SlotState, rival: Memory) -> Relation:
    """Classify why a value is replaced. A value that was only ever challenged is replaced as wrong."""
    claim = scene.claim
    if claim.move is UpdateKind.CORRECT or rival not in scene.standing:
        return Relation.CORRECTED
    plain = claim.move is UpdateKind.STATE and not is_denial(claim) and not is_denial(rival)
    if plain and (is_refinement(claim.value or "", rival.value or "") or is_named_kind(claim, rival)):
        return Relation.REFINED
    return Relation.CHANGED


def _supersede_conflicting(
    scene: SlotState, conflicting: list[Memory] | tuple[Memory, ...], successor: str
) -> list[Change]:
    """Supersede conflicting values, except those stated later than the claim."""
    return [
        Supersede(
            memory_id=one.id,
            successor=successor,
            relation=_classify_relation(scene, one),
            valid_until_us=_get_end_us(scene, one),
            reason=explain_replacement(_classify_relation(scene, one), display_value(scene.claim), display_value(one)),
        )
        for one in conflicting
        if get_valid_from_us(one) <= scene.moment_us or scene.claim.move is UpdateKind.CORRECT or _is_future(scene, one)
    ]


def _is_future(scene: SlotState, rival: Memory) -> bool:
    """Return whether a value has not begun yet, so that cancelling it affects no later belief."""
    return get_valid_from_us(rival) > scene.candidate.occasion.now_us


def _get_end_us(scene: SlotState, rival: Memory) -> int:
    """Return when the old value ends: when the new one begins, but within its own stated time."""
    ends_us = scene.candidate.begins_us
    stated_us = ends_us if rival.valid_until_us is None else min(ends_us, rival.valid_until_us)
    return max(get_valid_from_us(rival), stated_us)


def _sort_active_first(same: tuple[Memory, ...]) -> list[Memory]:
    return sorted(same, key=lambda one: one.status is not Status.ACTIVE)


def _reactivate_challenged(scene: SlotState, twin: Memory) -> list[Change]:
    """Reactivate a challenged memory that is restated, unless another value conflicts with it."""
    against = find_conflicting(twin, scene.known.current)
    decided = [one for one in scene.other_class if scene.slot.type_class is TypeClass.BELIEF]
    doubted = twin.status in {Status.CHALLENGED, Status.ARCHIVED}
    if not doubted or against or decided or find_weakness(scene.claim, scene.candidate.occasion.trust, twin):
        return []
    return [SetStatus(memory_id=twin.id, status=Status.ACTIVE, reason="restated by the speaker")]


def _challenge_facts(scene: SlotState) -> list[Change]:
    """Challenge the facts that a decision contradicts, until the decision is carried out."""
    if scene.slot.type_class is not TypeClass.DECISION:
        return []
    trust, value = scene.candidate.occasion.trust, quote_value(display_value(scene.claim))
    return [
        SetStatus(memory_id=one.id, status=Status.CHALLENGED, reason=f"a decision for {value} contradicts it")
        for one in scene.other_class
        if one.status is Status.ACTIVE
        and one.stance in ASSERTIVE_STANCES
        and find_weakness(scene.claim, trust, one) is None
    ]
