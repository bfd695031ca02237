"""Repair speech before parsing: remove fillers and restarts, repeat shared subjects, extract premises.

Works on one sentence and keeps its words; evidence quotes the original.
"""

from __future__ import annotations

import re
from functools import cache
from operator import eq
from typing import Final

from credenda.write.extract.lexicon import load_table, names, occurs

__all__ = ["fluent", "premise_of", "take_up"]

_STAMMER: Final = re.compile(r"\b([A-Za-z']{1,12}),? \1\b(?! (?:land|New York))", re.IGNORECASE)
_RESTART: Final = re.compile(r"\b((?:[\w']+ ){1,3}[\w']+),? \1\b", re.IGNORECASE)
"""A restart after a pause: "I'm a, um, I'm a vegetarian"."""
_BEGUN: Final = re.compile(r"\b(i|we) (usually|always|really|mostly|normally|just|sometimes) \1\b", re.IGNORECASE)
"""A repeated subject after an adverb: "I usually, um, I get up"."""
_REAL_DOUBLES: Final = frozenset({"that", "had", "very", "really", "so", "bye", "no", "yes", "ha", "new", "duran"})
_SOUNDS: Final = (
    "um",
    "uh",
    "erm",
    "rrm",
    "hm",
    "sort of",
    "kind of",
    "kinda",
    "sorta",
    "you know",
    " in like",
    " at like",
    "with like",
)
_LAUGHS: Final = (" lol", " lmao", " rofl", " haha", " hehe")
_TAKING_BACK: Final = ("sorry", "i mean", "wait", "scratch that", "correction")
_REPEATING: Final = frozenset(
    {"as", "like", "just", "a", "another", "quick", "once", "to", "again", "remember", "repeating"}
)
_REPEATED: Final = (" i said", " told you", " mentioned", "you know", " mention", "i've told")
"""Words that mark a repetition of an earlier statement."""
_REPEATED_MIN: Final = 3
_DANGLING: Final = frozenset({"", "but", "and", "so"})
_HOLDERS: Final = frozenset({"my", "our", "the"})


@cache
def _spoken() -> dict[str, re.Pattern[str]]:
    table = load_table("spoken")
    return {name: re.compile(text, re.IGNORECASE) for name, text in table["expressions"].items()}


def fluent(sentence: str) -> str:
    """Remove fillers, stammers and doubled subjects from a sentence.

    >>> fluent("so um I really like uh tea")
    'so I really like tea'
    """
    shapes, folded = _spoken(), sentence.lower()
    if occurs(_LAUGHS, folded):
        sentence = shapes["laugh"].sub(", ", sentence)
        folded = sentence.lower()
    if occurs(_TAKING_BACK, folded):
        sentence = shapes["retaken"].sub("", sentence)
        folded = sentence.lower()
    if occurs(_SOUNDS, folded) and shapes["filled"].search(sentence):
        sentence = shapes["filler"].sub(" ", sentence).strip(" ,")
        sentence = _BEGUN.sub(r"\1 \2", _RESTART.sub(r"\1", " ".join(sentence.split())))
        folded = sentence.lower()
    words = folded.split(" ")
    if words[0].rstrip(",:") in _REPEATING or (len(words) > _REPEATED_MIN and occurs(_REPEATED, folded)):
        sentence = shapes["said_after"].sub("", shapes["said_before"].sub("", sentence))
    if not _hasty().keys().isdisjoint(words):
        sentence = _written_out(sentence)
    if any(map(eq, (one.rstrip(",") for one in words) if "," in folded else words, words[1:])):
        sentence = _STAMMER.sub(_once, sentence)
    if folded == sentence.replace("I", "i") and shapes["called"].search(sentence):
        sentence = shapes["called"].sub(_capital, sentence)
    if sentence.count(",") > 1 and words[0] in _HOLDERS:
        sentence = shapes["apposed"].sub(r"\1 \2 ", sentence)
    return shapes["doubled"].sub(_single, sentence) if words[0] in {"my", "our"} else sentence


@cache
def _hasty() -> dict[str, str]:
    table = load_table("spoken")["hasty"]
    return table["full"] | dict.fromkeys(table["dropped"], "")


def _written_out(sentence: str) -> str:
    """Expand abbreviations; "w" only before a possible companion."""
    words = sentence.split(" ")
    for at in range(len(words)):
        bare = words[at].rstrip(".,!")
        full = _hasty().get(bare)
        if full == "" and at not in {0, len(words) - 1}:
            continue
        if full is not None:
            words[at] = full + (words[at][len(bare) :] if full else "")
    while words and words[-1] in _DANGLING:
        words.pop()
    return " ".join(word for word in words if word).rstrip(" ,")


def _capital(found: re.Match[str]) -> str:
    """Capitalise the name of a relative or pet in a lower-case message: "my dog is called rex"."""
    known = names().kin_noun(found["noun"].rpartition(" ")[2]) or names().kin_noun(found["noun"])
    return f"{found['before']}{found['name'].capitalize()}" if known else found[0]


def _single(found: re.Match[str]) -> str:
    return f"{found[1]} is " if found["is"] else f"{found[1]} "


def _once(found: re.Match[str]) -> str:
    return found[0] if found[1].lower() in _REAL_DOUBLES else found[1]


def premise_of(sentence: str) -> str | None:
    """Return the premise of a question: "since I'm allergic to bees, should I …" says "I'm allergic to bees".

    None without a premise about the speaker.
    """
    found = _spoken()["premise"].match(sentence)
    if found is not None:
        return found["said"]
    found = _spoken()["as_a"].match(sentence)
    return None if found is None else f"i am {found['said']}"


def take_up(clause: str, before: str) -> str:
    """Replace "it" in a clause by the last named thing: "I reinstalled my laptop" · "it runs Arch"."""
    if not clause.lower().startswith("it "):
        return clause
    found = load_table("tails")["clauses"]["last_thing"]
    thing = re.search(found, before.strip(" ,"), re.IGNORECASE)
    return clause if thing is None else f"{thing['thing']}{clause[2:]}"
