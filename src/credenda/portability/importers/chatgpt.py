"""Exports of ChatGPT: conversations as trees of messages; only the last shown branch is imported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final, cast

from credenda.portability.importers.format import Boundary, Piece, Problem, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Talk,
    Turn,
    describe_item,
    make_showable,
    read_text,
    require_item,
    require_table,
)
from credenda.portability.line_reader import Element, Lines, read_elements

_AGENT: Final = "chatgpt"
_FILE: Final = re.compile(r"conversations(?:[-_]\d+)?\.json")
_HEAD: Final = re.compile(rb"\s*[\[{]")
_MARKS: Final = (b'"mapping"', b'"current_node"')
_ROLES: Final = ("user", "assistant")
_READ: Final = ("text", "multimodal_text")
"""Content types of spoken text; others are tool calls and results, thoughts, and context of the program."""
_EVERYBODY: Final = "all"
_HIDDEN: Final = ("is_visually_hidden_from_conversation", "is_user_system_message")
_CITATION: Final = re.compile("\ue200[^\ue200\ue201]{0,2000}\ue201")
"""References to search results, which ChatGPT shows as links."""


class ChatGPTFormat:
    """Exports of chatgpt.com: a zip, or the list of conversations in it, sharded or not."""

    name = "chatgpt"

    def takes(self, member: str) -> bool:
        """Return whether a file is a list of conversations."""
        return _FILE.fullmatch(PurePosixPath(member).name) is not None

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with a conversation tree."""
        del path
        return _HEAD.match(head) is not None and any(mark in head for mark in _MARKS)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem | Boundary]:
        """Parse each conversation and yield its messages, in order."""
        for element in read_elements(lines, "conversations"):
            yield from _read_conversation(element, source)


def _read_conversation(element: Element, source: Source) -> Iterator[Piece | Problem | Boundary]:
    place = f"conversation {element.number}"
    try:
        table = require_item(element)
        tree = _Tree(nodes=require_table(table.get("mapping")))
    except MalformedError as error:
        yield Problem(place=place, what=str(error))
        return
    yield Boundary()
    place = f"{place} ({describe_item(table, element.number, 'conversation_id', 'id')})"
    session = read_text(table, "conversation_id", "id") or f"{source.path.name}/{element.number}"
    title, begun = read_text(table, "title"), table.get("create_time")
    talk = Talk.titled(_AGENT, source, session=session, title=title, begun=begun)
    branch = tree.branch(table.get("current_node"))
    yield from (Problem(place=place, what=what) for what in tree.problems)
    for node_id in branch:
        yield from _read_message(talk, f"{place}, message {make_showable(node_id)}", node_id, tree.nodes[node_id])


@dataclass(slots=True, kw_only=True)
class _Tree:
    """The messages of a conversation by id, each with its parent."""

    nodes: Mapping[str, Any]
    problems: list[str] = field(default_factory=list[str])

    def branch(self, leaf: object) -> list[str]:
        """List the ids from the first message to the last shown one."""
        found: dict[str, None] = {}
        node_id = leaf if isinstance(leaf, str) and leaf in self.nodes else self._latest_leaf()
        while node_id is not None:
            found[node_id] = None
            parent = self._field(node_id, "parent")
            if parent is not None and parent not in self.nodes:
                self.problems.append("the parent of a message is missing; earlier messages were not imported")
                break
            if parent in found:
                self.problems.append("its messages form a cycle; imported from where they repeat")
                break
            node_id = parent
        return list(reversed(found))

    def _latest_leaf(self) -> str | None:
        """Find the newest message without children, for a conversation without a current message."""
        parents = {self._field(node_id, "parent") for node_id in self.nodes}
        leaves = [node_id for node_id in self.nodes if node_id not in parents] or list(self.nodes)
        return max(leaves, key=self._created, default=None)

    def _created(self, node_id: str) -> float:
        message = self._field(node_id, "message")
        created = cast("dict[str, object]", message).get("create_time") if isinstance(message, dict) else None
        return created if isinstance(created, int | float) else float("-inf")

    def _field(self, node_id: str, name: str) -> Any:  # noqa: ANN401 - foreign JSON
        node = self.nodes[node_id]
        value = cast("dict[str, Any]", node).get(name) if isinstance(node, dict) else None
        return value if name != "parent" or isinstance(value, str) else None


def _read_message(talk: Talk, place: str, node_id: str, node: object) -> Iterator[Piece | Problem]:
    """Parse one message; skip hidden messages and those without text."""
    try:
        table = require_table(node)
        message = require_table(table.get("message") or {})
        text = _read_words(message) if message else ""
    except MalformedError as error:
        yield Problem(place=place, what=str(error))
        return
    if text:
        message_id = read_text(message, "id") or node_id
        yield from talk.pieces(
            Turn(
                place=place,
                role=message["author"]["role"],
                text=text,
                key=(talk.session, message_id),
                moment=message.get("create_time"),
                id=message_id,
            )
        )


def _read_words(message: Mapping[str, Any]) -> str:
    """Return the text of a message; "" if it was not addressed to the other side, or not shown."""
    if require_table(message.get("author")).get("role") not in _ROLES or message.get("weight", 1) == 0:
        return ""
    metadata = message.get("metadata")
    if isinstance(metadata, dict) and any(cast("dict[str, object]", metadata).get(name) for name in _HIDDEN):
        return ""
    if message.get("recipient", _EVERYBODY) not in (_EVERYBODY, None):
        return ""
    content = require_table(message.get("content"))
    if content.get("content_type", "text") not in _READ:
        return ""
    parts = content.get("parts")
    if not isinstance(parts, list):
        raise MalformedError("it has no list of parts")
    texts = (_read_part(part) for part in cast("Sequence[object]", parts))
    return "\n\n".join(text for text in texts if text.strip()).strip()


def _read_part(part: object) -> str:
    """Return the text of a part; images have none, and speech has its transcript."""
    text = cast("dict[str, object]", part).get("text") if isinstance(part, dict) else part
    return _CITATION.sub("", text) if isinstance(text, str) else ""
