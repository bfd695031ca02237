"""Words of an end, and the day of one that a message tells apart: "Ivo moved out", "my last day is 31 March". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from credenda.model.claim import Claim, Fact, FactChange, FactStatus, UpdateKind, Words
from credenda.model.memory import Stance
from credenda.model.statement import BEGINNINGS
from credenda.text.dates import find_dates
from credenda.text.sentences import split_sentences

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


# What the words around a value say of its end, where its reader took it for one that holds. Pure.


_MOVED_OUT: Final = re.compile(
    r"(?:'s|,)?(?: (?:has|have|is|just|finally|already|recently|now|also|then))* (?:moved|walked) out\b"
    r"(?P<of> of (?!(?:the|our|my|this) (?:\w+ )?(?:flat|house|apartment|place|home|building|room)\b))?",
    re.IGNORECASE,
)
"""Words behind somebody who lives with the speaker no longer, but for "moved out of her comfort zone" (`of`)."""
_NO_LIKING: Final = re.compile(
    r"(?:n't|\bnot|\bnever|\bno longer)(?: \w+ly| even| much)? (?:lik|lov|enjoy|ador)\w*", re.IGNORECASE
)
_CUT_OUT: Final = re.compile(r"(?:cut(?:ting)?(?: out)?|giv(?:en|ing) up|gave up|quit(?:ting)?) (?=\w)", re.IGNORECASE)
"""The beginning of a diet that says what is no longer part of it: "cut out coffee"."""
_CALLED_OFF: Final = re.compile(
    r"(?:^|[,;:] |\b(?:but|so|and) )(?:unfortunately,? |sadly,? )?(?:the |our |my |that )?"
    r"(?P<what>(?:(?!(?:the|our|my|his|her|their|your)\b)[\w-]+ ){0,3}?"
    r"(?:trip|journey|holiday|vacation|tour|visit|party|wedding|appointment|meeting|viewing|interview)"
    r"(?: (?:to|at|in|with|for) (?:the |my |our )?[\w'-]+(?: [A-Z][\w-]+)?)?)"
    r"(?:(?:'s| is| was| got| has| has been)(?: now| just| unfortunately| sadly)* (?:cancell?ed|called off|scrapped"
    r"|off(?=\W*(?:$|[.,;!]|now\b|again\b))|not happening|no longer happening|fallen through)| fell through)",
    re.IGNORECASE,
)
_APPOINTED: Final = re.compile(r"\b(?:appointment|meeting|viewing|interview)\b", re.IGNORECASE)
_PLANS: Final = frozenset({"plan", "appointment"})


def read_endings(text: str, facts: Sequence[Fact]) -> list[Fact]:
    """End what words of leaving, of a cancellation or of a denied plan end: "Ivo moved out", "the trip is off"."""
    found = [_end_by_words(text, one) for one in facts if not _is_other_leaving(text, one)]
    for start, stop in split_sentences(text):
        off = _CALLED_OFF.search(text[start:stop])
        if off is None or text[start:stop].endswith("?"):
            continue
        place = Words(off["what"], start + off.start("what"), start + off.end("what"))
        named = "appointment" if _APPOINTED.search(place.text) else "plan"
        told_of = {*_PLANS, "status"}
        found = [one for one in found if not (one.attribute in told_of and start <= one.value.start < stop)]
        told = Words(text[start:stop], start, stop)
        over = Fact(value=place, quote=told, attribute=named, status=FactStatus.ENDED, change=FactChange.CHANGED)
        found.append(replace(over, certainty=_CONFIDENCE, attribute_certainty=_CONFIDENCE))
    return sorted(found, key=lambda one: one.value.start)


def _is_other_leaving(text: str, fact: Fact) -> bool:
    """Return whether somebody left something else than a home: "moved out of his comfort zone"."""
    out = _MOVED_OUT.match(text, fact.value.stop) if fact.attribute == "lives_with" and fact.value.start >= 0 else None
    return out is not None and out["of"] is not None


def _end_by_words(text: str, fact: Fact) -> Fact:
    if fact.attribute == "dislikes" and fact.status in {FactStatus.ENDED, FactStatus.DENIED}:
        # "I don't like tea any more" is a dislike, and denies none
        denied = _NO_LIKING.search(fact.quote.text.replace("\u2019", "'"))
        return replace(fact, status=FactStatus.NOW, change=FactChange.NONE) if denied else fact
    if fact.value.start < 0 or fact.status not in {FactStatus.NOW, FactStatus.DENIED}:
        return fact
    over = replace(fact, status=FactStatus.ENDED, certainty=max(fact.certainty, _CONFIDENCE))
    if fact.status is FactStatus.DENIED:
        return over if fact.attribute in _PLANS else fact
    if fact.attribute == "lives_with" and _MOVED_OUT.match(text, fact.value.stop):
        return over if fact.value.text[:1].isupper() else replace(over, certainty=fact.certainty)
    cut = _CUT_OUT.match(fact.value.text) if fact.attribute == "diet" else None
    if cut is None:
        return fact
    value = fact.value
    return replace(over, value=Words(value.text[cut.end() :], value.start + cut.end(), value.stop))
