"""The statement of a clause: a question states nothing, and an opinion about the speaker is a report. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from credenda.model.claim import LISTENER, SPEAKER, Fact, FactStatus
from credenda.text.sentences import TextSpan, is_about_user, split_sentences
from credenda.write.extract.voices import lexicon, names

_PRONOUN: Final = r"(?:i|you|u|we|he|she|it|they|this|that|there|any(?:one|body|thing)|some(?:one|body)|everyone)"
_NOUN: Final = rf"(?:(?:my|our|your|his|her|its|their) [\w'-]+|(?-i:[A-Z][\w'-]+)|(?!{_PRONOUN}\b)(?:the|an?) [\w'-]+)"
_FIRM_AUX: Final = r"(?:is|are|does|has|will|would|can|could|should|shall|may|might|must)(?:n't)?"
_AUX: Final = rf"(?:{_FIRM_AUX}|(?:am|was|were|do|did|have|had)(?:n't)?)"
_WH: Final = r"(?:what|where|when|which|who|whom|whose|why|how)"
_REQUEST: Final = r"(?!(?:can|could|would|will)(?:n't)? (?:you|u)\b)"
"""A polite order, which states its parts: "could you help my brother, who lives in Malmö"."""
_ASKS: Final = re.compile(
    rf"{_REQUEST}{_AUX} (?:not )?{_PRONOUN}\b|{_FIRM_AUX} {_NOUN} \w|(?:do|did)(?:n't)? {_NOUN}(?: (?-i:[A-Z][\w-]+))? "
    rf"(?P<verb>[\w-]+)|{_WH}(?:'s|'re| (?:(?!\w+(?:ed|ns|rs|ps)\b)[\w-]+ ){{0,2}}?{_AUX}) (?:{_PRONOUN}|{_NOUN})\b",
    re.IGNORECASE,
)
"""The beginning of a question by its form. "Did my …" and "had my …" may lack "I" and state something."""
_ASKS_MARKED: Final = re.compile(
    rf"{_REQUEST}{_AUX} (?:not )?(?:{_PRONOUN}|{_NOUN})\b|{_WH}\b(?! (?:i|we|my|our|he|she)\b)", re.IGNORECASE
)
"""The same in a clause with a question mark."""
_OPENING: Final = re.compile(
    r"\W*(?:(?:so|and|but|or|well|oh|ok|okay|hey|hi|hmm+|wait|also|then|yes|yeah|no|btw|sorry|now)\b\W*)*",
    re.IGNORECASE,
)
_JOINT: Final = re.compile(r"(?:[,;:\u2013\u2014]|\s-+)\s+|\s(?=(?:and|but|so|or|because)\s)", re.IGNORECASE)
_STATES: Final = re.compile(
    rf"(?:i|we)\b|(?:{_PRONOUN}|(?:my|our|his|her|their) [\w-]+|(?-i:[A-Z][\w-]+))(?: (?-i:[A-Z][\w-]+))?"
    r"(?:'s|'re)? (?P<verb>[\w-]+)",
    re.IGNORECASE,
)
"""The beginning of a clause behind a question that states something again."""
_TELLS: Final = re.compile(
    r"(?:(?:did|have|had)(?:n't)? (?:i|we) (?:\w+ )?(?:tell|told|mention|mentioned|say|said)\b(?: to)?(?: you| u)?"
    r"|(?:did|do)(?:n't)? (?:you|u|ya) (?:know|remember|recall|realise|realize|hear|notice))\b"
    r"(?! (?:if|whether|wh\w+|how))",
    re.IGNORECASE,
)
"""The beginning of a question that states its answer: "did I tell you that"."""
_BESIDE: Final = re.compile(
    r"\b(?:because|since|now that|given that|although|though|after|as) (?:i|we|he|she|they|it|my|our|his|her)\b"
    r"|\b(?:my|our) [\w-]+(?: (?-i:[A-Z][\w-]+))?,? who(?:se)?\b",
    re.IGNORECASE,
)
"""The beginning of a clause inside a question that states something: "for my wife who is vegan"."""
_WHETHER: Final = re.compile(
    r"\b(?:know|wonder(?:s|ed|ing)?|sure|certain|ask(?:s|ed|ing)?|tell|told|check|see|find out|figure out|idea|unsure"
    r"|remember)(?: (?:me|us|him|her))? (?:if|whether)\b[^,;.!?]*$",
    re.IGNORECASE,
)
"""Words of a question inside a statement: "I'd like to know if"."""
_TAG: Final = re.compile(
    rf"(?:[^,;:]*|[^,;:]*, (?:right|correct|yes|no|eh|huh|or not|{_AUX}(?:n't)? {_PRONOUN}))\?", re.IGNORECASE
)
"""The rest of a statement with a question mark behind its value."""
_OWN: Final = re.compile(r"\b(?:i|im|ive|we)\b", re.IGNORECASE)
_KNOWN: Final = re.compile(r"\b(?:my|our|his|her|their) (?:[\w-]+(?:'s|s') )*(?P<noun>[\w-]+ )??$", re.IGNORECASE)
"""Words before what a question takes as known: "my wife" Jana, "my" asthma, "my son's" asthma."""
_BE: Final = re.compile(r"(?:is|are|was|were)\b", re.IGNORECASE)
_OPEN: Final = frozenset({FactStatus.CONSIDERED, FactStatus.UNREAL})
_SURE: Final = 0.95
_LEAST: Final = 0.3
"""Certainty of a fact from which words that state it make it sure."""
_REPORTED: Final = re.compile(
    r"\b(?:according to (?:my |the |our )?\w+"
    r"|(?<!\bas )\b(?!(?:i|we|t|as|you|u|do|did|to|can|would|just|also|still|always|never|(?-i:[a-z]+ly))\b)\w+ "
    r"(?:\w+ly |always |still |just |also |used to |keeps? |kept )?"
    r"(?:says?|said|saying|thinks?|thought|thinking|claims?|claimed|claiming|believes?|believed|assumes?|assumed"
    r"|insists?|insisted|reckons?|suspects?|suspected|swears?|writes?|wrote|reads"
    r"|(?:is|are|was|were|'s|'re) (?:\w+ly )?(?:convinced|sure|certain|afraid|worried)|starts with"
    r"|(?:tells?|told) \w+(?: (?!(?:i|im|we|that)\b)\w+)?"
    r"|introduc(?:es|ed|ing) me|(?:reported|replied|complained|texted|messaged|announced)(?=:)))\b",
    re.IGNORECASE,
)
"""Words by which others say the rest: "Tom says", "according to my mother"."""
_OF_SPEAKER: Final = re.compile(r"\W*(?:that )?(?:i|we|im|ive)\b", re.IGNORECASE)
_ANEW: Final = re.compile(
    r"(?:[,;]|\sbut(?=\s)|(?P<same>\s(?=(?:and|so)\s)))\s*(?:(?:and|but|so|now|also)\s+)*(?:i|we|im)\b", re.IGNORECASE
)
"""The beginning of a clause of the speaker behind a report."""
_UNTOLD: Final = re.compile(
    r"\b(?:not|never|no|should|could|might|may|must|would|ought|need|can|want|if)\b|n't\b|'d\b", re.IGNORECASE
)
"""Words of a report by which nothing is so."""


def read_clauses(text: str, facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield the facts of a message that their clauses state; those in other languages as they are."""
    said = text.replace("\u2019", "'")
    sentences = list(split_sentences(said))
    for one in facts:
        place = next((span for span in sentences if span.start <= one.value.start < span.stop), None)
        if place is None or one.language != "en" or is_about_user(text):
            yield one
            continue
        read = _read_report(said[place.start : one.value.start], one)
        if read is not None and (read := _read_question(said, place, read)) is not None:
            yield read


