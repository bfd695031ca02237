"""The day on which something ends that a message tells apart from the end: "my last day is 31 March". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Stance
from credenda.model.statement import BEGINNINGS
from credenda.text.dates import find_dates

_CONFIDENCE: Final = 0.8
_LAST_DAY: Final = re.compile(
    r"\b(?:last (?:working )?day(?: (?:there|at work|of work|with them))?(?:'s| is| will be|:)?(?: on)?"
    r"|(?:effective|ending|ends|(?:be|stay|staying|work|working) (?:there |on )?(?:until|till|through))) "
    r"(?P<when>[^.;!?]{3,40})",
    re.IGNORECASE,
)
"""Words before the last day of something that its speaker has given up."""
_LEAVING: Final = r"\b(?:leav|quitt|resign|mov)ing (?:out of |from )?(?:(?:my|the) (?:job|position|flat) (?:at|in) )?"


def find_end_days(claims: Sequence[Claim], text: str, now_us: int) -> list[Claim]:
    """Return the claims with the day of their end, which is over with that day.

    A plan to leave on a day ends the value that it names.
    """
    told = [_end_planned(one) for one in claims]
    ends = [one for one in told if one.move is UpdateKind.END and one.valid_from_us is None]
    day_us = _find_last_day(text, now_us) if len(ends) == 1 and ends[0].valid_until_us is None else None
    if day_us is None:
        return told
    return [replace(one, valid_from_us=day_us) if one is ends[0] else one for one in told]


def _find_last_day(text: str, now_us: int) -> int | None:
    """Find the last moment of the last day that a text tells."""
    for told in _LAST_DAY.finditer(text.replace("\u2019", "'")):
        for lead in ("on ", ""):
            days = find_dates(f"{lead}{told['when']}", now_us, "future")
            if days and days[0].start <= len(lead) and days[0].until_us is not None:
                return days[0].until_us - 1
    return None


def _end_planned(claim: Claim) -> Claim:
    """Turn a plan to leave something on a day into its end: "I'm leaving Arup on 31 March"."""
    day_us, value = claim.valid_until_us, claim.value or ""
    leaves = claim.stance is Stance.PLANNED and claim.attribute in BEGINNINGS and day_us is not None and value
    if not leaves or re.search(_LEAVING + re.escape(value), claim.text, re.IGNORECASE) is None:
        return claim
    return replace(
        claim,
        stance=Stance.ASSERTED,
        move=UpdateKind.END,
        confidence=_CONFIDENCE,
        valid_from_us=(day_us or 0) - 1,
        valid_until_us=None,
    )
