"""Decide what a new claim changes: ordered exact rules, with no similarity threshold (R-074). Pure.

`decide` applies rules to a claim with a slot; the first rule that returns changes wins. Two values are the same only if
their normal forms are equal, and in doubt both are kept. The caller reads `SlotRows` and applies the changes in one
transaction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from credenda import limits
from credenda.clock import DAY_US, SECOND_US
from credenda.limits import CONTEST_MEMBERS
from credenda.model.attributes import answer_same_question, get_attribute, has_same_kind, is_measure, is_valid_value
from credenda.model.change import (
    Add,
    Change,
    Confirm,
    Revise,
    SetStatus,
    Supersede,
    end_memory,
)
from credenda.model.claim import Claim, UpdateKind
from credenda.model.event import QUARANTINED, Event, Role, Source
from credenda.model.memory import (
    OPEN_STANCES,
    Cardinality,
    Memory,
    Relation,
    Stance,
    Status,
    TypeClass,
    get_valid_from_us,
)
from credenda.text.changes import is_beside, is_change, is_correction
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name
from credenda.text.sentences import split_sentences
from credenda.text.tokens import fold, tokenize
from credenda.write.reconcile.alternation import (
    build_contest,
    explain_back,
    explain_return,
    find_contest_trigger,
    find_governing_answer,
    find_members,
    find_open_contest,
    find_stated_since,
)
from credenda.write.reconcile.candidate import claim_hash, is_users_own, make_candidate, remove_slot
from credenda.write.reconcile.orders import decide_order
from credenda.write.reconcile.past_claims import (
    add_ended_claim,
    add_non_competing,
    insert_past_claim,
    match_text_or_add,
    move_start_back,
    reactivate,
    refine,
    retract,
)
from credenda.write.reconcile.slot_state import SlotState, build_slot_state, find_conflicting, sort_newest_first
from credenda.write.reconcile.slots import (
    ASSERTIVE_STANCES,
    SlotRows,
    StatementContext,
    display_value,
    explain_replacement,
    find_weakness,
    get_slot,
    has_same_meaning,
    is_denial,
    is_in_conflict,
    is_named_kind,
    is_newly_visible,
    is_refinement,
    quote_value,
)

__all__ = [
    "BY_HASH",
    "Misfit",
    "SlotRows",
    "StatementContext",
    "claim_hash",
    "decide",
    "find_misfit",
    "find_origin",
    "is_burst",
    "is_by_model",
    "lower_trust",
    "move_to_rival",
    "name_claim",
    "name_replaced",
    "settle_rival",
]


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
    if claim.stance not in ASSERTIVE_STANCES:
        return add_non_competing(saying, slot, known)
    scene = build_slot_state(saying, slot, known)
    if saying.is_future and not is_denial(saying.claim):
        return [*add_non_competing(saying, slot, known), *_limit_until(scene)]
    if saying.is_future and (ending := _end_then(scene)):
        return ending
    decided = next(changes for branch in _DECISION_RULES if (changes := branch(scene)) is not None)
    ended = {one.memory_id for one in decided if isinstance(one, Supersede)}
    return [*decided, *(one for one in _settle_plans(scene) if one.memory_id not in ended)]


def _settle_plans(scene: SlotState) -> list[Supersede]:
    """End the plans for a slot with one value whose day has come, since this tells what the value is by then."""
    single = get_attribute(scene.slot.attribute).cardinality is Cardinality.SINGLE
    if not single or scene.claim.stance is not Stance.ASSERTED or scene.weakness is not None:
        return []
    told_us = scene.candidate.occasion.occurred_us
    return [
        end_memory(one, told_us, f"{quote_value(display_value(scene.claim))} is told on or after its day", None)
        for one in scene.known.current
        if one.status is Status.ACTIVE
        and one.stance is Stance.PLANNED
        and one.valid_from_us is not None
        and one.valid_from_us <= told_us
        and (slot := get_slot(one)) is not None
        and slot[:4] == scene.slot[:4]
    ]


_STAYS: Final = re.compile(
    r"\b(?:stays?|staying|stayed|remains?|after all|unchanged|bleibt|doch|reste|finalement|sigue|continua)\b",
    re.IGNORECASE,
)
"""Words of a value that stays although another was to take its place."""


def _limit_until(scene: SlotState) -> list[Change]:
    """Let the values that a future one replaces hold until it begins; none for a weak one or in a contested slot."""
    if scene.weakness is not None or scene.claim.stance is not Stance.ASSERTED or find_open_contest(scene) is not None:
        return []
    if scene.candidate.begins_us <= scene.candidate.occasion.occurred_us + DAY_US:
        return []
    begins, value = scene.candidate.begins_us, quote_value(display_value(scene.claim))
    return [
        Revise(memory_id=one.id, fields={"valid_until_us": begins}, reason=f"{value} takes its place then")
        for one in scene.standing
        if one.status is Status.ACTIVE and not one.contested and (one.valid_until_us or begins + 1) > begins
    ]


def _end_then(scene: SlotState) -> list[Change]:
    """Let the values hold until the coming day on which they end; none for a weak claim or without a value."""
    held = [one for one in scene.standing if one.status is Status.ACTIVE and not one.contested]
    if scene.claim.move is not UpdateKind.END or scene.weakness is not None:
        return []
    ends_us = scene.candidate.begins_us
    told = "its last day is told"
    return [
        *(scene.candidate.confirm(one, told) for one in held),
        *(Revise(memory_id=one.id, fields={"valid_until_us": ends_us}, reason=told) for one in held),
    ]


def _contest_returned(scene: SlotState) -> list[Change] | None:
    """Ask about a value that is said to be back although it never ended, since a change to one other was told."""
    rival = find_stated_since(scene)
    return None if rival is None else _contest_claim(scene, [rival], explain_return(scene.claim))


def _confirm_same(scene: SlotState) -> list[Change] | None:
    """Same slot and value: confirm the memory instead of adding a copy (D-008)."""
    twin = next((one for one in _sort_active_first(scene.same) if scene.settled(one)), None)
    if twin is None:
        return None
    return [
        scene.candidate.confirm(twin, "restated"),
        *move_start_back(scene, twin),
        *_keep_after_all(scene, twin),
        *_reactivate_challenged(scene, twin),
        *(refine(scene.candidate, twin.id, one) for one in scene.weaker_duplicates),
        *_supersede_conflicting(scene, _find_left_behind(scene, twin), twin.id),
    ]


def _keep_after_all(scene: SlotState, twin: Memory) -> list[Change]:
    """Cancel the value that was to take the place of a restated one: it is restated later than that, or "stays"."""
    until_us, claim = twin.valid_until_us, scene.claim
    if until_us is None or scene.weakness is not None:
        return []
    coming = [
        one
        for one in scene.known.current
        if one.status is Status.ACTIVE and get_slot(one) == scene.slot and get_valid_from_us(one) == until_us
    ]
    if not coming or (scene.candidate.occasion.occurred_us < until_us and _STAYS.search(claim.text) is None):
        return []
    reason = f"{quote_value(display_value(twin))} stays"
    return [
        Revise(memory_id=twin.id, fields={"valid_until_us": None}, reason=reason),
        *(end_memory(one, max(until_us, scene.candidate.occasion.occurred_us), reason, twin.id) for one in coming),
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
    if reason is None:
        return None
    rivals = [one for one in scene.standing if not is_denial(one)] or list(scene.standing)
    denials = [one for one in scene.standing if one not in rivals]
    return [*_contest_claim(scene, rivals, reason), *_supersede_conflicting(scene, denials, scene.candidate.key)]


def _replace_conflicting(scene: SlotState) -> list[Change]:
    """Supersede what the newest assertive claim contradicts, and keep its validity interval (R-077)."""
    return [
        *_add_claim(scene, _explain_replacing(scene, scene.standing[0])),
        *_supersede_conflicting(scene, scene.conflicting, scene.candidate.key),
        *_challenge_facts(scene),
    ]


_DECISION_RULES: Final[tuple[Callable[[SlotState], list[Change] | None], ...]] = (
    decide_order,
    add_ended_claim,
    insert_past_claim,
    _contest_returned,
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
    reason = f"removed from the contest, which holds at most {CONTEST_MEMBERS} values"
    return end_memory(member, _get_end_us(scene, member), reason, scene.candidate.key)


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
        end_memory(
            one,
            _get_end_us(scene, one),
            _explain_replacing(scene, one),
            successor,
            relation=_classify_relation(scene, one),
            was_so=scene.claim.move in {UpdateKind.CHANGE, UpdateKind.END},
        )
        for one in conflicting
        if get_valid_from_us(one) <= scene.moment_us
        or scene.claim.move is UpdateKind.CORRECT
        or (get_valid_from_us(one) > scene.candidate.occasion.now_us)
    ]


def _explain_replacing(scene: SlotState, rival: Memory) -> str:
    """Explain why a value is replaced, also by one that held before and is back in its place."""
    relation, value = _classify_relation(scene, rival), quote_value(display_value(rival))
    if relation is Relation.CHANGED and (back := explain_back(scene)) is not None:
        return f"{back}, in place of {value}"
    return explain_replacement(relation, display_value(scene.claim), display_value(rival))


def _get_end_us(scene: SlotState, rival: Memory) -> int:
    """Return when the old value ends: when the new one begins, but within its own stated time."""
    ends_us = scene.candidate.begins_us
    return ends_us if rival.valid_until_us is None else min(ends_us, rival.valid_until_us)


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


# Statements that a model passes on: what a tool or document said stays theirs, and bursts are held back. Pure.


_MODEL: Final = frozenset({Source.AI, Source.INTERACTION})
_FOREIGN: Final = frozenset({Source.INGEST, Source.CODE_SCAN})
_ABOUT: Final = frozenset({"user"})
"""Words by which a model names its user and the user does not."""
_FEWEST_TERMS: Final = (2, 1)
"""The fewest terms of a statement, and of a value, that are compared; one word of a statement is in many texts."""


def is_by_model(event: Event) -> bool:
    """Return whether a model wrote an event."""
    return event.source in _MODEL or (event.role is Role.ASSISTANT and event.source not in _FOREIGN)


def find_origin(event: Event, claim: Claim, earlier: Sequence[Event]) -> Event | None:
    """Return the text of a tool or document from which a statement of a model comes, the least trusted one.

    It repeats a text if one sentence has all its words. Where the user's own words of the session are known, a value
    that a text has and they have not is enough: the user cannot have said it. `earlier` are the events before it.
    Returns None if the user said it too.
    """
    if not is_by_model(event):
        return None
    own = [one for one in earlier if is_users_own(one)]
    wordings = [frozenset(tokenize(claim.text)) - _ABOUT]
    if claim.value and any(one.session == event.session for one in own):
        wordings.append(frozenset(tokenize(claim.value)))
    for terms, fewest in zip(wordings, _FEWEST_TERMS, strict=False):
        if len(terms) >= fewest and not any(_has_terms(one.text, terms) for one in own):
            origins = [
                one
                for one in earlier
                if (one.role is Role.DOCUMENT or one.source in _FOREIGN) and _has_terms(one.text, terms)
            ]
            if origins:
                return min(origins, key=lambda one: one.trust)
    return None


def is_burst(event: Event, earlier: Sequence[Event]) -> bool:
    """Return whether a model has stored more in a session within a minute than one does that listens to a user.

    Messages of one call count once, and the turns of a conversation not at all. `earlier` are the events before it.
    """
    if event.source is not Source.AI:
        return False
    since_us = event.recorded_us - limits.BURST_SECONDS * SECOND_US
    calls = {
        one.recorded_us
        for one in earlier
        if one.source is Source.AI and one.session == event.session and since_us < one.recorded_us <= event.recorded_us
    }
    return len(calls) >= limits.BURST_CALLS


def lower_trust(event: Event, origin: Event | None) -> Event:
    """Return an event as decisions are to take it: suspect, and no more trusted than its origin."""
    trust = event.trust if origin is None else min(event.trust, origin.trust)
    return replace(event, trust=trust, flags=tuple({*event.flags, QUARANTINED}))


def _has_terms(text: str, terms: frozenset[str]) -> bool:
    """Return whether one sentence of a text has all terms; the longest term excludes most texts before they are cut."""
    longest = max(terms, key=len)
    if longest[:4] not in fold(text):
        return False
    return any(terms <= frozenset(tokenize(text[start:stop])) for start, stop in split_sentences(text))


# Carry out that a claim names the memory which it replaces, corrects, ends or contradicts. Pure.


BY_HASH: Final = "/"
"""Sign between an event and the hash of its claim, in the name of a memory that will follow from it."""

_COUNTED: Final = re.compile(
    r"^(?:number|count)_of_"
    r"|(?:^|_)(?:count|size|version|budget|balance|total|headcount|capacity|deadline)$"
)
"""Open attributes that have one number, version or day at a time."""
_VERSION: Final = re.compile(r"v\d", re.IGNORECASE)
_SETTLING: Final = ASSERTIVE_STANCES | OPEN_STANCES
_OWNERS: Final = frozenset({"user", "me", "my", "i"})


class Misfit(StrEnum):
    """Why a claim has no effect on the memory that it names."""

    SPEAKER = "the named memory was said by somebody else"
    ENTITY = "the named memory is about another person or thing"
    ATTRIBUTE = "the named memory has another attribute"
    VALUE = "the value does not fit the named memory"
    OPEN = "a plan or a report does not end what holds now"
    NO_SLOT = "the claim or the named memory has no attribute and value"


def name_claim(claim: Claim) -> str:
    """Return the name of the memory that will follow from a claim, for `Claim.rival` of a later one."""
    return f"{claim.span.event_id}{BY_HASH}{claim_hash(claim).hex()}"


def move_to_rival(claim: Claim, rival: Memory | None) -> Claim:
    """Move a claim into the slot of the memory that it names; without a fitting one it only states its own value.

    A plan, consideration or report keeps its slot, because it competes with nothing; `settle_rival` closes it.
    """
    if rival is None or find_misfit(claim, rival) is not None:
        # Let a claim name no memory; an ending then only keeps its sentence.
        left = replace(claim, rival=None)
        return remove_slot(left) if claim.move is UpdateKind.END else replace(left, move=UpdateKind.STATE)
    if not _is_competing(claim, rival):
        keeps = claim.move is UpdateKind.END and get_slot(claim) is not None
        return claim if keeps else replace(claim, move=UpdateKind.STATE)
    moved = replace(
        claim,
        type=rival.type,
        entity=rival.entity,
        attribute=rival.attribute,
        scope=rival.scope,
        cardinality=rival.cardinality,
    )
    denies = is_denial(claim) and is_same_value(claim.value, rival.value)
    if claim.move is UpdateKind.END or (denies and claim.move is not UpdateKind.CONTRADICT):
        return replace(moved, value=rival.value, move=UpdateKind.END)
    return moved if is_same_value(claim.value, rival.value) else replace(moved, prior=rival.value)


def name_replaced(claim: Claim, held: Iterable[Memory], occurred_us: int) -> Claim:
    """Let a proposed claim whose words tell a change or correction name the newest value of its slot.

    An attribute without a row holds several values otherwise. A known one is only corrected: it changes by itself, or
    is fixed. A plan, such as the day of an event, changes by no other way.
    """
    row = get_attribute(normalise_attribute(claim.attribute or ""))
    planned = claim.stance is Stance.PLANNED
    holds = planned or (claim.stance is Stance.ASSERTED and claim.valid_until_us is None)
    if claim.rival or not holds or claim.move is not UpdateKind.STATE or row.cardinality is not Cardinality.SINGLE:
        return claim
    slot = get_slot(claim)
    found = [
        one
        for one in sort_newest_first(held)
        if one.status is Status.ACTIVE
        and one.stance is claim.stance
        and get_slot(one) == slot
        and (planned or get_valid_from_us(one) <= occurred_us)
    ]
    if slot is None or not found or is_same_value(claim.value, found[0].value):
        return claim
    newest = found[0]
    if not has_same_kind(claim.value or "", newest.value or ""):
        return claim
    soon = occurred_us - (newest.created_us if planned else get_valid_from_us(newest)) <= DAY_US
    if is_correction(claim.text, soon=soon):
        return replace(claim, move=UpdateKind.CORRECT, rival=newest.id)
    begins_later = (claim.valid_from_us or 0) > occurred_us + DAY_US
    changed = is_change(claim.text) if planned else not row.known and (begins_later or is_change(claim.text))
    changed = changed or (not row.known and _is_measured_later(claim, newest, occurred_us))
    return replace(claim, move=UpdateKind.CHANGE, rival=newest.id) if changed else claim


def _is_measured_later(claim: Claim, newest: Memory, occurred_us: int) -> bool:
    """Return whether a later claim gives another number or day for exactly what a memory has one for."""
    counted = _COUNTED.search(normalise_attribute(claim.attribute or "")) is not None
    values = claim.value or "", newest.value or ""
    both = counted and all(is_measure(value) or _VERSION.match(value) for value in values)
    return both and get_valid_from_us(newest) < occurred_us and not is_beside(claim.text)


def settle_rival(claim: Claim, changes: list[Change], rival: Memory | None, occasion: StatementContext) -> list[Change]:
    """Close the memory that a claim names, where it does not compete for the slot of that.

    A plan or consideration is done, decided, given up, or another plan by now; a memory of the same thing with another
    attribute is outdated or was wrong.
    """
    if rival is None or rival.status is not Status.ACTIVE or find_misfit(claim, rival) is not None:
        return []
    if _is_competing(claim, rival):
        return []
    may_settle = claim.stance in _SETTLING and claim.move is not UpdateKind.CONTRADICT
    fits = may_settle and find_weakness(claim, occasion.trust, rival) is None
    early = get_valid_from_us(rival) > occasion.occurred_us and rival.stance in ASSERTIVE_STANCES
    if not fits or early or any(isinstance(one, Supersede) and one.memory_id == rival.id for one in changes):
        return []
    key = f"new:{claim_hash(claim).hex()}"
    added = next((one.key for one in changes if isinstance(one, Add) and one.key == key), None)
    successor = added or next((one.memory_id for one in changes if isinstance(one, Confirm)), None)
    if successor is None or successor == rival.id:
        return []
    reason = f"{quote_value(display_value(claim))} settles {quote_value(display_value(rival))}"
    wrong = claim.move is UpdateKind.CORRECT and rival.stance in ASSERTIVE_STANCES
    relation = Relation.CORRECTED if wrong else Relation.CHANGED
    return [end_memory(rival, occasion.occurred_us, reason, successor, relation=relation)]


def find_misfit(claim: Claim, rival: Memory) -> Misfit | None:
    """Return why a claim has no effect on a memory, or None if it has.

    Both are of one speaker. A plan, consideration or report is settled by whatever came of it. Another memory needs a
    claim about the same thing: with a valid value of one kind, or with another attribute if neither slot can hurt.
    """
    if normalise_name(claim.speaker) != normalise_name(rival.speaker):
        return Misfit.SPEAKER
    if rival.stance not in ASSERTIVE_STANCES:
        return None
    if get_slot(rival) is None or get_slot(claim) is None:
        return Misfit.NO_SLOT
    return _find_slot_misfit(claim, rival)


def _find_slot_misfit(claim: Claim, rival: Memory) -> Misfit | None:
    same_subject = _has_same_subject(claim, rival)
    if not same_subject and not _has_shared_name(claim, rival):
        return Misfit.ENTITY
    if claim.move is UpdateKind.END:
        return None if same_subject else Misfit.ENTITY
    if claim.stance not in ASSERTIVE_STANCES:
        return Misfit.OPEN
    name, value = normalise_attribute(rival.attribute or ""), claim.value or ""
    if not _is_competing(claim, rival):
        rows = (get_attribute(name), get_attribute(normalise_attribute(claim.attribute or "")))
        lasts = any(row.hurts or row.fixed or row.by_birth for row in rows)
        lasts = lasts and not (same_subject and answer_same_question(name, rows[1].name))
        if not lasts and claim.move is not UpdateKind.CONTRADICT:
            return None
        return Misfit.ATTRIBUTE if same_subject else Misfit.ENTITY
    fits = is_valid_value(name, value) and (is_denial(claim) or has_same_kind(value, rival.value or ""))
    return None if fits else Misfit.VALUE


def _is_competing(claim: Claim, rival: Memory) -> bool:
    """Return whether a claim is decided in the slot of an asserted memory: it is about the same thing and attribute.

    An attribute without a row in the schema may have another name that shares a word: "snacks" and "snack budget".
    """
    if rival.stance not in ASSERTIVE_STANCES or not _has_same_subject(claim, rival):
        return False
    name, own = normalise_attribute(rival.attribute or ""), normalise_attribute(claim.attribute or "")
    alike = not get_attribute(own).known and not _list_stems(own).isdisjoint(_list_stems(name))
    return claim.move is UpdateKind.END or own == name or alike or _list_path(claim) == _list_path(rival)


def _has_same_subject(claim: Claim, rival: Memory) -> bool:
    return normalise_name(claim.entity or "") == normalise_name(rival.entity or "") or (
        _list_path(claim) == _list_path(rival)
    )


def _has_shared_name(claim: Claim, rival: Memory) -> bool:
    """Return whether one of both is about a thing, no speaker, that the words of the other name in full."""
    own = {*_OWNERS, normalise_name(claim.speaker)}
    return any(
        normalise_name(entity) not in own
        and bool(words := set(tokenize(entity)))
        and words <= set(tokenize(f"{other.entity} {other.value} {other.text}"))
        for entity, other in ((claim.entity or "", rival), (rival.entity or "", claim))
    )


def _list_stems(attribute: str) -> frozenset[str]:
    return frozenset(tokenize(attribute.replace("_", " ")))


def _list_path(said: Claim | Memory) -> frozenset[str]:
    """Return the words of entity and attribute: the amount of the "snack budget" is the user's "snack budget"."""
    words = f"{normalise_name(said.entity or '')} {normalise_attribute(said.attribute or '').replace('_', ' ')}".split()
    return frozenset(words) - _OWNERS - {"amount", "value"}
