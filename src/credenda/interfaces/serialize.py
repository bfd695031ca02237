"""Convert results to JSON, with the field names of the public contract and times in RFC 3339."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, Final

from credenda.clock import format_time, from_datetime
from credenda.model.change import ChangeRecord
from credenda.model.contest import ContestCase
from credenda.model.diff import Diff, Difference
from credenda.model.event import Event
from credenda.model.memory import Memory
from credenda.model.query import Explanation, SlotVersion, StatusStep

__all__ = ["encode", "to_jsonable"]

_EVENT: Final = (
    *("id", "text", "role", "speaker", "source", "trust", "topic", "session", "agent", "external_id"),
    *("occurred_us", "recorded_us", "expires_us", "redacted_us", "flags", "tags", "metadata"),
)
_MEMORY: Final = (
    *("id", "text", "type", "topic", "entity", "attribute", "value", "scope", "cardinality", "stance"),
    *("confidence", "importance", "layer", "status", "relation", "valid_from", "valid_until", "superseded_by"),
    *("recorded_at", "last_accessed", "access_count", "decay_score", "pinned", "trust", "confirmations"),
    *("source_session", "contested", "speaker", "memory_type", "tags", "metadata", "provisional", "version"),
    *("created_at", "expired_at", "expires_at", "base_importance", "surprise", "emotional_valence"),
)
_CHANGE: Final = ("id", "kind", "actor", "reason", "at", "memory_id", "cause", "before", "after")
_CONTEST: Final = (
    *("id", "speaker", "entity", "attribute", "scope", "values", "memory_ids", "state", "question"),
    *("opened_us", "resolved_us", "resolution", "scopes"),
)
_DIFF: Final = ("axis", "since", "until", "differences", "counts")
_DIFFERENCE: Final = ("kind", "memory", "previous", "confirmations", "reason", "at", "changes")
_VERSION: Final = (
    *("memory_id", "text", "value", "scope", "status", "relation", "superseded_by", "reason"),
    *("valid_from", "valid_until", "recorded_at"),
)
_STEP: Final = ("old", "new", "reason", "changed_at", "actor", "kind", "change_id")
"""Fields of a status change, with engram's names (E-022), its actor and its change id."""
_SHOWN: Final[Mapping[type, tuple[str, ...]]] = {
    Event: _EVENT,
    Memory: _MEMORY,
    ChangeRecord: _CHANGE,
    ContestCase: _CONTEST,
    SlotVersion: _VERSION,
    Diff: _DIFF,
    Difference: _DIFFERENCE,
    StatusStep: _STEP,
}
"""The public fields of each type; other types show all their fields."""
_PLAIN_TIMES: Final = frozenset({"valid_from", "valid_until", "last_accessed"})


def to_jsonable(value: Any) -> Any:  # noqa: ANN401 - JSON is what it is
    """Convert a result to tables, lists, strings and numbers."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)  # a member of an enumeration becomes its value
    if isinstance(value, datetime):
        return format_time(from_datetime(value))
    if is_dataclass(value):
        special = _SPECIAL.get(type(value))
        return special(value) if special else _list_fields(value)
    return _convert_container(value)


def _list_fields(value: object) -> dict[str, Any]:
    shown = _SHOWN.get(type(value)) or tuple(field.name for field in fields(value))  # type: ignore[arg-type]
    return dict(_convert_field(name, getattr(value, name)) for name in shown)


def _convert_field(name: str, value: object) -> tuple[str, Any]:
    """Show microseconds as a time, under the field's public name."""
    if not name.endswith("_us"):
        return name, to_jsonable(value)
    bare = name.removesuffix("_us")
    known = bare if bare in _PLAIN_TIMES else f"{bare}_at"
    return known, format_time(value) if isinstance(value, int) else None


def _convert_container(value: object) -> Any:  # noqa: ANN401 - as `to_jsonable`
    if isinstance(value, Mapping):
        return dict(_convert_field(str(name), item) for name, item in value.items())  # type: ignore[arg-type]
    if isinstance(value, AbstractSet):
        return sorted(to_jsonable(item) for item in value)  # type: ignore[arg-type]
    if isinstance(value, Iterable):
        return [to_jsonable(item) for item in value]  # type: ignore[arg-type]
    return str(value)


def _convert_explanation(value: Explanation) -> dict[str, Any]:
    evidence = [
        {"event": to_jsonable(event), "start": start, "end": end, "quote": event.text[start:end]}
        for event, start, end in value.evidence
    ]
    return {"memory": to_jsonable(value.memory), "evidence": evidence, "changes": _list(value.changes)}


def _list(values: Sequence[object]) -> list[Any]:
    return [to_jsonable(value) for value in values]


def encode(value: object, *, ascii_only: bool = False, indent: int | None = 2) -> str:
    """Write a result as one JSON document; without an indent it is one line."""
    return json.dumps(to_jsonable(value), ensure_ascii=ascii_only, indent=indent, allow_nan=False)


_SPECIAL: Final[Mapping[type, Callable[[Any], dict[str, Any]]]] = {Explanation: _convert_explanation}
