"""The file of the MCP reference memory server: JSON Lines of entities with observations, and of relations.

One rule builds the text of each statement from its line, so that an export can tell whether the text is unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from credenda.portability.importers.format import Boundary, Piece, Problem, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Statement,
    list_of,
    make_statement_piece,
    mend_surrogates,
    parse_table,
    read_text,
)
from credenda.portability.line_reader import Line, Lines
from credenda.text.normalize import normalise_name

ABOUT_USER: Final = "default_user"
"""The user's name in the reference server's own instructions."""
_HEAD: Final = re.compile(rb'\s*\{[^\n]*"type"\s*:\s*"(?:entity|relation)"')
_SHAPE: Final = re.compile(rb'"(?:entityType|relationType|observations)"\s*:')
_VERB: Final = re.compile(r"(?:Is|Was|Has|Had|Can|Will|[A-Z][a-z]+(?:[^s\W]s|ed))\b(?!')")
"""Beginnings of observations that continue the entity's name: "Prefers tea", "Graduated in 2019"."""
_JOINT: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\s-]+")


class McpMemoryFormat:
    """The knowledge graph of `@modelcontextprotocol/server-memory`."""

    name = "mcp-memory"

    def takes(self, member: str) -> bool:
        """Return whether a file is JSON Lines; older versions use `.json`."""
        return member.endswith((".jsonl", ".json", ".jsonl.gz", ".json.gz"))

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with an entity or a relation."""
        del path
        return _HEAD.match(head) is not None and _SHAPE.search(head) is not None

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem | Boundary]:
        """Parse each line and yield its statements."""
        for line in lines:
            if line.too_long:
                yield Problem(place=f"line {line.number}", what="the line is too long")
            elif line.data.strip():
                yield from _read_line(line, source)


def word_observation(entity: str, observation: str) -> str:
    """Return an observation of an entity as a complete sentence.

    >>> (word_observation("Ann", "likes tea"), word_observation("Ann", "Prefers tea"),
    ... word_observation("Ann", "Ann is five"))
    ('Ann likes tea', 'Ann prefers tea', 'Ann is five')
    >>> word_observation("Ann", "Nurse in Graz"), word_observation("default_user", "Lives in Graz")
    ('Ann: Nurse in Graz', 'User lives in Graz')
    """
    name = _show_name(entity)
    if normalise_name(f"{observation} ").startswith((f"{normalise_name(name)} ", f"{normalise_name(name)}'")):
        return observation
    if observation[:1].islower():
        return f"{name} {observation}"
    if _VERB.match(observation):
        return f"{name} {observation[:1].lower()}{observation[1:]}"
    return observation if entity == ABOUT_USER else f"{name}: {observation}"


def word_relation(source: str, relation: str, target: str) -> str:
    """Return a relation as a sentence.

    >>> word_relation("Ann", "works_at", "Acme"), word_relation("Ann", "isFriendOf", "Ben")
    ('Ann works at Acme', 'Ann is friend of Ben')
    """
    return f"{_show_name(source)} {_JOINT.sub(' ', relation).strip().lower()} {_show_name(target)}"


def _show_name(entity: str) -> str:
    return "User" if entity == ABOUT_USER else entity


def _read_line(line: Line, source: Source) -> Iterator[Piece | Problem]:
    place = f"line {line.number}"
    try:
        table = parse_table(line.data)
        match table.get("type"):
            case "entity":
                yield from _read_entity(table, place, source)
            case "relation":
                yield make_statement_piece(_read_relation(table, place), source)
            case _:
                yield Problem(place=place, what="it is neither an entity nor a relation")
    except MalformedError as error:
        yield Problem(place=place, what=str(error))


def _read_entity(table: Mapping[str, Any], place: str, source: Source) -> Iterator[Piece | Problem]:
    name, kind = _require_name(table, "name"), read_text(table, "entityType")
    observations = list_of(table, "observations")
    about = {"entity": name, "entity_type": kind}
    for number, found in enumerate(observations, 1):
        spot = f"{place}, observation {number}"
        if not isinstance(found, str) or not found.strip():
            yield Problem(place=spot, what="it is not text, or empty")
            continue
        observation = mend_surrogates(found)
        yield make_statement_piece(
            Statement(
                place=spot,
                text=word_observation(name, observation.strip()),
                key=("mcp-memory", name, observation),
                metadata={**about, "observation": observation},
            ),
            source,
        )
    if not observations:
        text = f"{_show_name(name)} ({kind})" if kind else _show_name(name)
        yield make_statement_piece(Statement(place=place, text=text, key=("mcp-memory", name), metadata=about), source)


def _read_relation(table: Mapping[str, Any], place: str) -> Statement:
    begin, kind, end = (_require_name(table, name) for name in ("from", "relationType", "to"))
    return Statement(
        place=place,
        text=word_relation(begin, kind, end),
        key=("mcp-memory", begin, kind, end),
        metadata={"relation": {"from": begin, "to": end, "type": kind}},
    )


def _require_name(table: Mapping[str, Any], name: str) -> str:
    found = read_text(table, name)
    if not found:
        raise MalformedError(f"it has no {name}")
    return found
