"""Split Markdown into blocks of lines, separated by blank lines, with the headings and the front matter above each.

A heading belongs to the first block below it. Fenced code is never split at its blank lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from credenda.clock import from_datetime, parse_time
from credenda.errors import Invalid
from credenda.portability.importers.blocks import BLOCK_CHARACTERS_MAX, Block, TextLine, cut, decode_lines, has_words
from credenda.portability.importers.format import Problem, Source
from credenda.portability.importers.front_matter import read_front, read_tags
from credenda.portability.line_reader import Lines

__all__ = ["find_day", "read_blocks"]

_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ABOUT: Final = ("type", "permalink", "owner", "author", "name", "description")
_DAILY: Final = re.compile(r"(\d{4})[-_.](\d{2})[-_.](\d{2})(?!\d)")
_FRONT_LINES_MAX: Final = 200
_TITLE_CHARACTERS: Final = 200


def read_blocks(lines: Lines, source: Source) -> Iterator[Block | Problem]:
    """Parse a page block by block."""
    day = find_day(source.path)
    page = _Page(occurred_us=source.modified_us if day is None else from_datetime(day))
    for line in decode_lines(lines):
        if isinstance(line, Problem):
            yield line
        else:
            yield from page.take(line)
    yield from page.end()


def find_day(path: Path) -> datetime | None:
    """Return the day that the name of a daily note begins with; None for any other note.

    >>> find_day(Path("notes/2026-03-01 Sunday.md")), find_day(Path("2026-13-01.md"))
    (datetime.datetime(2026, 3, 1, 0, 0, tzinfo=datetime.timezone.utc), None)
    """
    found = _DAILY.match(path.name)
    if found is None:
        return None
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC)
    except ValueError:
        return None


@dataclass(slots=True)
class _Page:
    """The parser state at a line: the headings above it, and the current block."""

    occurred_us: int | None
    title: str = ""
    tags: tuple[str, ...] = ()
    about: dict[str, object] = field(default_factory=dict[str, object])
    _front: list[TextLine] = field(default_factory=list[TextLine])
    _path: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    _block: list[TextLine] = field(default_factory=list[TextLine])
    _held: int = 0
    _bare: bool = True
    """The block contains only headings, and waits for text below them."""
    _fence: str = ""

    def take(self, line: TextLine) -> Iterator[Block | Problem]:
        """Parse one line; return the block that it completes, if any."""
        if (line.number == 1 and line.text == "---") or self._front:
            yield from self._front_line(line)
        else:
            yield from self._body_line(line)

    def end(self) -> Iterator[Block | Problem]:
        """Return the last block."""
        yield from self._not_front()
        yield from self._flush()

    def _front_line(self, line: TextLine) -> Iterator[Block | Problem]:
        """Collect front matter; front matter without an end is ordinary text."""
        self._front.append(line)
        if len(self._front) > 1 and line.text in {"---", "..."}:
            front, self._front = self._front, []
            yield from self._read_front(front[1:-1])
        elif len(self._front) > _FRONT_LINES_MAX:
            yield from self._not_front()

    def _not_front(self) -> Iterator[Block | Problem]:
        lines, self._front = self._front, []
        for line in lines:
            yield from self._body_line(line)

    def _read_front(self, lines: list[TextLine]) -> Iterator[Problem]:
        front = read_front(lines)
        self.title = (front.text("title") or self.title)[:_TITLE_CHARACTERS]
        self.tags = read_tags(front.values("tags", "tag"))
        self.about = {name: front.text(name)[:_TITLE_CHARACTERS] for name in _ABOUT if front.text(name)}
        number, date = front.dated()
        if not date:
            return
        try:
            self.occurred_us = parse_time(date, UTC)
        except Invalid:
            what = "its date is not RFC 3339; the file's date was used"
            yield Problem(place=f"line {number}", what=what, lost=False)

    def _body_line(self, line: TextLine) -> Iterator[Block]:
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

    def _flush(self) -> Iterator[Block]:
        block, self._block, self._held, self._bare = self._block, [], 0, True
        if not block:
            return
        details = {**({"title": self.title} if self.title else {}), **self.about}
        if self._path:
            details["headings"] = [name for _, name in self._path]
        for text in cut("\n".join(line.text for line in block).strip("\n")):
            if has_words(text):
                number = block[0].number
                yield Block(text=text, line=number, details=details, tags=self.tags, occurred_us=self.occurred_us)
