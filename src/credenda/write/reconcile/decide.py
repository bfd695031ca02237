"""Decide what a new claim changes: ordered exact rules, with no similarity threshold (R-074). Pure.

`decide` applies rules to a claim with a slot; the first rule that returns changes wins. Two values are the same only if
their normal forms are equal, and in doubt both are kept. The caller reads `Known` and applies the changes in one
transaction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from credenda.limits import CONTEST_MEMBERS
from credenda.model.change import Change, SetStatus, Supersede
from credenda.model.claim import Claim, Move
from credenda.model.memory import Memory, Relation, Status, TypeClass
from credenda.write.reconcile.candidate import claim_hash, saying_of
from credenda.write.reconcile.contest_trigger import (
    contest_over,
    contest_trigger,
    governing_case,
    members_of,
    open_case,
)
from credenda.write.reconcile.inputs import Known, Occasion
from credenda.write.reconcile.non_competing import beside, same_text_or_new, sharpened, taken_back, woken
from credenda.write.reconcile.past_claims import already_over, told_late
from credenda.write.reconcile.slot_state import Scene, newest_first, opponents, scene_of
from credenda.write.reconcile.slots import (
    FIRM,
    begins_us,
    contradicts,
    denies,
    label,
    outshines,
    same_meaning,
    slot_of,
    weaker,
)
from credenda.write.reconcile.wording import because, names_kind, quoted, refines

__all__ = ["Known", "Occasion", "claim_hash", "decide"]


def decide(claim: Claim, known: Known, occasion: Occasion, read: Claim | None = None) -> list[Change]:
    """Return the changes of one claim. The order of `known` does not matter, and the result is repeatable.

    `read` is the claim as extracted, if it was moved to another slot since: its hash identifies the evidence.
    """
    saying = saying_of(claim, occasion, read)
    if claim.move is Move.RETRACT:
        return taken_back(saying, known)
    slot = slot_of(saying.claim)
    if slot is None or claim.provisional:
        return same_text_or_new(saying, known)
    if claim.stance not in FIRM or (saying.comes and not denies(saying.claim)):
        return beside(saying, slot, known)
    scene = scene_of(saying, slot, known)
    return next(changes for branch in _BRANCHES if (changes := branch(scene)) is not None)


def _said_again(scene: Scene) -> list[Change] | None:
    """Same slot and value: confirm the memory instead of adding a copy (D-008)."""
    twin = next((one for one in _best_first(scene.twins) if scene.settled(one)), None)
    if twin is None:
        return None
    return [
        scene.saying.confirm(twin, "restated"),
        *_revived(scene, twin),
        *(sharpened(scene.saying, twin.id, one) for one in scene.outgrown),
        *_replacements(scene, _left_behind(scene, twin), twin.id),
    ]


def _left_behind(scene: Scene, twin: Memory) -> list[Memory]:
    """Find the memories that end although the value is not new.

    These are values that the claim names as past, and values that a future value replaces once it has begun. An open
    contest stays open.
    """
    if scene.weakness is not None or twin.status is not Status.ACTIVE:
        return []
    return [one for one in scene.standing if not contradicts(scene.claim, one) or not (one.contested or twin.contested)]


def _said_without_its_scope(scene: Scene) -> list[Change] | None:
    """Confirm a scoped value that is restated without its scope; "everywhere now" is a change instead."""
    repeats = scene.claim.move is Move.STATE or governing_case(scene) is not None
    if scene.slot.scope is not None or not repeats:
        return None
    for one in scene.elsewhere:
        if one.stance in FIRM and same_meaning(scene.claim, one) and not outshines(scene.claim, one):
            return [scene.saying.confirm(one, "restated without its scope"), *woken(one, scene.known)]
    return None


def _said_less_exactly(scene: Scene) -> list[Change] | None:
    """Confirm the current value when the less specific value that it refined is restated."""
    if scene.claim.move is not Move.STATE:
        return None
    held = {one.id: one for one in scene.standing if one.status is Status.ACTIVE}
    links = {one.id: one.superseded_by for one in scene.past if one.relation is Relation.REFINED}
    vaguer = [one.id for one in scene.past if one.id in links and same_meaning(scene.claim, one)]
    for start in vaguer:
        reached: str | None = start
        for _ in links:
            reached = links.get(reached, reached) if reached else None
        if reached in held:
            return [scene.saying.confirm(held[reached], "restated less specifically")]
    return None


def _too_weak(scene: Scene) -> list[Change] | None:
    """Store a claim with clearly lower confidence or trust than the current value as challenged (D-006)."""
    if not scene.rivals or scene.weakness is None:
        return None
    reason = f"contradicts {quoted(label(scene.standing[0]))}, but {scene.weakness}"
    return [scene.saying.add(reason, status=Status.CHALLENGED)]


def _in_an_open_contest(scene: Scene) -> list[Change] | None:
    """Add a conflicting value to the open contest of its slot; replace nothing."""
    case = open_case(scene)
    if case is None or not scene.rivals:
        return None
    replaced = {one.id for one in scene.twins}
    members = [one for one in newest_first(members_of(case, scene)) if one.id not in replaced]
    return _contested(scene, members, "its contest is still open")


def _against_an_answer(scene: Scene) -> list[Change] | None:
    """Reopen the contest when a value differs from the user's answer."""
    case = governing_case(scene)
    if case is None or (denies(scene.claim) and not scene.rivals):
        return None
    members = [one for one in scene.standing if one.status is Status.ACTIVE] or members_of(case, scene)
    return _contested(scene, members, "differs from the answer to its contest")


