"""Dream step 5: choose the beliefs to challenge. A challenge flags a memory and lowers its score. Pure.

Without a model there are three grounds: a later memory of the same slot conflicts, all its evidence is deleted, or it
is old and was never confirmed. The last is limited to five a night (E-070), and skips attributes that do not age (a
name, a birthday) and memories shown within two weeks; with a model, five are asked about instead. Engram silently
lowers the importance of a doubted memory; here its status changes (D-028).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.model.change import SetStatus
from credenda.model.memory import (
    Cardinality,
    Layer,
    Memory,
    Slot,
    Stance,
    Status,
    get_type_class,
    get_valid_from_us,
    is_dreamed,
)
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name, normalise_value

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
"""Attributes that do not become doubtful with time."""
_SHOWN_CONFIDENCE: Final = 0.5
_UNTIL_DETAIL: Final = " ("


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRules:
    """The limits; ages are days.

    Five a night and fourteen days are engram's (E-070). The year is our choice: a fact that was neither confirmed nor
    shown in all seasons deserves a question.
    """

    max_per_run: int = 5
    idle_days: float = 14.0
    old_days: float = 365.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeCandidate:
    """A memory, the days since its creation, and since it was last shown (or else created)."""

    memory: Memory
    age_days: float
    idle_days: float


def may_be_probed(memory: Memory) -> bool:
    """Return whether a memory may be challenged automatically: active, and neither pinned, contested nor derived."""
    return (
        memory.status is Status.ACTIVE
        and not (memory.pinned or memory.contested or is_dreamed(memory))
        and memory.layer is not Layer.CODEBASE
    )


def get_single_slot(memory: Memory) -> Slot | None:
    """Return the slot of an assertive single-valued memory; None without one."""
    if memory.cardinality is not Cardinality.SINGLE or memory.stance not in _FIRM or memory.contested:
        return None
    if not (memory.entity and memory.attribute and memory.value) or is_dreamed(memory):
        return None
    return Slot(
        normalise_name(memory.speaker),
        normalise_name(memory.entity),
        normalise_attribute(memory.attribute),
        normalise_name(memory.scope or "") or None,
        get_type_class(memory.type),
    )


def _get_since(memory: Memory) -> tuple[int, int]:
    return get_valid_from_us(memory), memory.created_us


def _is_in_conflict(one: Memory, other: Memory) -> bool:
    denied = one.stance is Stance.NEGATED, other.stance is Stance.NEGATED
    if any(denied):
        return denied[0] != denied[1] and is_same_value(one.value, other.value)
    return normalise_value(one.value or "") != normalise_value(other.value or "") and not is_same_value(
        one.value, other.value
    )


def find_contradicted(members: Sequence[Memory]) -> list[tuple[Memory, Memory]]:
    """Find the memories of one slot that a later one contradicts, each with the latest such memory.

    A later memory counts if it is active, or if it is challenged but was confirmed.
    """
    found: list[tuple[Memory, Memory]] = []
    for one in members:
        later = [
            other
            for other in members
            if _get_since(other) > _get_since(one)
            and _is_in_conflict(one, other)
            and other.confidence >= _SHOWN_CONFIDENCE
            and (other.status is Status.ACTIVE or other.confirmations > 0)
        ]
        if may_be_probed(one) and later:
            found.append((one, max(later, key=_get_since)))
    return found


def is_unsupported(memory: Memory, words: Iterable[str]) -> bool:
    """Return whether all evidence text of a memory is deleted; False for a memory without evidence."""
    spoken = list(words)
    return may_be_probed(memory) and bool(spoken) and not any(any(letter.isalnum() for letter in one) for one in spoken)


def is_old_unconfirmed(one: ProbeCandidate, rules: ProbeRules) -> bool:
    """Return whether a memory is old and was never confirmed."""
    plain = _may_be_asked(one, rules) and normalise_attribute(one.memory.attribute or "") not in _AGELESS
    return plain and not one.memory.confirmations and one.age_days > rules.old_days


def _may_be_asked(one: ProbeCandidate, rules: ProbeRules) -> bool:
    return may_be_probed(one.memory) and one.memory.layer in _PROBED and one.idle_days >= rules.idle_days


def draw_probes(found: Iterable[ProbeCandidate], rules: ProbeRules, day: int) -> list[ProbeCandidate]:
    """Draw the memories to ask a model about; the draw is the same within a day."""
    asked = [one for one in found if _may_be_asked(one, rules)]
    return sorted(asked, key=lambda one: _hash_lot(one.memory.id, day))[: rules.max_per_run]


def _hash_lot(memory_id: str, day: int) -> bytes:
    return hashlib.blake2b(f"{day} {memory_id}".encode(), digest_size=8).digest()


def challenge(memory: Memory, ground: str, earlier: Iterable[str]) -> SetStatus | None:
    """Challenge a memory on a ground; None if it was challenged on the same ground before.

    `earlier` are the reasons of earlier challenges in its log. Text in brackets after a ground is ignored.
    """
    reason = f"probe: {ground}"
    if reason.split(_UNTIL_DETAIL, maxsplit=1)[0] in {one.split(_UNTIL_DETAIL)[0] for one in earlier}:
        return None
    return SetStatus(memory_id=memory.id, status=Status.CHALLENGED, reason=reason)
