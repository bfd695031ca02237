"""What a new claim changes in what is believed: exact, and without a threshold on likeness (R-074). Pure.

`decide` asks a row of questions about a claim that names a slot; the first that fits gives the answer. Two sayings are
the same only where their normal forms are, and in doubt both are kept. Nothing here reads a clock or a store: the
caller reads `Known` and applies the changes in one transaction.
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
    """Say what one claim changes; the order of `known` does not matter, and deciding again decides the same.

    `read` is the claim as extraction gave it, where it was placed in another slot since: evidence is known by it.
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
    """Same slot, same value: count it, do not copy it (D-008)."""
    twin = next((one for one in _best_first(scene.twins) if scene.settled(one)), None)
    if twin is None:
        return None
    return [
        scene.saying.confirm(twin, "said again"),
        *_revived(scene, twin),
        *(sharpened(scene.saying, twin.id, one) for one in scene.outgrown),
        *_replacements(scene, _left_behind(scene, twin), twin.id),
    ]


def _left_behind(scene: Scene, twin: Memory) -> list[Memory]:
    """Find what ends although the value is not new.

    That is a value that the words name as past, and one whose place a foretold value takes when its day has come. A
    question that is open stays open.
    """
    if scene.weakness is not None or twin.status is not Status.ACTIVE:
        return []
    return [one for one in scene.standing if not contradicts(scene.claim, one) or not (one.contested or twin.contested)]


def _said_without_its_scope(scene: Scene) -> list[Change] | None:
    """A scoped value repeated without its scope confirms the scoped one; "everywhere now" would be a change."""
    repeats = scene.claim.move is Move.STATE or governing_case(scene) is not None
    if scene.slot.scope is not None or not repeats:
        return None
    for one in scene.elsewhere:
        if one.stance in FIRM and same_meaning(scene.claim, one) and not outshines(scene.claim, one):
            return [scene.saying.confirm(one, "said again without naming its scope"), *woken(one, scene.known)]
    return None


def _said_less_exactly(scene: Scene) -> list[Change] | None:
    """The vaguer value that a current one was refined from: said again, nothing new."""
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
            return [scene.saying.confirm(held[reached], "said again, less exactly")]
    return None


def _too_weak(scene: Scene) -> list[Change] | None:
    """A claim that is clearly less sure or less trusted than what stands is kept as a challenge (D-006)."""
    if not scene.rivals or scene.weakness is None:
        return None
    reason = f"contradicts {quoted(label(scene.standing[0]))}, but {scene.weakness}"
    return [scene.saying.add(reason, status=Status.CHALLENGED)]


def _in_an_open_contest(scene: Scene) -> list[Change] | None:
    """While a slot waits for an answer, another value joins the question and replaces nothing."""
    case = open_case(scene)
    if case is None or not scene.rivals:
        return None
    replaced = {one.id for one in scene.twins}
    members = [one for one in newest_first(members_of(case, scene)) if one.id not in replaced]
    return _contested(scene, members, "the question about it is still open")


def _against_an_answer(scene: Scene) -> list[Change] | None:
    """A value that the person's answer did not allow for opens the question again."""
    case = governing_case(scene)
    if case is None or (denies(scene.claim) and not scene.rivals):
        return None
    members = [one for one in scene.standing if one.status is Status.ACTIVE] or members_of(case, scene)
    return _contested(scene, members, "it differs from the answer that was given")


def _uncontradicted(scene: Scene) -> list[Change] | None:
    """Nothing speaks against it: a new value of a set, another scope, a first saying, a denial of what none held."""
    return None if scene.rivals else [*_new(scene, "said for the first time"), *_doubts(scene)]


def _one_change_too_many(scene: Scene) -> list[Change] | None:
    """A slot that keeps changing, or a habit that swings back, is asked about instead of decided (R-012, R-086)."""
    if all(_relation(scene, one) is Relation.REFINED for one in scene.standing):
        return None
    reason = contest_trigger(scene)
    return None if reason is None else _contested(scene, scene.standing, reason)


def _replaced(scene: Scene) -> list[Change]:
    """The newest firm word holds: what it contradicts is superseded, kept with its interval (R-077)."""
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
"""The questions asked of a firm claim; the last one fits always."""


def _new(scene: Scene, reason: str) -> list[Change]:
    """Add the claim; lesser forms of the same saying give way to it."""
    lesser = [*scene.twins, *scene.outgrown]
    return [
        scene.saying.add(reason, begins_us=_since_us(scene)),
        *(sharpened(scene.saying, scene.saying.key, one) for one in lesser),
    ]


def _contested(scene: Scene, members: list[Memory] | tuple[Memory, ...], reason: str) -> list[Change]:
    """Ask about the newest values; what a question cannot hold any more was true in its time."""
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
        reason=f"newer values are asked about: at most {CONTEST_MEMBERS} at a time",
    )


def _since_us(scene: Scene) -> int:
    """A correction holds since what it corrects was held: the error was never true, its time belongs to the truth."""
    corrects = scene.claim.move is Move.CORRECT and scene.standing
    if scene.claim.valid_from_us is not None or not corrects:
        return scene.saying.begins_us
    return min(scene.saying.begins_us, *map(begins_us, scene.standing))


def _relation(scene: Scene, rival: Memory) -> Relation:
    """Read from the words why a value goes; one that was only ever a challenge was never held, and goes as wrong."""
    claim = scene.claim
    if claim.move is Move.CORRECT or rival not in scene.standing:
        return Relation.CORRECTED
    plain = claim.move is Move.STATE and not denies(claim) and not denies(rival)
    if plain and (refines(claim.value or "", rival.value or "") or names_kind(claim, rival)):
        return Relation.REFINED
    return Relation.CHANGED


def _replacements(scene: Scene, rivals: list[Memory] | tuple[Memory, ...], successor: str) -> list[Change]:
    """Supersede rivals, but for those that were said later than the claim."""
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
    """A future value that is called off has not begun; there is no later belief to respect."""
    return begins_us(rival) > scene.saying.occasion.now_us


def _until_us(scene: Scene, rival: Memory) -> int:
    """The old value ends when the new one begins, within the time that it was said to hold."""
    ends_us = scene.saying.begins_us
    stated_us = ends_us if rival.valid_until_us is None else min(ends_us, rival.valid_until_us)
    return max(begins_us(rival), stated_us)


def _best_first(twins: tuple[Memory, ...]) -> list[Memory]:
    return sorted(twins, key=lambda one: one.status is not Status.ACTIVE)


def _revived(scene: Scene, twin: Memory) -> list[Change]:
    """A doubted memory stands again when it is said again firmly and nothing else speaks against it."""
    against = opponents(twin, scene.known.current)
    decided = [one for one in scene.opposed if scene.slot.type_class is TypeClass.BELIEF]
    doubted = twin.status in {Status.CHALLENGED, Status.ARCHIVED}
    if not doubted or against or decided or weaker(scene.claim, scene.saying.occasion.trust, twin):
        return []
    return [SetStatus(memory_id=twin.id, status=Status.ACTIVE, reason="said again by the speaker")]


def _doubts(scene: Scene) -> list[Change]:
    """A decision doubts the fact it goes against, until someone says that it is done (DESIGN §1)."""
    if scene.slot.type_class is not TypeClass.DECISION:
        return []
    trust, value = scene.saying.occasion.trust, quoted(label(scene.claim))
    return [
        SetStatus(memory_id=one.id, status=Status.CHALLENGED, reason=f"a decision for {value} goes against it")
        for one in scene.opposed
        if one.status is Status.ACTIVE and one.stance in FIRM and weaker(scene.claim, trust, one) is None
    ]
