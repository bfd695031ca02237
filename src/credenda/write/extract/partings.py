"""Break-ups: "Lea and I broke up" ends Lea's role."""

from __future__ import annotations

from credenda.model.claim import UpdateKind
from credenda.model.memory import MemoryType
from credenda.write.extract.readings import Reading
from credenda.write.extract.values import load_clause

__all__ = ["parted_of"]


def parted_of(clause: str, owner: str | None) -> Reading | None:
    """Parse a break-up as the end of the other person's role; None without one."""
    found = load_clause("parted").match(clause)
    if found is None:
        return None
    value = found["value"].removeprefix("my ").removeprefix("My ")
    return Reading(type=MemoryType.FACT, entity=owner, value=value, move=UpdateKind.END, durable=True, pattern="parted")
