"""Convert results to JSON, with the field names of the public contract and times in RFC 3339."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple, NotRequired, TypedDict, cast, get_type_hints

from credenda.clock import format_time, from_datetime
from credenda.model.change import ChangeRecord, ContestCase
from credenda.model.evaluation import BeliefTestReport
from credenda.model.event import Event
from credenda.model.governance import ComplianceReport
from credenda.model.memory import Memory
from credenda.model.query import EarnedImportance, Explanation, SlotVersion, StatusStep
from credenda.model.report import (
    BackupReport,
    DriftReport,
    EraseReceipt,
    ExportReport,
    ImportReport,
    RestoreReport,
    ScanReport,
    SyncReport,
)

# The public fields of a value: the attribute that each is read from, its name in JSON, and its type.


_HIDDEN: Final[Mapping[type, frozenset[str]]] = {
    Event: frozenset({"content_hmac", "chain_hash"}),
    ChangeRecord: frozenset({"support"}),
    ContestCase: frozenset({"type_class"}),
    SlotVersion: frozenset({"entity", "attribute", "speaker", "kind", "contested", "denied"}),
}
"""Fields that no door shows."""
_LOCAL: Final[Mapping[type, frozenset[str]]] = {
    BackupReport: frozenset({"path"}),
    BeliefTestReport: frozenset({"path"}),
    ComplianceReport: frozenset({"path"}),
    DriftReport: frozenset({"roots"}),
    EraseReceipt: frozenset({"backups", "exported"}),
    ExportReport: frozenset({"path"}),
    ImportReport: frozenset({"path"}),
    RestoreReport: frozenset({"path", "backup"}),
    ScanReport: frozenset({"root"}),
    SyncReport: frozenset({"path"}),
}
"""Fields that hold paths of this machine, which no other machine is shown."""
_ADDED: Final[Mapping[type, tuple[str, ...]]] = {Memory: ("statement", "quote", "memory_type")}
"""Properties that are shown beside the fields."""
_RENAMED: Final[Mapping[type, Mapping[str, str]]] = {
    StatusStep: {"previous": "old", "status": "new", "at_us": "changed_at"},
}
"""Names in JSON where they differ: a step of a status has those of engram (E-022)."""
_MICROSECONDS: Final = "_us"
_VALIDITY: Final = frozenset({"valid_from", "valid_until"})
_BARE_TIMES: Final = frozenset({"valid_from", "valid_until", "last_accessed", "since", "until", "at"})
"""Times whose name in JSON does not end in `_at`."""


class QuotedEvidence(TypedDict):
    """A span of an event, with its words."""

    event: Event
    start: int
    end: int
    quote: str


class ExplanationShown(TypedDict):
    """An explanation in JSON: each piece of evidence is an object with its quote."""

    memory: Memory
    evidence: list[QuotedEvidence]
    changes: list[ChangeRecord]
    authors: NotRequired[Mapping[str, str]]
    earned: NotRequired[EarnedImportance]


class Shown(NamedTuple):
    """One public field: the name in JSON, and the attribute that holds the value."""

    name: str
    attribute: str


def get_json_name(attribute: str) -> str:
    """Return the name in JSON: microseconds become a time, whose name ends in `_at` unless it says so already."""
    if not attribute.endswith(_MICROSECONDS):
        return attribute
    bare = attribute.removesuffix(_MICROSECONDS)
    return bare if bare in _BARE_TIMES else f"{bare}_at"


@cache
def list_public_fields(kind: type, *, remote: bool = False) -> tuple[Shown, ...]:
    """Return the public fields of a dataclass in the order in which JSON shows them: the id first.

    A `remote` caller is shown no field that holds a path of this machine.
    """
    hidden, renamed = _HIDDEN.get(kind, frozenset()), _RENAMED.get(kind, {})
    if remote:
        hidden |= _LOCAL.get(kind, frozenset())
    names = [field.name for field in fields(kind) if field.name not in hidden]
    shown = [Shown(renamed.get(name, get_json_name(name)), name) for name in (*names, *_ADDED.get(kind, ()))]
    return tuple(sorted(shown, key=lambda one: one.name != "id"))


def get_type(kind: type, attribute: str) -> Any:  # noqa: ANN401 - any annotation
    """Return the annotation of a field or a property."""
    found = getattr(kind, attribute, None)
    return get_type_hints(found.fget)["return"] if isinstance(found, property) else _get_hints(kind)[attribute]


def get_shown_type(kind: type) -> type:
    """Return the type that JSON shows a value as."""
    return ExplanationShown if kind is Explanation else kind


@cache
def _get_hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def to_jsonable(value: Any, *, remote: bool = False) -> Any:  # noqa: ANN401 - JSON is what it is
    """Convert a result to tables, lists, strings and numbers; for a `remote` caller, without paths of this machine."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)  # a member of an enumeration becomes its word
    if isinstance(value, datetime):
        return format_time(from_datetime(value))
    if isinstance(value, Explanation):
        evidence: list[QuotedEvidence] = [
            {"event": event, "start": start, "end": end, "quote": event.text[start:end]}
            for event, start, end in value.evidence
        ]
        shown: ExplanationShown = {"memory": value.memory, "evidence": evidence, "changes": list(value.changes)}
        if value.authors:
            shown["authors"] = value.authors
        if value.earned is not None:
            shown["earned"] = value.earned
        return to_jsonable(shown, remote=remote)
    if is_dataclass(value):
        return {
            one.name: _convert_field(one.attribute, _read_field(value, one.name, one.attribute), remote=remote)
            for one in list_public_fields(type(value), remote=remote)
        }
    return _convert_container(value, remote=remote)


def _read_field(value: object, name: str, attribute: str) -> object:
    """Return what an attribute is shown as: of a value that was never true, no period in which it was."""
    is_over = name in _VALIDITY and getattr(value, name, ...) is None
    return None if is_over else getattr(value, attribute)


def _convert_field(name: str, value: object, *, remote: bool) -> Any:  # noqa: ANN401 - as `to_jsonable`
    """Show microseconds as a time."""
    if not name.endswith("_us"):
        return to_jsonable(value, remote=remote)
    return format_time(value) if isinstance(value, int) else None


def _convert_container(value: object, *, remote: bool) -> Any:  # noqa: ANN401 - as `to_jsonable`
    if isinstance(value, Mapping):
        table = cast("Mapping[object, object]", value)
        return {
            get_json_name(str(name)): _convert_field(str(name), item, remote=remote) for name, item in table.items()
        }
    if isinstance(value, AbstractSet):
        return sorted(to_jsonable(item, remote=remote) for item in value)  # type: ignore[arg-type]
    if isinstance(value, Iterable):
        return [to_jsonable(item, remote=remote) for item in value]  # type: ignore[arg-type]
    return str(value)


def encode(value: object, *, ascii_only: bool = False, indent: int | None = 2) -> str:
    """Write a result as one JSON document; without an indent it is one line."""
    return json.dumps(to_jsonable(value), ensure_ascii=ascii_only, indent=indent, allow_nan=False)
