"""The dates of a clause, and values that are days."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from credenda.clock import DAY_US, to_datetime
from credenda.text.dates import DateSpan, Lean, find_dates
from credenda.write.extract.lexicon import RECENT, expression

__all__ = ["Moment", "clause_dates", "day_end", "iso_day", "lasting_since", "past_dates", "without_open_dates"]

_FAR_DAYS: Final = 120
_FOR: Final = re.compile(
    r"\bfor (?:(?:about|almost|nearly|over|around|some|well over|more than|at least|the (?:last|past)) )?"
    r"(?P<long>(?:\d{1,3}|an?|one|two|three"
    r"|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of) (?:day|week|month|year)s?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The dates of a clause: their spans and words, and the reference time."""

    anchor_us: int
    spans: tuple[DateSpan, ...] = ()
    literals: tuple[str, ...] = ()
    lasting: int | None = None
    """Since when, from a duration: "for ten years"."""
    undated: tuple[str, ...] = ()
    """Words for a time whose year is ambiguous."""

    @property
    def since(self) -> int | None:
        """The start, from "since …" or "from … to …"."""
        return next((one.from_us for one, text in self.pairs() if _opens(one, text)), None)

    @property
    def until(self) -> int | None:
        """The end, from "until …" or "from … to …"."""
        return next((one.until_us for one, text in self.pairs() if _closes(one, text)), None)

    @property
    def past(self) -> int | None:
        """The first named day that is not in the future."""
        found = (one.from_us for one in self.spans if one.from_us is not None and one.from_us <= self.anchor_us)
        return next(found, None)

    @property
    def coming(self) -> int | None:
        """The first named day in the future."""
        found = (one.from_us for one in self.spans if one.from_us is not None and one.from_us > self.anchor_us)
        return next(found, None)

    @property
    def ahead(self) -> bool:
        """Whether a named day is in the future."""
        return any(one.until_us is not None and one.until_us > self.anchor_us + DAY_US for one in self.spans)

    def pairs(self) -> Iterator[tuple[DateSpan, str]]:
        """Yield each span with its words in lower case."""
        return zip(self.spans, (text.lower() for text in self.literals), strict=True)


def _opens(span: DateSpan, text: str) -> bool:
    return span.from_us is not None and (span.until_us is None or text.startswith(("from", "between", "starting")))


def _closes(span: DateSpan, text: str) -> bool:
    if text.startswith("by "):
        return False
    return span.until_us is not None and (span.from_us is None or text.startswith(("from", "between")))


def clause_dates(text: str, anchor_us: int, lean: Lean | None) -> Moment:
    """Find the dates of a clause, with their words. "Since May" is a past May in any tense."""
    spans = find_dates(text, anchor_us, lean)
    if not spans:
        return _no_dates(anchor_us)
    if lean != "past" and any(text[one.start : one.start + 6].lower() == "since " for one in spans):
        began = {one.start: one for one in find_dates(text, anchor_us, "past")}
        spans = [
            began.get(one.start, one) if text[one.start : one.start + 6].lower() == "since " else one for one in spans
        ]
    return Moment(anchor_us=anchor_us, spans=tuple(spans), literals=tuple(text[one.start : one.stop] for one in spans))


def lasting_since(text: str, anchor_us: int) -> int | None:
    """Return the start of a duration such as "for ten years": the beginning of that day, month or year."""
    found = _FOR.search(text)
    return None if found is None else find_dates(f"{found['long']} ago", anchor_us, "past")[0].from_us


@lru_cache(maxsize=RECENT)
def _no_dates(anchor_us: int) -> Moment:
    return Moment(anchor_us=anchor_us)


def past_dates(text: str, anchor_us: int) -> Moment:
    """Find the dates of a past action.

    A day or month without a year that would lie far back may lie ahead ("I was invited to speak on 20 October"); then
    only the clearly nearest year counts. "Since May" is a past May.
    """
    moment = clause_dates(text, anchor_us, "past")
    if not moment.spans:
        return moment
    far_us = anchor_us - _FAR_DAYS * DAY_US
    doubtful = any(
        one.from_us is not None
        and one.from_us < far_us
        and not words.startswith("since ")
        and expression("checks", "yearless").search(words)
        for one, words in moment.pairs()
    )
    if not doubtful:
        return moment
    sure = clause_dates(text, anchor_us, None)
    return replace(sure, undated=tuple(one for one in moment.literals if one not in sure.literals))


def without_open_dates(text: str, moment: Moment) -> str:
    """Remove the open-ended dates ("since 2015", "until June") from a predicate."""
    for span, literal in zip(moment.spans, moment.literals, strict=True):
        if span.from_us is None or span.until_us is None or literal.lower().startswith(("from", "between")):
            text = text.replace(literal, "")
    return " ".join(text.split())


def day_end(text: str, anchor_us: int) -> int | None:
    """Return the end of the one day of a scheduled value; None for a recurring time or no day."""
    if expression("checks", "recurs").search(text):
        return None
    spans = find_dates(f"on {text}", anchor_us, "future")
    days = [one.until_us for one in spans if one.from_us is not None and one.until_us is not None]
    return days[0] if len(spans) == 1 and days else None


def iso_day(text: str, anchor_us: int, attribute: str) -> str:
    """Format a value that is one day as ISO; a birthday without a year as --MM-DD, any other unchanged.

    A weekday stays a weekday in a date value ("the demo is on Tuesday"), because people continue to call it so.
    """
    spans = find_dates(text, anchor_us, "past" if attribute == "birthday" else "future")
    if len(spans) != 1 or spans[0].from_us is None or spans[0].until_us is None:
        return text
    rest = (text[: spans[0].start] + text[spans[0].stop :]).strip(" ,")
    if rest or spans[0].until_us - spans[0].from_us != DAY_US:
        return text
    day = to_datetime(spans[0].from_us).date()
    if attribute == "date" and not any(letter.isdigit() for letter in text):
        return text
    if attribute in {"birthday", "anniversary"} and str(day.year) not in text:
        return f"--{day:%m-%d}"
    return day.isoformat()
