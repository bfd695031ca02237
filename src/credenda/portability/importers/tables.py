"""JSON files of several lists: each list has a reader for its items, and a malformed item is one problem."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from credenda import limits
from credenda.portability.importers.format import Omitted, Parsed, Problem
from credenda.portability.importers.json_checks import MalformedError, describe_item, read_text, require_item
from credenda.portability.json_stream import Element, read_sections
from credenda.portability.line_reader import Lines

__all__ = [
    "Reader",
    "Table",
    "has_json_name",
    "is_json_with",
    "list_tables",
    "list_texts",
    "omit_items",
    "read_message_text",
    "read_tables",
    "read_whole",
    "read_whole_name",
]

Table = Mapping[str, Any]
Reader = Callable[[Table, str], Iterator[Parsed]]
"""Converts one item of a list; the second argument is its place, for problems."""
_HEAD: Final = re.compile(rb"\s*[\[{]")
_ENDINGS: Final = (".json", ".json.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
_IDS: Final = ("id", "uuid", "source_id", "name", "label")


def has_json_name(member: str) -> bool:
    """Return whether a file is JSON or JSON Lines, by its name."""
    return member.casefold().endswith(_ENDINGS)


def is_json_with(head: bytes, *marks: bytes) -> bool:
    """Return whether a file begins with a JSON list or object, and has all of some marks near its beginning."""
    return _HEAD.match(head) is not None and all(mark in head for mark in marks)


def read_tables(lines: Lines, path: Path, readers: Mapping[str, Reader]) -> Iterator[Parsed]:
    """Read the lists of a file, each item with the reader of its list.

    The reader of "" gets the items of a file that is itself a list, and the lines of JSON Lines.
    """
    for key, element in _read_elements(lines, path, tuple(readers)):
        place = f"{key.replace('_', ' ') or 'item'} {element.number}"
        reader = readers.get(key)
        try:
            table = require_item(element)
            place = f"{place} ({describe_item(table, element.number, *_IDS)})"
            if reader is None:
                yield Problem(place=place, what="it is in no list of a name that this format has")
            else:
                yield from reader(table, place)
        except MalformedError as error:
            yield Problem(place=place, what=str(error))


def _read_elements(lines: Lines, path: Path, keys: tuple[str, ...]) -> Iterator[tuple[str, Element]]:
    if not {".jsonl", ".ndjson"} & {one.casefold() for one in path.suffixes}:
        yield from read_sections(lines, *(key for key in keys if key))
        return
    for line in lines:
        if line.too_long:
            yield "", Element(number=line.number, wrong="the line is too long")
        elif line.data.strip():
            yield "", Element(number=line.number, data=line.data)


def read_whole(lines: Lines) -> bytes:
    """Return the content of a file; raise `MalformedError` if it is larger than an item may be."""
    data = b""
    while more := lines.read(limits.IMPORT_ITEM_BYTES + 1 - len(data)):
        data += more
    if len(data) > limits.IMPORT_ITEM_BYTES:
        raise MalformedError(f"it is larger than {limits.IMPORT_ITEM_BYTES} bytes")
    return data


def omit_items(what: str) -> Reader:
    """Return a reader that leaves out every item of a list."""

    def omit(table: Table, place: str) -> Iterator[Parsed]:
        del table, place
        yield Omitted(what=what)

    return omit


def list_tables(table: Table, name: str) -> list[Table]:
    """Return the tables in a list; empty if there is no such list."""
    found = table.get(name)
    items = cast("Sequence[object]", found) if isinstance(found, list) else ()
    return [cast("Table", one) for one in items if isinstance(one, dict)]


def list_texts(table: Table, name: str) -> list[str]:
    """Return the texts in a list; empty if there is no such list."""
    found = table.get(name)
    items = cast("Sequence[object]", found) if isinstance(found, list) else ()
    return [one for one in items if isinstance(one, str) and one.strip()]


def read_whole_name(path: Path) -> str:
    """Return the name of a file as text that can be stored."""
    return path.name.encode("utf-8", "replace").decode()


def read_message_text(content: object) -> str:
    """Return the text of a message: plain, in blocks of type text, or in an object with a text."""
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, dict):
        table = cast("Table", content)
        parts = table.get("parts")
        return read_message_text(cast("object", parts)) if isinstance(parts, list) else read_text(table, "text").strip()
    if not isinstance(content, list):
        return ""
    texts: list[str] = []
    for block in cast("Sequence[object]", content):
        if isinstance(block, str):
            texts.append(block.strip())
        elif isinstance(block, dict) and cast("Table", block).get("type", "text") in _SPOKEN:
            texts.append(read_text(cast("Table", block), "text", "content").strip())
    return "\n\n".join(text for text in texts if text)


_SPOKEN: Final = ("text", "input_text", "output_text")
