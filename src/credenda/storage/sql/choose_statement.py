"""Choice of the statement that finds memories by an index. Pure."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from credenda.model.memory import Status
from credenda.storage.store import MemoryFilter

_BY_STATUS: Final = {
    "current_of_pair": frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED, Status.CANDIDATE}),
    "replaced_of_pair": frozenset({Status.SUPERSEDED, Status.MERGED}),
}
_NO_CONDITION: Final = MemoryFilter()
_UNSET: Final = {field.name: getattr(_NO_CONDITION, field.name) for field in fields(MemoryFilter)}


def choose_statement(wanted: MemoryFilter) -> str:
    """Choose the statement that finds memories by an index; the general one covers all other conditions."""
    if wanted.expires_before_us and _has_only(wanted, "expires_before_us", "limit"):
        return "expiring_memories"
    if wanted.pinned or wanted.attribute == "instruction":  # required by the index
        plain = _has_only(wanted, "pinned", "attribute", "statuses", "limit", "as_of_us")
        return "memories_always" if plain else "find_memories"
    if (wanted.pair is None) == (wanted.same_text_as is None):
        return "find_memories"
    if wanted.same_text_as is not None:
        return "memories_of_text" if _has_only(wanted, "same_text_as", "statuses", "limit") else "find_memories"
    if wanted.statuses is not None and _has_only(wanted, "pair", "statuses", "limit"):
        found = next((name for name, statuses in _BY_STATUS.items() if wanted.statuses <= statuses), None)
        if found is not None:
            return found
    return "memories_of_pair" if _has_only(wanted, "pair", "statuses", "limit", "as_of_us") else "find_memories"


def _has_only(wanted: MemoryFilter, *known: str) -> bool:
    """Return whether a filter has no other conditions."""
    return all(name in known or getattr(wanted, name) == unset for name, unset in _UNSET.items())
