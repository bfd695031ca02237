"""Bare lists of messages, as programs keep them: `[{"role", "content"}]`, alone or under `messages`, or JSON Lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from credenda.portability.importers.format import Boundary, Omitted, Parsed, Problem, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Table,
    Talk,
    Turn,
    has_json_name,
    is_json_with,
    list_tables,
    read_message_text,
    read_tables,
    read_text,
    read_whole_name,
)
from credenda.portability.line_reader import Lines

_HEAD: Final = re.compile(rb'\s*\[?\s*\{(?:\s*"(?:messages|conversation|history)"\s*:\s*\[)?')
_ROLES: Final[Mapping[str, str]] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
}
_SILENT: Final = frozenset({"system", "developer", "tool", "function", "tool_result"})
_TIMES: Final = ("timestamp", "created_at", "create_time", "createdAt", "time", "date")
_LISTS: Final = ("messages", "conversation", "history")


class MessagesFormat:
    """Messages with a role, of any program."""

    name = "messages"

    def takes(self, member: str) -> bool:
        """Return whether a file is JSON or JSON Lines."""
        return has_json_name(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with a message."""
        del path
        return _HEAD.match(head) is not None and is_json_with(head, b'"role"', b'"content"')

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse message after message; a line of JSON Lines may be a conversation."""
        talk = start_talk(source)
        number = 0

        def read(table: Table, place: str) -> Iterator[Parsed]:
            nonlocal number
            lists = [name for name in _LISTS if isinstance(table.get(name), list)]
            if not lists:
                number += 1
                yield from read_message(table, place, talk, number)
                return
            yield Boundary()
            inner = start_talk(source, read_text(table, "id", "conversation_id", "thread_id") or place)
            for count, message in enumerate(list_tables(table, lists[0]), 1):
                spot = f"{place}, message {count}"
                try:
                    yield from read_message(message, spot, inner, count)
                except MalformedError as error:
                    yield Problem(place=spot, what=str(error))

        yield from read_tables(lines, source.path, {"": read, **dict.fromkeys(_LISTS, read)})


def start_talk(source: Source, name: str = "") -> Talk:
    """Return the conversation of a file, or of one of several in it."""
    session = f"{read_whole_name(source.path)}/{name}" if name else read_whole_name(source.path)
    return Talk(agent="", session=session[-120:], user_id=source.user_id, aged_us=source.modified_us)


def read_message(table: Table, place: str, talk: Talk, number: int) -> Iterator[Parsed]:
    """Yield a message with words; its key is its id, or its position and text."""
    role = read_text(table, "role", "sender", "from").casefold()
    if role in _SILENT:
        yield Omitted(what="tool messages" if role.startswith(("tool", "function")) else "system messages")
        return
    if not role:
        raise MalformedError("it has no role")
    if role not in _ROLES:
        raise MalformedError("its role is none of user, assistant, system and tool")
    text = read_message_text(table.get("content", table.get("parts", table.get("text"))))
    if not text:
        yield Omitted(what="messages without words")
        return
    identity = read_text(table, "id", "uuid")
    key = (talk.session, identity) if identity else (talk.session, str(number), _ROLES[role], text)
    moment = next((table[name] for name in _TIMES if table.get(name) is not None), None)
    name = read_text(table, "name") if role in ("user", "human") else ""
    yield from talk.pieces(
        Turn(
            place=place,
            role="person" if name and not _is_owner(name, talk.user_id) else _ROLES[role],
            name="" if _is_owner(name, talk.user_id) else name,
            text=text,
            key=key,
            moment=moment,
            id=identity[:64],
        )
    )


def _is_owner(name: str, user_id: str) -> bool:
    return name.strip().casefold() in {"", "user", user_id.casefold()}
