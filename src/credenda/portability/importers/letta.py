"""Agent files of Letta (`.af`): the agent's memory blocks, and its messages.

The block about the human becomes statements about the user; other blocks are the agent's own notes, and documents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from credenda.portability.importers.blocks import Block, cut, has_words, make_document_piece
from credenda.portability.importers.format import Boundary, Omitted, Parsed, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Reader,
    Statement,
    Table,
    Talk,
    Turn,
    is_json_with,
    list_tables,
    make_statement_piece,
    mend_surrogates,
    omit_items,
    read_message_text,
    read_tables,
    read_text,
)
from credenda.portability.line_reader import Lines
from credenda.private import cut_tagged

_AGENT: Final = "letta"
_HUMAN: Final = "human"
_BLOCKS: Final = ("blocks", "core_memory")
_OMITTED: Final = ("tools", "groups", "sources", "files", "mcp_servers", "skills")
_MARKS: Final = ((b'"agents"', b'"block_ids"'), (b'"core_memory"', b'"agent_type"'), (b'"blocks"', b'"agents"'))
_UNKNOWN: Final = (": ?", ": unknown", ": n/a")
_FRAME: Final = "this is what i know so far about the user"
"""Beginning of the first line of the block that every new agent gets."""
_SPOKEN: Final = "user_message"
_SEND: Final = "send_message"


class LettaFormat:
    """Agent files of Letta, of servers and of its cloud."""

    name = "letta"

    def takes(self, member: str) -> bool:
        """Return whether a file is an agent file."""
        return member.casefold().endswith((".af", ".af.json"))

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file has the suffix, or begins with an agent and its blocks."""
        named = path.suffix.casefold() == ".af"
        return is_json_with(head) and (named or any(is_json_with(head, *marks) for marks in _MARKS))

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse agents and blocks, in the order of the file."""
        readers: dict[str, Reader] = {name: omit_items(name.replace("_", " ")) for name in _OMITTED}
        readers |= dict.fromkeys(_BLOCKS, lambda table, place: _read_block(table, place, source))
        readers["agents"] = lambda table, place: _read_agent(table, place, source)
        legacy = Talk(agent=_AGENT, session=source.path.stem, user_id=source.user_id, aged_us=source.modified_us)
        readers["messages"] = lambda table, place: _read_message(table, place, legacy)
        yield from read_tables(lines, source.path, readers)


def _read_agent(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    yield Boundary()
    name = read_text(table, "name") or source.path.stem
    session = f"{name}/{read_text(table, 'id') or 'agent'}"
    talk = Talk.titled(_AGENT, source, session=session, title=name, begun=None)
    for number, message in enumerate(list_tables(table, "messages"), 1):
        spot = f"{place}, message {read_text(message, 'id') or number}"
        yield from _read_message(message, spot, talk)
    for block in list_tables(table, "memory_blocks"):
        yield from _read_block(block, f"{place}, memory block", source)
    if read_text(table, "system"):
        yield Omitted(what="system prompts")


def _read_message(table: Table, place: str, talk: Talk) -> Iterator[Parsed]:
    """Yield what user and agent said to each other."""
    role = table.get("role")
    if role not in ("user", "assistant"):
        yield Omitted(what="system messages" if role == "system" else "tool messages")
        return
    text = _unpack(read_message_text(table.get("content"))) if role == "user" else _read_answer(table)
    if not text:
        yield Omitted(what="messages without words")
        return
    identity = read_text(table, "id") or text
    key = (talk.session, identity, text)
    yield from talk.pieces(
        Turn(place=place, role=str(role), text=text, key=key, moment=table.get("created_at"), id=identity[:64])
    )


def _unpack(text: str) -> str:
    """Return the user's words; older servers pack them as JSON, beside events such as heartbeats."""
    if not text.startswith("{"):
        return text
    try:
        packed: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(packed, dict) or "type" not in packed:
        return text
    table = cast("Mapping[str, Any]", packed)
    return read_text(table, "message").strip() if table["type"] == _SPOKEN else ""


def _read_answer(table: Table) -> str:
    """Return what the agent sent; beside a call that sends a message, the content is what it thought."""
    calls = [call.get("function") for call in list_tables(table, "tool_calls")]
    tables = [cast("Table", call) for call in calls if isinstance(call, dict)]
    sent = [_read_sent(read_text(call, "arguments")) for call in tables if call.get("name") == _SEND]
    if sent:
        return "\n\n".join(one for one in sent if one)
    return "" if calls else read_message_text(table.get("content"))


def _read_sent(arguments: str) -> str:
    try:
        parsed: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return ""
    return read_text(cast("Table", parsed), "message").strip() if isinstance(parsed, dict) else ""


def _read_block(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    label = read_text(table, "label")
    if not label:
        raise MalformedError("it has no label")
    value = cut_tagged(mend_surrogates(read_text(table, "value")))
    if not has_words(value):
        yield Omitted(what="empty blocks")
    elif label == _HUMAN:
        yield from _read_human(value, place, source)
    else:
        for part in cut(value.strip()):
            details = {"block": label}
            yield make_document_piece(Block(text=part, line=1, occurred_us=source.modified_us, details=details), source)


def _read_human(value: str, place: str, source: Source) -> Iterator[Parsed]:
    for line in value.splitlines():
        text = line.strip().removeprefix("-").strip()
        if not has_words(text) or text.casefold().startswith(_FRAME) or text.startswith("#"):
            continue
        if text.casefold().endswith(_UNKNOWN):
            yield Omitted(what="lines without a value")
            continue
        for part in cut(text):
            details = {"block": _HUMAN}
            statement = Statement(place=place, text=part, key=("letta", _HUMAN, part), metadata=details)
            yield make_statement_piece(statement, source)
