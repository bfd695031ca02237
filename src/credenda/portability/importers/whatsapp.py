"""Chats of WhatsApp, exported as text: a time, a name and a text, in the form of the phone's language.

A line without a time continues the message above. Other people's words are theirs: only the user's name is the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Final

from credenda.portability.importers.blocks import decode_lines, has_words
from credenda.portability.importers.format import Boundary, Omitted, Parsed, Problem, Source
from credenda.portability.importers.json_checks import Talk, Turn, name_speaker, read_whole_name
from credenda.portability.line_reader import Lines

_STAMP: Final = (
    r"[\u200e\u200f\ufeff]?\[?(\d{1,4})([./-])(\d{1,2})\2(\d{2,4}),?\s+(?:\w{2,4}\s)?(\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?"
    r"(?:[\s\u202f]?([AaPp])\.?\s?[Mm]\.?)?\]?\s*(?:[-\u2013]\s)?[\u200e\u200f]?"
)
_LINE: Final = re.compile(_STAMP + r"(.*)", re.DOTALL)
_SAID: Final = re.compile(r"([^:\n]{1,80}):[ \u200e](.*)", re.DOTALL)
_HEAD: Final = re.compile(rf"^{_STAMP}[^:\n]{{1,80}}: ", re.MULTILINE)
_MEDIA: Final = re.compile(
    r"[\u200e\u200f]?<[^<>\n]{1,80}>|[\u200e\u200f].{0,40}(?:omitted|weggelassen|absente?|omitid[oa])|null"
    r"|(?:You|This message was) deleted this message\.?|This message was deleted\.?"
)
_PROGRAM: Final = ("\u200e", "\u200f")
"""An iPhone marks with these the words of the program."""
_EDITED: Final = re.compile(r"\s*[\u200e\u200f]?<This message was edited>\s*$")
_YEARS_BEGIN: Final = 2_000
_LONG_YEAR: Final = 3


class WhatsAppFormat:
    """`WhatsApp Chat with NAME.txt`, or `_chat.txt`."""

    name = "whatsapp"

    def takes(self, member: str) -> bool:
        """Return whether a file is text."""
        return member.casefold().endswith(".txt")

    def recognises(self, head: bytes, path: Path) -> bool:
        """Return whether a text has at least two messages with time and name."""
        text = head.decode("utf-8", "replace")
        return self.takes(path.name) and len(_HEAD.findall(text, 0, len(text))) > 1 and _LINE.match(text) is not None

    def pieces(self, lines: Lines, source: Source) -> Iterator[Parsed]:
        """Parse message after message; the order of day and month is that of the file's first dates."""
        name = source.path.name.removesuffix(".txt")
        order = _find_order(lines.head().decode("utf-8", "replace"))
        chat = _Chat(
            talk=Talk.titled("", source, session=read_whole_name(source.path)[-120:], title=name, begun=None),
            month_first=order,
        )
        yield Boundary()
        for line in decode_lines(lines):
            if isinstance(line, Problem):
                yield line
                continue
            found = _LINE.fullmatch(line.text)
            if found is None:
                chat.text = f"{chat.text}\n{line.text}"
                continue
            yield from chat.end()
            chat.begin(found, line.number)
        yield from chat.end()


@dataclass(slots=True, kw_only=True)
class _Chat:
    """The current message."""

    talk: Talk
    month_first: bool
    text: str = ""
    number: int = 0
    moment: datetime | None = None
    wrong: bool = False
    repeated: int = 0
    _key: tuple[str, ...] = ()

    def begin(self, found: re.Match[str], number: int) -> None:
        """Start a message."""
        self.moment = _read_moment(found, month_first=self.month_first)
        self.wrong = self.moment is None
        self.number, self.text = number, found[9]

    def end(self) -> Iterator[Parsed]:
        """Yield the message that has ended."""
        said, place = _SAID.fullmatch(self.text.strip()), f"line {self.number}"
        text, self.text = self.text, ""
        if not self.number or not has_words(text):
            return
        if self.wrong:
            yield Problem(place=place, what="its date cannot be read; the time of the previous message was used")
        if said is None:
            yield Omitted(what="notices")
            return
        words = _EDITED.sub("", said[2].strip())
        if words.startswith(_PROGRAM) or _MEDIA.fullmatch(words) or not has_words(words):
            yield Omitted(what="messages without words")
            return
        role, name = name_speaker(said[1], self.talk.user_id)
        key = (str(self.moment), said[1], words)
        self.repeated = self.repeated + 1 if key == self._key else 0
        self._key = key
        more = (str(self.repeated),) if self.repeated else ()
        stamp = None if self.moment is None else self.moment.isoformat()
        yield from self.talk.pieces(
            Turn(place=place, role=role, name=name, text=words, key=("whatsapp", *key, *more), moment=stamp)
        )


def _find_order(head: str) -> bool:
    """Return whether the month stands before the day: one above 12 tells, else which of both keeps the order of time.

    >>> _find_order("13/02/24, 09:00 - Ana: x"), _find_order("2/13/24, 9:00 AM - Ana: x")
    (False, True)
    """
    stamps = [found for found in map(_LINE.match, head.splitlines()) if found and len(found[1]) < _LONG_YEAR]
    if any(found[2] == "." for found in stamps):
        return False
    both = [[_read_moment(found, month_first=first) for found in stamps] for first in (False, True)]
    wrong = [sum(one is None for one in moments) for moments in both]
    if wrong[0] != wrong[1]:
        return wrong[1] < wrong[0]
    known = [[one for one in moments if one is not None] for moments in both]
    back = [sum(later < one for one, later in pairwise(row)) for row in known]
    return back[1] < back[0] if back[0] != back[1] else any(found[8] and found[8] in "AP" for found in stamps)


def _read_moment(found: re.Match[str], *, month_first: bool) -> datetime | None:
    first, second, third = int(found[1]), int(found[3]), int(found[4])
    year, month, day = (first, second, third) if len(found[1]) > _LONG_YEAR else (third, second, first)
    if month_first and len(found[1]) < _LONG_YEAR:
        month, day = day, month
    hour = int(found[5])
    if found[8]:
        hour = hour % 12 + (12 if found[8].casefold() == "p" else 0)
    year += _YEARS_BEGIN if year < _YEARS_BEGIN else 0
    try:
        return datetime(year, month, day, hour, int(found[6]), int(found[7] or 0), tzinfo=UTC)
    except ValueError:
        return None
