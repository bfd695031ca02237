"""Signs in a text that it changes or corrects what was said before. Pure."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from credenda.text.tokens import tokenize


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Patterns of texts that change what an earlier text says; `data/changes.toml` describes each."""

    strong: re.Pattern[str]
    corrects: re.Pattern[str]
    slips: re.Pattern[str]
    named: re.Pattern[str]
    weak: re.Pattern[str]
    negation: re.Pattern[str]
    beside: re.Pattern[str]
    dated: re.Pattern[str]
    returns: re.Pattern[str]


DEATH: Final = re.compile(
    r"\b(?:di(?:ed|es|ing)|dead|death|pass(?:ed|es|ing)(?: away| on)?|killed|murdered|drowned|lost|los(?:e|ing)|buried"
    r"|burying|funeral|cremat\w+|gone|in heaven|put (?:\w+ )?(?:down|to sleep)|rainbow bridge|euthani[sz]ed)\b",
    re.IGNORECASE,
)
"""Words that tell that a person or an animal is dead, or lost."""
PARTING: Final = re.compile(
    DEATH.pattern
    + r"|\b(?:call(?:ed|ing|s)? it quits|br(?:oke|oken|eak|eaks|eaking) (?:it |things )?(?:up|off)|split\w*|divorc\w+"
    r"|separat\w+|no longer"
    r"|any ?more|any longer|ex|former(?:ly)?|used to|dump\w*|walk(?:ed|s) out|mov(?:ed|es|ing) out"
    r"|(?:left|leav\w+) (?:me|us)|rehom\w+|g(?:ive|ives|ave|iven|iving)|sold|sell\w*"
    r"|r[au]n(?:s|ning)? (?:away|off)|end(?:ed|s|ing)?"
    r"|over|finish\w*|done|fired|sacked|let (?:\w+ ){1,2}go|f(?:a|e)ll\w* out|(?:cut|kicked|threw) (?:\w+ )?(?:off|out)"
    r"|stop\w*|estranged|disown\w*|stole\w*|missing|goodbye|return\w*|replac\w+|without|instead"
    r"|(?:not|never)(?: \w+){0,3} (?:my|our|me|us|mine|ours|together|friends?|with|see\w*|talk\w*|speak\w*)"
    r"|(?:was|were) (?:my|our))\b"
    r"|n't(?: \w+){0,3} (?:my|our|me|us|mine|ours|together|friends?|with|see\w*|talk\w*|speak\w*|have|got)\b",
    re.IGNORECASE,
)
"""Words that end a relation: a death, a separation, a friend who is one no longer."""
_CLAUSE: Final = re.compile(r"[,;.:!?]|\b(?:so|because|but|and|since|while|until)\b", re.IGNORECASE)
"""Words and signs between two clauses."""


@cache
def load_changes() -> Changes:
    """Read `data/changes.toml`."""
    table = tomllib.loads(files("credenda.text").joinpath("data", "changes.toml").read_text(encoding="utf-8"))
    return Changes(**{name: re.compile(pattern) for name, pattern in table.items()})


def is_correction(text: str, *, soon: bool) -> bool:
    """Return whether a text says that what was told before was wrong; `soon`: it was told shortly before.

    >>> is_correction("Sorry, the 22nd.", soon=True), is_correction("Sorry, the 22nd.", soon=False)
    (True, False)
    """
    signs, folded = load_changes(), _fold(text)
    return signs.corrects.search(folded) is not None or (soon and signs.slips.search(folded) is not None)


def is_change(text: str) -> bool:
    """Return whether a text that fills a slot anew tells that the value before is no longer so.

    >>> is_change("switched the gas to Nordlys"), is_change("We also have a new van."), is_change("The code is 77.")
    (True, False, False)
    """
    signs, folded = load_changes(), _fold(text)
    if signs.beside.search(folded):
        return False
    return any(sign.search(folded) for sign in (signs.strong, signs.corrects, signs.slips, signs.named, signs.weak))


_FRAME_WORDS: Final = 3
_WORD: Final = re.compile(r"\w+")
_MEANT: Final = re.compile(r"\bi (?:actually |really )?meant?(?: to (?:say|write|type))?\b", re.IGNORECASE)
"""Words of a correction in which "I" is not what it is about."""


def has_more_words(text: str, values: str) -> bool:
    """Return whether a text says more than some values, beside which it may have few words.

    >>> has_more_words("sorry, Faro, not Porto", "Faro Porto"), has_more_words("her name is Anna, not Ana", "Anna Ana")
    (False, True)
    """
    terms, said = {*tokenize(values)}, leave_out_meant(text)
    return sum(terms.isdisjoint(tokenize(word) or (word,)) for word in _WORD.findall(said)) > _FRAME_WORDS


def leave_out_meant(text: str) -> str:
    """Leave out the words by which a correction begins: "I meant"."""
    return _MEANT.sub(" ", text)


def is_beside(text: str) -> bool:
    """Return whether a text tells something beside what was told before: "also", "another"."""
    return load_changes().beside.search(_fold(text)) is not None


def is_return(text: str) -> bool:
    """Return whether a text says that something is as it was before.

    >>> is_return("I live in Linz again."), is_return("We went back to Jenkins."), is_return("I live in Linz.")
    (True, True, False)
    """
    return load_changes().returns.search(_fold(text)) is not None


def is_return_of(text: str, start: int, stop: int) -> bool:
    """Return whether a text says in the clause of these characters that something is as it was before.

    >>> is_return_of("FitX is full so I rejoined McFit", 27, 32), is_return_of("FitX is full so I rejoined McFit", 0, 4)
    (True, False)
    """
    between = (
        text[stop : one.start()] or text[one.end() : start] for one in load_changes().returns.finditer(_fold(text))
    )
    return any(_CLAUSE.search(words) is None for words in between)


def is_subject(text: str, value: str) -> bool:
    """Return whether a main clause of a text begins with a value.

    >>> is_subject("N26 locked my account, so I'm with ING again", "N26"), is_subject("I'm with ING again", "ING")
    (True, False)
    """
    named = rf"(?:^|[,;.:!?]|\b(?:so|but|and)\b)\W*(?:(?:the|an?|my|our)\s+)?{re.escape(value)}\b"
    return bool(value) and re.search(named, text, re.IGNORECASE) is not None


_OTHERS: Final = re.compile(r"\W*(?:so |and |but )?(?:(?:some|every)(?:one|body)|people|an? \w+ of|one of)\b")
_SELF: Final = re.compile(r"\b(?:i|we|me|us)\b(?! (?:about|for|to|of|that)\b)")


def is_of_others(text: str, start: int) -> bool:
    """Return whether the clause up to this character is about others, unnamed, and not about its speaker.

    >>> is_of_others("A colleague of mine went back to Bosch", 33), is_of_others("A year later I'm back at Bosch", 25)
    (True, False)
    """
    before = _CLAUSE.split(_fold(text[:start]))[-1]
    return _OTHERS.match(before) is not None and _SELF.search(before) is None


_TO: Final = re.compile(r"(?:\W*\b(?:to|being|using|with|the|an?|my|our)\b)*\W*", re.IGNORECASE)
"""Words between a word of return and what is returned to."""


def is_return_to(text: str, start: int) -> bool:
    """Return whether what begins at this character is what somebody returned to.

    >>> is_return_to("we reverted to Jenkins", 15), is_return_to("Jenkins was reverted", 0)
    (True, False)
    """
    before = _fold(text[:start])
    return any(_TO.fullmatch(before[one.end() :]) for one in load_changes().returns.finditer(before))


def _fold(text: str) -> str:
    return text.casefold().replace("\u2019", "'")
