"""engram (engram-memory-system): its SQLite database, with layers, types and statuses."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from credenda.clock import from_datetime
from credenda.model.memory import UNTRUE, Draft, Layer, MemoryType, Status, get_initial_layer
from credenda.portability.importers.databases import (
    DatabaseFormat,
    list_columns,
    read_fraction,
    read_metadata,
    read_stamp,
    read_stamp_us,
    show_id,
)
from credenda.portability.importers.format import ForeignMemory, Omitted
from credenda.portability.importers.json_checks import Table, list_texts, read_moment_or_none, read_text

_STATUSES: Final = {
    one.value: one for one in (Status.ACTIVE, Status.CHALLENGED, Status.INVALIDATED, Status.MERGED, Status.SUPERSEDED)
}
_TYPES: Final = {
    **{one.value: one for one in (MemoryType.FACT, MemoryType.PROCEDURE, MemoryType.NARRATIVE)},
    "factual": MemoryType.FACT,
    "procedural": MemoryType.PROCEDURE,
    "experiential": MemoryType.NARRATIVE,
}
_LAYER_TYPES: Final = {"procedural": MemoryType.PROCEDURE, "semantic": MemoryType.FACT}
_DERIVED: Final = frozenset({"peer_card", "cross_domain_bridge", "community_summary"})
"""Types of texts that the dream cycle derives from other memories, and derives again here."""
_HISTORY: Final = "status_history"
_ABSORBED: Final = "merged_from"
_OWN: Final = frozenset({"pinned", _ABSORBED})
"""Fields of the metadata that have another place here."""


class _Step(NamedTuple):
    """The last change of a status."""

    at_us: int | None = None
    reason: str = ""


class EngramFormat(DatabaseFormat):
    """The database of engram."""

    name = "engram"
    program = "engram"
    words = "content"
    columns = frozenset({"layer"})
    others = frozenset({"primary_sector", "base_importance"})
    left_out = ("entities", "relationships", "events", "diary_entries", "session_handoffs")

    def begin(self, database: sqlite3.Connection) -> Callable[[Table], ForeignMemory | Omitted]:
        """Return the reader of a row, with the last step of its status and the memory that absorbed it."""
        steps = _read_steps(database)
        absorbed: dict[str, str] = {}
        if {"metadata", "created_at"} <= set(list_columns(database, "memories")):
            query = "SELECT id, metadata, created_at FROM memories WHERE instr(metadata, ?)"
            for name, metadata, created_at in database.execute(query, (_ABSORBED,)):
                for one in map(show_id, list_texts(read_metadata(metadata), _ABSORBED)):
                    absorbed[one] = show_id(name)
                    steps.setdefault(one, _Step(_read_time(created_at)))
        return lambda table: _read_memory(table, steps, absorbed)


def _read_steps(database: sqlite3.Connection) -> dict[str, _Step]:
    if not {"memory_id", "reason", "changed_at"} <= set(list_columns(database, _HISTORY)):
        return {}
    rows = database.execute(f"SELECT memory_id, changed_at, reason FROM {_HISTORY} ORDER BY changed_at")  # noqa: S608 - our own
    return {show_id(name): _Step(_read_time(at), str(reason or "")) for name, at, reason in rows}


def _read_memory(table: Table, steps: Mapping[str, _Step], absorbed: Mapping[str, str]) -> ForeignMemory | Omitted:
    name, details = show_id(table["id"]), read_metadata(table.get("metadata"))
    if read_text(details, "type") in _DERIVED:
        return Omitted(what="derived texts")
    status = _read_status(table, details, is_absorbed=name in absorbed)
    step = _read_step(status, details, steps.get(name, _Step()))
    created_us = read_stamp_us(table.get("created_at"))
    stated = read_text(table, "layer")
    layer = Layer(stated) if stated in frozenset(Layer) else None
    kind = _read_type(table, details)
    return ForeignMemory(
        id=name,
        draft=Draft(
            text="",
            type=kind,
            layer=layer or get_initial_layer(kind),
            importance=read_fraction(table.get("importance"), 0.5),
            status=status,
            valid_from_us=_read_time(table.get("fact_date")) or created_us,
            valid_until_us=(step.at_us or created_us) if status in UNTRUE else None,
            pinned=bool(details.get("pinned")),
        ),
        successor=absorbed.get(name, ""),
        accessed_us=read_stamp_us(table.get("last_accessed")) if table.get("access_count") else None,
        reason=f"{status} in engram: {step.reason}" if step.reason else "",
        metadata={key: value for key, value in details.items() if key not in _OWN},
    )


def _read_time(value: object) -> int | None:
    """Return a time that has a fallback; None for one that cannot be read."""
    moment = read_moment_or_none(read_stamp(value))
    return None if moment is None else from_datetime(moment)


def _read_status(table: Table, details: Table, *, is_absorbed: bool) -> Status:
    """Return the status of a memory; what the dream cycle or a tool noted in the metadata counts as well."""
    status = _STATUSES.get(read_text(table, "status"), Status.ACTIVE)
    if status is Status.ACTIVE and details.get("invalidated"):
        return Status.INVALIDATED
    if status in (Status.ACTIVE, Status.CHALLENGED) and table.get("forgotten"):
        return Status.MERGED if is_absorbed else Status.FORGOTTEN
    return Status.CHALLENGED if status is Status.ACTIVE and details.get("belief_challenged") else status


def _read_step(status: Status, details: Table, step: _Step) -> _Step:
    if step.at_us is None and status is Status.INVALIDATED:
        return _Step(_read_time(details.get("invalidated_at")), read_text(details, "invalidation_reason"))
    if step.at_us is None and status is Status.CHALLENGED:
        return _Step(_read_time(details.get("challenged_at")), read_text(details, "challenge_reason"))
    return step


def _read_type(table: Table, details: Table) -> MemoryType:
    """Return the type of a memory; of one without a type, that of its metadata, else of its layer (E-011)."""
    stated = _TYPES.get(read_text(table, "memory_type")) or _TYPES.get(read_text(details, "type"))
    return stated or _LAYER_TYPES.get(read_text(table, "layer"), MemoryType.NARRATIVE)
