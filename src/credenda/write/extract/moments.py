"""The dates of a clause, and values that are days."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from typing import Final

from credenda.clock import DAY_US, from_local_time, to_datetime, to_local_time
from credenda.model.claim import Claim, Extractor, Turn
from credenda.model.event import Event
from credenda.text.dates import WEEKDAYS, DateSpan, Lean, find_clock, find_dates, find_duration
from credenda.text.passing import ABOUT, CURRENT, GOES_ON, SO_FAR, count_days, is_limit

_FAR_DAYS: Final = 120
_YEARLESS: Final = re.compile(
    r"^(?!.*\b(?:19|20)\d\d\b)(?!.*\b(?:ago|last|past|yesterday)\b)"
    r".*\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The dates of a clause: their spans and words, and the reference time."""

    anchor_us: int
    spans: tuple[DateSpan, ...] = ()
    literals: tuple[str, ...] = ()

    @property
    def since(self) -> int | None:
        """The start, from "since …" or "from … to …"."""
        return next((one.from_us for one, text in self.pairs() if _opens(one, text)), None)

    @property
    def until(self) -> int | None:
        """The end, from "until …" or "from … to …"."""
        return next((one.until_us for one, text in self.pairs() if _closes(one, text)), None)

    @property
    def coming(self) -> int | None:
        """The first named day in the future."""
        found = (one.from_us for one in self.spans if one.from_us is not None and one.from_us > self.anchor_us)
        return next(found, None)

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
        return Moment(anchor_us=anchor_us)
    if lean != "past" and any(text[one.start : one.start + 6].lower() == "since " for one in spans):
        began = {one.start: one for one in find_dates(text, anchor_us, "past")}
        spans = [
            began.get(one.start, one) if text[one.start : one.start + 6].lower() == "since " else one for one in spans
        ]
    return Moment(anchor_us=anchor_us, spans=tuple(spans), literals=tuple(text[one.start : one.stop] for one in spans))


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
        one.from_us is not None and one.from_us < far_us and not words.startswith("since ") and _YEARLESS.search(words)
        for one, words in moment.pairs()
    )
    if not doubtful:
        return moment
    return clause_dates(text, anchor_us, None)


TIMED: Final = frozenset({"date", "deadline"})
"""Attributes whose values are times."""
YEARLY: Final = frozenset({"birthday", "anniversary"})
"""Attributes of days that come every year."""


def stated_period(
    text: str,
    sentence: str,
    anchor_us: int,
    *,
    planned: bool = False,
    begins: bool = False,
    past: Moment | None = None,
) -> tuple[int | None, int | None]:
    """Return since when and until when something holds by its words of time and its sentence, None if they don't say.

    A plan begins at the time that is named and holds until its day is over. What is so "this week", "for two weeks" or
    "until Friday" ends with that; `begins` is for words that tell a beginning, as "I moved this week". `past` has the
    dates of the words where the caller knows that they are past; else they are those of `past_dates`.
    """
    sentence = sentence.replace("\u2019", "'")
    begins = begins and GOES_ON.search(sentence) is None
    ahead = clause_dates(text, anchor_us, "future")
    if planned:
        day = next((one for one in ahead.spans if one.until_us is not None and one.until_us > anchor_us), None)
        if day is not None and day.from_us is None and day.until_us is not None and is_limit(text[day.start :]):
            return None, day.until_us + DAY_US
        if day is None or day.from_us is None or day.until_us is None:
            return ahead.coming, anchor_us + DAY_US if day is None and ABOUT.search(sentence) else None
        clock = (find_clock(text) or find_clock(sentence)) if day.until_us - day.from_us == DAY_US else None
        return ahead.coming if clock is None else day.from_us + clock.after_us, day.until_us
    moment = past_dates(text, anchor_us) if past is None else past
    since, until = moment.since, moment.until
    for span, words in ahead.pairs():
        if span.until_us is None or span.until_us <= anchor_us:
            continue
        if is_limit(words):
            until = span.until_us + DAY_US
        elif words.startswith(CURRENT) and not words.startswith("this year") and not begins:
            until = span.until_us
    lasts = None if begins or SO_FAR.search(sentence) else find_duration(text)
    if lasts is not None and until is None:
        until = count_days(anchor_us, lasts.days)
    if since is None and until is None:
        since = next(
            (one.from_us for one in moment.spans if one.from_us is not None and one.from_us <= anchor_us), None
        )
    return since, until


