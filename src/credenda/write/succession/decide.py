"""Turn the matches of a replacing sentence into changes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from credenda.model.change import Change, Supersede
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Memory, Relation, Status
from credenda.write.reconcile.candidate import make_candidate
from credenda.write.reconcile.inputs import StatementContext
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, display_value, get_slot, get_valid_from_us, is_denial
from credenda.write.reconcile.wording import explain_replacement
from credenda.write.succession.old import Match
from credenda.write.succession.words import phrase

__all__ = ["Told", "explained", "placed_by", "succeeded"]

_TOLD: Final = 0.5
_PLACED: Final = 0.7
_RULES: Final = {
    "refilled": "same sentence with another value",
    "slot": "same thing with another value",
    "left": "named as left behind",
    "ended": "named as ended",
    "state": "a new state of the same kind",
    "dead": "about somebody who has died",
    "closer": "same statement with a time added",
    "again": "a denied statement holds again",
    "weighed": "classified as a replacement by wording",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A replacing sentence: its text as a claim, its matches, and the memories that it gave already."""

    claim: Claim
    matches: tuple[Match, ...]
    resting: tuple[Memory, ...]


def placed_by(told: Told) -> Claim | None:
    """Return the sentence as a claim in the slot that it replaces, if it gave no other claim; else None.

    The new value must be known and replace the whole old value, or the old value must have ended.
    """
    match, old = told.matches[0], told.matches[0].memory
    if told.resting or get_slot(old) is None or old.stance not in ASSERTIVE_STANCES or is_denial(old):
        return None
    claim = replace(
        told.claim,
        type=old.type,
        entity=old.entity,
        attribute=old.attribute,
        scope=old.scope,
        cardinality=old.cardinality,
        confidence=_PLACED,
    )
    if match.rule == "ended":
        return replace(claim, value=old.value, move=UpdateKind.END)
    if match.into is None or match.cell is None or _terms(match.cell) != _terms(old.value or ""):
        return None
    return replace(claim, value=match.into, prior=old.value, move=UpdateKind.CHANGE)


def succeeded(told: Told, occasion: StatementContext) -> list[Change]:
    """Supersede the matched memories by the sentence's own memory, else by its verbatim text."""
    match = told.matches[0]
    heir = _heir(match, told.resting)
    if heir is not None:
        return [_replaced(one, heir.id, display_value(heir) or heir.text, occasion) for one in told.matches]
    words = make_candidate(replace(told.claim, type=match.memory.type, confidence=_TOLD), occasion)
    added = words.add("states a change")
    return [added, *(_replaced(one, added.key, told.claim.text, occasion) for one in told.matches)]


def explained(change: Change, told: Told) -> Change:
    """Append the rule and the signs of the match to the reason of its replacement."""
    match = told.matches[0]
    if isinstance(change, Supersede) and change.memory_id == match.memory.id:
        return replace(change, reason=f"{change.reason}; {_signs(match)}")
    return change


def _heir(match: Match, resting: Sequence[Memory]) -> Memory | None:
    """Choose the sentence's memory that replaces the old one: that with the new value, else the last assertive one."""
    held = [one for one in resting if one.status is Status.ACTIVE and one.stance in ASSERTIVE_STANCES]
    wanted = _terms(match.into or "")
    naming = [one for one in held if wanted and wanted <= _terms(one.value or one.text) and not is_denial(one)]
    return (naming or held or [None])[-1]


def _replaced(match: Match, successor: str, new: str, occasion: StatementContext) -> Supersede:
    old = match.memory
    relation = Relation.REFINED if match.rule == "closer" else Relation.CHANGED
    return Supersede(
        memory_id=old.id,
        successor=successor,
        relation=relation,
        valid_until_us=max(get_valid_from_us(old), occasion.occurred_us),
        reason=f"{explain_replacement(relation, new, display_value(old) or old.text)}; {_signs(match)}",
    )


def _signs(match: Match) -> str:
    signs = ", ".join(one.removeprefix("#") for one in match.shared)
    return f"{_RULES[match.rule]} ({signs})"


def _terms(text: str) -> frozenset[str]:
    return phrase(text).terms
