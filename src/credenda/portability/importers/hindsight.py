"""Documents exported by Hindsight: a zip with a file for each document, or the JSON of its lists.

A document's own text is imported verbatim, and each extracted fact as a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from credenda.portability.importers.blocks import read_tags
from credenda.portability.importers.format import Boundary, Omitted, Parsed, Problem, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Statement,
    Table,
    has_json_name,
    is_json_with,
    list_tables,
    list_texts,
    make_statement_piece,
    parse_table,
    read_moment,
    read_moment_or_none,
    read_tables,
    read_text,
    read_whole,
)
from credenda.portability.importers.prose import make_prose_pieces
from credenda.portability.line_reader import Lines

_MARKS: Final = ((b'"facts"', b'"chunks"'), (b'"fact_type"', b'"text"'), (b'"source_bank_id"', b'"schema_version"'))
_OWN: Final = frozenset({"experience", "opinion"})
"""Facts about the agent itself, which are never attributed to the user."""
_DERIVED: Final = "observation"
_JOIN: Final = re.compile(r"\s+\|\s+")
_MANIFEST: Final = "manifest.json"


class HindsightFormat:
    """Document exports of Hindsight, and the lists of its interface."""

    name = "hindsight"

    def takes(self, member: str) -> bool:
        """Return whether a file is JSON."""
        return has_json_name(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with a document and its facts."""
        del path
        return any(is_json_with(head, *marks) for marks in _MARKS)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse a document, or each item of a list."""
        if _is_list(lines.head(), source):
            yield from _read_lists(lines, source)
            return
        if PurePosixPath(source.path.name).name == _MANIFEST:
            return
        try:
            table = parse_table(read_whole(lines))
        except MalformedError as error:
            yield Problem(place="document", what=str(error))
            return
        yield from _read_file(table, source)


def _is_list(head: bytes, source: Source) -> bool:
    listed = head.lstrip().startswith(b"[") or source.path.suffix == ".jsonl"
    return listed or is_json_with(head, b'"items"') or is_json_with(head, b'"memories"')


def _read_lists(lines: Lines, source: Source) -> Iterator[Parsed]:
    def read(table: Table, place: str) -> Iterator[Parsed]:
        if isinstance(table.get("facts"), list) or read_text(table, "original_text"):
            yield from _read_document(table, place, source)
        else:
            yield from _read_fact(table, place, source, "")

    yield from read_tables(lines, source.path, {"": read, "items": read, "memories": read, "results": read})


def _read_file(table: Table, source: Source) -> Iterator[Parsed]:
    if isinstance(table.get("facts"), list) or "original_text" in table:
        yield from _read_document(table, f"document {read_text(table, 'id')}".strip(), source)
    elif isinstance(table.get("observations"), list):
        yield Omitted(what="observations", count=len(list_tables(table, "observations")))
    else:
        yield Omitted(what="files of settings")


def _read_document(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    yield Boundary()
    name = read_text(table, "id") or source.path.stem
    created = read_moment_or_none(table.get("created_at"))
    chunks = list_tables(table, "chunks")
    text = read_text(table, "original_text") or "\n\n".join(read_text(one, "chunk_text") for one in chunks)
    tags = read_tags(list_texts(table, "tags"))
    yield from make_prose_pieces(text, source, place=place, name=name, moment=created, tags=tags)
    for number, fact in enumerate(list_tables(table, "facts"), 1):
        spot = f"{place}, fact {number}"
        try:
            yield from _read_fact(fact, spot, source, name)
        except MalformedError as error:
            yield Problem(place=spot, what=str(error))


def _read_fact(table: Table, place: str, source: Source, document: str) -> Iterator[Parsed]:
    kind = read_text(table, "fact_type", "type")
    if kind == _DERIVED:
        yield Omitted(what="observations")
        return
    text = _JOIN.sub("; ", read_text(table, "text")).strip()
    if not text:
        raise MalformedError("it has no text")
    moments = (read_moment(table.get(name)) for name in ("occurred_start", "mentioned_at", "event_date", "created_at"))
    entities = list_texts(table, "entities")
    statement = Statement(
        place=place,
        text=text,
        key=("hindsight", document, text),
        role="assistant" if kind in _OWN else "user",
        occurred_at=next((one for one in moments if one is not None), None),
        tags=read_tags(list_texts(table, "tags")),
        metadata={
            **({"document": document} if document else {}),
            **({"fact_type": kind} if kind else {}),
            **({"entities": entities} if entities else {}),
        },
    )
    yield make_statement_piece(statement, source)
    links = len(list_tables(table, "causal_relations"))
    if links:
        yield Omitted(what="causal relations", count=links)
