"""Whom or what a noun phrase of a tree is: the speaker, a person, or a thing of somebody. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from credenda.write.extract.lexicon import names
from credenda.write.extract.shapes import is_occupation
from credenda.write.parse.clauses import Clause
from credenda.write.parse.tree import Tree

__all__ = [
    "ACQUAINTANCES",
    "PARTNERS",
    "Party",
    "PartyKind",
    "find_kin",
    "find_last_object",
    "find_name",
    "identify",
    "is_owned",
    "is_title",
]

ACQUAINTANCES: Final = frozenset(
    {"friend", "teammate", "classmate", "colleague", "coworker", "neighbour", "client", "flatmate", "tenant", "teacher"}
)
"""Relations that everybody has: without a name they say nothing."""
PARTNERS: Final = frozenset(
    ["partner", "spouse", "wife", "husband", "boyfriend", "girlfriend", "fiance", "fiancé", "ex"]
)
"""Relations that are stored by a name only: "my partner" may be one in a game."""
_NUMBERS: Final = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"})
_FIRST: Final = frozenset({"i", "we"})
_OWNED: Final = frozenset({"my", "our"})
_PERSONAL: Final = frozenset({"live", "reside", "marry", "retire", "graduate", "drive", "study"})
"""Verbs of persons, also where a name is not known to be one: "Ivo lives in Lugano"."""
_THIRD: Final = frozenset({"he", "she", "him", "her"})


class PartyKind(StrEnum):
    """What a clause is about."""

    SPEAKER = "speaker"
    PERSON = "person"
    OWN_THING = "own_thing"
    """A thing of the speaker or of a person: `owner` has it, and `noun` names it."""
    THING = "thing"
    UNKNOWN = "unknown"
    """Named by a pronoun, or no noun at all."""


class Party(NamedTuple):
    """The subject of a fact. `noun` is the phrase that names a thing, "" for persons."""

    kind: PartyKind
    owner: str
    noun: str = ""
    stranger: bool = False
    """A person known by a name alone, perhaps a public figure."""


def identify(tree: Tree, at: int | None, speaker: str, last_person: str | None) -> Party | None:
    """Return what a noun is; None for "you", "it", "they", "this", and for "he" or "she" without a person before."""
    if at is None or tree.tokens[at].text.lower() in _FIRST:
        return Party(PartyKind.SPEAKER, speaker)
    token = tree.tokens[at]
    if token.text.lower() in _THIRD and last_person is not None:
        return Party(PartyKind.PERSON, last_person)
    if token.lemma == "one" and (whole := tree.preposition(at, "of")) is not None:
        return _identify_one_of(tree, whole, speaker, last_person)
    if token.pos not in {"NOUN", "PROPN"} or _is_number(tree, at):
        return None
    kin = find_kin(tree, at, speaker)
    named = token.head if is_title(tree, at) else at  # "Shawn, a producer who is 81"
    if kin is None and (named != at or _is_named_person(tree, at)):
        return Party(PartyKind.PERSON, tree.phrase(named, prepositions=False).removesuffix("'s"), stranger=True)
    return _identify_object(tree, at, speaker, last_person) if kin is None else Party(PartyKind.PERSON, kin)


def is_title(tree: Tree, at: int) -> bool:
    """Return whether a noun says what the person before it does: "Shawn, a producer"."""
    above = tree.tokens[tree.tokens[at].head]
    named = tree.tokens[at].dep == "appos" and above.pos == "PROPN" and above.dep != "attr"
    return named and is_occupation(tree.phrase(at, prepositions=False))


def _is_named_person(tree: Tree, at: int) -> bool:
    """Return whether a name is a person's: by its kind, or because only persons do what its verb says."""
    token = tree.tokens[at]
    if token.pos != "PROPN" or token.entity == "PERSON":
        return token.pos == "PROPN"
    verb = tree.lemma(token.head)
    full = tree.find(at, "compound") is not None and verb == "work"
    return token.dep == "nsubj" and token.entity in {"", "ORG"} and (verb in _PERSONAL or full)


