"""Read a fragment as the answer of the question before it: "Where are you from?" – "Leeds!". Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from credenda.write.extract.lexicon import lexicon
from credenda.write.parse.fact import Fact
from credenda.write.parse.tree import Tree

__all__ = ["find_asked_attribute", "read_answer"]

_NOMINAL: Final = frozenset({"NOUN", "PROPN", "NUM"})
_FINITE: Final = frozenset({"VBZ", "VBP", "VBD", "MD"})
_REPLIES: Final = frozenset(
    {"yes", "no", "yeah", "nope", "thanks", "thank", "sure", "hi", "hey", "hello", "wow", "lol"}
)
_PLACES: Final = {"live": "residence", "work": "employer", "be": "origin"}
_FRAGMENT_TOKENS: Final = 12


def find_asked_attribute(tree: Tree) -> str | None:
    """Return the attribute that the last question of a text asks the other person for, or None."""
    if not tree.text.rstrip(" )").endswith("?"):
        return None
    for at in reversed(range(len(tree.tokens))):
        token = tree.tokens[at]
        if token.dep == "poss" and token.text.lower() == "your":
            return _name_asked(tree, token.head)
        if token.tag == "WRB" and token.lemma == "where":
            return _find_place(tree, token.head)
    return None


def _name_asked(tree: Tree, noun: int) -> str | None:
    """Return the attribute of "what is your favorite movie", but not of "how was your day"."""
    asking = {tree.tokens[one].lemma for one in tree.children[tree.tokens[noun].head]}
    known = lexicon().attribute(tree.phrase(noun, prepositions=False).lower())
    return known.name if known.known and asking & {"what", "who", "which"} else None


def _find_place(tree: Tree, verb: int) -> str | None:
    subject = tree.find(verb, "nsubj")
    asked = subject is not None and tree.tokens[subject].text.lower() == "you"
    if not asked or (tree.lemma(verb) == "be" and all(tree.lemma(one) != "from" for one in tree.children[verb])):
        return None
    return _PLACES.get(tree.lemma(verb))


def read_answer(tree: Tree, attribute: str, speaker: str) -> Iterator[Fact]:
    """Yield the fact of a noun phrase without a verb that answers a question about its speaker."""
    roots = [at for at, token in enumerate(tree.tokens) if token.head == at and token.pos not in {"PUNCT", "INTJ"}]
    finite = any(token.tag in _FINITE for token in tree.tokens)
    if not roots or finite or len(tree.tokens) > _FRAGMENT_TOKENS or tree.tokens[roots[0]].pos not in _NOMINAL:
        return
    if tree.tokens[0].text.lower() in _REPLIES or "?" in tree.text:
        return
    for one in tree.conjuncts(roots[0]):
        value = tree.phrase(one)
        yield Fact(entity=speaker, attribute=attribute, value=value, start=0, stop=tree.tokens[-1].stop)
