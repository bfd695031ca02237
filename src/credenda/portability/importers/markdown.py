"""Markdown: a block between blank lines is one event, which knows the headings that it stands under.

A heading is kept with the first block below it. Fenced code is never cut at its blank lines. Front matter gives title
and date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path, PurePosixPath
from typing import Final

from credenda.clock import parse_time
from credenda.errors import Invalid
from credenda.portability.importers.blocks import (
    BLOCK_CHARACTERS_MAX,
    TextLine,
    cut,
    document_piece,
    has_words,
    text_lines,
)
from credenda.portability.importers.port import Piece, Problem, Source
from credenda.portability.lines import Lines

__all__ = ["MarkdownFormat"]

_ENDINGS: Final = frozenset({".md", ".markdown", ".mdown"})
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_PAIR: Final = re.compile(r"([A-Za-z][\w -]*?)\s*:\s*(.*)")
_DATES: Final = ("date", "created", "created_at")
_FRONT_LINES_MAX: Final = 200
_TITLE_CHARACTERS: Final = 200


class MarkdownFormat:
    """Notes with headings."""

    name = "markdown"

    def takes(self, member: str) -> bool:
        """Take what is called so, and is not hidden."""
        return PurePosixPath(member).suffix.casefold() in _ENDINGS

    def recognises(self, head: bytes, path: Path) -> bool:
        """Say whether the file is called like Markdown and holds no binary data."""
        return path.suffix.casefold() in _ENDINGS and b"\x00" not in head

    def pieces(self, lines: Lines, source: Source) -> Iterator[Piece | Problem]:
        """Read the file block by block."""
        page = _Page(source=source, occurred_us=source.modified_us)
        for line in text_lines(lines):
            if isinstance(line, Problem):
                yield line
            else:
                yield from page.take(line)
        yield from page.end()


@dataclass(slots=True)
class _Page:
    """What is known at one line of a page: the headings above it, and the block that it continues."""

    source: Source
    occurred_us: int | None
    title: str = ""
    _front: list[TextLine] = field(default_factory=list[TextLine])
    _path: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    _block: list[TextLine] = field(default_factory=list[TextLine])
    _held: int = 0
    _bare: bool = True
    """The block holds headings only, and waits for what stands below them."""
    _fence: str = ""

    def take(self, line: TextLine) -> Iterator[Piece | Problem]:
        """Read one line; gives the block that it ends, if any."""
        if (line.number == 1 and line.text == "---") or self._front:
            yield from self._front_line(line)
        else:
            yield from self._body_line(line)

    def end(self) -> Iterator[Piece | Problem]:
        """Give what is left."""
        yield from self._not_front()
        yield from self._flush()

    def _front_line(self, line: TextLine) -> Iterator[Piece | Problem]:
        """Gather front matter; when it never ends it was none."""
        self._front.append(line)
        if len(self._front) > 1 and line.text in {"---", "..."}:
            front, self._front = self._front, []
            yield from self._read_front(front[1:-1])
        elif len(self._front) > _FRONT_LINES_MAX:
            yield from self._not_front()

    def _not_front(self) -> Iterator[Piece | Problem]:
        lines, self._front = self._front, []
        for line in lines:
            yield from self._body_line(line)

    def _read_front(self, lines: list[TextLine]) -> Iterator[Problem]:
        pairs = {
            found[1].casefold(): (line, found[2].strip("\"' ")) for line in lines if (found := _PAIR.match(line.text))
        }
        if "title" in pairs:
            self.title = pairs["title"][1][:_TITLE_CHARACTERS]
        dated = next((pairs[name] for name in _DATES if name in pairs), None)
        if dated is None:
            return
        try:
            self.occurred_us = parse_time(dated[1], UTC)
        except Invalid:
            yield Problem(place=f"line {dated[0].number}", what="its date is not RFC 3339; the file's own was taken")

    def _body_line(self, line: TextLine) -> Iterator[Piece]:
        heading = None if self._fence else _HEADING.match(line.text)
        blank = not line.text and not self._fence
        if (heading and not self._bare) or (blank and not self._bare) or self._is_full(line):
            yield from self._flush()
        if heading:
            self._under(len(heading[1]), (heading[2] or "").strip())
        elif not blank:
            self._bare = False
        if line.text or self._block:
            self._block.append(line)
            self._held += len(line.text) + 1
        self._watch_fence(line.text)

    def _is_full(self, line: TextLine) -> bool:
        return bool(self._block) and self._held + len(line.text) > BLOCK_CHARACTERS_MAX

    def _watch_fence(self, text: str) -> None:
        found = _FENCE.match(text)
        if found is None:
            return
        if not self._fence:
            self._fence = found[1]
        elif found[1].startswith(self._fence) and not text.strip(" `~"):
            self._fence = ""

    def _under(self, level: int, title: str) -> None:
        self._path = [(above, name) for above, name in self._path if above < level]
        self._path.append((level, title[:_TITLE_CHARACTERS]))
        if level == 1 and not self.title:
            self.title = title[:_TITLE_CHARACTERS]

    def _flush(self) -> Iterator[Piece]:
        block, self._block, self._held, self._bare = self._block, [], 0, True
        if not block:
            return
        details: dict[str, object] = {}
        if self.title:
            details["title"] = self.title
        if self._path:
            details["headings"] = [name for _, name in self._path]
        for text in cut("\n".join(line.text for line in block).strip("\n")):
            if has_words(text):
                number = block[0].number
                yield document_piece(text, number, self.source, details=details, occurred_us=self.occurred_us)
