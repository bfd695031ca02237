"""Sessions of Copilot CLI: JSON Lines of events; read are the user's prompts and the answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final, cast

from credenda.portability.importers.format import Boundary, Omitted, Parsed, Source
from credenda.portability.importers.json_checks import (
    MalformedError,
    Table,
    Talk,
    Turn,
    mend_surrogates,
    read_tables,
    read_text,
    require_table,
)
from credenda.portability.importers.program_text import cut_program_text
from credenda.portability.importers.shape import list_key_paths
from credenda.portability.line_reader import Lines
from credenda.projects import find_project

_AGENT: Final = "copilot"
_SHAPE: Final = frozenset({"type", "data", "id", "timestamp"})
_MARKS: Final = (b'"session.start"', b'"user.message"')
_ROLES: Final = {"user.message": "user", "assistant.message": "assistant"}


class CopilotFormat:
    """`events.jsonl` of one session, or all of `~/.copilot/session-state`."""

    name = "copilot"

    def takes(self, member: str) -> bool:
        """Return whether a file is a log of events; older versions name it after the session."""
        return PurePosixPath(member).name.endswith((".jsonl", ".jsonl.gz"))

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with events of a session."""
        del path
        return list_key_paths(head) >= _SHAPE and any(mark in head for mark in _MARKS)

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse event after event."""
        name = source.path.name.partition(".")[0]
        session = source.path.parent.name if name == "events" else name
        talk = Talk(agent=_AGENT, session=session[-120:], user_id=source.user_id, aged_us=source.modified_us)

        def read(table: Table, place: str) -> Iterator[Parsed]:
            kind = table.get("type")
            if kind == "session.start":
                yield Boundary()
                data = require_table(table.get("data"))
                talk.session = read_text(data, "sessionId") or talk.session
                context = data.get("context")
                folder = mend_surrogates(read_text(cast("Table", context), "cwd")) if isinstance(context, dict) else ""
                talk.metadata = {"project": find_project(folder) or folder} if folder else {}
            elif str(kind) in _ROLES:
                yield from _read_message(table, _ROLES[str(kind)], place, talk)

        yield from read_tables(lines, source.path, {"": read})


def _read_message(table: Table, role: str, place: str, talk: Talk) -> Iterator[Parsed]:
    """Yield a message between the user and the agent; one with a source comes from a skill or the program."""
    data = require_table(table.get("data"))
    if data.get("parentToolCallId"):
        yield Omitted(what="messages of sub-agents")
        return
    content = data.get("content")
    if not isinstance(content, str):
        raise MalformedError("its content is no text")
    injected = role == "user" and data.get("source") not in (None, "user")
    text = "" if injected else cut_program_text(content) if role == "user" else content.strip()
    if not text:
        yield Omitted(what="messages without words")
        return
    identity = read_text(table, "id")
    moment = table.get("timestamp")
    key = (talk.session, identity or str(moment), role, text)
    yield from talk.pieces(Turn(place=place, role=role, text=text, key=key, moment=moment, id=identity[:64]))
