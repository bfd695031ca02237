"""Read favourites: "Tokyo is one of my favorite cities", "my favorites are kiwi and mango". Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from credenda.write.parse.fact import Fact, Statement, make_fact
from credenda.write.parse.people import is_owned
from credenda.write.parse.tree import CLAUSAL, Tree

__all__ = ["read_favourites"]

_FAVOURITES: Final = frozenset({"favorite", "favourite", "favorites", "favourites", "fave", "fav", "faves"})


_PASSING: Final = frozenset({"part", "moment", "thing", "bit", "way", "memory", "scene", "day"})
"""Nouns of a favorite that is one only for what is talked about."""


def read_favourites(said: Statement) -> Iterator[Fact]:
    """Yield the favourites that a clause with "be" or "is called" names, on either side of the verb."""
    tree, head = said.tree, _find_copula(said.tree, said.clause.head)
    target = tree.find(head, "attr", "oprd") if tree.lemma(head) in {"be", "call", "name"} else None
    subject = said.clause.subject
    if target is None or subject is None:
        return
    noun = _find_favourite(tree, target)
    values = [subject] if noun is not None else []
    if noun is None:
        noun, values = _find_favourite(tree, subject), tree.conjuncts(target)
    if noun is None:
        return
    if values and said.last_object and tree.tokens[values[0]].lemma in {"it", "that", "this"}:
        yield _make_favourite(said, noun, None)
    for one in values:
        if tree.tokens[one].pos in {"NOUN", "PROPN", "VERB", "ADJ"} and one != noun:
            yield _make_favourite(said, noun, one)


def _find_copula(tree: Tree, head: int) -> int:
    """Return the "be" of "has to be", else the head."""
    below = tree.find(head, "xcomp")
    joins = below is not None and tree.lemma(head) in {"have", "happen"} and tree.lemma(below) == "be"
    return below if joins and below is not None else head


def _find_favourite(tree: Tree, at: int) -> int | None:
    """Return the noun of "my favorite city" or "one of my favorite cities"."""
    if tree.lemma(at) in {"one", "some"}:
        below = tree.preposition(at, "of")
        return None if below is None else _find_favourite(tree, below)
    if tree.lemma(at) in _PASSING:
        return None
    own = any(is_owned(tree, one) for one in tree.descend(at, CLAUSAL | {"prep"})) or any(
        tree.tokens[one].text.lower() == "personal" for one in tree.find_all(at, "amod")
    )
    own = own or tree.lemma(tree.preposition(at, "of")) == "mine"
    liked = tree.tokens[at].text.lower() in _FAVOURITES or _find_word(tree, at) is not None
    return at if own and liked else None


def _find_word(tree: Tree, at: int) -> int | None:
    relations = ("amod", "compound", "nmod")
    return next((one for one in tree.find_all(at, *relations) if tree.tokens[one].text.lower() in _FAVOURITES), None)


def _make_favourite(said: Statement, noun: int, value: int | None) -> Fact:
    """Return a favourite; one of several stands beside the others."""
    tree, word = said.tree, _find_word(said.tree, noun)
    several = tree.tokens[noun].tag in {"NNS", "NNPS"} or tree.tokens[noun].text.lower() in _FAVOURITES
    kind = "" if word is None or several else f"_{tree.slice(word + 1, noun).lower()}"
    if value is None:
        said_value = said.last_object
    else:
        said_value = tree.action(value) if tree.tokens[value].tag == "VBG" else tree.phrase(value)
    return make_fact(said, f"favourite{kind}", said_value, entity=said.speaker, many=several)
