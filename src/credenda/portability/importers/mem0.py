"""Memories of mem0, as returned by its `get_all`: short statements about a user, with times and metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from credenda.portability.importers.blocks import read_tags
from credenda.portability.importers.format import Parsed, Piece, Problem, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Statement,
    describe_item,
    list_texts,
    make_showable,
    make_statement_piece,
    parse_table,
    read_moment,
    read_text,
    read_whole,
    require_item,
)
from credenda.portability.line_reader import Element, Lines, read_elements

_HEAD: Final = re.compile(rb"\s*[\[{]")
_MARKS: Final = (b'"memory"', b'"created_at"', b'"id"')
_LISTS: Final = (b'"results"', b'"memories"')
_PROFILE: Final = "profile"
_FIELD_CHARACTERS: Final = 200
_KEPT: Final = ("user_id", "agent_id", "run_id", "actor_id", "app_id")
"""mem0's owner fields; imported memories belong to the importing user."""


class Mem0Format:
    """Exports of mem0: `{"results": […]}`, the bare list, or an object of a schema of its own."""

    name = "mem0"

    def takes(self, member: str) -> bool:
        """Return whether a file is JSON."""
        return member.endswith((".json", ".json.gz"))

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with a memory."""
        del path
        return _HEAD.match(head) is not None and all(mark in head for mark in _MARKS)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse each memory, in order."""
        head = lines.head()
        if head.lstrip().startswith(b"{") and not any(mark in head for mark in _LISTS):
            yield from _read_profile(lines, source)
            return
        for element in read_elements(lines, "results", "memories"):
            yield _read_memory(element, source)


def _read_memory(element: Element, source: Source) -> Piece | Problem:
    place = f"memory {element.number}"
    try:
        table = require_item(element)
        place = f"{place} ({describe_item(table, element.number, 'id')})"
        return make_statement_piece(_make_statement(table, place), source)
    except MalformedError as error:
        return Problem(place=place, what=str(error))


def _make_statement(table: Mapping[str, Any], place: str) -> Statement:
    """Parse one memory. An update in mem0 keeps the id, so the key includes the text."""
    text = read_text(table, "memory", "data", "text", "content")
    if not text:
        raise MalformedError("it has no memory")
    kept = {name: table[name] for name in _KEPT if isinstance(table.get(name), str)}
    return Statement(
        place=place,
        text=text,
        key=("mem0", read_text(table, "id"), text),
        role="assistant" if table.get("role") == "assistant" else "user",
        occurred_at=read_moment(table.get("updated_at")) or read_moment(table.get("created_at")),
        expires_at=read_moment(table.get("expiration_date")),
        tags=read_tags(list_texts(table, "categories")),
        metadata={**_read_metadata(table), **kept},
    )


def _read_profile(lines: Lines, source: Source) -> Iterator[Parsed]:
    """Parse an export of the platform in a schema of the user's: each field becomes a statement."""
    try:
        table = parse_table(read_whole(lines))
    except MalformedError as error:
        yield Problem(place=_PROFILE, what=str(error))
        return
    for path, value in _list_fields(table, ()):
        label = " ".join(path).replace("_", " ").strip()
        text = f"{label[:1].upper()}{label[1:]}: {value}"
        statement = Statement(
            place=f"field {make_showable('.'.join(path))}",
            text=text,
            key=("mem0", _PROFILE, text),
            metadata={"field": ".".join(path)[:_FIELD_CHARACTERS]},
        )
        yield make_statement_piece(statement, source)


def _list_fields(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts, numbers and truths of an object with their path; lists have an item each."""
    if isinstance(value, dict):
        for name, inner in cast("dict[str, object]", value).items():
            yield from _list_fields(inner, (*path, name))
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from _list_fields(inner, path)
    elif isinstance(value, bool):
        yield path, "yes" if value else "no"
    elif isinstance(value, str | int | float) and str(value).strip() and path:
        yield path, str(value).strip()


def _read_metadata(table: Mapping[str, Any]) -> Mapping[str, object]:
    found = table.get("metadata")
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}