def _read_question(text: str, place: TextSpan, fact: Fact) -> Fact | None:
    """Return a fact that no question asks for, surer where a question states it; None for any other."""
    before = text[place.start : fact.value.start]
    if _WHETHER.search(before) and fact.status not in _OPEN:
        return None
    starts = [place.start, *(one.end() for one in _JOINT.finditer(text, *place)), place.stop]
    begins = [found.end() if (found := _OPENING.match(text, one, place.stop)) else one for one in starts]
    marked, asked, clause = text[place.stop - 1] == "?", -1, place.start
    for at, (first, stop) in enumerate(pairwise(begins)):
        if starts[at] > fact.value.start:
            break
        relative = at and text[first : first + 3].lower() in {"who", "whi", "whe"}  # "my brother, who lives in Malmö"
        last = not relative and not any(_is_stating(text, *later) for later in pairwise(begins[at + 1 :]))
        if _is_question(text, first, stop, marked=marked and last):
            asked = first
        elif asked >= 0 and _is_stating(text, first, stop):
            asked = -1
        clause = first
    if asked < 0:
        own = (
            fact.subject == LISTENER
            or _OWN.search(text, clause, place.stop)
            or not _is_stating(text, clause, place.stop)
        )
        return fact if own or _TAG.fullmatch(text, fact.value.stop, place.stop) is None else None
    if (tells := _TELLS.match(text, asked)) is not None and tells.end() <= fact.value.start:
        return replace(fact, certainty=max(fact.certainty, _SURE)) if fact.certainty >= _LEAST else fact
    beside = fact.status in _OPEN or _BESIDE.search(text, asked, fact.value.start) or _is_known(text, asked, fact)
    return fact if beside else None


