"""Parse a page into blocks: entries with their comments, statements that people wrote, and everything else. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from credenda.portability.files.markers import is_item, read_comment, read_item
from credenda.private import PrivateParts

__all__ = ["END", "FOOTER", "Block", "Entered", "Other", "Parsed", "Said", "has_marks", "parse", "write_footer"]

END: Final = "<!--end-->"
"""The last line that code writes: a page without it is truncated."""
FOOTER: Final = re.compile(r"<!--entries \d+ ([0-9a-f]{12})-->")
"""The line above it: the number of entries that code wrote to the page, and a hash of their ids."""
_FOOTER_BYTES: Final = 6
_HEADING: Final = re.compile(r"#{1,6}(?:[ \t]|$)")
_RULE: Final = re.compile(r"(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$")
_FENCE: Final = re.compile(r"(`{3,}|~{3,})")
_PAIR: Final = re.compile(r"([\w-]+):[ \t]*(.*)$")
_WORD: Final = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Entered:
    """An entry: `kind` "m" for a memory or event, "k" for a contest; `text` is "" if only its comment remains."""

    kind: str
    table: dict[str, Any]
    text: str
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the id in the comment."""
        return str(self.table["id"])


@dataclass(frozen=True, slots=True)
class Said:
    """A statement without a comment, written by a person; `raw` are its lines with the spaces at their ends."""

    text: str
    lines: tuple[str, ...]
    raw: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Other:
    """Front matter, headings, comments, rules and blank lines: kept unchanged, `raw` with the spaces at their ends."""

    lines: tuple[str, ...]
    raw: tuple[str, ...] = ()

    @property
    def blank(self) -> bool:
        """Return whether it is empty."""
        return not any(self.lines)


Block = Entered | Said | Other


@dataclass(frozen=True, slots=True)
class Parsed:
    """A page in blocks.

    `front` are the pairs of its front matter, `whole` tells whether its last line is present. `footer` is the hash of
    the entries that code wrote to the page: a person who removes an entry leaves it as it was. It is "" for a page
    without one footer.
    """

    blocks: tuple[Block, ...]
    front: dict[str, str] = field(default_factory=dict[str, str])
    whole: bool = True
    footer: str = ""

    @property
    def title(self) -> str:
        """Return the first heading, with its sign."""
        found = (one.lines[0] for one in self.blocks if isinstance(one, Other) and one.lines[0].startswith("# "))
        return next(found, "")

    @property
    def entries(self) -> list[Entered]:
        """Return the entries of memories and events."""
        return [one for one in self.blocks if isinstance(one, Entered) and one.kind == "m"]


def parse(text: str) -> Parsed:
    r"""Parse a page.

    >>> page = parse('<!--m {"id":"m1-3fa9c2"}-->\n- I like tea.\n\n- And cake.\n')
    >>> [(type(one).__name__, one.text) for one in page.blocks if not isinstance(one, Other)]
    [('Entered', 'I like tea.'), ('Said', 'And cake.')]
    """
    raw = text.split("\n")
    lines = [line.rstrip() for line in raw]
    if lines and not lines[-1]:
        lines.pop()
    reader = _Reader(lines)
    private = PrivateParts()
    blocks = tuple(_hide_private(one, private) for one in _add_raw(reader.blocks(), raw))
    owned = [one.lines[0] for one in blocks if isinstance(one, Other) and len(one.lines) == 1]
    footers = {found[1] for line in owned if (found := FOOTER.fullmatch(line))}
    return Parsed(blocks, reader.front, END in owned, footers.pop() if len(footers) == 1 else "")


def _hide_private(block: Block, private: PrivateParts) -> Block:
    """Return a block without private parts that extend over several; a private statement is kept unchanged.

    A part inside a statement or an edit of an entry is cut when that is taken in, which then says so.
    """
    was_open = private.is_open
    match block:
        case Other():
            private.cut("\n".join(block.lines))
            return block
        case Said():
            text = private.cut(block.text).strip()
            if not _WORD.search(text):
                return Other(block.lines, block.raw)
            return replace(block, text=text) if was_open or private.is_open else block
        case Entered():
            text = private.cut(block.text).strip()
            return replace(block, text=text) if was_open else block


