"""Recall (szl-recall): its SQLite file, with the history of every slot."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

from credenda.model.memory import Draft, MemoryType, Status, get_initial_layer
from credenda.portability.importers.databases import DatabaseFormat, read_fraction, read_stamp_us, show_id
from credenda.portability.importers.format import ForeignMemory, Omitted
from credenda.portability.importers.json_checks import Table, mend_surrogates, read_text
from credenda.text.normalize import normalise_attribute

_TYPES: Final = frozenset(MemoryType)
_REASONS: Final = {
    Status.SUPERSEDED: "replaced in Recall",
    Status.MERGED: "merged in Recall, which names no successor",
}


class RecallFormat(DatabaseFormat):
    """The database of Recall."""

    name = "recall"
    program = "Recall"
    words = "text"
    columns = frozenset({"valid_until", "superseded_by"})
    others = frozenset({"base_importance"})
    left_out = ("operations", "api_tokens", "tool_call_records", "a2a_tasks", "eval_scores")

    def begin(self, database: sqlite3.Connection) -> Callable[[Table], ForeignMemory | Omitted]:
        """Return the reader of a row, which says everything about its memory."""
        del database
        return _read_memory


def _read_memory(table: Table) -> ForeignMemory:
    successor = show_id(table.get("superseded_by"))
    until_us = read_stamp_us(table.get("valid_until"))
    stated = read_text(table, "type")
    kind = MemoryType(stated) if stated in _TYPES else MemoryType.FACT
    status = Status.ACTIVE if until_us is None else Status.SUPERSEDED if successor else Status.MERGED
    return ForeignMemory(
        id=show_id(table["id"]),
        draft=Draft(
            text="",
            type=kind,
            layer=get_initial_layer(kind),
            entity=mend_surrogates(read_text(table, "entity")) or None,
            attribute=normalise_attribute(mend_surrogates(read_text(table, "attribute"))) or None,
            value=mend_surrogates(read_text(table, "value")) or None,
            confidence=read_fraction(table.get("confidence"), 0.8),
            importance=read_fraction(table.get("importance"), 0.5),
            status=status,
            valid_from_us=read_stamp_us(table.get("valid_from")) or read_stamp_us(table.get("created_at")),
            valid_until_us=until_us,
        ),
        successor=successor,
        accessed_us=read_stamp_us(table.get("last_accessed")),
        reason=_REASONS.get(status, ""),
    )
