"""Find the memory that a claim paraphrases or refines: reads the store, compares by the pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from credenda.limits import AGAIN_NOMINATED
from credenda.model.change import Add, Change, Confirm, Supersede
from credenda.model.claim import Claim
from credenda.model.derived import is_dreamed
from credenda.model.event import Event, Role
from credenda.model.memory import Memory, Relation
from credenda.storage.store import Reader
from credenda.write.again.compare import comparable, more_exact, other_words, same_said, told_plainly
from credenda.write.again.sense import plainly, sense
from credenda.write.reconcile.candidate import make_candidate
from credenda.write.reconcile.inputs import StatementContext
from credenda.write.reconcile.slots import TRUST_MARGIN, display_value, get_valid_from_us
from credenda.write.reconcile.wording import explain_replacement, split_value
from credenda.write.related import find_related

__all__ = ["Again", "said_again", "with_again"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """The matched memory and the matching words; with `exact` the claim is a refinement and replaces the memory."""

    memory: Memory
    signs: str
    exact: bool


def said_again(reader: Reader, event: Event, claim: Claim, *, alone: bool) -> Again | None:
    """Find the one memory that a claim paraphrases or refines; None without one, or if two match equally.

    `alone`: the claim's sentence gave no other claim.
    """
    if event.role not in {Role.USER, Role.PERSON} or not told_plainly(claim):
        return None
    held = [
        one
        for one in _near(reader, claim)
        if comparable(claim, one)
        and get_valid_from_us(one) <= event.occurred_us
        and event.trust >= one.trust - TRUST_MARGIN
    ]
    if not held:
        return None
    texts = [one.text for one in held]
    same = [
        Again(memory=one, signs=signs, exact=False)
        for one in held
        if (signs := same_said(claim, one, alone=alone and texts.count(one.text) == 1)) is not None
    ]
    if same:
        return same[0] if len(same) == 1 else None
    exact = [
        Again(memory=one, signs=added, exact=True)
        for one in held
        if alone and texts.count(one.text) == 1 and (added := more_exact(claim, one)) is not None
    ]
    return exact[0] if len(exact) == 1 else None


def _near(reader: Reader, claim: Claim) -> list[Memory]:
    """Load the memories that share the rarest words with a claim, except those with the same text."""
    said = sense(plainly(claim.text))
    words = list(dict.fromkeys([*split_value(claim.value or ""), *said.matters, *other_words(claim)]))
    if not words:
        return []
    return [one for one in find_related(reader, words, AGAIN_NOMINATED) if not is_dreamed(one)]


def with_again(
    again: Again, claim: Claim, changes: Sequence[Change], *, occasion: StatementContext, read: Claim
) -> list[Change]:
    """Turn the changes of a claim into those of its paraphrase match."""
    memory, saying = again.memory, make_candidate(claim, occasion, read)
    if not again.exact:
        known = any(isinstance(one, Confirm) and one.memory_id == memory.id for one in changes)
        if known or any(isinstance(one, Supersede) and one.memory_id != memory.id for one in changes):
            return list(changes)
        return [saying.confirm(memory, f"restated in other words ({again.signs})")]
    if any(isinstance(one, Supersede) and one.memory_id == memory.id for one in changes):
        return list(changes)
    added = next((one for one in changes if isinstance(one, Add)), None)
    known = next((one for one in changes if isinstance(one, Confirm)), None)
    made: list[Change] = []
    if added is None and (known is None or known.memory_id == memory.id):
        added = saying.add("restated more specifically")
        made = [added]
    successor = added.key if added is not None else known.memory_id if known is not None else saying.key
    new, old = display_value(claim) or claim.text, display_value(memory) or memory.text
    gone = Supersede(
        memory_id=memory.id,
        successor=successor,
        relation=Relation.REFINED,
        valid_until_us=max(get_valid_from_us(memory), occasion.occurred_us),
        reason=f"{explain_replacement(Relation.REFINED, new, old)}; same statement with “{again.signs}” added",
    )
    return [*(made or changes), gone]
