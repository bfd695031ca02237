"""Explain a memory: its evidence and its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credenda.model.query import (
    Explanation,
)
from credenda.runtime import Parts
from credenda.services.lookup import get_current
from credenda.services.short_ids import resolve_id_in

if TYPE_CHECKING:
    pass

__all__ = ["why"]


def why(parts: Parts, memory_id: str) -> Explanation:
    """Return the provenance of a memory: its evidence and every change to it."""
    from credenda.read.history import read_explanation as explain

    with parts.store.reader(parts.user_id) as reader:
        memory_id = get_current(reader, resolve_id_in(reader, memory_id)).id
        return explain(reader, memory_id)
