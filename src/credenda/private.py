"""Private parts of texts: what stands between `<private>` and `</private>` is written nowhere. Pure.

Every text is cut here before it is journaled, hashed, queued or repeated in an error. Hooks of agents call this for
every prompt, so that only `re` is imported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, cast

__all__ = ["PrivateParts", "cut_private", "cut_private_fields", "has_private"]

_TAG: Final = re.compile(r"<private(?=[\s/<>\\]|\Z)|< +private *>|< */ *private\s*>", re.IGNORECASE)
"""The beginning of an opening tag, whose attributes are private too, or a closing tag.

After "< ", only a whole tag counts: "x < private" compares. A backslash follows where an error shows a tag as `repr`.
"""


class PrivateParts:
    """Cuts the private parts out of texts that follow each other, such as the lines of a file.

    Parts may be nested. One that is not closed extends to the end, and a closing tag alone is ordinary text. A tag in
    code counts like any other: a program cannot tell an example from a person who asks for silence.
    """

    def __init__(self) -> None:
        """Begin outside of private parts."""
        self._depth = 0

    @property
    def is_open(self) -> bool:
        """Whether the text so far ends inside a private part."""
        return self._depth > 0

    def cut(self, text: str) -> str:
        """Return the next text without its private parts.

        The words before and after a part stay apart, so that no new tag arises.
        """
        if not self._depth and "<" not in text:
            return text
        kept: list[str] = []
        done = 0
        for tag in _TAG.finditer(text):
            if "/" in tag[0]:
                if self._depth == 1:
                    done = tag.end()
                self._depth = max(self._depth - 1, 0)
                continue
            if not self._depth:
                kept.append(text[done : tag.start()])
            self._depth += 1
        if not self._depth:
            kept.append(text[done:])
        return _join_apart(kept)


def _join_apart(pieces: list[str]) -> str:
    joined: list[str] = []
    for piece in filter(None, pieces):
        if joined and not (joined[-1][-1].isspace() or piece[0].isspace()):
            joined.append(" ")
        joined.append(piece)
    return "".join(joined)


def cut_private(text: str) -> str:
    """Return a text without its private parts; "" if nothing else is in it.

    >>> cut_private("My name is Ana. <private>PIN 1234</private> Tabs, please.")
    'My name is Ana.  Tabs, please.'
    >>> cut_private("I like tea.<PRIVATE why='health'>My blood pressure"), cut_private("<private>all</private>")
    ('I like tea.', '')
    """
    kept = PrivateParts().cut(text)
    return text if kept == text else kept.strip()


def has_private(text: str) -> bool:
    """Return whether a text has a private part."""
    return "<" in text and cut_private(text) != text


def cut_private_fields(value: object) -> object:
    """Return a JSON value whose texts have no private parts; a name that is private takes its value along.

    >>> cut_private_fields({"note": "<private>x</private>tea", "n": [1, "<private>y"], "<private>z": 2})
    {'note': 'tea', 'n': [1, '']}
    """
    if isinstance(value, str):
        return cut_private(value)
    if isinstance(value, Mapping):
        table = cast("Mapping[object, object]", value)
        named = ((cut_private(name) if isinstance(name, str) else name, one) for name, one in table.items())
        return {name: cut_private_fields(one) for name, one in named if name != "" or "" in table}
    if isinstance(value, list | tuple):
        return [cut_private_fields(one) for one in cast("list[object]", value)]
    return value
