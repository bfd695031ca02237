"""Facts that a reader takes from words which state something else: whereabouts, events, the end of a relation. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from credenda.model.attributes import answer_same_question
from credenda.model.claim import SPEAKER, Fact, FactStatus
from credenda.text.changes import is_beside, is_return_of
from credenda.write.extract.voices import names

_IS_AT: Final = re.compile(
    r"\b(?:i'm|im|i am|i've been|i was|we're|we are|we've been)"
    r"(?: (?:still|already|back|now|just|currently|here|stuck|sitting|standing|waiting|over|both|all|again))*"
    r" (?P<where>at|in|on) (?:the|an?|my|our)(?: [a-z-]+){0,2} $",
    re.IGNORECASE,
)
"""Words before the place where the speaker is: "I'm still at the"."""
_BACK_FROM: Final = re.compile(r"\bback from (?:the |an? |my )?$", re.IGNORECASE)
_OPENER: Final = re.compile(r"(?:(?:at|in|on|from) )?(?:(?:the|an?|my|our) )?", re.IGNORECASE)
"""Words of the place that a reader may take into the value: "on the bus"."""
_LASTING: Final = frozenset(
    {"employer", "employment", "school", "member_of", "routine", "sport", "hobby", "service", "learning"}
)
"""Attributes of what lasts, and not of where somebody is or was."""
_HELD_AT: Final[Mapping[str, frozenset[str]]] = {
    "at": _LASTING | {"home", "residence"},
    "in": _LASTING - {"member_of", "sport", "hobby", "learning"},
    "on": frozenset({"routine"}),
}
"""Attributes that a common noun of a place does not fill, by the word before it: who is "in the choir" is a member."""
_ROOMS: Final = frozenset(
    "gym pool library church hospital hall studio café cafe pub bar restaurant shop hotel office lobby queue car"  # noqa: SIM905
    " museum cinema theatre classroom lab garage sauna station airport waiting-room room park garden".split()
)
"""Last words of places that one may be in for an hour."""
_FIRMS: Final = frozenset(
    "startup start-up company firm agency charity consultancy corporation foundation fintech nonprofit ngo".split()  # noqa: SIM905
)
"""Last words of an employer without a name, where nobody is for an hour."""
_PARTED: Final = (
    r"\b(?:br(?:oke|eak|oken) (?:it )?(?:up|off)|split(?: up|(?=\W*$|[.,;!]| (?:last|in|recently)\b))|separated"
    r"|divorced|call(?:ed)? it quits|parted ways|(?:it's|it is|we're|we are) (?:all )?over)\b"
)
_PARTED_FROM: Final = re.compile(
    _PARTED + r"(?:\W|\b(?:btw|by the way|with|from|me|i|and|my|our|last \w+|yesterday|finally|recently|(?:girl|boy)?"
    r"friend|gf|bf|wife|husband|partner|fianc\w+)\b)*$",
    re.IGNORECASE,
)
"""Words of an end up to the name of the other one: "we broke up, me and"."""
_PARTING: Final = re.compile(
    r"(?:\b(?:me|i) and \||\|\W*and (?:me|i)\b)"
    r"(?:\W|\b(?:ve|re|have|has|had|just|got|are|were|both|finally|recently|now|officially|sadly)\b)*"
    + _PARTED
    + r"|\|"
    r"(?: (?:has|just|finally|recently|suddenly))* (?:(?:left|dumped|ditched) me|is my ex)\b",
    re.IGNORECASE,
)
"""Words of an end around the name of the other one, which is the sign: "me and | broke up"."""
_NO_END: Final = re.compile(
    r"(?:n't|\b(?:not|never|almost|nearly|if|may|might|would|could|should|getting|going to|thinking of"
    r"|about to|used to))"
    rf"(?: \w+)? {_PARTED}",
    re.IGNORECASE,
)
"""Words of an end that has not come: "we almost broke up"."""
_BOTH: Final = re.compile(r"\b(?:i|me|we|us|my ex)\b", re.IGNORECASE)
"""Words by which the speaker is the other one: "my partner got divorced" ends nothing of theirs."""
_HAPPENED: Final[Mapping[str, re.Pattern[str]]] = {
    "relationship": re.compile(
        r"(?:just |recently )?(?:br(?:oke|eak|oken)|split|dumped|parted|called|ex)\b", re.IGNORECASE
    ),
    "employment": re.compile(
        r"(?:just |recently )?(?:got|get|landed|accepted|promoted|hired|the job$|(?:new |an? )?offer\b)", re.IGNORECASE
    ),
}
"""Events by attributes of a state, which they do not name: "broke up" is no marital status."""
_NO_NAME: Final = re.compile(r"\b(?:about|on|with|over|at|in|from) $", re.IGNORECASE)
_MISPLACED: Final[Mapping[str, re.Pattern[str]]] = {
    "name": _NO_NAME,
    "preferred_name": _NO_NAME,
    "visited": re.compile(r"\b(?:i'm|im|i am|we're|we are) $", re.IGNORECASE),
    "job_title": re.compile(
        r"\b(?:has|have|had|'ve|got|gets?|needs?|wants?|found|hired|met|sees?|saw) (?:an?|the|my|our|his|her|their)"
        r"(?: (?!as\b)[\w-]+){0,2} $",
        re.IGNORECASE,
    ),
}
"""Words before another thing: "strict about", "I'm" of a fan, "Ben has a new" teacher."""
_ONCE: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|this (?:week|month|morning|afternoon|evening|time|\w+day)|next \w+|once)\b",
    re.IGNORECASE,
)
"""Words of a time at which something is otherwise for once."""

_IDIOM: Final = re.compile(
    r"(?:the )?(?:square one|drawing boards?|basics|zero|normal|reality|scratch|old (?:self|ways|habits))",
    re.IGNORECASE,
)
"""What somebody is said to be back to who has it neither now nor before: "back to square one"."""
_IF_BEFORE: Final = re.compile(
    r"\W*(?:(?:and|but|so|then)\W+)*(?:if|unless|in case)\b(?! (?:you|anyone|it matters)\b)", re.IGNORECASE
)
_IF_AFTER: Final = re.compile(r"[^,;]{0,40}?\b(?:if|unless|in case)\b(?! (?:you|anyone|it matters)\b)", re.IGNORECASE)
"""The condition of a sentence, before its value or behind it; one for the listener limits no fact."""
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s|$)|\n")


def drop_misread(text: str, facts: Iterable[Fact]) -> list[Fact]:
    """Leave out what words do not state, and let words that end a relation end it."""
    kept = [
        one
        for one in facts
        if not (_is_whereabouts(text, one) or _is_event(one) or _is_only_if(text, one) or _is_misplaced(text, one))
    ]
    return [found for one in kept if (found := _end_relation(text, one)) is not None]


def _is_whereabouts(text: str, fact: Fact) -> bool:
    """Return whether a value is only where the speaker is, or is back from: "I'm still at the airport"."""
    if fact.status is not FactStatus.NOW or fact.value.start < 0:
        return False
    opener = _OPENER.match(fact.value.text)
    start = fact.value.start + (opener.end() if opener else 0)
    value, before = text[start : fact.value.stop], text[max(fact.quote.start, 0) : start]
    if fact.attribute in _LASTING and _BACK_FROM.search(before):
        return True
    found = _IS_AT.search(before)
    firm = fact.attribute == "employer" and value.split()[-1] in _FIRMS
    if found is None or firm or not value.islower():
        return False
    where = found["where"].lower()
    room = where == "in" and fact.attribute in {"home", "member_of"} and value.split()[-1] in _ROOMS
    return room or fact.attribute in _HELD_AT[where]


def _is_only_if(text: str, fact: Fact) -> bool:
    """Return whether a value is said to be back in an idiom, or on a condition: "if Render fails we're back to"."""
    if not has_words_of_return(fact):
        return False
    before = _SENTENCE_END.split(text[: fact.value.start])[-1]
    after = _SENTENCE_END.split(text[fact.value.stop :])[0]
    idiom = _IDIOM.fullmatch(fact.value.text) is not None
    return idiom or _IF_BEFORE.match(before) is not None or _IF_AFTER.match(after) is not None


def _is_event(fact: Fact) -> bool:
    """Return whether a value tells what happened, where its attribute holds a state."""
    event = _HAPPENED.get(fact.attribute)
    return event is not None and event.match(fact.value.text) is not None


def _is_misplaced(text: str, fact: Fact) -> bool:
    """Return whether the words before a value make it something else: who has a teacher is none."""
    before = _MISPLACED.get(fact.attribute)
    if before is None or before.search(text[: max(fact.value.start, 0)]) is None:
        return False
    return fact.attribute != "job_title" or names().kin_noun(fact.value.text.rpartition(" ")[2]) is not None


def _end_relation(text: str, fact: Fact) -> Fact | None:
    """Return a relation as ended by words of an end, None where these only say that none came."""
    if fact.attribute != "partner" or fact.status not in {FactStatus.NOW, FactStatus.ENDED} or fact.value.start < 0:
        return fact
    start, stop = max(fact.quote.start, 0), max(fact.quote.stop, fact.value.stop)
    before, after = text[start : fact.value.start], text[fact.value.stop : stop]
    if _BOTH.search(text[start:stop]) is None:
        return fact
    if _NO_END.search(text[start:stop]):
        return None
    ended = _PARTED_FROM.search(before) or _PARTING.search(f"{before}|{after}")
    return replace(fact, status=FactStatus.ENDED) if ended else fact


def is_of_relative(fact: Fact, noun: str | None) -> bool:
    """Return whether a partner is that of the relative of this noun: "my sister broke up with Tom"."""
    of_relative = fact.attribute == "partner" and noun is not None and fact.subject.casefold() == noun
    return of_relative and not answer_same_question(noun or "", "partner")


def is_for_good(text: str) -> bool:
    """Return whether words that give a thing another time take the former one from it."""
    return not is_beside(text) and _ONCE.search(text) is None


def has_words_of_return(fact: Fact) -> bool:
    """Return whether words say that a value is still or again so, as idioms do: "back on track"."""
    told = fact.status in {FactStatus.NOW, FactStatus.DENIED} and fact.subject == SPEAKER and fact.value.start >= 0
    start, stop = fact.value.start - fact.quote.start, fact.value.stop - fact.quote.start
    return told and not fact.key and is_return_of(fact.quote.text, start, stop)
