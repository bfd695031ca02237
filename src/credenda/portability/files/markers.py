"""The markers in a page: one comment above each entry, and the escaping that separates text from them. Pure.

An entry is a comment on a line of its own, `<!--m {…}-->` with JSON (S-018), and a list item below it with the text.
Code owns the comment, anyone may edit the text. Every line of a text is indented by `- ` or two spaces, so that no text
can be mistaken for a comment, a heading or another entry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, cast

__all__ = [
    "COMMENT",
    "is_item",
    "read_comment",
    "read_item",
    "show_name",
    "to_file_text",
    "write_comment",
    "write_item",
]

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
