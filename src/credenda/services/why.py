"""Explain a memory: its evidence and its changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from credenda import read
from credenda.model.memory import mark_over
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
    with parts.store.reader(parts.user_id) as reader:
        memory_id = get_current(reader, resolve_id_in(reader, memory_id)).id
        found = read.history.read_explanation(reader, memory_id)
    return replace(found, memory=mark_over([found.memory], parts.clock.now_us())[0])
