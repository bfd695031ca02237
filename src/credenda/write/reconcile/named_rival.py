"""Carry out that a claim names the memory which it replaces, corrects, ends or contradicts. Pure.

A model, or a calling agent, names the memory by its id. The claim is then decided in the slot of that memory, as any
claim about it. A memory of the same thing with another attribute ends when the claim is believed, which keeps its own
slot. A memory of another thing, or for which the value is not valid, is no rival: the claim then retires nothing else
than its slot does.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Final

from credenda.model.attributes import get_attribute, has_same_kind, is_valid_value
from credenda.model.change import Add, Change, Confirm, Supersede
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Memory, Relation, Stance, Status
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name
from credenda.text.tokens import tokenize
from credenda.write.reconcile.admit import remove_slot
from credenda.write.reconcile.candidate import claim_hash
from credenda.write.reconcile.inputs import StatementContext
from credenda.write.reconcile.slots import (
    ASSERTIVE_STANCES,
    display_value,
    find_weakness,
    get_slot,
    get_valid_from_us,
    is_denial,
)
from credenda.write.reconcile.wording import quote_value

__all__ = ["BY_HASH", "Misfit", "find_misfit", "move_to_rival", "name_claim", "settle_rival"]

BY_HASH: Final = "/"
"""Sign between an event and the hash of its claim, in the name of a memory that will follow from it."""

_SETTLING: Final = ASSERTIVE_STANCES | {Stance.PLANNED, Stance.CONSIDERED}
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
        return _name_none(claim)
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
    if not fits or get_valid_from_us(rival) > occasion.occurred_us or _is_touched(changes, rival):
        return []
    key = f"new:{claim_hash(claim).hex()}"
    added = next((one.key for one in changes if isinstance(one, Add) and one.key == key), None)
    successor = added or next((one.memory_id for one in changes if isinstance(one, Confirm)), None)
    if successor is None or successor == rival.id:
        return []
    until_us = max(get_valid_from_us(rival), occasion.occurred_us)
    reason = f"{quote_value(display_value(claim))} settles {quote_value(display_value(rival))}"
    wrong = claim.move is UpdateKind.CORRECT and rival.stance in ASSERTIVE_STANCES
    relation = Relation.CORRECTED if wrong else Relation.CHANGED
    return [
        Supersede(memory_id=rival.id, successor=successor, relation=relation, valid_until_us=until_us, reason=reason)
    ]


def _is_touched(changes: list[Change], rival: Memory) -> bool:
    return any(isinstance(one, Supersede) and one.memory_id == rival.id for one in changes)


def _name_none(claim: Claim) -> Claim:
    """Let a claim name no memory; an ending then only keeps its sentence."""
    left = replace(claim, rival=None)
    return remove_slot(left) if claim.move is UpdateKind.END else replace(left, move=UpdateKind.STATE)


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
