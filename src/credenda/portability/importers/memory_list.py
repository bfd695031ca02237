"""Saved memories of ChatGPT and Claude, copied out as text: one memory a line, with a date where there is one.

Neither export has them as data; the settings of both show them as lines, and both answer a request to list them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from credenda.clock import parse_time, to_datetime
from credenda.errors import Invalid
from credenda.portability.importers.blocks import BLOCK_CHARACTERS_MAX, decode_lines, has_words
from credenda.portability.importers.format import Omitted, Parsed, Problem, Source
from credenda.portability.importers.json_checks import Statement, make_statement_piece
from credenda.portability.importers.mcp_memory import ABOUT_USER, word_observation
from credenda.portability.line_reader import Lines

_DATED: Final = re.compile(
    r"\s*(?:[-*•]|\d{1,4}[.)])?\s*\[(?P<date>[^\]\n]{1,40})\]\s*[-–—:]?\s*(?P<text>\S.*)", re.DOTALL
)
_LISTED: Final = re.compile(r"\s*(?:[-*•]|\d{1,4}[.)])\s+(?P<text>\S.*)", re.DOTALL)
_HEAD: Final = re.compile(
    rb"^\s*(?:[-*] |\d{1,4}[.)] )?\[(?:\d{4}-\d{2}-\d{2}|unknown|no date|date unknown|n/a)[^\]\n]{0,30}\]\s*[-\xe2:]",
    re.MULTILINE | re.IGNORECASE,
)
_HEADING: Final = re.compile(r"(?:#{1,6}\s+(.*)|\*\*([^*]{1,80}?):?\*\*:?|([A-Z][\w ,&/'-]{1,60}):)\s*$")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_MONTHS: Final = ("%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%B %Y", "%b %Y", "%Y-%m", "%Y")
_UNDATED: Final = frozenset({"unknown", "no date", "date unknown", "n/a", "none", "undated", "not available"})
_BOLD: Final = re.compile(r"\*\*(.+?)\*\*")


class MemoryListFormat:
    """Saved memories as text: `[2026-03-01] - Prefers tea`, a list, or plain lines."""

    name = "memories"

    def takes(self, member: str) -> bool:
        """Return whether a file is text or Markdown."""
        return member.casefold().endswith((".txt", ".md"))

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a text has lines that begin with the date of a memory; other lists need `--format`."""
        return self.takes(path.name) and b"\x00" not in head and _HEAD.search(head) is not None

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse each line as a memory; a line that is indented below it continues it."""
        heading, waiting = "", ""
        number = 0
        for line in decode_lines(lines):
            if isinstance(line, Problem):
                yield line
                continue
            number = number or line.number
            fresh = not (waiting and line.text.startswith(("  ", "\t")) and not _LISTED.match(line.text))
            if not fresh and len(waiting) + len(line.text) < BLOCK_CHARACTERS_MAX:
                waiting = f"{waiting} {line.text.strip()}"
                continue
            yield from _read_entry(waiting, number, heading, source)
            waiting, number = "", line.number
            found = _HEADING.fullmatch(line.text.strip())
            if found:
                heading = next(one for one in found.groups() if one is not None).strip()
                yield Omitted(what="headings")
            elif not _FENCE.match(line.text):
                waiting = line.text
        yield from _read_entry(waiting, number, heading, source)


def _read_entry(line: str, number: int, heading: str, source: Source) -> Iterator[Parsed]:
    if not has_words(line):
        return
    place = f"line {number}"
    found = _DATED.fullmatch(line)
    moment: datetime | None = None
    text = line
    if found:
        date = found["date"].strip()
        moment = _read_date(date)
        if moment is None and date.casefold() not in _UNDATED:
            yield Problem(place=place, what="its date cannot be read; the file's date was used")
        text = found["text"]
    elif listed := _LISTED.fullmatch(line):
        text = listed["text"]
    text = _BOLD.sub(r"\1", text).strip()
    if len(text) > BLOCK_CHARACTERS_MAX:
        yield Problem(place=place, what="the memory is too long")
        return
    statement = Statement(
        place=place,
        text=word_observation(ABOUT_USER, text),
        key=("memories", text),
        occurred_at=moment,
        metadata={"section": heading} if heading else {},
    )
    yield make_statement_piece(statement, source)


def _read_date(text: str) -> datetime | None:
    """Return a date as people and programs write it; None if it is none."""
    try:
        return to_datetime(parse_time(text, UTC))
    except (Invalid, OverflowError):
        pass
    for form in _MONTHS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
