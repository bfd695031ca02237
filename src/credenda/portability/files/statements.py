"""Tell what a person or program states in a page from code, quotes, tasks, templates, links and orders. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from credenda.portability.files.parse import Block, Other, Parsed, Said

__all__ = ["keep_statements"]

_INDENT: Final = re.compile(r"[ \t]*")
_BULLET: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_TASK: Final = re.compile(r"\[[ xX/<>!?*-]\](?:[ \t]|$)|(?:TODO|DOING|DONE)[ \t]")
_FENCE: Final = re.compile(r"`{3,}|~{3,}")
_TEMPLATE: Final = re.compile(r"\{\{[^}\n]*\}\}|<%[^%\n]*%>")
_LINK: Final = re.compile(
    r"!?\[\[[^\]\n]{1,500}\]\]|!?\[[^\]\n]{0,500}\]\([^)\n]{1,2000}\)|<?\bhttps?://[^\s>]{1,2000}>?"
)
_LABEL: Final = re.compile(
    r"(?:\[[a-z][a-z -]{1,30}\]|\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?(?:[ \t]+[-–—|])?)[ \t]+", re.IGNORECASE
)
_TAGS: Final = re.compile(r"(?:[ \t]+#[\w/-]+)+[ \t]*$")
"""What other programs put before and behind a line: a category, the time of day, tags."""
_WORD: Final = re.compile(r"[^\W_]")
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
    kept = list(_find_statements(lines, item=_BULLET.match(block.lines[0]) is not None))
    kept = [_leave_out_orders(line) for line in kept] if orders else kept
    kept = [_TAGS.sub("", line[found.end() :] if (found := _LABEL.match(line)) else line) for line in kept]
    if kept == lines:
        return block
    text = "\n".join(kept).strip()
    return replace(block, text=text) if _WORD.search(text) else Other(block.lines, block.raw)


def _find_statements(lines: Sequence[str], *, item: bool) -> Iterator[str]:
    """Yield the lines of a paragraph or of a list item that state something; `item` has lost its bullet."""
    fence, quoted, task = "", False, -1
    for number, line in enumerate(lines):
        depth = len(_INDENT.match(line)[0])  # type: ignore[index]
        bullet = _BULLET.match(line)
        words = line[bullet.end() if bullet else depth :]
        if number and words and depth <= task:
            task = -1
        quoted = words.startswith(">") or (quoted and bool(words) and bullet is None)
        mark = _FENCE.match(words)
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


def _leave_out_orders(line: str) -> str:
    return " ".join(one for one in _SENTENCE.split(line) if not _YOU.search(one))