def is_in_one_clause(text: str, words: str, value: str) -> bool:
    """Return whether no conjunction stands between words of time and a value: "I moved this week and work at Halden".

    >>> said = "I moved this week and work at Halden"
    >>> is_in_one_clause(said, "this week", "Halden"), is_in_one_clause(said, "this week", "moved")
    (False, True)
    """
    one, other = sorted((text.find(words), text.find(value)))
    return one < 0 or re.search(r"[;.!?]\s|\b(?:and|but)\s", text[one:other]) is None


PASSING: Final = frozenset(
    {"residence", "home", "location", "status", "schedule", "employment", "employment_status", "on_call", "works_on"}
)
"""Attributes of states that words of time limit; "tonight my wife Ida cooks" ends no marriage."""


def find_end(value: str, anchor_us: int) -> int | None:
    """Return when the day that a value names is over, None for a value that names none."""
    for lead in ("", "on ", "in "):
        _, until = stated_period(f"{lead}{value}", "", anchor_us, planned=True)
        if until is not None:
            return until
    return None


def iso_day(text: str, anchor_us: int, attribute: str) -> str:
    """Format a value that is one day as ISO; a birthday without a year as --MM-DD, any other unchanged.

    A date and a deadline keep their time of day. A weekday stays a weekday in a date value ("the demo is on Tuesday"),
    because people continue to call it so.

    >>> iso_day("tomorrow at 3pm", 1_793_664_000_000_000, "date")
    '2026-11-04 15:00'
    """
    clock = find_clock(text) if attribute in TIMED else None
    words = text if clock is None else f"{text[: clock.start]} {text[clock.stop :]}"
    spans = find_dates(words, anchor_us, "past" if attribute == "birthday" else "future")
    if len(spans) != 1 or spans[0].from_us is None or spans[0].until_us is None:
        return text
    rest = (words[: spans[0].start] + words[spans[0].stop :]).strip(" ,").removesuffix("at")
    if rest or spans[0].until_us - spans[0].from_us != DAY_US:
        return text
    day = to_datetime(spans[0].from_us).date()
    if clock is not None:
        return f"{to_datetime(spans[0].from_us + clock.after_us):%Y-%m-%d %H:%M}"
    if attribute == "date" and words.rpartition(" ")[2].lower() in WEEKDAYS and "next" not in words.lower():
        return text
    if attribute in YEARLY and str(day.year) not in text:
        return f"--{day:%m-%d}"
    return day.isoformat()


# Extract in the user's time zone: days begin at local midnight, not at midnight UTC.


def by_the_wall(extractor: Extractor, turn: Turn, zone: tzinfo) -> list[Claim]:
    """Run an extractor that counts days in UTC on local times, and convert the times of its claims back.

    A day of 23 or 25 hours counts as any other.
    """
    if zone is UTC:
        return extractor.extract(turn)
    shown = replace(turn, event=_moved(turn.event, zone), before=tuple(_moved(event, zone) for event in turn.before))
    return [_back(claim, shown.event, turn.event, zone) for claim in extractor.extract(shown)]


def _moved(event: Event, zone: tzinfo) -> Event:
    return replace(event, occurred_us=to_local_time(event.occurred_us, zone))


def _back(claim: Claim, shown: Event, said: Event, zone: tzinfo) -> Claim:
    """Convert the times of a claim back; the time of the statement is known, even if local time is ambiguous."""

    def back(wall_us: int | None) -> int | None:
        if wall_us is None:
            return None
        return said.occurred_us if wall_us == shown.occurred_us else from_local_time(wall_us, zone)

    return replace(claim, valid_from_us=back(claim.valid_from_us), valid_until_us=back(claim.valid_until_us))
