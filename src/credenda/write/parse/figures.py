"""Read the days and amounts that noun phrases carry: "my visa interview on June 10", "the $150 application fee". Pure.

A figure is a day, a sum or another amount. It belongs to the noun that it stands before, or that its preposition or
participle depends on; after "have", "book" and the like, to the object of the verb. The noun is a thing with slots of
its own, so that figures meet their earlier values, also where a question or a request carries them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from credenda.write.extract.lexicon import names
from credenda.write.parse.fact import Fact, load_frames
from credenda.write.parse.measures import DATE_VERBS, is_before_hour, split_measure
from credenda.write.parse.objects import name_entity, name_nouns
from credenda.write.parse.tree import Tree

__all__ = ["name_known", "read_figures"]

_DAYS: Final = frozenset({"DATE", "TIME"})
_AMOUNTS: Final = frozenset({"MONEY", "PERCENT", "QUANTITY", "CARDINAL"})
_BEFORE: Final = frozenset({"nmod", "compound", "nummod", "quantmod"})
_PARTICIPLES: Final = frozenset({"acl", "amod", "relcl"})
_PARTS: Final = frozenset(
    {"number", "couple", "lot", "pair", "set", "series", "bunch", "end", "start", "beginning", "rest"}
)
_DIGIT: Final = re.compile(r"\d")
_CALENDAR: Final = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december|tomorrow|tonight|next (?!day)|this (?!\w+ day|time))",
    re.IGNORECASE,
)
_NOUNS: Final = frozenset({"NOUN", "PROPN"})
_GENERAL: Final = frozenset({"date", "deadline", "amount"})
_SPENDING: Final = {
    "allocate": "budget",
    "allot": "budget",
    "budget": "budget",
    "reserve": "budget",
    "spend": "spent",
    "pay": "cost",
    "charge": "cost",
    "donate": "donated",
    "raise": "raised",
    "save": "saved",
    "invest": "invested",
}
"""What a sum is to the thing that a verb gives it to."""
_MOVING: Final = frozenset({"reschedule", "move", "shift", "push", "postpone", "change"})
"""Verbs after which "April 6 to April 8" is no range."""
_ALLOTTING: Final = frozenset({"allocate", "allot", "budget"})
_DURATION: Final = re.compile(r"(?:\w+ )?\d+[- ](?:second|minute|hour|day|week|month|year)s?(?:[- ]long|-old)?")
_UNITED: Final = re.compile(r"[$€£~]?\d[\d.,]*(?: ?%|[a-zA-Z]{1,3}|[-/ ][a-zA-Z/-]+)+|[$€£]\d[\d.,]*(?:/\w+)?k?")


class _Figure(NamedTuple):
    """A day or an amount: its first and last token, its head, and whether it is a day."""

    first: int
    last: int
    head: int
    day: bool


class _Link(NamedTuple):
    """The noun that a figure belongs to, and the words that join them: a preposition, and a participle or adjective.

    `verb` is the verb that the figure or the noun is an object of, None for other phrases; `share` a part of a whole.
    """

    noun: int
    joint: str = ""
    word: str = ""
    verb: int | None = None
    share: bool = False


def read_figures(tree: Tree, speaker: str, told: Collection[int]) -> Iterator[Fact]:
    """Yield the days and amounts of the things that a sentence names as known or as the speaker's.

    Of other things only what a clause tells as so; `told` are the heads of these clauses.
    """
    for figure in _list_figures(tree):
        link = _find_link(tree, figure)
        slot = None if link is None else _find_slot(tree, speaker, figure, link, told=link.verb in told)
        if link is None or slot is None or tree.lemma(link.noun) in _PARTS:
            continue
        inside = sorted([link.noun, figure.first, figure.last, *tree.descend(link.noun, {"relcl", "acl", "prep"})])
        start, stop = tree.tokens[inside[0]].start, tree.tokens[inside[-1]].stop
        value = tree.slice(figure.first, figure.last).strip(",. ")
        value = value.rpartition(" to ")[2] if tree.lemma(link.verb) in _MOVING else value
        yield Fact(entity=slot.owner, attribute=slot.attribute, value=value, start=start, stop=stop, many=slot.many)


class _Slot(NamedTuple):
    owner: str
    attribute: str
    many: bool


def _list_figures(tree: Tree) -> Iterator[_Figure]:
    at = 0
    while at < len(tree.tokens):
        kinds = _DAYS if tree.tokens[at].entity in _DAYS else _AMOUNTS if tree.tokens[at].entity in _AMOUNTS else None
        if kinds is None:
            at += 1
            continue
        last = at
        while last + 1 < len(tree.tokens) and (
            tree.tokens[last + 1].entity in kinds or (kinds is _DAYS and is_before_hour(tree, last + 1))
        ):
            last += 1
        first = at - 1 if at and tree.tokens[at - 1].text in {"$", "€", "£"} else at
        text = tree.slice(first, last)
        head = next((one for one in range(first, last + 1) if not first <= tree.tokens[one].head <= last), last)
        if kinds is _DAYS and _CALENDAR.search(text):
            yield _Figure(first, last, head, day=True)
        elif kinds is _AMOUNTS and _DIGIT.search(text):
            yield _Figure(first, last, head, day=False)
        at = last + 1


def _find_link(tree: Tree, figure: _Figure) -> _Link | None:
    token = tree.tokens[figure.head]
    above = token.head
    if token.dep == "dobj":
        share = tree.preposition(figure.head, "of") if token.entity in {"PERCENT", "CARDINAL"} else None
        spent = tree.preposition(figure.head, "for", "on") or tree.preposition(above, "for", "on")
        spent = spent if tree.lemma(above) in _SPENDING else None
        noun = share if share is not None else spent
        return None if noun is None else _Link(noun, verb=above, share=share is not None)
    if token.dep in _BEFORE and tree.tokens[above].pos in _NOUNS and above > figure.last:
        return _Link(above, verb=_find_governor(tree, above))
    word = tree.lemma(above) if token.dep == "pobj" else ""
    above = tree.tokens[above].head if word else above
    if not word and (token.dep != "npadvmod" or tree.tokens[above].pos not in {"ADJ", "VERB"}):
        return None
    joint, verb = "", above
    if tree.tokens[above].dep in _PARTICIPLES and tree.tokens[above].pos in {"VERB", "ADJ"}:
        joint, above = tree.lemma(above), tree.tokens[above].head
    elif tree.lemma(above) in load_frames()["events"]["verbs"]:
        above = next(iter(tree.find_all(above, "dobj")), above)
    above = _find_host(tree, above)
    verb = verb if tree.tokens[above].head == verb else _find_governor(tree, above)
    return _Link(above, joint, word, verb) if tree.tokens[above].pos in _NOUNS else None


def _find_governor(tree: Tree, at: int) -> int | None:
    """Return the verb that a noun is the object of; None for another noun."""
    return tree.tokens[at].head if tree.tokens[at].dep == "dobj" else None


def _find_host(tree: Tree, at: int) -> int:
    """Return the meeting in "a meeting with Ana on Monday", where the day is told of Ana."""
    above = tree.tokens[at].head
    return tree.tokens[above].head if tree.tokens[at].dep == "pobj" and tree.lemma(above) == "with" else at


def _find_slot(tree: Tree, speaker: str, figure: _Figure, link: _Link, *, told: bool) -> _Slot | None:
    """Return the slot of a figure: of a thing that is known, or that a clause tells of (`told`)."""
    text, verb = tree.slice(figure.first, figure.last), tree.lemma(link.verb)
    if told and link.share:
        return _make_slot(tree, speaker, link.noun, "progress", many=False)
    if told and verb in _SPENDING and not (figure.day or link.word):
        return _make_slot(tree, speaker, link.noun, _SPENDING[verb], many=verb not in _ALLOTTING)
    limits = link.word == "of" and tree.lemma(link.noun) == "deadline"
    if link.share or not (limits or _is_known(tree, link.noun) or (told and verb in load_frames()["events"]["verbs"])):
        return None
    if figure.day and _DURATION.fullmatch(text) is None:
        name = "deadline" if link.joint == "due" or link.word == "by" else DATE_VERBS.get(link.joint, "date")
        return _make_slot(tree, speaker, link.noun, name, many=True)
    if link.word in {"", "of"} and _UNITED.match(text):
        return _make_slot(tree, speaker, link.noun, "duration" if figure.day else "amount", many=True)
    return None


def _make_slot(tree: Tree, speaker: str, at: int, attribute: str, *, many: bool) -> _Slot | None:
    """Return the slot of a thing; a measure, such as a deadline, is one of what it is for."""
    thing = name_known(tree, at, speaker)
    measure = split_measure(name_nouns(tree, at)) if attribute in _GENERAL else None
    if measure is None:
        return _Slot(thing, attribute, many) if thing else None
    if (measure.attribute == "deadline") != (attribute in {"date", "deadline"}):
        return _Slot(thing, attribute, many) if thing else None
    place = tree.preposition(at, "for", "of")
    served = place is not None and tree.tokens[place].entity not in _DAYS | _AMOUNTS
    served_name = name_nouns(tree, place) if served and place is not None else measure.owner
    return _Slot(served_name or speaker, measure.attribute, many=not served_name)


def _is_known(tree: Tree, at: int) -> bool:
    """Return whether a noun has the speaker or a name as its owner, or a definite article; no person is dated."""
    owner = tree.find(at, "poss")
    owned = owner is not None and (
        tree.tokens[owner].text.lower() in {"my", "our"} or tree.tokens[owner].pos == "PROPN"
    )
    if names().kin_noun(tree.lemma(at)) is not None or tree.tokens[at].entity == "PERSON":
        return False
    return owned or (owner is None and any(tree.lemma(one) == "the" for one in tree.find_all(at, "det")))


def name_known(tree: Tree, at: int, speaker: str) -> str:
    """Return the path of a thing; a mere word takes what it is with or for, or its adjective: "meeting with Ana"."""
    noun = name_nouns(tree, at)
    return name_entity(tree, at, speaker, noun if " " in noun else _extend_name(tree, at))


def _extend_name(tree: Tree, at: int) -> str:
    company = next((found for word in ("with", "for") if (found := tree.preposition(at, word)) is not None), None)
    if (
        company is not None
        and tree.tokens[company].pos in {"NOUN", "PROPN"}
        and tree.tokens[company].entity not in _DAYS | _AMOUNTS
    ):
        return f"{tree.tokens[at].text} {tree.tokens[tree.tokens[company].head].text} {name_nouns(tree, company)}"
    before = tree.find_all(at, "amod")
    return tree.slice(before[-1], at) if before and before[-1] == at - 1 else ""
