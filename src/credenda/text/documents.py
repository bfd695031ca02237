"""The text under which an event or a memory is indexed and embedded: its words, with its slot or speaker and day."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from credenda.clock import DAY_US, to_datetime
from credenda.text.tokens import tokenize

MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
"""English month names for every locale; `strftime` and `calendar` follow the process's locale."""
_YEARLY: Final = re.compile(r"--(0[1-9]|1[0-2])-(\d\d)")
_NAMELESS_ROLES: Final = frozenset({"user", "assistant", "document"})
_TENANT: Final = "user"
"""The entity of the tenant: nearly every memory has it, so it distinguishes none."""


def format_yearly_day(value: str) -> str:
    """Return a value that is a day without a year, such as a birthday, in words; any other unchanged.

    >>> format_yearly_day("--11-17"), format_yearly_day("Linz")
    ('17 November', 'Linz')
    """
    yearly = _YEARLY.fullmatch(value)
    return value if yearly is None else f"{int(yearly[2])} {MONTHS[int(yearly[1]) - 1]}"


def compose_event_text(*, speaker: str, role: str, occurred_us: int, text: str) -> str:
    """Return the indexed text of an event, or of one of its passages. The day is in UTC.

    >>> compose_event_text(speaker="Ana", role="person", occurred_us=1683504000000000, text="Hello")
    '[8 May 2023] Ana: Hello'
    >>> compose_event_text(speaker="user", role="user", occurred_us=1683504000000000, text="Hello")
    '[8 May 2023] Hello'
    """
    day = _format_day(occurred_us // DAY_US)
    return f"[{day}] {text}" if not speaker or role in _NAMELESS_ROLES else f"[{day}] {speaker}: {text}"


@lru_cache(maxsize=4_096)
def _format_day(number: int) -> str:
    """Format a day, counted since 1970-01-01, as "8 May 2023"."""
    moment = to_datetime(number * DAY_US)
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def compose_memory_text(
    text: str, *, entity: str | None = None, attribute: str | None = None, value: str | None = None
) -> str:
    """Return the indexed text of a memory: its own, then the words of its slot that it lacks.

    >>> compose_memory_text("I live in Linz", entity="user", attribute="home_town", value="Linz")
    'I live in Linz (home town)'
    """
    names = "" if entity is None or entity == _TENANT else entity
    slot = f"{names} {attribute or ''}".replace("_", " ")
    known = set(tokenize(text))
    missing: list[str] = []
    for word in f"{slot} {value or ''}".split():
        terms = set(tokenize(word))
        if not terms <= known:
            missing.append(word)
            known |= terms
    return f"{text} ({' '.join(missing)})" if missing else text
