"""Formatting of lines for a prompt: fenced as data, one line each, counted in tokens. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import tzinfo
from functools import partial
from typing import Final, NamedTuple, TypeVar

from credenda.clock import to_datetime, to_local_time
from credenda.text.recalled_block import FENCE_CLOSING, FENCE_OPENING
from credenda.text.sentences import is_about_user

OPENING: Final = FENCE_OPENING
CLOSING: Final = FENCE_CLOSING
_LINE_TOKENS: Final = 160
"""Longest line; a long passage is cut, and its id leads to the rest."""
_USER: Final = "user"
_NOTE: Final = "note"
"""The author of a sentence about the user that an agent wrote in its own words."""
_DAY: Final = re.compile(
    r"(?:^|(?P<word>\b(?:told|since|from|until|as of|decided) ))(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>\d\d)"
    r"(?![\d-])"
)
"""A day of a note. The times of plans keep their form, which has an hour."""
_TOLD: Final = "told "
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LETTERS: Final = 4
_DIGITS: Final = 3
_TOKEN: Final = re.compile(r"[A-Za-z]+|[0-9]+|\n|[^\sA-Za-z0-9]")
_SPACE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_FENCE: Final = str.maketrans({"<": "&lt;", ">": "&gt;"})


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text, on the high side for vocabularies of a hundred thousand and more.

    Every group of up to four adjacent letters counts one, and so does every group of up to three digits, every other
    visible character and every line end. Ids and dates get about the count of such vocabularies.

    >>> estimate_tokens("I live in Linz.")
    5
    >>> estimate_tokens("[m12-c4f320]")
    9
    """
    total = 0
    for piece in _TOKEN.findall(text):
        total += -(-len(piece) // (_DIGITS if "0" <= piece[0] <= "9" else _LETTERS))
    return total


def fence_text(text: str) -> str:
    """Put a text on one line, escaping anything that could open or close the fence."""
    return _SPACE.sub(" ", text).strip().translate(_FENCE)


def shorten_line(text: str) -> str:
    """Shorten a text to the longest line, at a word boundary."""
    if estimate_tokens(text) <= _LINE_TOKENS:
        return text
    spent = 0
    for piece in _TOKEN.finditer(text):
        spent += estimate_tokens(piece[0])
        if spent > _LINE_TOKENS - 1:
            return text[: piece.start()].rstrip() + "…"
    return text


def format_bullet(name: str, text: str, notes: Iterable[str], *, year: str = "") -> str:
    """Format one line: the id, the words, and notes in brackets.

    The days of notes are written with the month in letters, which takes two tokens fewer, and without their year and
    "told" where the block says for all that a bare day is one of a year, on which something was told.

    >>> format_bullet("m1-abcde1", "Lives in <Linz>", ["since 2026-03-01"])
    '- [m1-abcde1] Lives in &lt;Linz&gt; (since 1 Mar 2026)'
    >>> format_bullet("m1-abcde1", "It rained.", ["told 2026-03-01"], year="2026")
    '- [m1-abcde1] It rained. (1 Mar)'
    """
    noted = "; ".join(_DAY.sub(partial(_shorten_day, without=year), note) for note in notes)
    tail = f" ({fence_text(noted)})" if noted else ""
    return f"- [{name}] {shorten_line(fence_text(text))}{tail}"


def _shorten_day(found: re.Match[str], without: str) -> str:
    year = "" if found["year"] == without else f" {found['year']}"
    word = "" if without and found["word"] == _TOLD else found["word"] or ""
    return f"{word}{int(found['day'])} {_MONTHS[int(found['month']) - 1]}{year}"


def name_year(year: str) -> str:
    """Write the first lines of a block of which bare days are days of a year on which something was told; "": none."""
    return f"{OPENING} Bare days: when told, in {year}." if year else OPENING


def format_stated(speaker: str, text: str) -> str:
    """Put the speaker before their words, as in "Ana: I live in Linz"; a derived memory has none.

    >>> format_stated("user", "The user is allergic to nuts."), format_stated("user", "I am allergic to nuts.")
    ('note: The user is allergic to nuts.', 'user: I am allergic to nuts.')
    """
    author = name_author(speaker, text)
    return f"{author}: {text}" if author else text


def name_author(speaker: str, text: str) -> str:
    """Return who a text is by: its speaker, or "note" for a sentence about the user that an agent wrote."""
    return _NOTE if speaker == _USER and is_about_user(text) else speaker


def format_day(moment_us: int, zone: tzinfo) -> str:
    """Format the day of a moment in a zone, as 2026-03-01."""
    return to_datetime(to_local_time(moment_us, zone)).date().isoformat()


# Token counters, and the fitting of lines into a token budget.


T = TypeVar("T")


class TokenCounter(NamedTuple):
    """Counts the tokens of a text; `name` is reported with every count.

    `adds_up` means that the counts of lines add up to that of the text, as with the estimate. Counts of a real
    vocabulary do not, because its pieces cross the ends of lines.
    """

    name: str
    count: Callable[[str], int]  # pyright: ignore[reportIncompatibleMethodOverride] - a tuple counts otherwise
    adds_up: bool = False

    def added_by(self, text: str) -> int:
        """Estimate how many tokens a text adds on lines of its own after others."""
        if self.adds_up:
            return self.count(f"\n{text}")
        return self.count(f"{OPENING}\n{text}") - self.count(OPENING)


ESTIMATE: Final = TokenCounter("estimate", estimate_tokens, adds_up=True)


class TokenBudget(NamedTuple):
    """A bound of tokens and the counter for it."""

    tokens: int
    counter: TokenCounter = ESTIMATE


def fit_to_budget(
    kept: Sequence[T], lay: Callable[[Sequence[T]], str], budget: TokenBudget
) -> tuple[list[T], str, int]:
    """Return the leading items of `kept` that fit together, their text, and its tokens: none and "" if no item fits.

    The counts of single items chose `kept`; here the whole text is counted, and while it is too long, the last item is
    dropped.
    """
    left = list(kept)
    while left:
        text = lay(left)
        tokens = budget.counter.count(text)
        if tokens <= budget.tokens:
            return left, text, tokens
        left.pop()
    return [], "", 0
