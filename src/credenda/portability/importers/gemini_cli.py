"""Sessions of Gemini CLI: one JSON object, or JSON Lines in which a later line replaces an earlier one of its id."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final, cast

from credenda.portability.importers.format import Boundary, Omitted, Parsed, Source
from credenda.portability.importers.json_checks import (
    Table,
    Talk,
    Turn,
    list_tables,
    read_message_text,
    read_tables,
    read_text,
)
from credenda.portability.importers.program_text import cut_program_text
from credenda.portability.importers.shape import list_key_paths
from credenda.portability.line_reader import Lines

_AGENT: Final = "gemini-cli"
_SHAPE: Final = frozenset({"sessionId", "projectHash", "startTime"})
_ROLES: Final = {"user": "user", "gemini": "assistant"}
_ENDINGS: Final = (".json", ".json.gz", ".jsonl", ".jsonl.gz")


class GeminiCliFormat:
    """`session-….json` of one session, or all of `~/.gemini/tmp`."""

    name = "gemini-cli"

    def takes(self, member: str) -> bool:
        """Return whether a file is a session."""
        name = PurePosixPath(member).name
        return name.startswith("session-") and name.endswith(_ENDINGS)

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with the description of a session."""
        del path
        return list_key_paths(head) >= _SHAPE

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Read the whole session, because later lines change earlier messages, and yield its messages."""
        talk = Talk(
            agent=_AGENT,
            session=source.path.name.partition(".")[0],
            user_id=source.user_id,
            aged_us=source.modified_us,
        )
        log = _Log()
        yield from read_tables(lines, source.path, dict.fromkeys(("", "messages"), log.take))
        yield Boundary()
        for place, message in log.messages.values():
            yield from _read_message(message, place, talk)


class _Log:
    """The messages as they are after each line of the file."""

    def __init__(self) -> None:
        self.messages: dict[str, tuple[str, Table]] = {}

    def take(self, table: Table, place: str) -> Iterator[Parsed]:
        """Apply one line; what a rewind took back was not said to the agent any more."""
        changed = table.get("$set")
        if isinstance(changed, dict):
            for message in list_tables(cast("Table", changed), "messages"):
                self._add(message, place)
        elif isinstance(target := table.get("$rewindTo"), str):
            if target in self.messages:
                names = list(self.messages)
                for name in names[names.index(target) :]:
                    yield Omitted(what="messages that were taken back")
                    del self.messages[name]
        elif table.get("type") is not None:
            self._add(table, place)

    def _add(self, message: Table, place: str) -> None:
        name = read_text(message, "id") or f"{place} {len(self.messages)}"
        first = self.messages.get(name, (place, message))[0]
        self.messages[name] = (first, message)


def _read_message(message: Table, place: str, talk: Talk) -> Iterator[Parsed]:
    role = _ROLES.get(str(message.get("type")))
    if role is None:
        yield Omitted(what="messages of the program")
        return
    content = message.get("content")
    blocks = cast("list[object]", content) if isinstance(content, list) else [content]
    texts = [read_message_text([block]) for block in blocks]
    if role == "user":
        texts = [cut_program_text(text) for text in texts]
    text = "\n\n".join(text for text in texts if text)
    if not text:
        yield Omitted(what="messages without words")
        return
    identity, moment = read_text(message, "id"), message.get("timestamp")
    key = (talk.session, identity or str(moment), role, text)
    yield from talk.pieces(Turn(place=place, role=role, text=text, key=key, moment=moment, id=identity[:64]))
