"""Memory files of Hermes: `§` parts entries; `USER.md` is about the user, `MEMORY.md` has the notes of the agent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from credenda.clock import to_datetime
from credenda.portability.importers.blocks import BLOCK_CHARACTERS_MAX, decode_lines, has_words
from credenda.portability.importers.format import Parsed, Problem, Source
from credenda.portability.importers.json_checks import Statement, make_statement_piece, read_whole_name, word_about_user
from credenda.portability.line_reader import Lines

_FILES: Final = ("memory.md", "user.md")
_ABOUT_USER: Final = "user.md"
_BORDER: Final = "\u00a7"
_HEAD: Final = re.compile("^\u00a7[ \t]*\r?$".encode(), re.MULTILINE)


class HermesFormat:
    """`~/.hermes/memories`, or one of its files."""

    name = "hermes"

    def takes(self, member: str) -> bool:
        """Return whether a file is one of the two."""
        return PurePosixPath(member).name.casefold() in _FILES

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a file has a border between entries; one with a single entry needs the other beside it."""
        return self.takes(path.name) and _HEAD.search(head) is not None

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse entry after entry."""
        entry: list[str] = []
        number = 0
        for line in decode_lines(lines):
            if isinstance(line, Problem):
                yield line
            elif line.text.strip() == _BORDER:
                yield from _read_entry(entry, number, source)
                entry, number = [], 0
            else:
                number = number or line.number
                entry.append(line.text)
        yield from _read_entry(entry, number, source)


def _read_entry(entry: list[str], number: int, source: Source) -> Iterator[Parsed]:
    text = "\n".join(entry).strip()
    if not has_words(text):
        return
    place = f"line {number}"
    if len(text) > BLOCK_CHARACTERS_MAX:
        yield Problem(place=place, what="the entry is too long")
        return
    about_user = source.path.name.casefold() == _ABOUT_USER
    statement = Statement(
        place=place,
        text=word_about_user(text) if about_user else text,
        key=("hermes", source.path.name.casefold(), text),
        role="user" if about_user else "document",
        occurred_at=None if source.modified_us is None else to_datetime(source.modified_us),
        metadata={"document": read_whole_name(source.path)},
    )
    yield make_statement_piece(statement, source)
