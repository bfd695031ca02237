"""Memories of mem0, as returned by its `get_all`: short statements about a user, with times and metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from credenda.portability.importers.foreign_facts import Statement, make_statement_piece
from credenda.portability.importers.format import Boundary, Piece, Problem, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    describe_item,
    read_moment,
    read_text,
    require_item,
)
from credenda.portability.json_stream import Element, read_elements
from credenda.portability.line_reader import Lines

__all__ = ["Mem0Format"]

_HEAD: Final = re.compile(rb"\s*[\[{]")
_MARKS: Final = (b'"memory"', b'"created_at"', b'"id"')
_KEPT: Final = ("user_id", "agent_id", "run_id", "actor_id", "app_id")
"""mem0's owner fields; imported memories belong to the importing user."""


class Mem0Format:
    """Exports of mem0: `{"results": […]}`, or the bare list."""

    name = "mem0"

    def takes(self, member: str) -> bool:
        """Return whether a file is JSON."""
        return member.endswith((".json", ".json.gz"))

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with a memory."""
        del path
        return _HEAD.match(head) is not None and all(mark in head for mark in _MARKS)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem | Boundary]:
        """Parse each memory, in order."""
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
    text = read_text(table, "memory", "data", "text")
    if not text:
        raise MalformedError("it has no memory")
    kept = {name: table[name] for name in _KEPT if isinstance(table.get(name), str)}
    return Statement(
        place=place,
        text=text,
        key=("mem0", read_text(table, "id"), text),
        role="assistant" if table.get("role") == "assistant" else "user",
        occurred_at=read_moment(table.get("updated_at")) or read_moment(table.get("created_at")),
        metadata={**_read_metadata(table), **kept},
    )


def _read_metadata(table: Mapping[str, Any]) -> Mapping[str, object]:
    found = table.get("metadata")
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}