def _uncontradicted(scene: Scene) -> list[Change] | None:
    """Add a claim without a conflict: a new set value, another scope, a first value, or a denial."""
    return None if scene.rivals else [*_new(scene, "first statement"), *_doubts(scene)]


def _one_change_too_many(scene: Scene) -> list[Change] | None:
    """Open a contest for a slot that keeps changing or a habit that alternates (R-012, R-086)."""
    if all(_relation(scene, one) is Relation.REFINED for one in scene.standing):
        return None
    reason = contest_trigger(scene)
    return None if reason is None else _contested(scene, scene.standing, reason)


def _replaced(scene: Scene) -> list[Change]:
    """Supersede what the newest assertive claim contradicts, and keep its validity interval (R-077)."""
    return [
        *_new(scene, because(_relation(scene, scene.standing[0]), label(scene.claim), label(scene.standing[0]))),
        *_replacements(scene, scene.rivals, scene.saying.key),
        *_doubts(scene),
    ]


_BRANCHES: Final[tuple[Callable[[Scene], list[Change] | None], ...]] = (
    already_over,
    told_late,
    _said_again,
    _said_without_its_scope,
    _said_less_exactly,
    _too_weak,
    _in_an_open_contest,
    _against_an_answer,
    _uncontradicted,
    _one_change_too_many,
    _replaced,
)
"""The rules for an assertive claim, in order; the last one always applies."""


def _new(scene: Scene, reason: str) -> list[Change]:
    """Add the claim and supersede its weaker duplicates."""
    lesser = [*scene.twins, *scene.outgrown]
    return [
        scene.saying.add(reason, begins_us=_since_us(scene)),
        *(sharpened(scene.saying, scene.saying.key, one) for one in lesser),
    ]


def _contested(scene: Scene, members: list[Memory] | tuple[Memory, ...], reason: str) -> list[Change]:
    """Open a contest over the newest values; supersede those beyond its capacity as true in their time."""
    room = CONTEST_MEMBERS - 1
    return [
        *_new(scene, reason),
        *(_crowded_out(scene, one) for one in members[room:]),
        contest_over(scene, members[:room], reason),
    ]


def _crowded_out(scene: Scene, member: Memory) -> Supersede:
    return Supersede(
        memory_id=member.id,
        successor=scene.saying.key,
        relation=Relation.CHANGED,
        valid_until_us=_until_us(scene, member),
        reason=f"removed from the contest, which holds at most {CONTEST_MEMBERS} values",
    )


def _since_us(scene: Scene) -> int:
    """Return when the claim became valid: a correction is valid since the wrong value was."""
    corrects = scene.claim.move is Move.CORRECT and scene.standing
    if scene.claim.valid_from_us is not None or not corrects:
        return scene.saying.begins_us
    return min(scene.saying.begins_us, *map(begins_us, scene.standing))


def _relation(scene: Scene, rival: Memory) -> Relation:
    """Classify why a value is replaced. A value that was only ever challenged is replaced as wrong."""
    claim = scene.claim
    if claim.move is Move.CORRECT or rival not in scene.standing:
        return Relation.CORRECTED
    plain = claim.move is Move.STATE and not denies(claim) and not denies(rival)
    if plain and (refines(claim.value or "", rival.value or "") or names_kind(claim, rival)):
        return Relation.REFINED
    return Relation.CHANGED


def _replacements(scene: Scene, rivals: list[Memory] | tuple[Memory, ...], successor: str) -> list[Change]:
    """Supersede conflicting values, except those stated later than the claim."""
    return [
        Supersede(
            memory_id=one.id,
            successor=successor,
            relation=_relation(scene, one),
            valid_until_us=_until_us(scene, one),
            reason=because(_relation(scene, one), label(scene.claim), label(one)),
        )
        for one in rivals
        if begins_us(one) <= scene.moment_us or scene.claim.move is Move.CORRECT or _foretold(scene, one)
    ]


def _foretold(scene: Scene, rival: Memory) -> bool:
    """Return whether a value has not begun yet, so that cancelling it affects no later belief."""
    return begins_us(rival) > scene.saying.occasion.now_us


def _until_us(scene: Scene, rival: Memory) -> int:
    """Return when the old value ends: when the new one begins, but within its own stated time."""
    ends_us = scene.saying.begins_us
    stated_us = ends_us if rival.valid_until_us is None else min(ends_us, rival.valid_until_us)
    return max(begins_us(rival), stated_us)


def _best_first(twins: tuple[Memory, ...]) -> list[Memory]:
    return sorted(twins, key=lambda one: one.status is not Status.ACTIVE)


def _revived(scene: Scene, twin: Memory) -> list[Change]:
    """Reactivate a challenged memory that is restated, unless another value conflicts with it."""
    against = opponents(twin, scene.known.current)
    decided = [one for one in scene.opposed if scene.slot.type_class is TypeClass.BELIEF]
    doubted = twin.status in {Status.CHALLENGED, Status.ARCHIVED}
    if not doubted or against or decided or weaker(scene.claim, scene.saying.occasion.trust, twin):
        return []
    return [SetStatus(memory_id=twin.id, status=Status.ACTIVE, reason="restated by the speaker")]


def _doubts(scene: Scene) -> list[Change]:
    """Challenge the facts that a decision contradicts, until the decision is carried out."""
    if scene.slot.type_class is not TypeClass.DECISION:
        return []
    trust, value = scene.saying.occasion.trust, quoted(label(scene.claim))
    return [
        SetStatus(memory_id=one.id, status=Status.CHALLENGED, reason=f"a decision for {value} contradicts it")
        for one in scene.opposed
        if one.status is Status.ACTIVE and one.stance in FIRM and weaker(scene.claim, trust, one) is None
    ]
