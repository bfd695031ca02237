"""Parse a page into blocks: entries with their comments, statements that people wrote, and everything else. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Final, cast

from credenda.private import PrivateParts

# The markers in a page: one comment above each entry, and the escaping that separates text from them. Pure.


COMMENT: Final = re.compile(r"<!--([mk]) (\{.*\})-->[ \t]*")
_OPENING: Final = re.compile(r"<(\\*)!--")
_ESCAPED: Final = re.compile(r"<\\(\\*)!--")
_HIDDEN: Final = {"<": "\\u003c", ">": "\\u003e", "\u2028": "\\u2028", "\u2029": "\\u2029", "\u0085": "\\u0085"}
_LINE: Final = re.compile(r"\\*[-*_][-*_ \t]*")
"""A text that would be a horizontal rule after a bullet."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_WRITTEN: Final = re.compile(r"<(\\+)u([0-9a-f]{4})>")
"""A control character as a page shows it, `<\\u0000>`; a text that has these letters gets one more backslash."""
_BULLET: Final = re.compile(r"[-*+][ \t]+|\d{1,9}[.)][ \t]+")
_INDENT: Final = re.compile(r"\t| {1,2}")


def write_comment(kind: str, table: Mapping[str, object]) -> str:
    r"""Write the comment of an entry; no value can end the comment early or add a line.

    >>> write_comment("m", {"id": "m1-3fa9c2", "note": "a --> b"})
    '<!--m {"id":"m1-3fa9c2","note":"a --\\u003e b"}-->'
    """
    body = json.dumps(table, ensure_ascii=False, separators=(",", ":"), default=str)
    shown = "".join(_HIDDEN.get(letter, letter) for letter in body)
    shown = _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", shown)
    return f"<!--{kind} {shown}-->"


def read_comment(line: str) -> tuple[str, dict[str, Any]] | None:
    """Parse the comment of an entry: its kind and table; None for any other line."""
    found = COMMENT.fullmatch(line)
    if found is None:
        return None
    try:
        table: object = json.loads(found[2])
    except (ValueError, RecursionError):
        return None
    if not isinstance(table, dict):
        return None
    named = cast("dict[str, Any]", table)
    return (found[1], named) if isinstance(named.get("id"), str) else None


