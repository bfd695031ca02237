"""Since when and until when a fact holds, by its words. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Final

from credenda.clock import DAY_US
from credenda.model.claim import Fact, FactChange, FactStatus
from credenda.text.dates import WEEKDAYS, find_dates
from credenda.text.passing import find_passing_end
from credenda.write.extract import moments
from credenda.write.extract.moments import clause_dates, find_end, past_dates, stated_period

_PRESENT: Final = frozenset({FactStatus.NOW, FactStatus.PLANNED, FactStatus.CONSIDERED})

_HAPPENED: Final = frozenset({FactStatus.NOW, FactStatus.ENDED})
_PAST: Final = re.compile(
    r"\b(?:\w{2,}ed|became|began|bought|broke|came|found|gave|got|had|left|lost|made|met|quit|sold|split|took|was|went"
    r"|were)\b",
    re.IGNORECASE,
)
_BACK: Final = re.compile(r"\bback (in [\w ]+)", re.IGNORECASE)
_CLAUSE: Final = re.compile(r", |\band ")
_OF_THING: Final = re.compile(
    r"(?:,| and| which| that)* (?:it|they|that|this|which)(?:'s| is|'re| are| was| were) (?:from|made|built|born)\b.*",
    re.IGNORECASE,
)
"""Words for the age of a thing, and not for how long somebody has it: "a Golf, it's from 2009"."""
_SHORT_DAY: Final = re.compile(
    r"^(?P<opener>[a-z]+ )?(?P<day>mon|tue|wed|thu|fri|sat|sun)(?:s|rs?|nes|ur)?(?:day)?\b\.?"
    r"(?!\D*\d{1,2}(?:st|nd|rd|th|\.)?,? (?:of )?[a-z]{3}|,? (?:the|[a-z]{3,9}) \d)",
    re.IGNORECASE,
)
COMES_TRUE: Final = frozenset({"age"})
"""What becomes true on its day by itself, so that nobody has to confirm it."""


def find_period(fact: Fact, value: str, now_us: int, *, planned: bool) -> tuple[int | None, int | None]:
    """Return since when and until when a fact holds by its words; for one that ended, since when it does no more."""
    if not moments.is_in_one_clause(fact.quote.text, fact.when, value):
        fact = replace(fact, when="")
    words = _find_time_words(fact, now_us)
    changes = fact.change is not FactChange.NONE or bool(fact.old)
    happened = changes and not planned and _has_happened(fact)
    past = clause_dates(words, now_us, "past") if happened else past_dates(words, now_us)
    since, until = past.since, past.until
    if not fact.when and not planned and _is_date(value, now_us):
        return None, find_end(value, now_us) if fact.attribute == "deadline" else None  # "moved to 10 October"
    if fact.status in _PRESENT and (fact.when or changes or planned):
        since, until = stated_period(words, fact.quote.text, now_us, planned=planned, begins=changes, past=past)
        if fact.attribute in COMES_TRUE:
            until = None  # "I turn 34 on 19 July", "she is 3 today"
        elif planned and since is not None and until is None:
            until = since + DAY_US  # "from 1 September"
    elif fact.status is FactStatus.NOW and until is None and fact.attribute in moments.PASSING:
        until = find_passing_end(value, fact.quote.text, now_us)
    elif fact.status is FactStatus.ENDED and fact.when and since is None and until is None:
        since = next((one.from_us for one in past.spans), None)
    if fact.status is FactStatus.NOW and fact.attribute == "location" and until is None:
        until = find_passing_end(value, fact.quote.text, now_us)  # "I'm at the office today"
    if fact.status is FactStatus.NOW and not fact.when and since is not None and since > now_us:
        since = None  # what is so now has begun: the day belongs to other words of the sentence
    return since, find_end(value, now_us) if fact.attribute == "deadline" else until


def _has_happened(fact: Fact) -> bool:
    """Return whether a change lies in the past, and so the month that it names: "I moved to Graz in March"."""
    told = bool(fact.when) and fact.status in _HAPPENED and _PAST.search(fact.quote.text) is not None
    return told and fact.attribute not in moments.TIMED  # "moved to 20 March"


def _is_date(value: str, now_us: int) -> bool:
    """Return whether a value is nothing but a date, which then says not since when it holds."""
    bare = value.strip()
    return any(one.start == 0 and one.stop == len(bare) for one in find_dates(bare, now_us))


def _find_time_words(fact: Fact, now_us: int) -> str:
    """Return the words that say when, of which the reader may miss the first: "the day after tomorrow".

    Where it found none they are those of the clause, if that has a day: "vet on the 5th, dentist on the 12th".
    """
    if not fact.when:
        at = fact.value.start - fact.quote.start
        ends = [0, *(one.start() for one in _CLAUSE.finditer(fact.quote.text)), len(fact.quote.text)]
        parts = [fact.quote.text[start:stop] for start, stop in pairwise(ends) if start <= at < stop]
        return next((part for part in parts if find_dates(part, now_us, "future")), _OF_THING.sub("", fact.quote.text))
    before = fact.quote.text[: max(fact.quote.text.find(fact.when), 0)]
    back = _BACK.search(fact.quote.text) if fact.when.lower() == "back" else None
    if back is not None:
        return back[1]
    said = f"the day {fact.when}" if before.lower().endswith("the day ") else fact.when
    return _SHORT_DAY.sub(_name_day, said)


def _name_day(short: re.Match[str]) -> str:
    """Write out a weekday of few letters, or without a word before it, as people note them.

    >>> _SHORT_DAY.sub(_name_day, "thurs 9:30"), _SHORT_DAY.sub(_name_day, "next tue")
    ('on thursday 9:30', 'next tuesday')
    """
    day = next(one for one in WEEKDAYS if one.startswith(short["day"].lower()))
    return f"{short['opener'] or 'on '}{day}"
