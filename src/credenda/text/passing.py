"""When a sentence is over that its own words of time bound: "this week", "until Friday", "for two weeks". Pure."""

from __future__ import annotations

import re
from typing import Final

from credenda.clock import DAY_US
from credenda.text.dates import DateSpan, find_dates, find_duration
from credenda.text.sentences import split_sentences

_UNTIL: Final = ("until ", "till ", "through ")
CURRENT: Final = ("this ", "today", "tonight")
ABOUT: Final = re.compile(r"\babout to\b", re.IGNORECASE)
SO_FAR: Final = re.compile(r"\b(?:have|has|had|been|was|were)\b|'(?:ve|d)\b", re.IGNORECASE)
"""Words after which "for two weeks" is the time until now."""
GOES_ON: Final = re.compile(
    r"(?:\b(?:am|is|are)|'(?:m|s|re)) (?:\w+ly )?(?!start|begin|mov|switch|join|chang|becom|leav|quit|stop)\w+ing\b",
    re.IGNORECASE,
)
"""Words of what is done for a time, which begins nothing that lasts: "I'm eating vegan this week"."""
_TAKES_TIME: Final = re.compile(
    r"\b(?:have|has|had|did|was|were|got|went|came|left|saw|met|became|took|gave|quit|began|bought|sold|made|found|told"
    r"|said|heard|put|hid|lent|wrote|chose|fell|ate|hurt|broke|spoke|drove|ran|won|lost|paid|spent|sent|kept|felt|brought"
    r"|caught|taught|built|cut|hit|slept|stood|drew|flew|threw|wore|drank|swam|began|forgot|rode|shook|stole|tore"
    r"|(?<!am )(?<!is )(?<!are )(?<!'m )(?<!'s )(?<!'re )\w{2,}ed)\b|'(?:ve|d)\b"
    r"|\b(?:start|begin|mov|switch|join|chang|becom|leav|quit|stop)\w*ing\b",
    re.IGNORECASE,
)
"""Words by which what is told of a time happened or began in it, and did not only hold for it."""
_NEAR: Final = re.compile(r"\s*(?:(?:again|only|just|still|here|there|alone|now)\b\s*)*", re.IGNORECASE)
_EQUALS: Final = re.compile(r"\s+(?:is|are|'s)\s+(?:\w+ )?", re.IGNORECASE)
_BOUNDARY: Final = re.compile(r"[,;:.!?()]+|\b(?:and|but|while|because|so|when)\b", re.IGNORECASE)
_ALL_OF: Final = re.compile(r"\b(?:all (?:of )?|throughout |for the (?:rest|whole) of )$", re.IGNORECASE)
"""Words before a time that is filled: "nights all of March"."""
_LASTS_DAYS: Final = 62
"""Longest duration that says how long something will go on; "married for five years" says how long it has."""


def is_limit(words: str) -> bool:
    """Return whether words of time name an end."""
    return words.lower().startswith(_UNTIL)


def count_days(anchor_us: int, days: int) -> int:
    """Return the end of the day that comes so many days after the one of a moment."""
    return anchor_us // DAY_US * DAY_US + (days + 1) * DAY_US


def find_passing_end(value: str, sentence: str, anchor_us: int) -> int | None:
    """Return when a state is over that its value, or the words at it, limit: "in Deventer this week".

    None where no words do, where they may belong to another value, and for what happened or began in the time.

    >>> from credenda.clock import to_datetime
    >>> thursday = 1_790_845_200_000_000
    >>> f"{to_datetime(find_passing_end('in Deventer this week', '', thursday)):%a %d %b}"
    'Mon 05 Oct'
    >>> find_passing_end("Zwolle", "I moved to Zwolle this week.", thursday) is None
    True
    """
    plain = sentence.replace("\u2019", "'")
    at = plain.casefold().find(value.casefold().replace("\u2019", "'"))
    if at < 0:
        plain, at = value, 0
    stop = at + len(value)
    start = max((one.end() for one in _BOUNDARY.finditer(plain, 0, at)), default=0)
    after = _BOUNDARY.search(plain, stop)
    clause = plain[start : len(plain) if after is None else after.start()]
    happened = _TAKES_TIME.search(clause) is not None and GOES_ON.search(clause) is None
    if happened and not any(one in value.casefold() for one in _UNTIL):
        return None

    def is_at_value(first: int, last: int) -> bool:
        inside, follows = at <= first and last <= stop, first >= stop and _NEAR.fullmatch(plain, stop, first)
        opens, equals = start <= first < at and not plain[start:first].strip(), _EQUALS.fullmatch(plain, last, at)
        return inside or bool(follows) or opens or bool(equals)

    for span in find_dates(plain, anchor_us, "future"):
        if span.until_us is None or span.until_us <= anchor_us or not is_at_value(span.start, span.stop):
            continue
        if is_limit(plain[span.start : span.stop]):
            return span.until_us + DAY_US
        if not happened and _is_filled(plain, start, span):
            return span.until_us
    lasts = None if happened or SO_FAR.search(clause) else find_duration(plain)
    if lasts is None or lasts.days > _LASTS_DAYS or not is_at_value(lasts.start, lasts.stop):
        return None
    return count_days(anchor_us, lasts.days)


def _is_filled(text: str, start: int, span: DateSpan) -> bool:
    """Return whether what a clause tells fills a time: "this week", "all of March"."""
    words = text[span.start : span.stop].lower()
    current = words.startswith(CURRENT) and not words.startswith("this year")
    return current or _ALL_OF.search(text, start, span.start) is not None


_FURTHER: Final = re.compile(r"(?:\b(?:and|but|so|because)\b|[;,]) (?:i|we|my|our|he|she|it|they|the)\b", re.IGNORECASE)
"""The beginning of another statement in a sentence, which its words of time may not bound."""
_TELLING_WORDS: Final = 3
"""Fewer words greet or thank, and tell nothing."""


def find_own_end(text: str, said_us: int) -> int | None:
    """Return when all that a message tells is over by its own words, None for one that tells anything else.

    Questions and greetings in it tell nothing.

    >>> from credenda.clock import to_datetime
    >>> thursday = 1_790_845_200_000_000
    >>> f"{to_datetime(find_own_end('Hi! I am in Lisbon this week. Any tips?', thursday)):%a %d %b}"
    'Mon 05 Oct'
    >>> find_own_end("I am in Lisbon this week, and my sister lives in Porto.", thursday) is None
    True
    """
    ends: list[int] = []
    for start, stop in split_sentences(text):
        sentence = text[start:stop].strip()
        if sentence.endswith("?") or len(sentence.split()) < _TELLING_WORDS:
            continue
        end = find_passing_end(sentence, sentence, said_us)
        if end is None and ABOUT.search(sentence):
            end = count_days(said_us, 0)
        if end is None or _FURTHER.search(sentence):
            return None
        ends.append(end)
    return max(ends, default=None)
