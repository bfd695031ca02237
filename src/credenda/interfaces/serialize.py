"""Convert results to JSON, with the field names of the public contract and times in RFC 3339."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import is_dataclass
from datetime import datetime
from typing import Any, cast

from credenda.clock import format_time, from_datetime
from credenda.interfaces.fields import ExplanationShown, QuotedEvidence, get_json_name, list_public_fields
from credenda.model.query import Explanation

__all__ = ["encode", "to_jsonable"]


def to_jsonable(value: Any, *, remote: bool = False) -> Any:  # noqa: ANN401 - JSON is what it is
    """Convert a result to tables, lists, strings and numbers; for a `remote` caller, without paths of this machine."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)  # a member of an enumeration becomes its word
    if isinstance(value, datetime):
        return format_time(from_datetime(value))
    if isinstance(value, Explanation):
        return _convert_explanation(value, remote=remote)
    if is_dataclass(value):
        return {
            one.name: _convert_field(one.attribute, getattr(value, one.attribute), remote=remote)
            for one in list_public_fields(type(value), remote=remote)
        }
    return _convert_container(value, remote=remote)


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


def _convert_explanation(value: Explanation, *, remote: bool) -> dict[str, Any]:
    evidence: list[QuotedEvidence] = [
        {"event": event, "start": start, "end": end, "quote": event.text[start:end]}
        for event, start, end in value.evidence
    ]
    shown: ExplanationShown = {"memory": value.memory, "evidence": evidence, "changes": list(value.changes)}
    if value.authors:
        shown["authors"] = value.authors
    return to_jsonable(shown, remote=remote)


def encode(value: object, *, ascii_only: bool = False, indent: int | None = 2) -> str:
    """Write a result as one JSON document; without an indent it is one line."""
    return json.dumps(to_jsonable(value), ensure_ascii=ascii_only, indent=indent, allow_nan=False)