def _is_question(text: str, start: int, stop: int, *, marked: bool) -> bool:
    """Return whether a clause is a question by its form."""
    found = _ASKS.match(text, start, stop)
    verb = found["verb"] if found is not None else None
    asks = found is not None and (verb is None or lexicon().verbs.get(verb.lower()) == verb.lower())
    return asks or (marked and _ASKS_MARKED.match(text, start, stop) is not None)


def _is_stating(text: str, start: int, stop: int) -> bool:
    found = _STATES.match(text, start, stop)
    return found is not None and (found["verb"] is None or found["verb"].lower() in lexicon().verbs)


def _is_known(text: str, asked: int, fact: Fact) -> bool:
    """Return whether a question takes a value as known: "my wife Jana" in it, and not "is my boss Henrike?"."""
    found = _KNOWN.search(text, asked, fact.value.start)
    if found is None or (_BE.match(text, asked) and not re.match(r"\W*\w", text[fact.value.stop :].partition("?")[0])):
        return False
    if found["noun"]:
        return fact.value.text[:1].isupper() and names().kin_noun(found["noun"].strip()) is not None
    return names().kin_noun(fact.value.text) is None and fact.subject not in {"", LISTENER}


def _read_report(before: str, fact: Fact) -> Fact | None:
    """Return a fact of the speaker that others tell as hearsay; None for one that they only wish or deny."""
    said = _find_report(before)
    own = said is not None and _OF_SPEAKER.match(said) is not None
    if said is None or not (own or (fact.subject == SPEAKER and fact.status is FactStatus.NOW)):
        return fact
    if own and (_UNTOLD.search(said.rpartition(",")[2]) or fact.status in {FactStatus.ENDED, FactStatus.PAST}):
        return None
    told = fact.status in {FactStatus.NOW, FactStatus.DENIED}
    return replace(fact, subject=SPEAKER, status=FactStatus.HEARSAY if told else fact.status)


def _find_report(before: str) -> str | None:
    """Return the words of others between those that name them and a value, None for words of the speaker alone."""
    found = _REPORTED.search(before)
    said = before[found.end() :] if found is not None else ""
    anew = _ANEW.search(said)
    told = re.findall(r"'?\w+", said[: anew.start()].lower()) if anew is not None and anew["same"] else []
    own = anew is not None and not any(word in lexicon().verbs or word.startswith("'") for word in told)
    return None if found is None or own else said
