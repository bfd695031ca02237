"""Conversation files: JSON Lines, one conversation a line, its sessions and their turns inside."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from credenda.clock import parse_time, to_datetime
from credenda.errors import Invalid
from credenda.portability.importers.port import Boundary, Piece, Problem, Source, stable_key
from credenda.portability.lines import Line, Lines
from credenda.text.normal import name_key
from credenda.write.accept import Submission

__all__ = ["ConversationFormat", "session_name"]

_HEAD: Final = re.compile(rb'\s*\{.*"(?:conv|sessions)"\s*:', re.DOTALL)
_ROLES: Final = frozenset({"user", "assistant"})
_BOM: Final = b"\xef\xbb\xbf"


def session_name(conversation: str, session: str) -> str:
    """Name a session so that no two conversations share one, whatever their ids are.

    >>> session_name("conv-26", "S1"), session_name("a/b", "c") == session_name("a", "b/c")
    ('conv-26/S1', False)
    """
    return f"{conversation.replace('%', '%25').replace('/', '%2F')}/{session}"


class ConversationFormat:
    """Talk between people, or with an assistant."""

    name = "conversation"

    def recognises(self, head: bytes, path: Path) -> bool:
        """Say whether the first line is a table with a conversation or sessions."""
        del path
        return _HEAD.match(head.removeprefix(_BOM)) is not None

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem | Boundary]:
        """Read each line as a conversation and give its turns, in order."""
        for line in lines:
            if line.too_long or line.data.strip():
                yield from _conversation(line, source)


def _conversation(line: Line, source: Source) -> Iterator[Piece | Problem | Boundary]:
    place = f"line {line.number}"
    try:
        table = _loaded(line)
        conversation = _id(table, "conv")
        sessions = _listed(table, "sessions")
    except ValueError as error:
        yield Problem(place=place, what=str(error))
        return
    yield Boundary()
    for number, session in enumerate(sessions, 1):
        yield from _session(session, number, conversation, place, source)


def _loaded(line: Line) -> Mapping[str, Any]:
    if line.too_long:
        raise ValueError("the line is too long; split the conversation over several lines")
    try:
        text = line.data.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8; save the file as UTF-8") from error
    try:
        return _tabular(json.loads(text))
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON at character {error.pos + 1}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _session(
    session: object, number: int, conversation: str, above: str, source: Source
) -> Iterator[Piece | Problem]:
    place = f"{above}, session {number}"
    try:
        table = _tabular(session)
        name = _id(table, "id")
        place = f"{above}, session {name}"
        turns = _listed(table, "turns")
        begun = _moment(table)
    except ValueError as error:
        yield Problem(place=place, what=str(error))
        return
    scene = _Scene(conversation=conversation, session=name, begun=begun, user_id=source.user_id)
    for count, turn in enumerate(turns, 1):
        try:
            yield scene.piece(turn, count, place)
        except ValueError as error:
            yield Problem(place=f"{place}, turn {_shown_id(turn, count)}", what=str(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    """What the turns of one session share."""

    conversation: str
    session: str
    begun: datetime | None
    user_id: str

    def piece(self, turn: object, number: int, above: str) -> Piece:
        """Read one turn; raises `ValueError` for a malformed one."""
        table = _tabular(turn)
        turn_id = _id(table, "id")
        message = {**self._speaker(table), "content": _said(table), "id": turn_id}
        submission = Submission(
            content=[message],
            user_id=self.user_id,
            session=session_name(self.conversation, self.session),
            occurred_at=_moment(table) or self.begun,
            idempotency_key=stable_key("conversation", self.conversation, self.session, turn_id),
        )
        return Piece(place=f"{above}, turn {_shown_id(turn, number)}", submission=submission)

    def _speaker(self, turn: Mapping[str, Any]) -> dict[str, str]:
        """Give role and name: user and assistant are roles, and so is the tenant's own name."""
        speaker = turn.get("speaker")
        if not isinstance(speaker, str) or not speaker.strip():
            raise ValueError("it has no speaker")
        role = speaker.strip().casefold()
        if role in _ROLES:
            return {"role": role}
        if name_key(speaker) in {"user", name_key(self.user_id)}:
            return {"role": "user"}
        return {"role": "person", "name": speaker.strip()}


def _said(turn: Mapping[str, Any]) -> str:
    """Give the words of a turn; the caption of a picture is part of them."""
    text, caption = turn.get("text", ""), turn.get("image_caption")
    if not isinstance(text, str):
        raise ValueError("its text is not text")
    if caption is not None and not isinstance(caption, str):
        raise ValueError("its image_caption is not text")
    return f"{text} [image: {caption}]".lstrip() if caption else text


def _moment(table: Mapping[str, Any]) -> datetime | None:
    """Read a time, in UTC unless it names a zone; None when there is none."""
    value = table.get("time")
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("its time is not text")
    try:
        return to_datetime(parse_time(value, UTC))
    except (Invalid, OverflowError) as error:
        raise ValueError("its time is not RFC 3339, like 2026-03-01T09:30:00Z") from error


def _id(table: Mapping[str, Any], name: str) -> str:
    value = table.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"it has no {name}")
    return value


def _shown_id(turn: object, number: int) -> str:
    found = cast("dict[str, object]", turn).get("id") if isinstance(turn, dict) else None
    return str(found)[:64] if found is not None else str(number)


def _tabular(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("it is not a table")  # noqa: TRY004 - malformed input, told as such
    return cast("Mapping[str, Any]", value)


def _listed(table: Mapping[str, Any], name: str) -> Sequence[object]:
    value = table.get(name)
    if not isinstance(value, list):
        raise ValueError(f"it has no list of {name}")  # noqa: TRY004 - as above
    return cast("Sequence[object]", value)
