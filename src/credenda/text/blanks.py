"""Blanked words in a text: what remains of it to extract, with the offsets of the whole text."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

__all__ = ["BLANK", "REMOVED", "RemainingText", "blank_span", "has_blanks", "leave_out_blanks"]

BLANK: Final = "\u2588"
"""Replaces each character of redacted words in an event that keeps other words."""
REMOVED: Final = "[deleted]"
"""Takes the place of words that a new event repeats of something deleted."""
_RUN: Final = re.compile(
    rf"{BLANK}(?:[{BLANK} \t]*{BLANK})?"
    rf"|(?:(?<![^\n])|(?<=[.!?\u2026] )){re.escape(REMOVED)}(?=[ \t]+[^\Wa-z\d_]|\s*(?:\n|\Z))"
)
"""Blanked words, and removed words that were whole sentences; removed words inside a sentence leave it with a gap."""
_SHOWN: Final = re.compile(r"\S")
_CLOSING: Final = frozenset(".,;:!?)\u2026")


@dataclass(frozen=True, slots=True)
class RemainingText:
    """The text without its blanks; `to_whole` converts its offsets to those of the whole text."""

    text: str
    whole: int
    starts: tuple[int, ...] = (0,)
    shifts: tuple[int, ...] = (0,)
    """From `starts[i]` on, an offset lies `shifts[i]` characters further on in the whole text."""

    def to_whole(self, start: int, stop: int) -> tuple[int, int]:
        """Return the span of the whole text that these characters cover."""
        if stop <= start:
            return self._shift(start), self._shift(start)
        return self._shift(start), self._shift(stop - 1) + 1

    def _shift(self, at: int) -> int:
        return min(at + self.shifts[bisect_right(self.starts, at) - 1], self.whole)


def has_blanks(text: str) -> bool:
    """Return whether a text has blanks to leave out."""
    return _RUN.search(text) is not None


def leave_out_blanks(text: str) -> RemainingText:
    """Leave out the blanks of a text, each with one of the two spaces beside it.

    >>> leave_out_blanks("I like \u2588\u2588\u2588 \u2588\u2588 and milk.").text
    'I like and milk.'
    >>> leave_out_blanks("[deleted] I like tea. [deleted] and rum.").text
    'I like tea. [deleted] and rum.'
    """
    pieces: list[str] = []
    starts, shifts = [0], [0]
    length = done = 0
    for run in _RUN.finditer(text):
        start, stop = run.span()
        following, before = text[stop : stop + 1], text[start - 1 : start]
        if (not before or before.isspace()) and following.isspace() and following != "\n":
            stop += 1
        elif start > done and before == " " and (not following or following in _CLOSING):
            start -= 1
        pieces.append(text[done:start])
        length += start - done
        done = stop
        if starts[-1] == length:
            shifts[-1] = done - length
        else:
            starts.append(length)
            shifts.append(done - length)
    return RemainingText("".join(pieces) + text[done:], len(text), tuple(starts), tuple(shifts))


def blank_span(text: str, start: int, stop: int) -> str:
    """Blank every character of a span but white space; the length stays."""
    return text[:start] + _SHOWN.sub(BLANK, text[start:stop]) + text[stop:]
