"""Cognee: the graph of a data set, as its interface returns it, with the chunks of the documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from credenda.portability.importers.format import Omitted, Parsed, Problem, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Statement,
    Table,
    has_json_name,
    is_json_with,
    make_statement_piece,
    parse_table,
    read_moment_or_none,
    read_text,
)
from credenda.portability.importers.mcp_memory import word_observation, word_relation
from credenda.portability.importers.prose import make_prose_pieces
from credenda.portability.line_reader import Element, Lines, read_sections

_MARKS: Final = (b'"DocumentChunk"', b'"EntityType"', b'"TextDocument"', b'"TextSummary"')
_CHUNK: Final = "documentchunk"
_ENTITY: Final = "entity"
_STRUCTURE: Final = frozenset(
    {"contains", "is_part_of", "made_from", "is_a", "mentioned_in", "contains_entity", "belongs_to_set"}
)
"""Relations between documents, chunks, entities and their types, which say nothing about the world."""
_NAMES_MAX: Final = 200_000
_PAIR: Final = 2
_LINK: Final = 3


class CogneeFormat:
    """The graph of a data set: `{"nodes": […], "edges": […]}`, as tables or as the lists of its engine."""

    name = "cognee"

    def takes(self, member: str) -> bool:
        """Return whether a file is JSON."""
        return has_json_name(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with nodes of the types that cognee makes."""
        del path
        return is_json_with(head, b'"nodes"') and any(mark in head for mark in _MARKS)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse nodes, then edges; an edge needs its nodes before it."""
        graph = _Graph(source)
        for key, element in read_sections(lines, "nodes", "edges"):
            place = f"{key.removesuffix('s') or 'item'} {element.number}"
            try:
                if key == "nodes":
                    yield from graph.read_node(_read_node(element), place)
                elif key == "edges":
                    yield from graph.read_edge(_read_edge(element), place)
                else:
                    yield Problem(place=place, what=element.wrong or "it is neither a node nor an edge")
            except MalformedError as error:
                yield Problem(place=place, what=str(error))


def _parse(element: Element) -> object:
    if element.wrong:
        raise MalformedError(element.wrong)
    if not element.data.lstrip().startswith(b"["):
        return parse_table(element.data)
    try:
        return json.loads(element.data)
    except (ValueError, RecursionError) as error:
        raise MalformedError("not JSON") from error


def _read_node(element: Element) -> Table:
    """Return the fields of a node as one table, with its id."""
    value = _parse(element)
    if isinstance(value, dict):
        table = cast("Table", value)
        inner = table.get("properties")
        return {**(cast("Table", inner) if isinstance(inner, dict) else {}), **table}
    pair = cast("Sequence[Any]", value)
    if len(pair) != _PAIR or not isinstance(pair[1], dict):
        raise MalformedError("it is no node")
    return {**cast("Table", pair[1]), "id": str(pair[0])}


def _read_edge(element: Element) -> tuple[str, str, str]:
    """Return source, relation and target."""
    value = _parse(element)
    if isinstance(value, dict):
        table = cast("Table", value)
        found = read_text(table, "source", "source_node_id"), read_text(table, "target", "target_node_id")
        relation = read_text(table, "label", "relationship_name", "relationship")
    else:
        link = cast("Sequence[object]", value)
        if len(link) < _LINK or not all(isinstance(one, str) for one in link[:_LINK]):
            raise MalformedError("it is no edge")
        found, relation = (str(link[0]), str(link[1])), str(link[2])
    if not (all(found) and relation):
        raise MalformedError("it lacks a node or a relation")
    return found[0], relation, found[1]


class _Graph:
    """The names of the nodes that were read, by id."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._names: dict[str, str] = {}

    def read_node(self, table: Table, place: str) -> Iterator[Parsed]:
        kind = read_text(table, "type").casefold()
        name = read_text(table, "name", "label")
        if kind == _ENTITY and name and len(self._names) < _NAMES_MAX:
            self._names[read_text(table, "id")] = name
        if kind == _CHUNK:
            text = read_text(table, "text")
            if not text:
                raise MalformedError("it has no text")
            moment = read_moment_or_none(table.get("created_at"))
            yield from make_prose_pieces(text, self._source, place=place, name="cognee", moment=moment)
        elif kind == _ENTITY and read_text(table, "description"):
            description = read_text(table, "description").strip()
            yield self._state(word_observation(name, description), place, ("node", name, description), {"entity": name})
        elif kind == _ENTITY:
            yield Omitted(what="entities without a description")
        else:
            yield Omitted(what=f"nodes of type {kind}" if kind in _KINDS else "other nodes")

    def read_edge(self, edge: tuple[str, str, str], place: str) -> Iterator[Parsed]:
        begin, relation, end = edge
        if relation in _STRUCTURE:
            yield Omitted(what="structural relations")
            return
        if begin not in self._names or end not in self._names:
            raise MalformedError("it links a node that is not in the file before it, or is no entity")
        names = self._names[begin], self._names[end]
        text = word_relation(names[0], relation, names[1])
        details = {"relation": {"from": names[0], "to": names[1], "type": relation}}
        yield self._state(text, place, ("edge", names[0], relation, names[1]), details)

    def _state(self, text: str, place: str, key: tuple[str, ...], details: Mapping[str, object]) -> Parsed:
        statement = Statement(place=place, text=text, key=("cognee", *key), metadata=details)
        return make_statement_piece(statement, self._source)


_KINDS: Final = frozenset({"entitytype", "textdocument", "textsummary"})
