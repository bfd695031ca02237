"""Bare lists of messages, as programs keep them: `[{"role", "content"}]`, alone or under `messages`, or JSON Lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from credenda.clock import parse_time, to_datetime
from credenda.errors import Invalid
from credenda.portability.importers.format import (
    LINES_ENDINGS,
    Boundary,
    Format,
    Omitted,
    Parsed,
    Piece,
    Problem,
    Source,
    list_key_paths,
    make_stable_key,
)
from credenda.portability.importers.json_checks import (
    MalformedError,
    Table,
    Talk,
    Turn,
    describe_item,
    list_of,
    list_tables,
    parse_table,
    read_message_text,
    read_tables,
    read_text,
    read_whole_name,
    require_table,
)
from credenda.portability.sources import Line, Lines
from credenda.text.normalize import normalise_name
from credenda.write.intake.validate import Submission

_CONTENTS: Final = ("content", "parts", "text")
_MESSAGES_ROLES: Final[Mapping[str, str]] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
}
_SILENT: Final = frozenset({"system", "developer", "tool", "function", "tool_result"})
_TIMES: Final = ("timestamp", "created_at", "create_time", "createdAt", "time", "date")
_LISTS: Final = ("messages", "conversation", "history")


class MessagesFormat(Format):
    """Messages with a role, of any program."""

    name = "messages"

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with a message."""
        del path
        paths = list_key_paths(head)
        bases = ("", *(f"{name}." for name in _LISTS))
        return any(f"{base}role" in paths and any(f"{base}{one}" in paths for one in _CONTENTS) for base in bases)

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
    if role not in _MESSAGES_ROLES:
        raise MalformedError("its role is none of user, assistant, system and tool")
    text = read_message_text(table.get("content", table.get("parts", table.get("text"))))
    if not text:
        yield Omitted(what="messages without words")
        return
    identity = read_text(table, "id", "uuid")
    key = (talk.session, identity) if identity else (talk.session, str(number), _MESSAGES_ROLES[role], text)
    moment = next((table[name] for name in _TIMES if table.get(name) is not None), None)
    name = read_text(table, "name") if role in ("user", "human") else ""
    yield from talk.pieces(
        Turn(
            place=place,
            role="person" if name and not _is_owner(name, talk.user_id) else _MESSAGES_ROLES[role],
            name="" if _is_owner(name, talk.user_id) else name,
            text=text,
            key=key,
            moment=moment,
            id=identity[:64],
        )
    )


def _is_owner(name: str, user_id: str) -> bool:
    return name.strip().casefold() in {"", "user", user_id.casefold()}


# Conversation files: JSON Lines, one conversation per line, with sessions and turns.


_HEAD: Final = re.compile(rb'\s*\{.*"(?:conv|sessions)"\s*:', re.DOTALL)
_CONVERSATION_ROLES: Final = frozenset({"user", "assistant"})


def name_session(conversation: str, session: str) -> str:
    """Return a session name that is unique for any ids of conversations.

    >>> name_session("conv-26", "S1"), name_session("a/b", "c") == name_session("a", "b/c")
    ('conv-26/S1', False)
    """
    return f"{conversation.replace('%', '%25').replace('/', '%2F')}/{session}"


class ConversationFormat(Format):
    """Conversations between people, or with an assistant."""

    name = "conversation"
    endings = LINES_ENDINGS

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether the first line is an object with a conversation or sessions."""
        del path
        return _HEAD.match(head) is not None

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem | Boundary]:
        """Parse each line as a conversation and yield its messages, in order."""
        for line in lines:
            if line.too_long or line.data.strip():
                yield from _read_conversation(line, source)


def _read_conversation(line: Line, source: Source) -> Iterator[Piece | Problem | Boundary]:
    place = f"line {line.number}"
    try:
        table = _parse_line(line)
        talk = _Talk(id=_read_id(table, "conv"), place=place, user_id=source.user_id)
        sessions = list_of(table, "sessions")
    except MalformedError as error:
        yield Problem(place=place, what=str(error))
        return
    yield Boundary()
    for number, session in enumerate(sessions, 1):
        yield from talk.turns(session, number)


def _parse_line(line: Line) -> Mapping[str, Any]:
    if line.too_long:
        raise MalformedError("the line is too long; split the conversation over several lines")
    return parse_table(line.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Talk:
    """One conversation, and its place in the file."""

    id: str
    place: str
    user_id: str

    def turns(self, session: object, number: int) -> Iterator[Piece | Problem]:
        """Parse one session; skip a malformed session completely, because its messages would lack their time."""
        place = f"{self.place}, session {describe_item(session, number, 'id')}"
        try:
            table = require_table(session)
            scene = _Scene(talk=self, session=_read_id(table, "id"), begun=_read_time(table))
            turns = list_of(table, "turns")
        except MalformedError as error:
            yield Problem(place=place, what=str(error))
            return
        for count, turn in enumerate(turns, 1):
            spot = f"{place}, turn {describe_item(turn, count, 'id')}"
            try:
                yield Piece(place=spot, submission=scene.submission(turn))
            except MalformedError as error:
                yield Problem(place=spot, what=str(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    """The common values of a session's messages."""

    talk: _Talk
    session: str
    begun: datetime | None

    def submission(self, turn: object) -> Submission:
        """Parse one message."""
        table = require_table(turn)
        turn_id = _read_id(table, "id")
        return Submission(
            content=[{**self._speaker(table), "content": _read_words(table), "id": turn_id}],
            user_id=self.talk.user_id,
            session=name_session(self.talk.id, self.session),
            occurred_at=_read_time(table) or self.begun,
            idempotency_key=make_stable_key("conversation", self.talk.id, self.session, turn_id),
        )

    def _speaker(self, turn: Mapping[str, Any]) -> dict[str, str]:
        """Return role and name: user and assistant are roles, and so is the tenant's own name."""
        speaker = turn.get("speaker")
        if not isinstance(speaker, str) or not speaker.strip():
            raise MalformedError("it has no speaker")
        role = speaker.strip().casefold()
        if role in _CONVERSATION_ROLES:
            return {"role": role}
        if normalise_name(speaker) in {"user", normalise_name(self.talk.user_id)}:
            return {"role": "user"}
        return {"role": "person", "name": speaker.strip()}


def _read_words(turn: Mapping[str, Any]) -> str:
    """Return the text of a message, with the caption of its image."""
    text, caption = turn.get("text", ""), turn.get("image_caption")
    if not isinstance(text, str):
        raise MalformedError("its text is not text")
    if caption is not None and not isinstance(caption, str):
        raise MalformedError("its image_caption is not text")
    return f"{text} [image: {caption}]".lstrip() if caption else text


def _read_time(table: Mapping[str, Any]) -> datetime | None:
    """Parse a time, in UTC unless it has a zone; None if there is none."""
    value = table.get("time")
    if value is None:
        return None
    if not isinstance(value, str):
        raise MalformedError("its time is not text")
    try:
        return to_datetime(parse_time(value, UTC))
    except (Invalid, OverflowError) as error:
        raise MalformedError("its time is not RFC 3339, like 2026-03-01T09:30:00Z") from error


def _read_id(table: Mapping[str, Any], name: str) -> str:
    value = table.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise MalformedError(f"it has no {name}")
    return value
