"""Chats of Telegram, as its desktop program exports them: `result.json` of one chat, or of all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from credenda.portability.importers.format import Boundary, Omitted, Parsed, Problem, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Table,
    Talk,
    Turn,
    describe_item,
    has_json_name,
    list_tables,
    mend_surrogates,
    name_speaker,
    read_message_text,
    read_tables,
    read_text,
    read_whole_name,
)
from credenda.portability.importers.shape import list_key_paths
from credenda.portability.line_reader import Lines

_CHATS: Final = ("messages", "chats.list.messages")
_KEYS: Final = ("id", "type", "date", "from_id")
_OWNER: Final = re.compile(rb'"personal_information"\s*:\s*\{[^{}]{0,2000}?"user_id"\s*:\s*(\d{1,20})')


class TelegramFormat:
    """Messages of persons; a forwarded message belongs to the person who wrote it."""

    name = "telegram"

    def takes(self, member: str) -> bool:
        """Return whether a file is JSON."""
        return has_json_name(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with messages of a chat, or with the data of an account."""
        del path
        paths = list_key_paths(head)
        return any(all(f"{chat}.{key}" in paths for key in _KEYS) for chat in _CHATS) or (
            "personal_information.user_id" in paths and "chats" in paths
        )

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse the messages of one chat, or chat after chat."""
        found = _OWNER.search(lines.head())
        owner = f"user{found[1].decode()}" if found else ""
        single = _begin(source, read_whole_name(source.path), "")

        def read(table: Table, place: str) -> Iterator[Parsed]:
            yield from _read_message(table, place, single, owner)

        def read_chat(table: Table, place: str) -> Iterator[Parsed]:
            if "messages" not in table:
                return
            name = read_text(table, "name")
            yield Boundary()
            talk = _begin(source, f"telegram/{describe_item(table, 0, 'id', 'name')}", name)
            for number, message in enumerate(list_tables(table, "messages"), 1):
                spot = f"{place}, message {number}"
                try:
                    yield from _read_message(message, spot, talk, owner)
                except MalformedError as error:
                    yield Problem(place=spot, what=str(error))

        yield from read_tables(lines, source.path, {"": read, "messages": read, "list": read_chat})


def _begin(source: Source, session: str, title: str) -> Talk:
    return Talk.titled("", source, session=mend_surrogates(session)[-120:], title=title, begun=None)


def _read_message(table: Table, place: str, talk: Talk, owner: str) -> Iterator[Parsed]:
    if table.get("type") != "message":
        yield Omitted(what="notices")
        return
    text = "".join(_list_parts(table.get("text"))).strip()
    if not text:
        yield Omitted(what="messages without words")
        return
    forwarded = read_text(table, "forwarded_from")
    writer = forwarded or read_text(table, "from")
    if not writer:
        raise MalformedError("it has no sender")
    mine = bool(owner) and not forwarded and table.get("from_id") == owner
    role, name = ("user", "") if mine else name_speaker(writer, talk.user_id)
    seconds = read_text(table, "date_unixtime")
    moment = int(seconds) if seconds.isdecimal() and len(seconds) < len("10000000000000") else table.get("date")
    identity = describe_item(table, 0, "id")
    key = ("telegram", talk.session, identity, text)
    yield from talk.pieces(Turn(place=place, role=role, name=name, text=text, key=key, moment=moment, id=identity[:64]))


def _list_parts(text: object) -> Iterator[str]:
    """Yield a text, whose links and names are objects among plain parts."""
    if isinstance(text, str):
        yield text
    elif isinstance(text, list):
        for part in text:  # pyright: ignore[reportUnknownVariableType] - foreign JSON
            yield part if isinstance(part, str) else read_message_text(part)  # pyright: ignore[reportUnknownArgumentType] - foreign JSON
