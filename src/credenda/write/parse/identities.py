"""Read what somebody is: "I'm Crystal, a producer from Leeds", "my sister is allergic to nuts". Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from credenda.write.extract.acts import is_transient
from credenda.write.extract.lexicon import names
from credenda.write.extract.shapes import is_occupation
from credenda.write.parse.clauses import Tense
from credenda.write.parse.fact import Fact, Statement, load_frames, make_fact
from credenda.write.parse.people import PartyKind, is_owned

__all__ = ["read_capacity", "read_identities"]

_FANS: Final = frozenset({"fan", "lover", "enthusiast", "sucker", "buff", "admirer", "addict", "drinker", "eater"})


def read_identities(said: Statement) -> Iterator[Fact]:
    """Yield the facts of a clause with "be" about a person; nobody need be still what they were."""
    tree, head = said.tree, said.clause.head
    if said.clause.tense is Tense.PAST:
        return
    for noun in tree.find_all(head, "attr"):
        for one in tree.conjuncts(noun):
            yield from _read_noun(said, one)
    for adjective in tree.find_all(head, "acomp"):
        for one in tree.conjuncts(adjective):
            yield from _read_adjective(said, one)
    yield from _read_origin(said, head)
    yield from _read_visit(said, head)
    liked = tree.preposition(head, "into")
    for one in [] if liked is None else tree.conjuncts(liked):
        yield make_fact(said, "likes", tree.phrase(one))


def read_capacity(said: Statement) -> Iterator[Fact]:
    """Yield the occupation in "As a nurse, I need …"."""
    at = said.tree.preposition(said.clause.head, "as")
    if said.party.kind is PartyKind.SPEAKER and at is not None and at < said.clause.head:
        value = said.tree.phrase(at, prepositions=False)
        if is_occupation(value):
            yield make_fact(said, "job_title", value)


def _read_noun(said: Statement, at: int) -> Iterator[Fact]:
    """Read "I am X": a name, an age, a relative of somebody, or a role."""
    tree = said.tree
    token = tree.tokens[at]
    bare = tree.find(at, "det", "poss") is None
    roles = tree.find_all(at, "appos")
    introduced = any(is_occupation(tree.phrase(one, prepositions=False)) for one in roles)
    if token.tag == "NNP" and bare and (introduced or token.entity in {"PERSON", ""}):
        yield make_fact(said, "name", tree.phrase(at, prepositions=False))
        for one in roles:
            yield from _read_role(said, one)
    elif token.pos == "NUM" and tree.find(at, "prep") is None:
        if said.clause.tense is Tense.PRESENT and _is_single(said):
            yield make_fact(said, "age", token.text)
    elif names().kin_noun(token.lemma) is not None and not bare:
        if is_owned(tree, at):
            yield make_fact(said, names().kin_noun(token.lemma) or "", said.party.owner, entity="user")
    elif token.pos in {"NOUN", "PROPN"}:
        yield from _read_role(said, at)


def _is_single(said: Statement) -> bool:
    """Return whether a clause is about one person: "we are six" and "my kids are 3 and 7" tell nobody's age."""
    tree, subject = said.tree, said.clause.subject
    if subject is None:
        return True
    token = tree.tokens[subject]
    return token.text.lower() != "we" and token.tag not in {"NNS", "NNPS"} and len(tree.conjuncts(subject)) == 1


def _read_role(said: Statement, at: int) -> Iterator[Fact]:
    tree = said.tree
    value = tree.phrase(at, prepositions=False)
    if is_occupation(value) and not said.clause.negated and "favo" not in value:
        workplace = tree.preposition(at, "at")
        if workplace is None and is_transient(tree.text[said.clause.start : said.clause.stop]):
            return  # "I'm the designated driver tonight"
        yield make_fact(said, "job_title", value)
        if workplace is not None:
            yield make_fact(said, "employer", tree.phrase(workplace))
    elif tree.lemma(at) in _FANS:
        liked = tree.preposition(at, "of", "for")
        for one in [] if liked is None else tree.conjuncts(liked):
            yield make_fact(said, "likes", tree.phrase(one))
        before = tree.find_all(at, "compound", "nmod")
        if liked is None and before:
            yield make_fact(said, "likes", tree.slice(before[0], before[-1]))
    elif tree.lemma(at) == "much" and tree.lemma(below := tree.preposition(at, "of")) in _FANS and below is not None:
        yield from _read_role(said, below)
    elif said.party.kind is PartyKind.SPEAKER and tree.find(at, "det", "poss") is not None:
        yield make_fact(said, "way", tree.phrase(at))
    yield from _read_origin(said, at)


def _read_origin(said: Statement, at: int) -> Iterator[Fact]:
    home = said.tree.preposition(at, "from")
    if home is not None and (said.tree.tokens[home].pos == "PROPN" or said.tree.tokens[home].entity == "GPE"):
        yield make_fact(said, "origin", said.tree.phrase(home))


def _read_visit(said: Statement, head: int) -> Iterator[Fact]:
    """Read "I have been to Leeds"."""
    place = said.tree.preposition(head, "to") if said.clause.perfect else None
    for one in [] if place is None else said.tree.conjuncts(place):
        if said.tree.tokens[one].pos == "PROPN":
            yield make_fact(said, "visited", said.tree.phrase(one))


def _read_adjective(said: Statement, at: int) -> Iterator[Fact]:
    """Read "I am ADJECTIVE …" by its frame, and an age."""
    tree = said.tree
    token = tree.tokens[at]
    years = tree.find(at, "npadvmod") if token.lemma == "old" else None
    number = None if years is None else tree.find(years, "nummod")
    if number is not None and said.clause.tense is Tense.PRESENT and _is_single(said):
        yield make_fact(said, "age", tree.tokens[number].text)
    for word, attribute in load_frames()["adjectives"].get(token.text.lower(), {}).items():
        if word == "itself":
            yield make_fact(said, attribute, token.text)
            continue
        target = tree.preposition(at, word)
        for one in [] if target is None else tree.conjuncts(target):
            yield make_fact(said, attribute, tree.phrase(one))
