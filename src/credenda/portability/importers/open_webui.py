"""Exports of Open WebUI: chats as trees of messages, of which the shown branch is read, and its memories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, cast

from credenda.portability.importers.format import Boundary, Omitted, Parsed, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Statement,
    Table,
    Talk,
    Turn,
    has_json_name,
    list_tables,
    make_statement_piece,
    mend_surrogates,
    read_message_text,
    read_moment_or_none,
    read_tables,
    read_text,
    require_table,
    word_about_user,
)
from credenda.portability.importers.shape import list_key_paths
from credenda.portability.line_reader import Lines

_CHAT: Final = ("chat.history", "chat.messages")
_MEMORY: Final = frozenset({"id", "user_id", "content", "updated_at", "created_at"})
_NOT_MEMORY: Final = frozenset({"role", "memory", "chat", "title", "type"})
_ROLES: Final = ("user", "assistant")
_THOUGHTS: Final = re.compile(r"<details\b[^<>]{0,500}>.*?</details>", re.DOTALL)


class OpenWebUIFormat:
    """Chats, or memories: lists of JSON objects."""

    name = "open-webui"

    def takes(self, member: str) -> bool:
        """Return whether a file is JSON."""
        return has_json_name(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with a chat or with a memory."""
        del path
        paths = list_key_paths(head)
        return any(one in paths for one in _CHAT) or (paths >= _MEMORY and not paths & _NOT_MEMORY)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse item after item."""

        def read(table: Table, place: str) -> Iterator[Parsed]:
            if "chat" in table:
                yield from _read_chat(table, place, source)
            else:
                text = read_text(table, "content").strip()
                if not text:
                    raise MalformedError("it has no content")
                statement = Statement(
                    place=place,
                    text=word_about_user(mend_surrogates(text)),
                    key=("open-webui", read_text(table, "id"), text),
                    occurred_at=read_moment_or_none(table.get("updated_at")),
                )
                yield make_statement_piece(statement, source)

        yield from read_tables(lines, source.path, {"": read})


def _read_chat(table: Table, place: str, source: Source) -> Iterator[Parsed]:
    chat = require_table(table.get("chat"))
    title = read_text(table, "title") or read_text(chat, "title")
    session = read_text(table, "id") or f"{source.path.name}/{place}"
    begun = table.get("created_at")
    talk = Talk.titled("open-webui", source, session=session[-120:], title=title, begun=begun)
    yield Boundary()
    for message in _list_branch(chat):
        role = message.get("role")
        text = _THOUGHTS.sub("", read_message_text(message.get("content"))).strip()
        if role not in _ROLES or not text:
            yield Omitted(what="messages without words" if role in _ROLES else "system messages")
            continue
        identity = read_text(message, "id")
        key = (talk.session, identity, str(role), text)
        moment = message.get("timestamp")
        yield from talk.pieces(Turn(place=place, role=str(role), text=text, key=key, moment=moment, id=identity[:64]))


def _list_branch(chat: Table) -> list[Table]:
    """Return the messages from the first to the shown one; older chats have them as a list."""
    history = chat.get("history")
    tree = cast("Table", history).get("messages") if isinstance(history, dict) else None
    if not isinstance(tree, dict):
        return list_tables(chat, "messages")
    nodes = cast("Mapping[str, object]", tree)
    found: dict[str, Table] = {}
    name = cast("Table", history).get("currentId")
    while isinstance(name, str) and name not in found and isinstance(node := nodes.get(name), dict):
        found[name] = cast("Table", node)
        name = found[name].get("parentId")
    return list(reversed(found.values())) or list_tables(chat, "messages")
