"""Step 5, pure: which beliefs are doubted, and why. A doubt is a flag and a lower score; it takes nothing back.

Three things raise one without a model: a later memory of the same slot says otherwise, no words are left that say it,
or it was never confirmed and is old. The last is bounded to five a night (E-070) and never touches what does not age
(a name, a birthday) or what was shown within two weeks; with a model, the five are asked about instead. Engram lowers
the importance of what it doubts and never says so; here the status says it (D-028).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.model.change import SetStatus
from credenda.model.dreamed import is_dreamed
from credenda.model.memory import Cardinality, Layer, Memory, Slot, Stance, Status, type_class
from credenda.text.normal import attribute_key, name_key, same_value, value_key

__all__ = [
    "ProbeRules",
    "Probed",
    "aged",
    "challenge",
    "contradicted",
    "picked",
    "probeable",
    "single_slot",
    "unspoken",
]

_FIRM: Final = frozenset({Stance.ASSERTED, Stance.NEGATED})
_PROBED: Final = frozenset({Layer.SEMANTIC, Layer.PROCEDURAL})
_AGELESS: Final = frozenset(
    {
        "name",
        "full_name",
        "first_name",
        "last_name",
        "nickname",
        "birthday",
        "birth_date",
        "date_of_birth",
        "birth_year",
    }
    | {
        "birthplace",
        "hometown",
        "native_language",
        "mother_tongue",
        "nationality",
        "blood_type",
        "allergy",
        "allergies",
    }
    | {"instruction", "gender", "pronouns", "ethnicity", "alias", "degree", "experience", "event"}
)
"""What does not grow doubtful with time."""
_SHOWN_CONFIDENCE: Final = 0.5
_UNTIL_DETAIL: Final = " ("


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRules:
    """The bounds; ages are days.

    Five a night and fourteen days are engram's (E-070); a year is ours: what nobody said again or asked for through all
    seasons is worth a question.
    """

    a_night: int = 5
    idle_days: float = 14.0
    old_days: float = 365.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """A memory, the days since it was first held, and since it was last shown (or else first held)."""

    memory: Memory
    age_days: float
    idle_days: float


def probeable(memory: Memory) -> bool:
    """Return whether a memory may be doubted by itself: not what is pinned, asked about or doubted already."""
    return (
        memory.status is Status.ACTIVE
        and not (memory.pinned or memory.contested or is_dreamed(memory))
        and memory.layer is not Layer.CODEBASE
    )


def single_slot(memory: Memory) -> Slot | None:
    """Return the slot in which a firm memory holds the one value; None where it has none, or one of several."""
    if memory.cardinality is not Cardinality.SINGLE or memory.stance not in _FIRM or memory.contested:
        return None
    if not (memory.entity and memory.attribute and memory.value) or is_dreamed(memory):
        return None
    return Slot(
        name_key(memory.speaker),
        name_key(memory.entity),
        attribute_key(memory.attribute),
        name_key(memory.scope or "") or None,
        type_class(memory.type),
    )


def _since(memory: Memory) -> tuple[int, int]:
    begun = memory.created_us if memory.valid_from_us is None else memory.valid_from_us
    return begun, memory.created_us


def _opposed(one: Memory, other: Memory) -> bool:
    denied = one.stance is Stance.NEGATED, other.stance is Stance.NEGATED
    if any(denied):
        return denied[0] != denied[1] and same_value(one.value, other.value)
    return value_key(one.value or "") != value_key(other.value or "") and not same_value(one.value, other.value)


def contradicted(members: Sequence[Memory]) -> list[tuple[Memory, Memory]]:
    """Find, among the memories of one slot, those that a later one speaks against; each with the latest that does.

    A later one counts where it is held, or where it is doubted itself but was said more than once.
    """
    found: list[tuple[Memory, Memory]] = []
    for one in members:
        later = [
            other
            for other in members
            if _since(other) > _since(one)
            and _opposed(one, other)
            and other.confidence >= _SHOWN_CONFIDENCE
            and (other.status is Status.ACTIVE or other.confirmations > 0)
        ]
        if probeable(one) and later:
            found.append((one, max(later, key=_since)))
    return found


def unspoken(memory: Memory, words: Iterable[str]) -> bool:
    """Return whether no words are left of what a memory rests on; what never rested on any is not asked."""
    spoken = list(words)
    return probeable(memory) and bool(spoken) and not any(any(letter.isalnum() for letter in one) for one in spoken)


def aged(one: Probed, rules: ProbeRules) -> bool:
    """Return whether a memory was never confirmed and is old."""
    plain = _may_be_asked(one, rules) and attribute_key(one.memory.attribute or "") not in _AGELESS
    return plain and not one.memory.confirmations and one.age_days > rules.old_days


def _may_be_asked(one: Probed, rules: ProbeRules) -> bool:
    return probeable(one.memory) and one.memory.layer in _PROBED and one.idle_days >= rules.idle_days


def picked(found: Iterable[Probed], rules: ProbeRules, day: int) -> list[Probed]:
    """Draw the memories to ask a model about tonight: the same for a day, others on the next."""
    asked = [one for one in found if _may_be_asked(one, rules)]
    return sorted(asked, key=lambda one: _lot(one.memory.id, day))[: rules.a_night]


def _lot(memory_id: str, day: int) -> bytes:
    return hashlib.blake2b(f"{day} {memory_id}".encode(), digest_size=8).digest()


def challenge(memory: Memory, ground: str, earlier: Iterable[str]) -> SetStatus | None:
    """Doubt a memory on a ground; None where it was doubted on the same one before, and somebody lifted that.

    `earlier` are the reasons of doubts in its log. What stands in brackets behind a ground is detail.
    """
    reason = f"probe: {ground}"
    if reason.split(_UNTIL_DETAIL, maxsplit=1)[0] in {one.split(_UNTIL_DETAIL)[0] for one in earlier}:
        return None
    return SetStatus(memory_id=memory.id, status=Status.CHALLENGED, reason=reason)
