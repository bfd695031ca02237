"""Chats of SillyTavern: JSON Lines; the first line describes the chat, each other is a message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from credenda.portability.importers.format import Boundary, Omitted, Parsed, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Table,
    Talk,
    Turn,
    has_json_name,
    read_tables,
    read_text,
    read_whole_name,
)
from credenda.portability.importers.shape import list_key_paths
from credenda.portability.line_reader import Lines

_SHAPE: Final = frozenset({"is_user", "mes"})
_HUMANIZED: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m(?: ?(\d{1,2})s)?.*")
_WRITTEN: Final = ("%B %d, %Y %I:%M%p", "%B %d, %Y %H:%M")
_MILLISECONDS: Final = 100_000_000_000


class SillyTavernFormat:
    """A chat with a character: its words are those of an assistant."""

    name = "sillytavern"

    def takes(self, member: str) -> bool:
        """Return whether a file is JSON Lines."""
        return has_json_name(member)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with a chat."""
        del path
        return list_key_paths(head) >= _SHAPE

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse message after message, of several versions of an answer the one that was chosen."""
        session = read_whole_name(source.path)[-120:]
        talk = Talk(agent="sillytavern", session=session, user_id=source.user_id, aged_us=source.modified_us)
        number = 0

        def read(table: Table, place: str) -> Iterator[Parsed]:
            nonlocal number
            if "mes" not in table:
                return
            number += 1
            yield from _read_message(table, place, talk, number)

        yield Boundary()
        yield from read_tables(lines, source.path, {"": read})


def _read_message(table: Table, place: str, talk: Talk, number: int) -> Iterator[Parsed]:
    text = table.get("mes")
    if not isinstance(text, str):
        raise MalformedError("its text is no text")
    if table.get("is_system") or not text.strip():
        yield Omitted(what="system messages" if table.get("is_system") else "messages without words")
        return
    role = "user" if table.get("is_user") is True else "assistant"
    talk.metadata = {"character": read_text(table, "name")[:200]} if role == "assistant" else {}
    key = (talk.session, str(number), role, text)
    moment = _read_moment(table.get("send_date"))
    yield from talk.pieces(Turn(place=place, role=role, text=text.strip(), key=key, moment=moment))


def _read_moment(value: object) -> object:
    """Return a time in a form that every importer reads; the program has written it in four ways.

    >>> _read_moment("2026-3-1 @09h 15m 02s 7ms"), _read_moment("March 1, 2026 9:15am"), _read_moment("1772356502000")
    ('2026-03-01T09:15:02+00:00', '2026-03-01T09:15:00+00:00', 1772356502.0)
    """
    if isinstance(value, str) and value.isdecimal() and len(value) < len("10000000000000000"):
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value / 1_000 if value > _MILLISECONDS else value
    if not isinstance(value, str):
        return value
    try:
        if found := _HUMANIZED.fullmatch(value):
            year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC).isoformat()
    except ValueError:
        return value
    for form in _WRITTEN:
        try:
            return datetime.strptime(value, form).replace(tzinfo=UTC).isoformat()
        except ValueError:
            continue
    return value