def has_marks(page: Parsed) -> bool:
    r"""Return whether code wrote any part of a page: an entry, its front matter, or its last lines.

    >>> has_marks(parse("# Mine\n\nI like tea.\n")), has_marks(parse("# Mine\n\n<!--end-->\n"))
    (False, True)
    """
    entered = any(isinstance(one, Entered) for one in page.blocks)
    return entered or page.whole or bool(page.footer) or "credenda" in page.front


def write_footer(names: Iterable[str]) -> list[str]:
    """Return the last lines of a page with these entries; a page without entries has no footer.

    >>> write_footer(["m1-3fa9c2"]), write_footer([])
    (['<!--entries 1 c3dc0cfd3065-->', '<!--end-->'], ['<!--end-->'])
    """
    sorted_names = sorted(set(names))
    hashed = hashlib.blake2b("\n".join(sorted_names).encode(), digest_size=_FOOTER_BYTES).hexdigest()
    return [*([f"<!--entries {len(sorted_names)} {hashed}-->"] if sorted_names else []), END]


def _add_raw(blocks: Iterable[Block], raw: Sequence[str]) -> Iterator[Block]:
    """Add the lines as they are in the page to the blocks of persons."""
    at = 0
    for one in blocks:
        start, at = at, at + len(one.lines)
        yield one if isinstance(one, Entered) else replace(one, raw=tuple(raw[start:at]))


class _Reader:
    """Parses the lines of a page in one pass."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        self.front: dict[str, str] = {}

    def blocks(self) -> Iterator[Block]:
        """Yield all lines, in blocks."""
        if self._lines[:1] == ["---"] and "---" in self._lines[1:]:
            yield self._front_matter()
        while self._at < len(self._lines):
            yield self._block()

    def _front_matter(self) -> Other:
        stop = self._lines.index("---", 1) + 1
        pairs = (_PAIR.match(line) for line in self._lines[1 : stop - 1])
        self.front = {found[1]: found[2] for found in pairs if found}
        return Other(self._take(stop))

    def _take(self, stop: int) -> tuple[str, ...]:
        start, self._at = self._at, stop
        return tuple(self._lines[start:stop])

    def _block(self) -> Block:
        line = self._lines[self._at]
        if not line:
            worded = (at for at in range(self._at, len(self._lines)) if self._lines[at])
            return Other(self._take(next(worded, len(self._lines))))
        if found := read_comment(line):
            start = self._at
            self._at += 1
            lines = self._statement() if self._states() else ()
            text = read_item(list(lines)) if lines else ""
            return Entered(found[0], found[1], text, tuple(self._lines[start : self._at]))
        if self._states():
            lines = self._statement()
            text = read_item(list(lines))
            return Said(text, lines) if _WORD.search(text) else Other(lines)
        if line.startswith("<!--") and "-->" not in line:
            ends = (at for at in range(self._at, len(self._lines)) if "-->" in self._lines[at])
            return Other(self._take(next(ends, self._at) + 1))
        return Other(self._take(self._at + 1))

    def _states(self) -> bool:
        """Return whether the current line begins a statement."""
        if self._at >= len(self._lines):
            return False
        line = self._lines[self._at]
        return bool(line) and not (_HEADING.match(line) or _RULE.match(line) or line.startswith("<!--"))

    def _statement(self) -> tuple[str, ...]:
        line = self._lines[self._at]
        if fence := _FENCE.match(line):
            closed = (at for at in range(self._at + 1, len(self._lines)) if self._lines[at].startswith(fence[1]))
            return self._take(next(closed, len(self._lines) - 1) + 1)
        return self._take(self._item_end() if is_item(line) else self._paragraph_end())

    def _item_end(self) -> int:
        """Find the end of a list item: its last indented line, with blank lines in between."""
        stop = at = self._at + 1
        while at < len(self._lines) and (not self._lines[at] or self._lines[at][0] in " \t"):
            at += 1
            stop = at if self._lines[at - 1] else stop
        return stop

    def _paragraph_end(self) -> int:
        at = self._at + 1
        while at < len(self._lines) and self._goes_on(self._lines[at]):
            at += 1
        return at

    def _goes_on(self, line: str) -> bool:
        marked = _HEADING.match(line) or _RULE.match(line) or _FENCE.match(line) or is_item(line)
        return bool(line) and not (marked or line.startswith("<!--"))
