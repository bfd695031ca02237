"""Portable AI Memory 1.0: memory stores, and the conversations beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from credenda.portability.importers.blocks import read_tags
from credenda.portability.importers.format import Boundary, Omitted, Parsed, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Reader,
    Statement,
    Table,
    has_json_name,
    is_json_with,
    list_texts,
    make_statement_piece,
    omit_items,
    read_moment,
    read_tables,
    read_text,
)
from credenda.portability.importers.messages import read_message, start_talk
from credenda.portability.line_reader import Lines

PAM: Final = "pam"
_SCHEMA: Final = b"portable-ai-memory"
_TALK: Final = b"portable-ai-memory-conversation"
_VECTORS: Final = b"portable-ai-memory-embeddings"
PAM_TYPES: Final = {"preference": "preference", "instruction": "preference"}
"""Types that have one of ours; `custom_type` may be one of ours too, and any other type is a fact."""
_OURS: Final = frozenset({"decision", "procedure", "preference", "fact", "narrative"})
_ENDED: Final = frozenset({"superseded", "deprecated", "archived"})
_RETRACTED: Final = "retracted"


class PamFormat:
    """Files of Portable AI Memory."""

    name = PAM

    def takes(self, member: str) -> bool:
        """Return whether a file is JSON."""
        return has_json_name(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file names the schema."""
        del path
        return is_json_with(head, b'"schema"', _SCHEMA)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse memories, or the messages of a conversation."""
        head = lines.head()
        if _VECTORS in head:
            yield from read_tables(lines, source.path, {"embeddings": omit_items("embeddings")})
            return
        if _TALK in head:
            yield from _read_conversation(lines, source)
            return
        readers: dict[str, Reader] = {
            "memories": lambda table, place: _read_memory(table, place, source),
            "relations": omit_items("relations"),
            "conversations_index": omit_items("conversation references"),
        }
        yield from read_tables(lines, source.path, readers)


def _read_conversation(lines: Lines, source: Source) -> Iterator[Parsed]:
    yield Boundary()
    talk = start_talk(source)
    number = 0

    def read(table: Table, place: str) -> Iterator[Parsed]:
        nonlocal number
        number += 1
        if table.get("is_thought") is True:
            yield Omitted(what="thoughts")
        else:
            yield from read_message(table, place, talk, number)

    yield from read_tables(lines, source.path, {"messages": read})


def _read_memory(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    """Yield a memory; one that was replaced or put away is imported as expired, a retracted one is left out."""
    text = read_text(table, "content")
    if not text:
        raise MalformedError("it has no content")
    status = read_text(table, "status") or "active"
    if status == _RETRACTED:
        yield Omitted(what="retracted memories")
        return
    time = _read_inner(table, "temporal")
    created = read_moment(time.get("created_at"))
    ended = read_moment(time.get("valid_until"))
    if ended is None and status in _ENDED:
        ended = read_moment(time.get("updated_at")) or created
        if ended is None:
            raise MalformedError(f"it is {status} and has no time")
    named = read_text(table, "custom_type") or read_text(table, "type")
    statement = Statement(
        place=place,
        text=text,
        key=(PAM, read_text(table, "id"), text),
        memory_type=named if named in _OURS else PAM_TYPES.get(named, "fact"),
        occurred_at=read_moment(time.get("valid_from")) or created,
        expires_at=ended,
        tags=read_tags(list_texts(table, "tags")),
        metadata={**_describe(table, status, named), **_read_inner(table, "metadata")},
    )
    yield make_statement_piece(statement, source)


def _read_inner(table: Table, name: str) -> dict[str, object]:
    found = table.get(name)
    return dict(cast("dict[str, object]", found)) if isinstance(found, dict) else {}


def _describe(table: Table, status: str, named: str) -> dict[str, object]:
    """Return where a memory came from, and how sure its writer was."""
    origin = read_text(_read_inner(table, "provenance"), "platform")
    sure = _read_inner(table, "confidence").get("current")
    return {
        **({"platform": origin} if origin else {}),
        **({"pam_type": named} if named else {}),
        **({"status": status} if status != "active" else {}),
        **({"confidence": sure} if isinstance(sure, int | float) and not isinstance(sure, bool) else {}),
    }
