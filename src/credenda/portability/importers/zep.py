"""Zep and Graphiti: facts (edges of the graph) with the time in which they held, and episodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from credenda.portability.importers.format import Boundary, Omitted, Parsed, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Reader,
    Statement,
    Table,
    Talk,
    Turn,
    has_json_name,
    is_json_with,
    make_statement_piece,
    omit_items,
    read_message_text,
    read_moment,
    read_moment_or_none,
    read_tables,
    read_text,
)
from credenda.portability.importers.prose import make_prose_pieces
from credenda.portability.line_reader import Lines
from credenda.private import cut_tagged

_FACTS: Final = ("edges", "facts", "entity_edges", "relationships")
_EPISODES: Final = ("episodes", "episodic_nodes", "messages")
_NODES: Final = ("nodes", "entities", "entity_nodes", "communities", "community_nodes")
_MARKS: Final = ((b'"fact"',), (b'"source_description"',), (b'"role_type"', b'"content"'))
_LINE: Final = re.compile(r"([^\W\d_][\w .'-]{0,40}?)(?:\s*\((user|assistant|human|ai)\))?:\s+(.*)", re.DOTALL)
_ROLES: Final = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant"}
_SILENT: Final = frozenset({"system", "tool", "function", "norole"})


class ZepFormat:
    """JSON of Zep and Graphiti: `{"nodes": […], "edges": […], "episodes": […]}`, or one of these lists."""

    name = "zep"

    def takes(self, member: str) -> bool:
        """Return whether a file is JSON."""
        return has_json_name(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with a fact or an episode."""
        del path
        return any(is_json_with(head, *marks) for marks in _MARKS)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse the lists, in the order of the file."""
        name = source.path.stem.encode("utf-8", "replace").decode()
        talk = Talk(agent="zep", session=name, user_id=source.user_id, aged_us=source.modified_us)

        def read_fact(table: Table, place: str) -> Iterator[Parsed]:
            yield from _read_fact(table, place, source)

        def read_episode(table: Table, place: str) -> Iterator[Parsed]:
            yield from _read_episode(table, place, source, talk)

        def read_any(table: Table, place: str) -> Iterator[Parsed]:
            if read_text(table, "fact"):
                yield from read_fact(table, place)
            elif table.get("content") is not None:
                yield from read_episode(table, place)
            else:
                yield Omitted(what="entities")

        readers: dict[str, Reader] = {"": read_any}
        readers |= dict.fromkeys(_FACTS, read_fact)
        readers |= dict.fromkeys(_EPISODES, read_episode)
        readers |= dict.fromkeys(_NODES, omit_items("entities"))
        yield Boundary()
        yield from read_tables(lines, source.path, readers)


def _read_fact(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    """Yield a fact; one that has ended is imported as expired."""
    text = read_text(table, "fact")
    if not text:
        if table.get("source_node_uuid") is not None:
            yield Omitted(what="links without a fact")
            return
        raise MalformedError("it has no fact")
    begun = read_moment(table.get("valid_at")) or read_moment(table.get("created_at"))
    ended = read_moment(table.get("invalid_at")) or read_moment(table.get("expired_at"))
    relation = read_text(table, "name")
    group = read_text(table, "group_id", "graph_id", "user_id")
    statement = Statement(
        place=place,
        text=text.strip(),
        key=("zep", read_text(table, "uuid"), text),
        occurred_at=begun,
        expires_at=ended,
        metadata={**({"relation_type": relation} if relation else {}), **({"group_id": group} if group else {})},
    )
    yield make_statement_piece(statement, source)


def _read_episode(table: Table, place: str, source: Source, talk: Talk) -> Iterator[Parsed]:
    text = read_message_text(table.get("content"))
    if not text:
        raise MalformedError("it has no content")
    moment = table.get("valid_at") or table.get("created_at")
    identity = read_text(table, "uuid", "id") or text
    role, name = read_text(table, "role_type").casefold(), read_text(table, "name", "role")
    if role in _SILENT:
        yield Omitted(what="system messages" if role == "system" else "tool messages")
        return
    if not role and read_text(table, "source", "source_type") not in {"message", ""}:
        label = read_text(table, "source_description", "name")
        yield from make_prose_pieces(text, source, place=place, name=label, moment=read_moment_or_none(moment))
        return
    for number, (speaker, said) in enumerate(_split_lines(text) if not role else [(role, text)]):
        known = _ROLES.get(speaker.casefold())
        named = "" if known else speaker if speaker not in ("", "user") else name
        yield from talk.pieces(
            Turn(
                place=place,
                role=known or ("person" if named else "user"),
                name=named,
                text=said,
                key=(identity, str(number), said),
                moment=moment,
                id=identity[:64],
            )
        )


def _split_lines(text: str) -> Iterator[tuple[str, str]]:
    r"""Split a message episode into speakers and what they said; a line without a speaker continues the last one.

    >>> list(_split_lines("Ana (user): I moved.\nto Graz\nassistant: Fine."))
    [('user', 'I moved.\nto Graz'), ('assistant', 'Fine.')]
    """
    speaker, said = "user", list[str]()
    for line in cut_tagged(text).splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            said.append(line)
            continue
        if any(one.strip() for one in said):
            yield speaker, "\n".join(said).strip()
        speaker, said = found[2] or found[1], [found[3]]
    if any(one.strip() for one in said):
        yield speaker, "\n".join(said).strip()
