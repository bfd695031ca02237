"""Exports of Claude.ai: conversations as lists of messages, and the notes of its own memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final, cast

from credenda.portability.importers.blocks import Block, cut, has_words, make_document_piece
from credenda.portability.importers.format import Boundary, Parsed, Piece, Problem, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Talk,
    Turn,
    describe_item,
    list_of,
    mend_surrogates,
    read_text,
    read_whole,
    require_item,
    require_table,
)
from credenda.portability.line_reader import Element, Lines, read_elements
from credenda.private import cut_tagged

_AGENT: Final = "claude"
_FILE: Final = re.compile(r"(?:conversations(?:[-_]\d+)?\.jsonl?|memories\.json)")
_NOTES: Final = "memories"
"""The folder of newer exports, with a file for each memory."""
_MEMORIES: Final = "memories.json"
_HEAD: Final = re.compile(rb"\s*[\[{]")
_MARKS: Final = (b'"chat_messages"', b'"conversations_memory"')
_LISTS: Final = (b'"chat_messages"', b'"conversations"', b'"memories"')
_ROLES: Final = {"human": "user", "user": "user", "assistant": "assistant"}
_BLANK: Final = re.compile(r"\n[ \t]*\n")


class ClaudeFormat:
    """Exports of claude.ai: a zip, or the list of conversations in it."""

    name = "claude"

    def takes(self, member: str) -> bool:
        """Return whether a file has conversations or memories, not users or projects."""
        path = PurePosixPath(member)
        noted = path.suffix == ".json" and path.parent.name == _NOTES
        return noted or _FILE.fullmatch(path.name) is not None

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with a conversation of chat messages, or with memory notes."""
        del path
        return _HEAD.match(head) is not None and any(mark in head for mark in _MARKS)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse each conversation, or each memory, in order."""
        if _is_one_memory(lines.head()):
            yield from _read_one_memory(lines, source)
            return
        read = _read_memories if source.path.name == _MEMORIES else _read_conversation
        for element in _read_items(lines, source.path):
            yield from read(element, source)


def _read_items(lines: Lines, path: Path) -> Iterator[Element]:
    """Parse a list, or JSON Lines."""
    if ".jsonl" not in path.suffixes:
        yield from read_elements(lines, "conversations", "memories")
        return
    for line in lines:
        if line.too_long:
            yield Element(number=line.number, wrong="the line is too long")
        elif line.data.strip():
            yield Element(number=line.number, data=line.data)


def _read_conversation(element: Element, source: Source) -> Iterator[Piece | Problem | Boundary]:
    place = f"conversation {element.number}"
    try:
        table = require_item(element)
        messages = list_of(table, "chat_messages")
    except MalformedError as error:
        yield Problem(place=place, what=str(error))
        return
    yield Boundary()
    place = f"{place} ({describe_item(table, element.number, 'uuid')})"
    session = read_text(table, "uuid") or f"{source.path.name}/{element.number}"
    title, begun = read_text(table, "name"), table.get("created_at")
    talk = Talk.titled(_AGENT, source, session=session, title=title, begun=begun)
    for number, message in enumerate(messages, 1):
        yield from _read_message(talk, f"{place}, message {describe_item(message, number, 'uuid')}", number, message)


def _read_message(talk: Talk, place: str, number: int, message: object) -> Iterator[Piece | Problem]:
    """Parse one message; skip a message without text."""
    try:
        table = require_table(message)
        role = _read_role(table)
        text = _read_words(table)
    except MalformedError as error:
        yield Problem(place=place, what=str(error))
        return
    if text:
        message_id = read_text(table, "uuid")
        key = (talk.session, message_id or f"#{number}")
        moment = table.get("created_at")
        yield from talk.pieces(Turn(place=place, role=role, text=text, key=key, moment=moment, id=message_id))


def _read_role(message: Mapping[str, Any]) -> str:
    role = _ROLES.get(read_text(message, "sender"))
    if role is None:
        raise MalformedError("its sender is neither human nor assistant")
    return role


def _read_words(message: Mapping[str, Any]) -> str:
    """Return the text of a message: its text blocks, else its text field."""
    content = message.get("content")
    blocks = cast("Sequence[object]", content) if isinstance(content, list) else ()
    tables = [cast("dict[str, Any]", block) for block in blocks if isinstance(block, dict)]
    texts = [read_text(block, "text") for block in tables if block.get("type", "text") == "text"]
    return "\n\n".join(text.strip() for text in texts if text) or read_text(message, "text").strip()


def _is_one_memory(head: bytes) -> bool:
    """Return whether a file is one memory, as newer exports have a file for each."""
    noted = any(mark in head for mark in (b'"conversations_memory"', b'"memory"', b'"content"'))
    return head.lstrip().startswith(b"{") and noted and not any(mark in head for mark in _LISTS)


def _read_one_memory(lines: Lines, source: Source) -> Iterator[Parsed]:
    """Parse a file that is one memory, not a list."""
    try:
        data = read_whole(lines)
    except MalformedError as error:
        yield Problem(place="memory", what=str(error))
        return
    yield from _read_memories(Element(number=1, data=data), source)


def _read_memories(element: Element, source: Source) -> Iterator[Piece | Problem]:
    """Parse the assistant's notes about the user: paragraphs of a document, with a document's trust."""
    place = f"memory {element.number}"
    try:
        texts = list(_read_notes(require_item(element)))
    except MalformedError as error:
        yield Problem(place=place, what=str(error))
        return
    for text in texts:
        for block in _BLANK.split(cut_tagged(mend_surrogates(text))):
            for part in cut(block.strip()):
                if has_words(part):
                    piece = make_document_piece(
                        Block(text=part, line=element.number, occurred_us=source.modified_us), source
                    )
                    yield replace(piece, place=place)


def _read_notes(table: Mapping[str, Any]) -> Iterator[str]:
    yield read_text(table, "conversations_memory", "memory", "content")
    projects = table.get("project_memories")
    if isinstance(projects, dict):
        yield from (note for note in cast("dict[str, object]", projects).values() if isinstance(note, str))
