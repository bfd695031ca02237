"""Find the thing that an action makes, changes or serves: things are entities of their own, as paths. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from credenda.write.parse.fact import Fact, Statement, load_frames, make_fact
from credenda.write.parse.measures import is_measured
from credenda.write.parse.people import PartyKind, is_owned
from credenda.write.parse.tree import Tree

__all__ = ["find_made_object", "is_making", "is_tool", "make_tool", "name_entity", "name_nouns"]

_SHARED: Final = frozenset(
    [
        *("performance", "quality", "process", "experience", "efficiency", "speed", "implementation", "structure"),
        *("part", "rest", "design", "version", "set", "kind", "type", "number", "maintainability", "readability"),
        *("time", "setup", "configuration", "integration", "development", "deployment", "use", "usage", "size"),
    ]
)
"""Nouns that need the thing after "of" or "for": "the quality of my code"."""
_SERVED: Final = ("for", "of", "in", "into", "on", "to")
_KEPT: Final = frozenset({"first", "second", "third", "last", "next", "new", "old"})
"""Adjectives that tell one thing from another."""
_NO_THINGS: Final = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "CARDINAL", "PERSON", "GPE"})
_FIGURES: Final = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY"})
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)*")
_IDENTIFIER: Final = re.compile(r"\w+[._/]\w+|[A-Z]\w*[A-Z]\w*")


def find_made_object(said: Statement, verb: int) -> str:
    """Return the thing that a verb of making or changing has as its object, or that it decides; "" without one."""
    tree = said.tree
    settled = _is_about(said, verb, "outcomes")
    at = tree.find(verb, "dobj") or (tree.preposition(verb, "for", "to", "in") if settled else None)
    if at is None or not (settled or is_making(said, verb)):
        return ""
    if is_tool(tree, at) or tree.lemma(at) in _SHARED:
        served = _find_served(tree, at, verb)
        at = at if served is None else served
    return name_entity(tree, at, said.speaker)


def is_making(said: Statement, verb: int) -> bool:
    """Return whether the speaker makes or changes something by an action."""
    return _is_about(said, verb, "making")


def _is_about(said: Statement, verb: int, kind: str) -> bool:
    return said.party.kind is PartyKind.SPEAKER and said.tree.lemma(verb) in load_frames()[kind]["verbs"]


def is_tool(tree: Tree, at: int) -> bool:
    """Return whether a noun names a product: "Redis", "Flask-Login v0.6.2"."""
    token = tree.tokens[at]
    if token.entity in _NO_THINGS - {"PERSON", "GPE", "CARDINAL"}:
        return False
    if not _VERSION.fullmatch(token.text):
        return tree.is_name(at) and token.text[0].isalpha() and tree.find(at, "poss") is None
    return any(tree.is_name(one) for one in tree.find_all(at, "compound", "nmod")) and at > 0


def make_tool(said: Statement, verb: int, at: int, action: int | None = None) -> Fact:
    """Return that somebody uses a tool: for a thing that the phrase names, or that the action makes, else at all."""
    tree = said.tree
    served = _find_served(tree, at, verb)
    thing = "" if served is None else name_entity(tree, served, said.speaker)
    thing = thing or ("" if action is None else find_made_object(said, action))
    value = tree.phrase(at, prepositions=False)
    if thing and thing != value:
        return make_fact(said, "tool", value, entity=thing)
    return make_fact(said, "uses", value, topical="tool")


def _find_served(tree: Tree, *places: int) -> int | None:
    """Return the noun that an object is for, of or in: "Redis for rate limiting"."""
    for place in places:
        for word in _SERVED:
            found = tree.preposition(place, word)
            if found is not None and tree.tokens[found].entity not in _NO_THINGS:
                return found
    return None


def name_entity(tree: Tree, at: int, speaker: str, noun: str = "") -> str:
    """Return the path of a thing: its nouns without figures, with the owner where several persons talk.

    A mere word without an owner is "", unless `noun` names it more exactly.
    """
    name = noun or name_nouns(tree, at)
    if " " not in name and not is_owned(tree, at) and not _IDENTIFIER.fullmatch(name):
        return ""
    owner = tree.find(at, "poss")
    if owner is not None and tree.tokens[owner].pos == "PROPN":
        speaker = tree.phrase(owner).removesuffix("'s")
    return name if speaker == "user" else f"{speaker}'s {name}"


def name_nouns(tree: Tree, at: int) -> str:
    """Return a noun with the nouns before it, without figures; "" for another word."""
    token = tree.tokens[at]
    if token.pos not in {"NOUN", "PROPN"} and token.tag != "VBG":
        return ""
    parts = [one for one in tree.find_all(at, "compound", "nmod", "amod", "nummod") if _is_distinguishing(tree, one)]
    inside = sorted(one for part in parts for one in tree.descend(part, {"poss", "det"}))
    figures = [one for one in inside if _is_figure(tree, one)]
    inside = [one for one in inside if one > max(figures, default=-1)]
    return tree.slice(min([at, *inside]), at)


def _is_figure(tree: Tree, at: int) -> bool:
    """Return whether a token is of a sum or time in digits; the "evening" of "evening job" is none."""
    token = tree.tokens[at]
    alone = token.text.isalpha() and tree.tokens[at - 1].entity not in _FIGURES
    return (token.entity in _FIGURES and not alone) or tree.text[token.start - 1 : token.start] == "$"


def _is_distinguishing(tree: Tree, at: int) -> bool:
    return tree.tokens[at].dep != "amod" or tree.lemma(at) in _KEPT or tree.is_name(at)


def file_under_topic(facts: list[Fact], speaker: str, topic: str) -> tuple[str, list[Fact]]:
    """File what is said after a goal under the thing of the goal: "I'm writing the parser, and I chose C".

    `topic` is the thing of the sentence before, which only tools and measures are filed under. Return the thing of this
    one, and the facts without the measures of nothing.
    """
    filed, here = list[Fact](), False
    for fact in facts:
        if fact.made:
            topic, here = fact.entity, True
        elif topic and fact.entity == speaker:
            name = fact.topical or (fact.attribute if is_measured(fact.attribute) else "")
            if name and (here or name == "tool" or is_measured(name)):
                fact = replace(fact, entity=topic, attribute=name, loose=False)  # noqa: PLW2901
        filed += [] if fact.loose else [fact]
    return topic, filed
