"""Sessions of Codex: JSON Lines, mostly tool calls; read are the user's prompts and the answers."""

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
    read_message_text,
    read_tables,
    read_text,
    require_table,
)
from credenda.portability.importers.program_text import cut_program_text
from credenda.portability.importers.shape import list_key_paths
from credenda.portability.line_reader import Lines
from credenda.projects import find_project

_AGENT: Final = "codex"
_PAYLOAD: Final = frozenset({"type", "payload", "payload.id", "payload.cwd"})
_OLDER: Final = frozenset({"id", "timestamp", "instructions", "type", "role", "content.text"})
_ROLES: Final = ("user", "assistant")
_KINDS: Final = ("session_meta", "response_item", "message")


class CodexFormat:
    """`rollout-….jsonl` of one session, or all of `~/.codex/sessions`."""

    name = "codex"

    def takes(self, member: str) -> bool:
        """Return whether a file is a rollout."""
        name = PurePosixPath(member).name
        return name.startswith("rollout-") and name.endswith((".jsonl", ".jsonl.gz"))

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file begins with the line that describes a session."""
        del path
        paths = list_key_paths(head)
        return (paths >= _PAYLOAD and b'"session_meta"' in head) or paths >= _OLDER

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse line after line; a session that another agent started is left out."""
        session = source.path.name.partition(".")[0]
        talk = Talk(agent=_AGENT, session=session, user_id=source.user_id, aged_us=source.modified_us)
        begun = spawned = False

        def read(table: Table, place: str) -> Iterator[Parsed]:
            nonlocal begun, spawned
            kind = table.get("type")
            if kind not in _KINDS:
                return
            payload = table if kind == "message" else require_table(table.get("payload"))
            if kind == "session_meta" and not begun:
                begun, spawned = True, isinstance(payload.get("source"), dict)
                if spawned:
                    yield Omitted(what="sessions of sub-agents")
                    return
                yield Boundary()
                talk.session = read_text(payload, "id") or talk.session
                folder = mend_surrogates(read_text(payload, "cwd"))
                talk.metadata = {"project": find_project(folder) or folder} if folder else {}
            elif kind != "session_meta" and payload.get("type") == "message" and not spawned:
                yield from _read_message(payload, table.get("timestamp"), place, talk)

        yield from read_tables(lines, source.path, {"": read})


def _read_message(payload: Table, moment: object, place: str, talk: Talk) -> Iterator[Parsed]:
    role = payload.get("role")
    if role not in _ROLES:
        yield Omitted(what="system messages")
        return
    content = payload.get("content")
    if not isinstance(content, list | str):
        raise MalformedError("its content is neither text nor a list of blocks")
    blocks = cast("list[object]", content) if isinstance(content, list) else [content]
    texts = [read_message_text([block]) for block in blocks]
    if role == "user":
        texts = [cut_program_text(text) for text in texts]
    text = "\n\n".join(text for text in texts if text)
    if not text:
        yield Omitted(what="messages of the program" if role == "user" else "messages without words")
        return
    key = (talk.session, str(moment), str(role), text)
    yield from talk.pieces(
        Turn(place=place, role=str(role), text=text, key=key, moment=moment, id=read_text(payload, "id")[:64])
    )
