"""Conversation files: JSON Lines, one conversation per line, with sessions and turns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from credenda.clock import parse_time, to_datetime
from credenda.errors import Invalid
from credenda.portability.importers.format import Boundary, Piece, Problem, Source, make_stable_key
from credenda.portability.importers.json_checks import (
    MalformedError,
    describe_item,
    list_of,
    parse_table,
    require_table,
)
from credenda.portability.line_reader import Line, Lines
from credenda.text.normalize import normalise_name
from credenda.write.intake.validate import Submission

_HEAD: Final = re.compile(rb'\s*\{.*"(?:conv|sessions)"\s*:', re.DOTALL)
_ROLES: Final = frozenset({"user", "assistant"})


def name_session(conversation: str, session: str) -> str:
    """Return a session name that is unique for any ids of conversations.

    >>> name_session("conv-26", "S1"), name_session("a/b", "c") == name_session("a", "b/c")
    ('conv-26/S1', False)
    """
    return f"{conversation.replace('%', '%25').replace('/', '%2F')}/{session}"


class ConversationFormat:
    """Conversations between people, or with an assistant."""

    name = "conversation"

    def takes(self, member: str) -> bool:
        """Return whether a file is JSON Lines."""
        return member.endswith((".jsonl", ".jsonl.gz"))

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
        if role in _ROLES:
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
