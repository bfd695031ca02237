"""The short form of an answer, for a model: few fields, times to the day, and the same as lines of text. Pure.

Some hosts show a model the structured result and others the text, so that both are short and say the same. The ids lead
to the rest, and so does the full toolset, whose answers are data for programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any, Final, cast

from credenda.text.fence import CLOSING, OPENING, fence_text

NOTHING: Final = "Nothing is known."
_LEFT_OUT: Final = frozenset(
    {"statement", "importance", "confidence", "recorded_at", "type", "topic", "entity", "attribute", "tags"}
    | {"start", "end", "actor", "session", "role", "tokens", "counted_by", "agent_question", "memory_ids"}
)
_TIMES: Final = frozenset({"valid_from", "valid_until", "occurred_at", "opened_at", "changed_at", "at"})
_WORDS: Final = ("text", "quote", "question", "value", "understood", "kind")
"""Fields with the words of an item, of which the first one there stands in front."""
_FRAME: Final = frozenset({"notice", "status", "data"})
_FOR_PROGRAMS: Final = "job_id"
"""Stays in the data, by which a program may wait for a write; no line says it."""


def shorten_answer(answer: Mapping[str, Any], zone: tzinfo) -> dict[str, Any]:
    """Return an answer without the fields that say nothing to a model; days are in `zone`.

    A memory in a slot is its statement, which has its day; a version of a slot is its value.
    """
    return {name: _shorten(name, value, zone) for name, value in answer.items() if name not in _LEFT_OUT}


def _shorten(name: str, value: object, zone: tzinfo, *, several: bool = False) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        without = {"layer"} if several else set[str]()
        if "attribute" in table and "statement" in table:
            table = {**table, "text": table["statement"]}
            without |= {"valid_from"} if several else set()
        elif "value" in table:
            without |= {"text"}
        return shorten_answer({name: inner for name, inner in table.items() if name not in without}, zone)
    if isinstance(value, list):
        return [_shorten("", inner, zone, several=True) for inner in cast("list[object]", value)]
    if name in _TIMES and isinstance(value, str):
        return datetime.fromisoformat(value).astimezone(zone).date().isoformat()
    return value


def write_lines(answer: Mapping[str, Any]) -> str:
    """Write a short answer as lines, fenced where it recalls something.

    >>> write_lines({"status": "ok", "data": {"memory": {"id": "m1", "text": "Lives in Graz", "valid_from": "2026"}}})
    'memory: [m1] Lives in Graz (valid from: 2026)'
    >>> write_lines({"status": "ok", "data": {"queued": True, "job_id": "j1"}})
    'queued: true'
    """
    told = {name: value for name, value in answer.items() if name not in _FRAME} | answer.get("data", {})
    told.pop(_FOR_PROGRAMS, None)
    lines = [line for name, value in told.items() for line in _write_field(name.replace("_", " "), value)]
    if not lines:
        return "Done." if "status" in answer else NOTHING
    return "\n".join([OPENING, *lines, CLOSING] if "notice" in answer else lines)


def _write_field(name: str, value: object) -> Iterator[str]:
    if isinstance(value, list) and any(isinstance(one, dict) for one in cast("list[object]", value)):
        yield f"{name}:"
        yield from (f"- {_write_item(one)}" for one in cast("list[Any]", value))
    elif isinstance(value, dict):
        yield f"{name}: {_write_item(cast('dict[str, Any]', value))}"
    elif value or value == 0:
        yield f"{name}: {_write_value(value)}"


def _write_item(item: Mapping[str, Any]) -> str:
    """Write an item on one line: its id, its words, and what else is said of it in brackets."""
    first = next((name for name in _WORDS if name in item), "")
    said = {"id", first, "value"}  # the words of a memory have its value
    rest = {name: value for name, value in item.items() if name not in said and value}
    head = [f"[{item['id']}]"] if "id" in item else []
    words = [_write_value(item[first])] if first else list[str]()
    notes = "; ".join(f"{name.replace('_', ' ')}: {_write_value(value)}" for name, value in rest.items())
    return " ".join([*head, *words, *([f"({notes})"] if notes else [])])


def _write_value(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return ", ".join(_write_value(inner) for inner in cast("list[object]", value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_write_value(inner)}" for name, inner in cast("dict[str, object]", value).items())
    return fence_text(str(value).lower() if isinstance(value, bool) else str(value))
