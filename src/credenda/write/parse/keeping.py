"""Decide whether a parsed fact fills its slot. Pure.

A weighted sum of signs decides. `benchmarks/fit_keeping.py` fits the weights in `keeping.toml` on entries that a reader
judged. Without a slot, `write/extract/noteworthy.py` decides whether the sentence is kept.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from math import fsum
from typing import Final

from credenda.model.memory import Stance
from credenda.model.parsed import Token
from credenda.write.parse.clauses import Tense
from credenda.write.parse.fact import Fact, load_frames
from credenda.write.parse.people import PartyKind
from credenda.write.parse.topics import find_topic
from credenda.write.parse.tree import Tree

__all__ = ["OFF", "WEIGHED", "find_signs", "is_filling", "load_weights"]


WEIGHED: Final = frozenset({"does", "experience", "has", "plan", "likes", "dislikes", "considering", "way"})
"""Attributes that hold whatever a clause says; the others name their value, and are precise without a weight."""
OFF: Final = frozenset({"has", "way"})
"""Attributes that fill no slot, since too few were right where they were judged: "I have …", "I am the one who …"."""
_POINTING: Final = frozenset(
    ["it", "them", "this", "that", "these", "those", "him", "her", "he", "she", "they", "its", "their", "his", "one"]
)
_EMPTY: Final = frozenset(
    [
        *("something", "anything", "everything", "stuff", "thing", "things", "someone", "way", "ways", "lot", "bit"),
        *("some", "step", "steps"),
    ]
)
_LISTENER: Final = frozenset({"you", "your", "yours", "u", "ya"})
_PASSING: Final = frozenset(["now", "today", "tonight", "soon", "tomorrow", "later", "moment", "sometime", "just"])
_DEFINITE: Final = frozenset({"the", "our", "your", "every", "each"})
_JOINED: Final = frozenset({"advcl", "ccomp", "relcl"})
_THINGS: Final = frozenset({PartyKind.THING, PartyKind.OWN_THING})
_NOUNS: Final = frozenset({"NOUN", "PROPN"})
_BARE_WORDS: Final = 2
_LONG_WORDS: Final = 7
_RICH_NOUNS: Final = 3


def find_signs(tree: Tree, fact: Fact) -> frozenset[str]:
    """Return the signs of a fact: of its attribute, of its clause and of the words of its value."""
    inside = [one for one in tree.tokens if fact.start <= one.start and one.stop <= fact.stop]
    words = set(fact.value.split()) | set(fact.value.lower().split())
    value = [one for one in inside if one.text in words or one.text.lower() in words]
    signs = {f"is_{fact.attribute}", *_list_clause_signs(tree, fact, inside), *_list_value_signs(fact, value)}
    is_bare = len(fact.value.split()) <= _BARE_WORDS
    before = [one.text.lower() for one in inside if value and one.stop <= value[0].start]
    return frozenset(signs | ({"definite"} if is_bare and before and before[-1] in _DEFINITE else set[str]()))


def _list_clause_signs(tree: Tree, fact: Fact, inside: Sequence[Token]) -> Iterator[str]:
    said, words = fact.said, {one.text.lower() for one in inside}
    yield from ["of_thing"] if fact.made else []
    yield from ["passing"] if words & _PASSING else []
    yield from ["to_listener"] if words & _LISTENER else []
    yield from ["dated"] if any(one.entity == "DATE" for one in inside) else []
    yield from ["exclaimed"] if "!" in tree.text else []
    yield from ["among_persons"] if fact.said is not None and fact.said.speaker != "user" else []
    yield from [fact.stance.value] if fact.stance is not Stance.ASSERTED else []
    yield from ["hedged"] if fact.hedged else []
    if said is None:
        yield "noun_alone"
        return
    head = tree.tokens[said.clause.head]
    yield from [said.clause.tense.value] if said.clause.tense is not Tense.PRESENT else []
    yield from ["perfect"] if said.clause.perfect else []
    yield from ["gerund"] if head.tag == "VBG" else []
    yield from ["below"] if head.dep in _JOINED else []


def _list_value_signs(fact: Fact, value: Sequence[Token]) -> Iterator[str]:
    words, low = fact.value.split(), set(fact.value.lower().split())
    nouns = sum(one.pos in _NOUNS for one in value)
    yield from ["pointing"] if low & _POINTING else []
    yield from ["empty_word"] if low & _EMPTY else []
    yield from ["named_thing"] if any(one.pos == "PROPN" for one in value) else []
    yield from ["number"] if any(letter.isdigit() for letter in fact.value) else []
    yield from ["one_word"] if len(words) == 1 else []
    yield from ["long"] if len(words) >= _LONG_WORDS else []
    yield from ["no_noun"] if not nouns else ["rich"] if nouns >= _RICH_NOUNS else []
    yield from ["light_verb"] if value and value[0].lemma in load_frames()["light"]["verbs"] else []
    yield from ["described"] if any(one.pos == "ADJ" for one in value) else []
    yield from ["owned"] if low & {"my", "our"} else []


def is_filling(tree: Tree, fact: Fact) -> bool:
    """Return whether a fact fills its slot."""
    took_place = fact.said is not None and fact.said.party.kind in _THINGS and fact.attribute == "experience"
    if fact.attribute not in WEIGHED or took_place:
        return True  # "the exam went well" settles a plan
    signs, weights = find_signs(tree, fact), load_weights()["slot"]
    if fact.attribute == "likes" and "pointing" not in signs and find_topic(fact.value):
        return True
    weight = fsum([weights["start"], *(weights.get(one, 0.0) for one in signs)])  # whatever the order of the set
    return fact.attribute not in OFF and weight >= 0


@cache
def load_weights() -> Mapping[str, Mapping[str, float]]:
    """Load the weights; cached."""
    return tomllib.loads(resources.files("credenda.write.parse").joinpath("keeping.toml").read_text("utf-8"))
