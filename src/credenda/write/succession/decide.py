"""What a sentence that tells of a change retires, and what takes its place, as changes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from credenda.model.change import Change, Supersede
from credenda.model.claim import Claim, Move
from credenda.model.memory import Memory, Relation, Status
from credenda.write.reconcile.candidate import saying_of
from credenda.write.reconcile.inputs import Occasion
from credenda.write.reconcile.slots import FIRM, begins_us, denies, label, slot_of
from credenda.write.reconcile.wording import because
from credenda.write.succession.old import Match
from credenda.write.succession.words import phrase

__all__ = ["Told", "explained", "placed_by", "succeeded"]

_TOLD: Final = 0.5
_PLACED: Final = 0.7
_RULES: Final = {
    "refilled": "it says the same with another value",
    "slot": "it names the same thing with another value",
    "left": "it says that this is left behind",
    "ended": "it says that this has ended",
    "state": "the one state ends the other",
    "dead": "it was true of somebody who died",
    "closer": "it says the same and adds when",
    "again": "what was denied is so again",
    "weighed": "its words weigh for a change of this",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A sentence that takes the place of memories: its words as a claim, what it matches, and what it gave already."""

    claim: Claim
    matches: tuple[Match, ...]
    resting: tuple[Memory, ...]


def placed_by(told: Told) -> Claim | None:
    """Give the sentence as a claim in the slot of what it replaces, where nothing else was read from it; else None.

    The new value must be known and the old one be all of the slot's, or the old one must have ended.
    """
    match, old = told.matches[0], told.matches[0].memory
    if told.resting or slot_of(old) is None or old.stance not in FIRM or denies(old):
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
        return replace(claim, value=old.value, move=Move.END)
    if match.into is None or match.cell is None or _terms(match.cell) != _terms(old.value or ""):
        return None
    return replace(claim, value=match.into, prior=old.value, move=Move.CHANGE)


def succeeded(told: Told, occasion: Occasion) -> list[Change]:
    """Retire what was matched: what the sentence gave takes its place, or its own words, kept as they were said."""
    match = told.matches[0]
    heir = _heir(match, told.resting)
    if heir is not None:
        return [_replaced(one, heir.id, label(heir) or heir.text, occasion) for one in told.matches]
    words = saying_of(replace(told.claim, type=match.memory.type, confidence=_TOLD), occasion)
    added = words.add("it tells of a change")
    return [added, *(_replaced(one, added.key, told.claim.text, occasion) for one in told.matches)]


def explained(change: Change, told: Told) -> Change:
    """Add to the reason why the matched memory ends which signs said so."""
    match = told.matches[0]
    if isinstance(change, Supersede) and change.memory_id == match.memory.id:
        return replace(change, reason=f"{change.reason}; {_signs(match)}")
    return change


def _heir(match: Match, resting: Sequence[Memory]) -> Memory | None:
    """Choose which memory of the sentence takes the place: the one that names the new value, else the last firm one."""
    held = [one for one in resting if one.status is Status.ACTIVE and one.stance in FIRM]
    wanted = _terms(match.into or "")
    naming = [one for one in held if wanted and wanted <= _terms(one.value or one.text) and not denies(one)]
    return (naming or held or [None])[-1]


def _replaced(match: Match, successor: str, new: str, occasion: Occasion) -> Supersede:
    old = match.memory
    relation = Relation.REFINED if match.rule == "closer" else Relation.CHANGED
    return Supersede(
        memory_id=old.id,
        successor=successor,
        relation=relation,
        valid_until_us=max(begins_us(old), occasion.occurred_us),
        reason=f"{because(relation, new, label(old) or old.text)}; {_signs(match)}",
    )


def _signs(match: Match) -> str:
    signs = ", ".join(one.removeprefix("#") for one in match.shared)
    return f"{_RULES[match.rule]} ({signs})"


def _terms(text: str) -> frozenset[str]:
    return phrase(text).terms