def _identify_one_of(tree: Tree, whole: int, speaker: str, last_person: str | None) -> Party | None:
    """Return the person of "one of my friends", or one thing of several that somebody has."""
    party = identify(tree, whole, speaker, last_person)
    if party is None or party.kind is not PartyKind.OWN_THING:
        return party
    words = party.noun.split()
    return party._replace(noun=" ".join([*words[:-1], tree.lemma(whole)]))


def _is_number(tree: Tree, at: int) -> bool:
    """Return whether a noun is a day, a time or an amount in digits, which nothing is said about."""
    return tree.tokens[at].entity in _NUMBERS and any(letter.isdigit() for letter in tree.phrase(at))


def _identify_object(tree: Tree, at: int, speaker: str, last_person: str | None) -> Party | None:
    """Return a thing with its owner, as far as the owner is a person."""
    owner, noun = tree.find(at, "poss"), tree.phrase(at, prepositions=False)
    if owner is None:
        return Party(PartyKind.THING, noun, noun)
    if tree.tokens[owner].text.lower() in _OWNED:
        return Party(PartyKind.OWN_THING, speaker, noun)
    whose = identify(tree, owner, speaker, last_person)
    if whose is None or whose.kind in {PartyKind.THING, PartyKind.OWN_THING}:
        return None
    named = noun.removeprefix(tree.phrase(owner)).removeprefix("'s").strip()
    return Party(PartyKind.OWN_THING, whose.owner, named or tree.tokens[at].text, whose.stranger)


def find_kin(tree: Tree, at: int, speaker: str) -> str | None:
    """Return the person of "my sister Ana" or "our friend": the name if it is said, else the relation."""
    token = tree.tokens[at]
    if token.pos == "PROPN" and token.entity in {"PERSON", "ORG", "GPE", ""}:
        before = [one for one in tree.find_all(at, "compound", "nmod") if names().kin_noun(tree.lemma(one))]
        if before and is_owned(tree, at):
            return tree.tokens[at].text
    noun = names().kin_noun(token.lemma) or names().kin_noun(token.text.lower())
    if noun is None or not is_owned(tree, at):
        return None
    named = find_name(tree, at)
    return named or (noun if speaker == "user" else f"{speaker}'s {noun}")


def find_name(tree: Tree, at: int) -> str | None:
    """Return the name in apposition to a noun: "my sister, Ana", "my sister Ana" or "Ana, my sister"."""
    for one in tree.find_all(at, "appos"):
        if tree.tokens[one].pos == "PROPN":
            return tree.phrase(one, prepositions=False)
    if at + 1 < len(tree.tokens) and _is_name_after(tree, at + 1):
        return tree.tokens[at + 1].text  # the parser takes "Pickles" of "my cat Pickles" for no name
    above = tree.tokens[at].head
    if tree.tokens[at].dep == "appos" and tree.tokens[above].pos == "PROPN":
        return tree.phrase(above, prepositions=False)
    return None


def _is_name_after(tree: Tree, at: int) -> bool:
    token = tree.tokens[at]
    single = tree.tokens[at - 1].text.lower() == tree.tokens[at - 1].lemma
    subject = single and token.dep in {"nsubj", "nsubjpass"} and is_owned(tree, at - 1)
    return subject and token.pos in {"NOUN", "PROPN"} and token.text.istitle() and not token.entity.endswith("E")


def find_last_object(tree: Tree, clause: Clause, party: Party) -> str:
    """Return the thing that a clause is about, which "it" in the next one means: its object, else its subject."""
    if party.kind in {PartyKind.THING, PartyKind.OWN_THING}:
        return party.noun
    at = tree.find(clause.head, "dobj", "attr", "xcomp") or tree.preposition(clause.head, "at", "to", "in")
    if at is None or tree.tokens[at].pos not in {"NOUN", "PROPN"}:
        return tree.action(at) if at is not None and tree.tokens[at].tag == "VBG" else ""
    return tree.phrase(at)


def is_owned(tree: Tree, at: int) -> bool:
    """Return whether a noun is the speaker's: "my sister"."""
    owner = tree.find(at, "poss")
    if owner is None and at and tree.tokens[at].dep == "compound":
        owner = at - 1  # "my dog Rex", whose "my" hangs on the name
    return owner is not None and tree.tokens[owner].text.lower() in _OWNED
