"""Bare lists of messages, as programs keep them: `[{"role", "content"}]`, alone or under `messages`, or JSON Lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from credenda.clock import parse_time, to_datetime
from credenda.errors import Invalid
from credenda.portability.importers.format import (
    LINES_ENDINGS,
    Boundary,
    Format,
    Omitted,
    Parsed,
    Piece,
    Source,
    make_stable_key,
    read_whole_name,
)
from credenda.portability.importers.json_checks import (
    MalformedError,
    Table,
    Talk,
    catch_malformed,
    describe_item,
    list_of,
    list_tables,
    parse_table,
    read_message_text,
    read_tables,
    read_text,
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
    signs = tuple(
        (frozenset({f"{base}role", f"{base}{content}"}), ())
        for base in ("", *(f"{name}." for name in _LISTS))
        for content in _CONTENTS
    )

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
                yield from catch_malformed(spot, read_message(message, spot, inner, count))

        yield from read_tables(lines, source.path, {"": read, **dict.fromkeys(_LISTS, read)})


def start_talk(source: Source, name: str = "") -> Talk:
    """Return the conversation of a file, or of one of several in it."""
    session = f"{read_whole_name(source.path)}/{name}" if name else read_whole_name(source.path)
    return Talk.begin("", source, session[-120:])


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
    identity = read_text(table, "id", "uuid")
    key = (talk.session, identity) if identity else (talk.session, str(number), _MESSAGES_ROLES[role], text)
    moment = next((table[name] for name in _TIMES if table.get(name) is not None), None)
    name = read_text(table, "name") if role in ("user", "human") else ""
    name = "" if name.strip().casefold() in {"user", talk.user_id.casefold()} else name
    yield from talk.pieces(
        place, "person" if name else _MESSAGES_ROLES[role], text, key, moment=moment, id=identity, name=name
    )


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

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse each line as a conversation and yield its messages, in order."""
        for line in lines:
            if line.too_long or line.data.strip():
                place = f"line {line.number}"
                yield from catch_malformed(place, _read_conversation(line, place, source.user_id))


def _read_conversation(line: Line, place: str, user_id: str) -> Iterator[Parsed]:
    if line.too_long:
        raise MalformedError("the line is too long; split the conversation over several lines")
    table = parse_table(line.data)
    conversation, sessions = _read_id(table, "conv"), list_of(table, "sessions")
    yield Boundary()
    for number, session in enumerate(sessions, 1):
        spot = f"{place}, session {describe_item(session, number, 'id')}"
        yield from catch_malformed(spot, _read_session(session, spot, conversation, user_id))


def _read_session(session: object, place: str, conversation: str, user_id: str) -> Iterator[Parsed]:
    """Parse one session; skip a malformed session completely, because its messages would lack their time."""
    table = require_table(session)
    name, begun, turns = _read_id(table, "id"), _read_time(table), list_of(table, "turns")

    def read_turn(turn: object, spot: str) -> Iterator[Parsed]:
        table = require_table(turn)
        turn_id = _read_id(table, "id")
        submission = Submission(
            content=[{**_read_speaker(table, user_id), "content": _read_words(table), "id": turn_id}],
            user_id=user_id,
            session=name_session(conversation, name),
            occurred_at=_read_time(table) or begun,
            idempotency_key=make_stable_key("conversation", conversation, name, turn_id),
        )
        yield Piece(place=spot, submission=submission)

    for count, turn in enumerate(turns, 1):
        spot = f"{place}, turn {describe_item(turn, count, 'id')}"
        yield from catch_malformed(spot, read_turn(turn, spot))


def _read_speaker(turn: Table, user_id: str) -> dict[str, str]:
    """Return role and name: user and assistant are roles, and so is the tenant's own name."""
    speaker = turn.get("speaker")
    if not isinstance(speaker, str) or not speaker.strip():
        raise MalformedError("it has no speaker")
    role = speaker.strip().casefold()
    if role in _CONVERSATION_ROLES:
        return {"role": role}
    if normalise_name(speaker) in {"user", normalise_name(user_id)}:
        return {"role": "user"}
    return {"role": "person", "name": speaker.strip()}


def _read_words(turn: Table) -> str:
    """Return the text of a message, with the caption of its image."""
    text, caption = turn.get("text", ""), turn.get("image_caption")
    if not isinstance(text, str):
        raise MalformedError("its text is not text")
    if caption is not None and not isinstance(caption, str):
        raise MalformedError("its image_caption is not text")
    return f"{text} [image: {caption}]".lstrip() if caption else text


def _read_time(table: Table) -> datetime | None:
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


def _read_id(table: Table, name: str) -> str:
    value = table.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise MalformedError(f"it has no {name}")
    return value