def to_file_text(text: str) -> str:
    r"""Normalise a text for a file: line ends are \n, without trailing and surrounding whitespace.

    >>> to_file_text("one \r\n\r\n two")
    'one\n\n two'
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


def write_item(text: str) -> list[str]:
    r"""Write a text as the lines of a list item; control characters are shown by their number.

    >>> write_item("I like <!--m tea."), write_item("a\x00b")
    (['- I like <\\!--m tea.'], ['- a<\\u0000>b'])
    """
    shown = _CONTROL_WRITTEN.sub(r"<\1\\u\2>", _OPENING.sub(r"<\1\\!--", to_file_text(text)))
    first, *rest = _CONTROL.sub(lambda found: f"<\\u{ord(found[0]):04x}>", shown).split("\n")
    first = f"\\{first}" if _LINE.fullmatch(first) else first
    return [f"- {first}", *(f"  {line}" if line else "" for line in rest)]


def read_item(lines: list[str]) -> str:
    r"""Parse the text of a list item or of a paragraph; the inverse of `write_item`, up to `to_file_text`.

    >>> read_item(write_item("a\n\n  b <!-- c")), read_item(write_item("a\x00b <\\u0000>"))
    ('a\n\n  b <!-- c', 'a\x00b <\\u0000>')
    """
    bullet = _BULLET.match(lines[0])
    first = lines[0][bullet.end() :] if bullet else lines[0]
    first = first[1:] if first.startswith("\\") and _LINE.fullmatch(first) else first
    rest = [_INDENT.sub("", line, count=1) if bullet else line for line in lines[1:]]
    text = _CONTROL_WRITTEN.sub(_read_control, _ESCAPED.sub(r"<\1!--", "\n".join([first, *rest])))
    return to_file_text(text)


def _read_control(found: re.Match[str]) -> str:
    letter = chr(int(found[2], 16))
    if len(found[1]) > 1:
        return f"<{found[1][1:]}u{found[2]}>"
    return letter if _CONTROL.fullmatch(letter) else found[0]


def show_name(name: str) -> str:
    r"""Return a name on one line, without control characters.

    >>> show_name("Ana\x00  Maria\n")
    'Ana Maria'
    """
    return " ".join(_CONTROL.sub(" ", name).split())


def is_item(line: str) -> bool:
    """Return whether a line begins a list item."""
    return _BULLET.match(line) is not None


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
            stop = self._lines.index("---", 1) + 1
            pairs = (_PAIR.match(line) for line in self._lines[1 : stop - 1])
            self.front = {found[1]: found[2] for found in pairs if found}
            yield Other(self._take(stop))
        while self._at < len(self._lines):
            yield self._block()

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


# Tell what a person or program states in a page from code, quotes, tasks, templates, links and orders. Pure.


_ITEM_INDENT: Final = re.compile(r"[ \t]*")
_ITEM_MARK: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_TASK: Final = re.compile(r"\[[ xX/<>!?*-]\](?:[ \t]|$)|(?:TODO|DOING|DONE)[ \t]")
_CODE_FENCE: Final = re.compile(r"`{3,}|~{3,}")
_TEMPLATE: Final = re.compile(r"\{\{[^}\n]*\}\}|<%[^%\n]*%>")
_LINK: Final = re.compile(
    r"!?\[\[[^\]\n]{1,500}\]\]|!?\[[^\]\n]{0,500}\]\([^)\n]{1,2000}\)|<?\bhttps?://[^\s>]{1,2000}>?"
)
_LABEL: Final = re.compile(
    r"(?:\[[a-z][a-z -]{1,30}\]|\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?(?:[ \t]+[-–—|])?)[ \t]+", re.IGNORECASE
)
_TAGS: Final = re.compile(r"(?:[ \t]+#[\w/-]+)+[ \t]*$")
"""What other programs put before and behind a line: a category, the time of day, tags."""
_YOU: Final = re.compile(r"\byou(?:r|rs|rself)?\b", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"(?<=[.!?])[ \t]+")
_ORDERS: Final = frozenset({"persona", "soul", "agents", "agent", "claude", "gemini", "copilot-instructions"})
"""Names of pages that tell an assistant what it is: "you" is the assistant there, and not the user."""


def keep_statements(page: Parsed, path: str) -> Parsed:
    r"""Return a page of others in which only statements are lines; the blocks and their places stay the same.

    >>> from credenda.portability.files.parse import parse
    >>> page = keep_statements(parse("- [x] buy rye\n- I like tea.\n> I hate tea.\n\n[[a|b]]\n"), "me.md")
    >>> [one.text for one in page.blocks if isinstance(one, Said)]
    ['I like tea.']
    """
    orders = PurePosixPath(path).stem.casefold() in _ORDERS
    return replace(page, blocks=tuple(_keep(one, orders=orders) for one in page.blocks))


def _keep(block: Block, *, orders: bool) -> Block:
    if not isinstance(block, Said):
        return block
    lines = block.text.split("\n")
    kept = list(_find_statements(lines, item=_ITEM_MARK.match(block.lines[0]) is not None))
    kept = [" ".join(one for one in _SENTENCE.split(line) if not _YOU.search(one)) for line in kept] if orders else kept
    kept = [_TAGS.sub("", line[found.end() :] if (found := _LABEL.match(line)) else line) for line in kept]
    if kept == lines:
        return block
    text = "\n".join(kept).strip()
    return replace(block, text=text) if _WORD.search(text) else Other(block.lines, block.raw)


def _find_statements(lines: Sequence[str], *, item: bool) -> Iterator[str]:
    """Yield the lines of a paragraph or of a list item that state something; `item` has lost its bullet."""
    fence, quoted, task = "", False, -1
    for number, line in enumerate(lines):
        depth = len(_ITEM_INDENT.match(line)[0])  # type: ignore[index]
        bullet = _ITEM_MARK.match(line)
        words = line[bullet.end() if bullet else depth :]
        if number and words and depth <= task:
            task = -1
        quoted = words.startswith(">") or (quoted and bool(words) and bullet is None)
        mark = _CODE_FENCE.match(words)
        if fence or mark:
            fence = "" if fence and mark and mark[0].startswith(fence) else fence or (mark[0] if mark else "")
        elif task >= 0 or quoted:
            continue
        elif _TASK.match(words):
            task = -1 if number == 0 and not item else depth
            if number == 0 and item:
                return
        elif not (_TEMPLATE.search(words) or (_LINK.search(words) and not _WORD.search(_LINK.sub("", words)))):
            yield line
